/**
 * `npm run bench -- colours`, also a part of `renderer`: measures how close the corrected colours of a slide with a colour profile are to
 * those of Little CMS. Needs aperio/1065626.svs in the folder TEST_SLIDES, and `transicc` of the package liblcms2-utils.
 *
 * The part takes the pixels that the browser shows or saves with corrected colours. It compares them with the result of
 * Little CMS, which converts the uncorrected pixels in floating point (relative colorimetric with black point
 * compensation). The difference is ΔE2000; about 1 is just visible.
 */
import { spawn } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type Browser, chromium, type Page } from '@playwright/test';
import sharp from 'sharp';
import { forceDrawer, webGlArguments } from '../../../e2e/renderer-probe.ts';
import { openSlide } from '../../../packages/slide/src/open-slide.ts';
import { thumbnailPixels } from '../../../packages/slide/src/render/render-thumbnail.ts';
import { convertColour } from '../../../packages/slide/src/render/render-tile.ts';
import { callApi, signIn } from '../../services/api-client.ts';
import { findChromium } from '../../services/chromium.ts';
import { findCommand } from '../../services/find-command.ts';
import { type BenchOptions, cacheFolder } from '../environment.ts';
import { verdictOf } from '../goals.ts';
import { quantile } from '../load/statistics.ts';
import { administrator, createImageSession, type RunningProduct, startProduct } from '../product.ts';
import { describeMachine, markdownTable, publish } from '../report.ts';
import { deltaE2000, labOf } from './delta-e.ts';

const slideName = '1065626.svs';
const viewport = { width: 1280, height: 800 };
/** The size of the compared part in the middle of the screen, where no controls are. */
const comparedSize = { width: 500, height: 400 };
/** Longer side of the compared thumbnail, in pixels. */
const thumbnailSide = 256;
/** The largest ΔE2000 (`must`) that is allowed in the given share of the pixels. */
const limits = [
  { share: 0.95, must: 1 },
  { share: 0.999, must: 2 },
];

/** Red, green and blue of each pixel, 0 to 255. */
type Pixels = Uint8Array;

interface Comparison {
  readonly name: string;
  /** Number of compared pixels. */
  readonly pixels: number;
  /** ΔE2000 of each pixel. */
  readonly differences: readonly number[];
  /** Share of the pixels that differ by at most 1 (of 255) in every channel from the rounded colours of Little CMS. */
  readonly withinOne: number;
}

export async function coloursPart({ isQuick }: BenchOptions): Promise<void> {
  const source = join(process.env.TEST_SLIDES ?? '', 'aperio', slideName);
  const transicc = findCommand('transicc');
  if (!existsSync(source) || transicc === undefined) {
    console.log(`Colours are not measured: they need transicc, and ${slideName} in TEST_SLIDES.`);
    return;
  }
  const cache = join(cacheFolder(), 'colours');
  rmSync(cache, { recursive: true, force: true });
  const slides = join(cache, 'slides');
  mkdirSync(slides, { recursive: true });
  copyFileSync(source, join(slides, slideName));
  const slide = await openSlide({ path: source });
  const profile = join(cache, 'profile.icc');
  writeFileSync(profile, (await slide.readIccProfile()) ?? new Uint8Array());
  const convert = (pixels: Pixels) => convertWith(transicc, profile, pixels);

  const product = await startProduct({ slides, cache, pin: (line) => line }, {}, 1); // waits for one slide
  const browser = await chromium.launch({ executablePath: await findChromium(), args: webGlArguments });
  try {
    const comparisons = await compareScreens(browser, product, isQuick, convert);
    const uncorrected = await thumbnailPixels(slide, thumbnailSide);
    const expected = await convert(uncorrected.rgb);
    const { rgb: corrected } = await convertColour(slide, uncorrected, 'srgb');
    comparisons.push(comparePictures('thumbnail, before it is encoded', corrected, expected));
    const sentThumbnail = comparePictures('thumbnail, as sent', await thumbnailOf(product), expected);
    report(comparisons, sentThumbnail, browser.version(), isQuick);
  } finally {
    await browser.close();
    await product.stop();
    await slide.close();
  }
}

