/** What every browser test is given: the running product, and visitors whose browser must not complain. */
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test as base, expect, type Page } from '@playwright/test';
import { buildSvs } from '../packages/slide/src/testing/index.ts';
import { paintPlain } from '../packages/slide/src/testing/paint-tissue.ts';
import { type Account, call, makeAccount, type Standing, signIn } from './accounts.ts';
import { addSlide, administrator, type Product, startProduct } from './product.ts';

export { expect } from '@playwright/test';

const { TEST_SLIDES: slides } = process.env;
/** A real slide of 2220 × 2967 pixels: a single level of JPEG tiles that are stored as RGB. */
const realSlide = slides ? path.join(slides, 'aperio', 'CMU-1-Small-Region.svs') : null;
const hasRealSlide = realSlide !== null && existsSync(realSlide);

/** The slide that the tests open, in the first dataset of the catalogue. */
export const slideName = hasRealSlide ? 'CMU-1-Small-Region.svs' : 'section-2.svs';
/** Its Deep Zoom level of full resolution: log2 of the longer side, rounded up. */
export const fullResolution = Math.ceil(Math.log2(hasRealSlide ? 2967 : 1536));

/** One real slide where there is one, three built ones in a dataset, and one in no dataset. */
async function fillSlides(folder: string): Promise<void> {
  if (realSlide && hasRealSlide) await addSlide(folder, 'Aperio', realSlide);
  const eosin = paintPlain(1024, 1536, [214, 120, 176]);
  const built = await buildSvs({ width: 1024, height: 1536, tileSize: 256, picture: eosin });
  await mkdir(path.join(folder, 'Mouse kidney'));
  for (const name of [
    'Mouse kidney/section-10.svs',
    'Mouse kidney/section-2.svs',
    'Mouse kidney/section-1.svs',
    'loose.svs',
  ]) {
    await writeFile(path.join(folder, name), built);
  }
}

/** A visitor's list is loaded once: a slide that is still being read would be missing from it. */
async function untilSlidesAreRead(address: string): Promise<void> {
  const { token } = await signIn(address, administrator);
  const readyCount = async () => {
    const { images } = await call(address, 'GET', '/image-catalog/images', { token });
    return (images as { status: string }[]).filter(({ status }) => status === 'ready').length;
  };
  await expect.poll(readyCount, { timeout: 60_000 }).toBe(hasRealSlide ? 5 : 4);
}

type Visit = (who: Standing | Account | 'anonymous') => Promise<Page>;

interface Fixtures {
  /** What the browser's console may say, since the test provokes it; any other error there fails the test. */
  readonly expectedComplaints: RegExp | null;
  /** A fresh account with this standing. */
  readonly account: (standing: Standing) => Promise<Account>;
  /** A browser of its own, signed in as told. */
  readonly visit: Visit;
}

interface WorkerFixtures {
  /** Settings of the product that differ from those of a fresh installation. */
  readonly settings: Readonly<Record<string, string>>;
  readonly product: Product;
}

export const test = base.extend<Fixtures, WorkerFixtures>({
  settings: [{}, { option: true, scope: 'worker' }],

  product: [
    async ({ settings }, use) => {
      const product = await startProduct(fillSlides, settings);
      await untilSlidesAreRead(product.address);
      await use(product);
      await product.stop();
    },
    { scope: 'worker' },
  ],

  expectedComplaints: [null, { option: true }],

  // Relative addresses in the tests are the product's.
  baseURL: async ({ product }, use) => use(product.address),

  account: async ({ product }, use) => use((standing) => makeAccount(product.address, standing)),

  visit: async ({ browser, product, account, expectedComplaints, baseURL }, use, info) => {
    const complaints: string[] = [];
    const contexts: { close(): Promise<void> }[] = [];
    await use(async (who) => {
      const known = who === 'anonymous' ? null : typeof who === 'string' ? await account(who) : who;
      const context = await browser.newContext({
        ...(baseURL && { baseURL }),
        ...(known && { storageState: await storageOf(product.address, known) }),
      });
      contexts.push(context);
      const page = await context.newPage();
      page.on('console', (message) => {
        if (message.type() === 'error') complaints.push(`${message.text()} (${message.location().url})`);
      });
      page.on('pageerror', (error) => complaints.push(String(error)));
      return page;
    });
    if (info.status !== info.expectedStatus) {
      await info.attach('server log', { body: product.log(), contentType: 'text/plain' });
    }
    for (const context of contexts) await context.close();
    const unexpected = complaints.filter((text) => !expectedComplaints?.test(text));
    expect(unexpected, 'the browser complained').toEqual([]);
  },
});

/** What the browser keeps of a sign-in, as the specification names it. */
async function storageOf(address: string, account: Account) {
  const { token, user } = await signIn(address, account);
  return {
    cookies: [],
    origins: [
      {
        origin: address,
        localStorage: [
          { name: 'auth_token', value: token },
          { name: 'user_data', value: JSON.stringify(user) },
        ],
      },
    ],
  };
}
