/** What the web app shows during faults of files, clock and database, and how it recovers by itself: docs/faults.md. */
import { copyFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Page } from '@playwright/test';
import { type PostgresServer, startPostgres } from '../scripts/services/postgres.ts';
import { administratorToken, call } from './accounts.ts';
import { administrator, type Product } from './product.ts';
import { test as base, expect, withoutPrefetch } from './test.ts';

const alertOf = (page: Page) =>
  page.getByRole('alert').filter({ has: page.getByRole('button', { name: 'Retry' }) });
/** Group of all slides of these tests. Only the first group of the catalogue is expanded at first. */
const groupOf = (page: Page) =>
  page.getByRole('heading', { level: 2, name: /Mouse kidney/ }).getByRole('button');
const toolsOf = (page: Page) => page.getByRole('toolbar', { name: 'Measuring and colours' });

async function choose(page: Page, name: string): Promise<void> {
  const row = page.getByRole('button', { name });
  if (!(await row.isVisible())) await groupOf(page).click();
  await row.click();
}

async function open(page: Page, name: string): Promise<void> {
  await page.goto('/wsi-viewer');
  await expect(groupOf(page)).toBeVisible();
  await choose(page, name);
  await expect(toolsOf(page)).toBeVisible();
  await expect(page.getByText('Loading tiles...')).toBeHidden();
}

/** Not a white page, and not the login page. */
async function expectStillThere(page: Page): Promise<void> {
  await expect(page.getByRole('link', { name: 'WSI Viewer', exact: true })).toBeVisible();
  expect(page.url()).toContain('/wsi-viewer');
}

/** Long enough for a machine that servers and browser share. */
const patience = { timeout: 40_000 };

base.describe('a slide file', () => {
  const test = base;
  test.use({ expectedComplaints: /status of (404|502|503)/ });

  /** Of its own: the others are for other tests, too. @returns where it lies */
  async function addSlide({ slidesDir, address }: Product, name: string): Promise<string> {
    const file = path.join(slidesDir, 'Mouse kidney', name);
    await copyFile(path.join(slidesDir, 'Mouse kidney/section-1.svs'), file);
    const token = await administratorToken(address);
    const isReady = async () => {
      const { images } = await call(address, 'GET', '/image-catalog/images', { token });
      const found = (images as { file_name: string; status: string }[]).find(
        ({ file_name }) => file_name === name,
      );
      return found?.status;
    };
    await expect.poll(isReady, patience).toBe('ready');
    return file;
  }

  test('that is removed answers 404 in the viewer, opens again once it is back, and other slides stay usable', async ({
    visit,
    product,
  }) => {
    test.setTimeout(100_000);
    const file = await addSlide(product, 'removed.svs');
    const page = await visit('user');
    await open(page, 'section-1.svs');
    await rename(file, `${file}.away`);
    await choose(page, 'removed.svs');
    await expect(alertOf(page)).toContainText('Server error (404): Not found.', patience);
    await expectStillThere(page);
    await choose(page, 'section-1.svs');
    await expect(toolsOf(page)).toBeVisible(patience);
    await expect(alertOf(page)).toBeHidden();

    // An open catalogue shows the slide again.
    await rename(`${file}.away`, file);
    await expect(async () => {
      await choose(page, 'section-1.svs');
      await choose(page, 'removed.svs');
      await expect(toolsOf(page)).toBeVisible({ timeout: 3000 });
    }).toPass(patience);
    await rm(file);
  });

  test('that is damaged shows an error, and other slides stay usable', async ({ visit, product }) => {
    test.setTimeout(100_000);
    const file = await addSlide(product, 'damaged.svs');
    const page = await visit('user');
    await open(page, 'section-1.svs');
    await writeFile(file, 'no slide any more');
    await choose(page, 'damaged.svs');
    // Once the catalogue has noticed, only administrators see the slide.
    await expect(alertOf(page)).toContainText(
      /Server error \(502\): The slide file is damaged and cannot be read\.|Server error \(404\): Not found\./,
      patience,
    );
    await expectStillThere(page);
    await choose(page, 'section-1.svs');
    await expect(toolsOf(page)).toBeVisible(patience);
    await rm(file);
  });
});

