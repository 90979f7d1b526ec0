/**
 * Behaviour of the web app during faults of files, clock and database, and its recovery (docs/faults.md). The login
 * page is in Turkish: 'E-posta' is the e-mail address, 'Şifre' the password, and 'Giriş Yap' signs in.
 */
import { copyFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Page } from '@playwright/test';
import { type PostgresServer, startPostgres } from '../scripts/services/postgres.ts';
import { administratorToken, callApi } from './accounts.ts';
import { administrator, type Product } from './product.ts';
import { test as base, expect, withoutPrefetch } from './test.ts';

/** Returns the error message of the viewer, which has a Retry button. */
const alertOf = (page: Page) =>
  page.getByRole('alert').filter({ has: page.getByRole('button', { name: 'Retry' }) });
/** Returns the button in the heading of the dataset with the slides of these tests; a click shows their rows. */
const groupOf = (page: Page) =>
  page.getByRole('heading', { level: 2, name: /Mouse kidney/ }).getByRole('button');
const toolsOf = (page: Page) => page.getByRole('toolbar', { name: 'Measuring and colours' });

/** Clicks a slide of the catalogue, after expanding its dataset if necessary. */
async function chooseSlide(page: Page, name: string): Promise<void> {
  const row = page.getByRole('button', { name });
  if (!(await row.isVisible())) await groupOf(page).click();
  await row.click();
}

async function openSlide(page: Page, name: string): Promise<void> {
  await page.goto('/wsi-viewer');
  await expect(groupOf(page)).toBeVisible();
  await chooseSlide(page, name);
  await expect(toolsOf(page)).toBeVisible();
  await expect(page.getByText('Loading tiles...')).toBeHidden();
}

/** Expects that the viewer is still open, that is, neither an empty page nor the login page. */
async function expectViewerOpen(page: Page): Promise<void> {
  await expect(page.getByRole('link', { name: 'WSI Viewer', exact: true })).toBeVisible();
  expect(page.url()).toContain('/wsi-viewer');
}

/** Options of an expectation: a long timeout in ms, because servers and browser may share a busy machine. */
const longTimeout = { timeout: 40_000 };

base.describe('a slide file', () => {
  const test = base;
  test.use({ expectedConsoleErrors: /status of (404|502|503)/ });

  /** Adds a slide, which the test may change without affecting other tests. @returns the path of its file */
  async function addSlide({ slidesDir, url: productUrl }: Product, name: string): Promise<string> {
    const file = path.join(slidesDir, 'Mouse kidney', name);
    await copyFile(path.join(slidesDir, 'Mouse kidney/section-1.svs'), file);
    await expect.poll(() => statusOfSlide(productUrl, name), longTimeout).toBe('ready');
    return file;
  }

  /** Returns the status of a slide in the catalogue; undefined when the catalogue does not list it. */
  async function statusOfSlide(productUrl: string, name: string): Promise<string | undefined> {
    const token = await administratorToken(productUrl);
    const { images } = await callApi(productUrl, 'GET', '/image-catalog/images', { token });
    return (images as { file_name: string; status: string }[]).find(({ file_name }) => file_name === name)
      ?.status;
  }

  /** Removes a slide and waits until the catalogue no longer lists it; the next test would request its thumbnail. */
  async function removeSlide({ url: productUrl }: Product, file: string): Promise<void> {
    await rm(file);
    await expect.poll(() => statusOfSlide(productUrl, path.basename(file)), longTimeout).not.toBe('ready');
  }

  test('a slide whose file is removed shows a 404 in the viewer and opens again when the file is restored, and other slides stay usable', async ({
    openPageAs,
    product,
  }) => {
    test.setTimeout(100_000); // waits for scans of the slide folder
    const file = await addSlide(product, 'removed.svs');
    const page = await openPageAs('user');
    await openSlide(page, 'section-1.svs');
    await rename(file, `${file}.removed`);
    await chooseSlide(page, 'removed.svs');
    await expect(alertOf(page)).toContainText('Server error (404): Not found.', longTimeout);
    await expectViewerOpen(page);
    await chooseSlide(page, 'section-1.svs');
    await expect(toolsOf(page)).toBeVisible(longTimeout);
    await expect(alertOf(page)).toBeHidden();

    // The slide appears again in the open catalogue.
    await rename(`${file}.removed`, file);
    await expect(async () => {
      await chooseSlide(page, 'section-1.svs');
      await chooseSlide(page, 'removed.svs');
      await expect(toolsOf(page)).toBeVisible({ timeout: 3000 });
    }).toPass(longTimeout);
    await removeSlide(product, file);
  });

  test('a slide whose file becomes damaged shows an error in the viewer, and other slides stay usable', async ({
    openPageAs,
    product,
  }) => {
    test.setTimeout(100_000); // waits for scans of the slide folder
    const file = await addSlide(product, 'damaged.svs');
    const page = await openPageAs('user');
    await openSlide(page, 'section-1.svs');
    await writeFile(file, 'not a slide');
    await chooseSlide(page, 'damaged.svs');
    // The error depends on whether a scan has already noticed the damage; afterwards only administrators see the slide.
    await expect(alertOf(page)).toContainText(
      /Server error \(502\): The slide file is damaged and cannot be read\.|Server error \(404\): Not found\./,
      longTimeout,
    );
    await expectViewerOpen(page);
    await chooseSlide(page, 'section-1.svs');
    await expect(toolsOf(page)).toBeVisible(longTimeout);
    await removeSlide(product, file);
  });
});

