/**
 * Fixtures of every browser test: the running product, accounts, and browsers whose console must stay free of errors. The screens are in
 * Turkish by default and the slide viewer is in English (docs/requirements.md, ACC-10), so the tests look for texts in both languages.
 */
import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test as base, expect, type Page } from '@playwright/test';
import { buildSvs, realSlide } from '../packages/slide/src/testing/index.ts';
import { paintPlain } from '../packages/slide/src/testing/paint-tissue.ts';
import {
  type Account,
  type AccountState,
  administratorToken,
  callApi,
  makeAccount,
  signIn,
} from './accounts.ts';
import { type Product, startProduct } from './product.ts';

export { expect } from '@playwright/test';

/** The slide that the tests open: the only slide in the first dataset of the catalogue, which a new viewer page shows expanded. */
export const slideName = 'CMU-1-Small-Region.svs';
/** Deep Zoom level of full resolution of that slide, which has 2220 × 2967 pixels: log2 of the longer side, rounded up. */
export const fullResolutionLevel = Math.ceil(Math.log2(2967));

/** Slides that the tests generate, by path in the slide folder. A folder becomes a dataset; `loose.svs` belongs to none. */
const builtSlides = [
  'Mouse kidney/section-10.svs',
  'Mouse kidney/section-2.svs',
  'Mouse kidney/section-1.svs',
  'loose.svs',
];

/** Fills the slide folder with the real slide and the generated ones. */
async function fillSlides(folder: string): Promise<void> {
  const pink = [214, 60, 176] as const; // sRGB
  const picture = paintPlain(1024, 1536, pink);
  const built = await buildSvs({ width: 1024, height: 1536, tileSize: 256, picture });
  for (const dataset of ['Aperio', 'Mouse kidney']) await mkdir(path.join(folder, dataset));
  await copyFile(realSlide, path.join(folder, 'Aperio', slideName));
  for (const name of builtSlides) await writeFile(path.join(folder, name), built);
}

/** Waits until the server has ingested every slide, because a page that opens earlier would show an incomplete catalogue. */
async function waitForSlides(productUrl: string): Promise<void> {
  const token = await administratorToken(productUrl);
  const readyCount = async () => {
    const { images } = await callApi(productUrl, 'GET', '/image-catalog/images', { token });
    return (images as { status: string }[]).filter(({ status }) => status === 'ready').length;
  };
  await expect.poll(readyCount, { timeout: 60_000, intervals: [100, 250] }).toBe(1 + builtSlides.length);
}

/**
 * Opens a page in a new browser context.
 *
 * @param who an account, which is then signed in; a state, for which a new account is created and signed in; or `anonymous`
 */
type OpenPageAs = (who: AccountState | Account | 'anonymous') => Promise<Page>;

/** Values that Playwright creates for each test. */
interface Fixtures {
  /** Errors that the test provokes in the browser's console; any other error there fails the test. */
  readonly expectedConsoleErrors: RegExp | null;
  /** Creates an account in this state. */
  readonly createAccount: (state: AccountState) => Promise<Account>;
  readonly openPageAs: OpenPageAs;
}

/** Values that all tests in one worker process of Playwright share. */
interface WorkerFixtures {
  /** Settings of the product that differ from those of a fresh installation. Tests with other settings get a product of their own. */
  readonly settings: Readonly<Record<string, string>>;
  readonly product: Product;
}

export const test = base.extend<Fixtures, WorkerFixtures>({
  settings: [{}, { option: true, scope: 'worker' }],

  product: [
    async ({ settings }, use) => {
      const product = await startProduct(fillSlides, settings);
      await waitForSlides(product.url);
      await use(product);
      await product.stop();
    },
    { scope: 'worker' },
  ],

  expectedConsoleErrors: [null, { option: true }],

  // Relative URLs in the tests refer to the product.
  baseURL: async ({ product }, use) => use(product.url),

  createAccount: async ({ product }, use) => use((state) => makeAccount(product.url, state)),

  openPageAs: async ({ browser, product, createAccount, expectedConsoleErrors, baseURL }, use, info) => {
    const consoleErrors: string[] = [];
    const contexts: { close(): Promise<void> }[] = [];
    await use(async (who) => {
      const visitor = typeof who === 'string' && who !== 'anonymous' ? await createAccount(who) : who;
      const context = await browser.newContext({ ...(baseURL && { baseURL }) });
      contexts.push(context);
      const page = await context.newPage();
      if (visitor !== 'anonymous') await storeSignIn(page, product.url, visitor);
      page.on('console', (message) => {
        if (message.type() === 'error') consoleErrors.push(`${message.text()} (${message.location().url})`);
      });
      page.on('pageerror', (error) => consoleErrors.push(String(error)));
      return page;
    });
    if (info.status !== info.expectedStatus) {
      const file = info.outputPath('server.log');
      await writeFile(file, product.log());
      info.attachments.push({ name: 'server log', path: file, contentType: 'text/plain' });
    }
    for (const context of contexts) await context.close();
    const unexpected = consoleErrors.filter((text) => !expectedConsoleErrors?.test(text));
    expect(unexpected, 'unexpected errors in the console of the browser').toEqual([]);
  },
});

/**
 * Signs in and stores the sign-in in the browser, under the keys of docs/requirements.md, SIGN-10. The page leaves a small response of
 * the product behind in its history: Playwright's `storageState` would open a second page, which takes half a second.
 */
async function storeSignIn(page: Page, productUrl: string, account: Account): Promise<void> {
  const { token, user } = await signIn(productUrl, account);
  await page.goto(`${productUrl}/health/live`);
  await page.evaluate(
    ([storedToken, storedUser]) => {
      localStorage.setItem('auth_token', storedToken);
      localStorage.setItem('user_data', storedUser);
    },
    [token, JSON.stringify(user)] as const,
  );
}

/**
 * Makes the browser report its data-saving mode, in which the viewer does not prefetch tiles. Applies to pages that are opened
 * afterwards.
 */
export async function withoutPrefetch(page: Page): Promise<void> {
  await page.addInitScript(() => {
    Object.defineProperty(navigator, 'connection', { value: { saveData: true } });
  });
}