base.describe('a clock of the browser', () => {
  for (const [what, hours] of [
    ['a day ahead', 24],
    ['a day behind', -24],
  ] as const) {
    base(`that is ${what} changes nothing: one image session, and the slide opens`, async ({ visit }) => {
      const page = await visit('user');
      await page.addInitScript((shiftMs) => {
        const RealDate = Date;
        window.Date = class extends RealDate {
          constructor(...given: ConstructorParameters<typeof Date> | []) {
            if (given.length === 0) super(RealDate.now() + shiftMs);
            else super(...(given as ConstructorParameters<typeof Date>));
          }
          static override now() {
            return RealDate.now() + shiftMs;
          }
        } as DateConstructor;
      }, hours * 3_600_000);
      let sessions = 0;
      page.on('request', (request) => {
        if (request.method() === 'POST' && request.url().endsWith('/auth/image-session')) sessions++;
      });
      await open(page, 'section-1.svs');
      await choose(page, 'section-2.svs');
      await expect(toolsOf(page)).toBeVisible();
      await expect(page.getByText('Loading tiles...')).toBeHidden();
      await expect(alertOf(page)).toBeHidden();
      await expectStillThere(page);
      expect(sessions).toBe(1);
    });
  }
});

const withPostgres = base.extend<object, { readonly postgres: PostgresServer | null }>({
  postgres: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names from the pattern
    async ({}, use) => {
      const postgres = await startPostgres();
      await use(postgres);
      await postgres?.stop();
    },
    { scope: 'worker' },
  ],
  settings: [
    async ({ postgres }, use) => use(postgres === null ? {} : { DATABASE_URL: postgres.address }),
    { scope: 'worker' },
  ],
});

withPostgres.describe('a database that is down', () => {
  const test = withPostgres;
  test.use({ expectedComplaints: /status of 503/ });

  test('shows errors for calls that need it, keeps accounts signed in, and recovers without a click', async ({
    visit,
    account,
    product,
    postgres,
  }) => {
    test.setTimeout(150_000);
    test.skip(postgres === null, 'this machine has no PostgreSQL');
    const reader = await account('user');
    const page = await visit(reader);
    const visitor = await visit('anonymous');
    await visitor.goto('/auth/login');
    await withoutPrefetch(page);
    await open(page, 'section-1.svs');
    await postgres?.halt();
    const graceIsOver = delay(31_000);

    await test.step('tiles of the open slide arrive', async () => {
      const tile = page.waitForResponse(/image_files/);
      await page.getByRole('button', { name: 'Zoom in', exact: true }).click();
      expect((await tile).status()).toBe(200);
    });
    await test.step('another slide opens in the first 30 s; its audit entry is written later', async () => {
      await choose(page, 'section-10.svs');
      await expect(page.getByRole('region', { name: 'Selected Image' })).toContainText('section-10.svs');
      await expect(toolsOf(page)).toBeVisible();
      await expect(page.getByText('Loading tiles...')).toBeHidden();
      await expect(alertOf(page)).toBeHidden();
    });
    await test.step('a sign-in is refused', async () => {
      await visitor.getByLabel('E-posta').fill(administrator.email);
      await visitor.getByLabel('Şifre', { exact: true }).fill(administrator.password);
      await visitor.getByRole('button', { name: 'Giriş Yap' }).click();
      await expect(
        visitor.getByText('Hizmet şu anda kullanılamıyor. Lütfen biraz sonra yeniden deneyin.').first(),
      ).toBeVisible();
    });
    await test.step('after 30 s a slide cannot be opened', async () => {
      await graceIsOver;
      await choose(page, 'section-2.svs');
      await expect(alertOf(page)).toContainText(
        'Server error (503): The service is unavailable at the moment. Please try again shortly.',
        patience,
      );
      await expectStillThere(page);
    });

    await postgres?.begin();
    await test.step('the slide opens by itself, the audit log is complete, and a sign-in works', async () => {
      await expect(alertOf(page)).toBeHidden(patience);
      await expect(toolsOf(page)).toBeVisible(patience);
      await expectStillThere(page);
      const openedSlides = async () => {
        const token = await administratorToken(product.address);
        const query = `?who=${reader.uid}&action=image-opened`;
        const { entries } = await call(product.address, 'GET', `/admin/audit${query}`, { token });
        return JSON.stringify(entries);
      };
      for (const name of ['section-1.svs', 'section-10.svs', 'section-2.svs']) {
        await expect.poll(openedSlides, patience).toContain(name);
      }
      await visitor.getByRole('button', { name: 'Giriş Yap' }).click();
      await expect(visitor).toHaveURL(/\/dashboard$/, patience);
    });
  });
});