/** Compares the pictures that OpenSeadragon's two drawers show and save with those of Little CMS and each other. */
async function compareScreens(
  browser: Browser,
  product: RunningProduct,
  isQuick: boolean,
  convert: (pixels: Pixels) => Promise<Float64Array>,
): Promise<Comparison[]> {
  const comparisons: Comparison[] = [];
  let webGlScreen = new Float64Array();
  for (const zoom of isQuick ? [1] : [1, 0.83, 0.61, 0.4]) {
    const field = `x=1100&y=1000&zoom=${zoom}`;
    const uncorrectedPage = await openField(browser, product, 'webgl', `${field}&colours=scanned`);
    const expected = await convert(await screenOf(uncorrectedPage));
    const expectedPicture = await convert(await savedPictureOf(uncorrectedPage));
    await uncorrectedPage.context().close();
    for (const drawer of ['webgl', 'canvas'] as const) {
      const page = await openField(browser, product, drawer, field);
      // Meanwhile the colour table loads, and the page draws tiles again that it drew without the table.
      await page.waitForTimeout(2000);
      const name = drawer === 'webgl' ? 'WebGL' : 'canvas';
      const screen = await screenOf(page);
      if (drawer === 'webgl') webGlScreen = Float64Array.from(screen);
      else comparisons.push(comparePictures(`canvas against WebGL, zoom ${zoom}`, screen, webGlScreen));
      comparisons.push(comparePictures(`${name}, zoom ${zoom}`, screen, expected));
      const picture = await savedPictureOf(page);
      comparisons.push(comparePictures(`saved picture, ${name}, zoom ${zoom}`, picture, expectedPicture));
      await page.context().close();
    }
  }
  return comparisons;
}

/** Opens the slide, signed in. @param field query parameters of the field of view */
async function openField(
  browser: Browser,
  { url, imageIdOf }: RunningProduct,
  drawer: 'webgl' | 'canvas',
  field: string,
): Promise<Page> {
  const token = await signIn(url, administrator);
  const { user } = await callApi<{ user: object }>(url, 'POST', '/auth/verify', { body: { token } });
  const localStorage = [
    { name: 'auth_token', value: token },
    { name: 'user_data', value: JSON.stringify(user) },
  ];
  const storageState = { cookies: [], origins: [{ origin: url, localStorage }] };
  const context = await browser.newContext({ viewport, storageState });
  const page = await context.newPage();
  await forceDrawer(page, drawer);
  await page.goto(`${url}/wsi-viewer?image=${imageIdOf(slideName)}&${field}`);
  await page.getByTitle('Scale bar').waitFor();
  await page.getByText('Loading tiles...').waitFor({ state: 'hidden' });
  await page.waitForTimeout(1500); // until the last tile has faded in
  return page;
}

/** Returns the middle of the view that the page shows, of the size `comparedSize`. */
async function screenOf(page: Page): Promise<Pixels> {
  return middleOf(await page.getByRole('application').screenshot({ scale: 'device' }));
}

/** Saves the field as a PNG with as many pixels as the screen, and returns its middle. */
async function savedPictureOf(page: Page): Promise<Pixels> {
  await page.keyboard.press('Shift+S');
  const panel = page.getByRole('region', { name: 'Save picture…' });
  const downloading = page.waitForEvent('download');
  await panel.getByRole('button', { name: 'Save' }).click();
  const file = await readFile(await (await downloading).path());
  await page.keyboard.press('Escape');
  return middleOf(file);
}

/** Returns the middle of a picture, of the size `comparedSize`. */
async function middleOf(picture: Buffer): Promise<Pixels> {
  const { width, height } = await sharp(picture).metadata();
  const left = Math.round((width - comparedSize.width) / 2);
  const top = Math.round((height - comparedSize.height) / 2);
  return sharp(picture)
    .extract({ left, top, ...comparedSize })
    .removeAlpha()
    .raw()
    .toBuffer();
}

/** Returns the pixels of the thumbnail that the server sends. */
async function thumbnailOf(product: RunningProduct): Promise<Pixels> {
  const session = await createImageSession(product.url, product.token);
  const path = `/api/v1/image-catalog/proxy/${product.imageIdOf(slideName)}/thumbnail.jpg?session=${session}`;
  const response = await fetch(product.url + path);
  if (!response.ok)
    throw new Error(`The server rejected the thumbnail request with status ${response.status}.`);
  return sharp(Buffer.from(await response.arrayBuffer()))
    .raw()
    .toBuffer();
}