base.describe('a wrong computer clock', () => {
  for (const [error, hours] of [
    ['a day ahead', 24],
    ['a day behind', -24],
  ] as const) {
    base(
      `a computer clock that is ${error} does not affect the viewer: slides open with a single image session`,
      async ({ openPageAs }) => {
        const page = await openPageAs('user');
        // Shifts the clock of the page; a date that is created with an explicit time stays the same.
        await page.addInitScript((shiftMs) => {
          const RealDate = Date;
          window.Date = class extends RealDate {
            constructor(...parameters: ConstructorParameters<typeof Date> | []) {
              if (parameters.length === 0) super(RealDate.now() + shiftMs);
              else super(...(parameters as ConstructorParameters<typeof Date>));
            }
            static override now() {
              return RealDate.now() + shiftMs;
            }
          } as DateConstructor;
        }, hours * 3_600_000);
        let sessions = 0; // image sessions (the credentials for tiles) that the page has requested
        page.on('request', (request) => {
          if (request.method() === 'POST' && request.url().endsWith('/auth/image-session')) sessions++;
        });
        await openSlide(page, 'section-1.svs');
        await chooseSlide(page, 'section-2.svs');
        await expect(toolsOf(page)).toBeVisible();
        await expect(page.getByText('Loading tiles...')).toBeHidden();
        await expect(alertOf(page)).toBeHidden();
        await expectViewerOpen(page);
        expect(sessions).toBe(1);
      },
    );
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
    async ({ postgres }, use) => use(postgres === null ? {} : { DATABASE_URL: postgres.url }),
    { scope: 'worker' },
  ],
});

withPostgres.describe('a database outage', () => {
  const test = withPostgres;
  test.use({ expectedConsoleErrors: /status of 503/ });

  test('during a database outage the viewer shows errors and accounts stay signed in, and afterwards the viewer recovers without a click', async ({
    openPageAs,
    createAccount,
    product,
    postgres,
  }) => {
    test.setTimeout(150_000); // waits until cached authorisation expires, and for the recovery
    test.skip(postgres === null, 'PostgreSQL is not installed.');
    const reader = await createAccount('user');
    const page = await openPageAs(reader);
    const visitor = await openPageAs('anonymous');
    await visitor.goto('/auth/login');
    await withoutPrefetch(page);
    await openSlide(page, 'section-1.svs');
    await postgres?.crash();
    // The server uses cached authorisation for at most 30 s.
    const cacheExpiry = delay(31_000);

    await test.step('tiles of the open slide are loaded', async () => {
      const tile = page.waitForResponse(/image_files/);
      await page.getByRole('button', { name: 'Zoom in', exact: true }).click();
      expect((await tile).status()).toBe(200);
    });
    await test.step('another slide opens within the first 30 s, with a message instead of its annotations; its audit event is written later', async () => {
      await chooseSlide(page, 'section-10.svs');
      await expect(page.getByRole('region', { name: 'Selected Image' })).toContainText('section-10.svs');
      await expect(toolsOf(page)).toBeVisible();
      await expect(page.getByText('Loading tiles...')).toBeHidden();
      await expect(alertOf(page)).toContainText('The annotations cannot be shown'); // the only alert
    });
    await test.step('a sign-in fails', async () => {
      await visitor.getByLabel('E-posta').fill(administrator.email);
      await visitor.getByLabel('Şifre', { exact: true }).fill(administrator.password);
      await visitor.getByRole('button', { name: 'Giriş Yap' }).click();
      await expect(
        visitor.getByText('Hizmet şu anda kullanılamıyor. Lütfen biraz sonra yeniden deneyin.').first(),
      ).toBeVisible();
    });
    await test.step('after 30 s a slide cannot be opened', async () => {
      await cacheExpiry;
      await chooseSlide(page, 'section-2.svs');
      await expect(alertOf(page)).toContainText(
        'Server error (503): The service is unavailable at the moment. Please try again shortly.',
        longTimeout,
      );
      await expectViewerOpen(page);
    });

    await postgres?.restart();
    await test.step('after the outage the slide opens without a click, the audit log is complete, and a sign-in works', async () => {
      await expect(alertOf(page)).toBeHidden(longTimeout);
      await expect(toolsOf(page)).toBeVisible(longTimeout);
      await expectViewerOpen(page);
      const openedSlides = async () => {
        const token = await administratorToken(product.url);
        const query = `?who=${reader.uid}&action=image-opened`;
        const { entries } = await callApi(product.url, 'GET', `/admin/audit${query}`, { token });
        return JSON.stringify(entries);
      };
      for (const name of ['section-1.svs', 'section-10.svs', 'section-2.svs']) {
        await expect.poll(openedSlides, longTimeout).toContain(name);
      }
      await visitor.getByRole('button', { name: 'Giriş Yap' }).click();
      await expect(visitor).toHaveURL(/\/dashboard$/, longTimeout);
    });
  });
});
