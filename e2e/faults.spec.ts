/** What somebody at a browser sees when something breaks, and that it goes on by itself: docs/faults.md. */
import { copyFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Page } from '@playwright/test';
import { call, signIn } from './accounts.ts';
import { administrator, type Product } from './product.ts';
import { test as base, expect } from './test.ts';

/** What scripts/postgres.mjs starts. */
interface Postgres {
  readonly address: string;
  halt(): Promise<unknown>;
  begin(): Promise<unknown>;
  stop(): Promise<void>;
}

const alertOf = (page: Page) =>
  page.getByRole('alert').filter({ has: page.getByRole('button', { name: 'Retry' }) });
/** The group that all slides of these tests are in; only the first of the catalogue is open by itself. */
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

/** A loop that ends within a minute; the servers and the browser share the machine. */
const patience = { timeout: 40_000 };

base.describe('a slide file', () => {
  const test = base;
  test.use({ expectedComplaints: /status of (404|502|503)/ });

  /** Of its own: the others are for other tests, too. @returns where it lies */
  async function addSlide({ slidesDir, address }: Product, name: string): Promise<string> {
    const file = path.join(slidesDir, 'Mouse kidney', name);
    await copyFile(path.join(slidesDir, 'Mouse kidney/section-1.svs'), file);
    const { token } = await signIn(address, administrator);
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

  test('that is removed is said not to be there, and the others are as they were', async ({
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

    // It is back, and whoever has the catalogue open sees it again.
    await rename(`${file}.away`, file);
    await expect(async () => {
      await choose(page, 'section-1.svs');
      await choose(page, 'removed.svs');
      await expect(toolsOf(page)).toBeVisible({ timeout: 3000 });
    }).toPass(patience);
    await rm(file);
  });

  test('that is damaged is said to be', async ({ visit, product }) => {
    test.setTimeout(100_000);
    const file = await addSlide(product, 'damaged.svs');
    const page = await visit('user');
    await open(page, 'section-1.svs');
    await writeFile(file, 'no slide any more');
    await choose(page, 'damaged.svs');
    // Until the catalogue has noticed, too; then it is not there for anybody but administrators.
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
    base(`${what} changes nothing: one session, and the slide is seen`, async ({ visit }) => {
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

const withPostgres = base.extend<object, { readonly postgres: Postgres | null }>({
  postgres: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names from the pattern
    async ({}, use) => {
      const script = new URL('../scripts/postgres.mjs', import.meta.url).href;
      const { startPostgres } = (await import(script)) as { startPostgres(): Promise<Postgres | null> };
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

  test('is said to be, signs nobody out, and is over by itself', async ({ visit, postgres }) => {
    test.setTimeout(150_000);
    test.skip(postgres === null, 'this machine has no PostgreSQL');
    const page = await visit('user');
    const stranger = await visit('anonymous');
    await stranger.goto('/auth/login');
    await open(page, 'section-1.svs');
    await postgres?.halt();

    // Whoever looks at a slide goes on looking at it.
    const tile = page.waitForResponse(/image_files/);
    await page.getByRole('button', { name: 'Zoom in', exact: true }).click();
    expect((await tile).status()).toBe(200);
    // A slide that is opened is written down first, and that cannot be done now.
    await choose(page, 'section-10.svs');
    await expect(alertOf(page)).toContainText(
      'Server error (503): The service is unavailable at the moment. Please try again shortly.',
      patience,
    );
    await expectStillThere(page);
    await stranger.getByLabel('E-posta').fill(administrator.email);
    await stranger.getByLabel('Şifre', { exact: true }).fill(administrator.password);
    await stranger.getByRole('button', { name: 'Giriş Yap' }).click();
    await expect(
      stranger.getByText('Hizmet şu anda kullanılamıyor. Lütfen biraz sonra yeniden deneyin.').first(),
    ).toBeVisible();

    await postgres?.begin();
    // Nobody presses anything.
    await expect(alertOf(page)).toBeHidden(patience);
    await expect(toolsOf(page)).toBeVisible(patience);
    await expectStillThere(page);
    await stranger.getByRole('button', { name: 'Giriş Yap' }).click();
    await expect(stranger).toHaveURL(/\/dashboard$/, patience);
  });
});