/** Converts pixels with Little CMS. @returns sRGB, 0 to 255, with fractions */
async function convertWith(transicc: string, profile: string, pixels: Pixels): Promise<Float64Array> {
  /** For each distinct colour (see `packedColourOf`), the number of its line in the input and output of transicc. */
  const lineOfColour = new Map<number, number>();
  for (let index = 0; index < pixels.length; index += 3) {
    const key = packedColourOf(pixels, index);
    if (!lineOfColour.has(key)) lineOfColour.set(key, lineOfColour.size);
  }
  // -n: terse output, -s: clipped to the range of sRGB, -c0: no precalculated tables, -t1 -b: relative colorimetric, black point
  // compensation.
  const flags = ['-n', '-s', '-c0', '-t1', '-b', `-i${profile}`, '-o*sRGB'];
  const child = spawn(transicc, flags, { stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.end(
    [...lineOfColour.keys()].map((key) => `${key >> 16} ${(key >> 8) & 255} ${key & 255}\n`).join(''),
  );
  const converted = (await text(child.stdout))
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number));
  if (converted.length !== lineOfColour.size) throw new Error('transicc did not convert every colour.');
  const result = new Float64Array(pixels.length);
  for (let index = 0; index < pixels.length; index += 3) {
    result.set(converted[lineOfColour.get(packedColourOf(pixels, index)) ?? 0] ?? [], index);
  }
  return result;
}

/** Returns the colour of a pixel as one number: 8 bits each of red, green and blue. @param index of its first sample */
const packedColourOf = (pixels: Pixels, index: number) =>
  ((pixels[index] ?? 0) << 16) | ((pixels[index + 1] ?? 0) << 8) | (pixels[index + 2] ?? 0);

/** Compares two pictures pixel by pixel. @param expected sRGB, 0 to 255, with fractions */
function comparePictures(name: string, shown: Pixels, expected: Float64Array): Comparison {
  if (shown.length !== expected.length) throw new Error(`${name}: the pictures differ in size.`);
  const differences: number[] = [];
  let withinOne = 0;
  for (let index = 0; index < shown.length; index += 3) {
    const shownColour = [...shown.subarray(index, index + 3)];
    const expectedColour = [...expected.subarray(index, index + 3)];
    differences.push(deltaE2000(labOf(shownColour), labOf(expectedColour)));
    const isWithinOne = shownColour.every(
      (sample, channel) => Math.abs(sample - Math.round(expectedColour[channel] ?? 0)) <= 1,
    );
    if (isWithinOne) withinOne += 1;
  }
  const pixels = shown.length / 3;
  return { name, pixels, differences, withinOne: withinOne / pixels };
}

/**
 * Publishes the results.
 *
 * @param sentThumbnail is listed but has no goal, because JPEG stores brightness and two colour differences with only 8 bits each
 */
function report(
  comparisons: readonly Comparison[],
  sentThumbnail: Comparison,
  version: string,
  isQuick: boolean,
): void {
  const worstDifference = (share: number) =>
    Math.max(...comparisons.map(({ differences }) => quantile(differences, share)));
  publish(
    'colours',
    [
      describeMachine({ Chromium: version }),
      '',
      markdownTable(
        limits.map(({ share, must }) =>
          verdictOf(
            {
              goal: `ΔE2000 of ${100 * share} % of the pixels, worst row except the last one`,
              relation: 'atMost',
              must,
              aim: must,
            },
            worstDifference(share),
          ),
        ),
      ),
      '',
      markdownTable(
        [...comparisons, sentThumbnail].map(({ name, pixels, differences, withinOne }) => ({
          picture: name,
          pixels,
          'ΔE2000, median': quantile(differences, 0.5).toFixed(2),
          'of 95 %': quantile(differences, 0.95).toFixed(2),
          'of 99.9 %': quantile(differences, 0.999).toFixed(2),
          largest: quantile(differences, 1).toFixed(2),
          'within 1 level': `${(100 * withinOne).toFixed(2)} %`,
        })),
      ),
    ],
    { isQuick },
  );
}
