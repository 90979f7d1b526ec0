/**
 * Compares the pixels that the viewer shows between both drawers (the parts that draw tiles: WebGL and canvas), and with the
 * slide file.
 */
import type { Page } from '@playwright/test';
import { buildColourTable, serveProfile } from './colour-profile.ts';
import { forceDrawer, webGlArguments } from './renderer-probe.ts';
import { expect, fullResolutionLevel, slideName, test } from './test.ts';

test.use({
  viewport: { width: 1280, height: 800 },
  trace: 'off',
  launchOptions: {
    executablePath: process.env.PLAYWRIGHT_CHROMIUM ?? '/usr/bin/chromium',
    args: webGlArguments,
  },
});

type Drawer = 'webgl' | 'canvas';
const drawers: readonly Drawer[] = ['webgl', 'canvas'];

/** Opens a field of view, waits until it is sharp, and hides everything but its tiles. @param field URL parameters of the view */
async function openField(page: Page, drawer: Drawer, field: string): Promise<void> {
  await forceDrawer(page, drawer);
  await page.goto('/wsi-viewer');
  await page.getByRole('button', { name: slideName }).click();
  await expect(page).toHaveURL(/image=/);
  const image = new URL(page.url()).searchParams.get('image');
  await page.goto(`/wsi-viewer?image=${image}&${field}`);
  await expect(page.getByTitle('Scale bar')).toBeVisible();
  await expect(page.getByText('Loading tiles...')).toBeHidden();
  await page.addStyleTag({
    content: '[role=group], .navigator, [role=status] { visibility: hidden !important }',
  });
  await page.waitForTimeout(1500); // until the last tile has faded in
}

/** Returns the picture of the slide on the screen as a PNG. */
async function screenOf(page: Page): Promise<string> {
  const viewer = page.getByRole('application');
  return (await viewer.screenshot({ scale: 'device' })).toString('base64');
}

/** The result of comparing two pictures of the same size. */
interface Comparison {
  /** Number of compared pixels. */
  readonly pixels: number;
  /** Share of equal pixels, 0 to 1. */
  readonly equal: number;
  /** Share of pixels whose channels differ by at most 1 of 255, 0 to 1. */
  readonly withinOne: number;
}

/** Compares two PNG files in base64, decoded by the browser of the page. */
function comparePictures(page: Page, pictures: readonly [string, string]): Promise<Comparison> {
  return page.evaluate(async (pngs) => {
    const [first, second] = await Promise.all(
      pngs.map(async (png) => {
        const bytes = Uint8Array.from(atob(png), (character) => character.charCodeAt(0));
        const bitmap = await createImageBitmap(new Blob([bytes]));
        const context = new OffscreenCanvas(bitmap.width, bitmap.height).getContext('2d');
        if (context === null) throw new Error('The browser created no canvas context.');
        context.drawImage(bitmap, 0, 0);
        return context.getImageData(0, 0, bitmap.width, bitmap.height).data;
      }),
    );
    if (first === undefined || second === undefined || first.length !== second.length)
      throw new Error('The pictures have different sizes.');
    let [equal, withinOne] = [0, 0];
    for (let index = 0; index < first.length; index += 4) {
      let maxDifference = 0;
      for (const channel of [0, 1, 2]) {
        const difference = Math.abs((first[index + channel] ?? 0) - (second[index + channel] ?? 0));
        maxDifference = Math.max(maxDifference, difference);
      }
      if (maxDifference === 0) equal += 1;
      if (maxDifference <= 1) withinOne += 1;
    }
    const pixels = first.length / 4;
    return {
      pixels,
      equal: equal / pixels,
      withinOne: withinOne / pixels,
    };
  }, pictures);
}

for (const field of ['x=900.3&y=1200.7&zoom=0.83', 'x=700.3&y=900.7&zoom=0.37', 'x=640.1&y=800.3&zoom=1.7']) {
  test(`the WebGL and the canvas drawer of the viewer show the same pixels of the slide at the view ${field}`, async ({
    openPageAs,
  }, info) => {
    const pictures: string[] = [];
    let page: Page | null = null;
    for (const drawer of drawers) {
      page = await openPageAs('user');
      await openField(page, drawer, field);
      const picture = await screenOf(page);
      await info.attach(drawer, { body: Buffer.from(picture, 'base64'), contentType: 'image/png' });
      pictures.push(picture);
    }
    const [webGlPicture = '', canvasPicture = ''] = pictures; // in the order of `drawers`
    if (page === null) throw new Error('No page was opened.');
    const comparison = await comparePictures(page, [webGlPicture, canvasPicture]);
    expect(comparison.withinOne).toBeGreaterThanOrEqual(0.999);
  });
}

/** A colour table that changes every colour, more strongly than the profile of a scanner. */
const distinctTable = buildColourTable(33, ([red = 0, green = 0, blue = 0]) => [
  0.05 + 0.85 * red ** 0.8,
  0.95 * green ** 1.25,
  0.8 * blue ** 0.9 + 0.05 * red,
]);

test('the WebGL and the canvas drawer of the viewer show the same pixels of a slide with a colour profile at native magnification', async ({
  openPageAs,
}, info) => {
  const field = 'x=740.3&y=880.7&zoom=1';
  const page = await openPageAs('user');
  await openField(page, 'webgl', field);
  const uncorrectedPicture = await screenOf(page);
  const pictures: string[] = [];
  for (const drawer of drawers) {
    const correctedPage = await openPageAs('user');
    const requestedTiles = await serveProfile(correctedPage, distinctTable);
    await openField(correctedPage, drawer, field);
    let picture = '';
    const unchangedShare = async () => {
      picture = await screenOf(correctedPage);
      return (await comparePictures(page, [uncorrectedPicture, picture])).withinOne;
    };
    // Polled, because tiles that are loaded before the table are corrected later, one after the other.
    await expect.poll(unchangedShare).toBeLessThan(0.0005);
    expect(requestedTiles.filter((url) => url.includes('colour='))).toEqual([]); // corrected in the browser
    await info.attach(drawer, { body: Buffer.from(picture, 'base64'), contentType: 'image/png' });
    pictures.push(picture);
  }
  const [webGlPicture = '', canvasPicture = ''] = pictures;
  const comparison = await comparePictures(page, [webGlPicture, canvasPicture]);
  expect(comparison.withinOne).toBeGreaterThanOrEqual(0.999);
});

/**
 * Counts the pixels on the screen that equal those of the decoded tiles. The slide may be up to 2 pixels away from the expected position;
 * the position with the most equal pixels counts.
 *
 * @param tiles tiles of 240 × 240 pixels of full resolution
 * @param screen PNG in base64
 * @param expected position of the upper left corner of the screen in the slide, in pixels of full resolution
 * @returns the number of equal pixels, and of pixels of the screen that a tile covers
 */
function compareWithTiles(
  page: Page,
  screen: string,
  tiles: readonly { column: number; row: number; url: string }[],
  expected: { readonly left: number; readonly top: number },
): Promise<{ equal: number; compared: number }> {
  return page.evaluate(
    async ([png, tileUrls, expectedCorner]) => {
      const bitmapOf = (blob: Blob) => createImageBitmap(blob, { colorSpaceConversion: 'none' });
      const pixelsOf = (bitmap: ImageBitmap) => {
        const context = new OffscreenCanvas(bitmap.width, bitmap.height).getContext('2d');
        if (context === null) throw new Error('The browser created no canvas context.');
        context.drawImage(bitmap, 0, 0);
        return context.getImageData(0, 0, bitmap.width, bitmap.height);
      };
      const screenPixels = pixelsOf(
        await bitmapOf(new Blob([Uint8Array.from(atob(png), (character) => character.charCodeAt(0))])),
      );
      const decodedTiles = await Promise.all(
        tileUrls.map(async ({ column, row, url }) => ({
          column,
          row,
          pixels: pixelsOf(await bitmapOf(await (await fetch(url)).blob())),
        })),
      );
      /** Compares with the screen at a shifted position: all pixels, or only every `step`-th one in both directions. */
      const countEqual = (shiftX: number, shiftY: number, step: number) => {
        let [equal, compared] = [0, 0];
        for (const { column, row, pixels } of decodedTiles) {
          const left = column * 240 - expectedCorner.left + shiftX;
          const top = row * 240 - expectedCorner.top + shiftY;
          for (let y = Math.max(0, -top); y < pixels.height && y + top < screenPixels.height; y += step) {
            for (let x = Math.max(0, -left); x < pixels.width && x + left < screenPixels.width; x += step) {
              const tileIndex = (y * pixels.width + x) * 4;
              const screenIndex = ((y + top) * screenPixels.width + x + left) * 4;
              compared += 1;
              const isEqual =
                pixels.data[tileIndex] === screenPixels.data[screenIndex] &&
                pixels.data[tileIndex + 1] === screenPixels.data[screenIndex + 1] &&
                pixels.data[tileIndex + 2] === screenPixels.data[screenIndex + 2];
              if (isEqual) equal += 1;
            }
          }
        }
        return { equal, compared };
      };
      // A twenty-fifth of the pixels is enough to find the position.
      const shifts = [-2, -1, 0, 1, 2].flatMap((x) => [-2, -1, 0, 1, 2].map((y) => ({ x, y })));
      const [best = { x: 0, y: 0 }] = shifts
        .map((shift) => ({ ...shift, ...countEqual(shift.x, shift.y, 5) }))
        .sort((a, b) => b.equal - a.equal);
      return countEqual(best.x, best.y, 1);
    },
    [screen, tiles, expected] as const,
  );
}

for (const pixelRatio of [1, 2]) {
  test.describe(`at ${pixelRatio} device pixels per CSS pixel`, () => {
    test.use({ deviceScaleFactor: pixelRatio });

    for (const drawer of drawers) {
      test(`with ${pixelRatio} device pixels per CSS pixel, the ${drawer} drawer shows the decoded pixels of the slide file at native magnification`, async ({
        openPageAs,
      }, info) => {
        const page = await openPageAs('user');
        const tiles = new Map<string, { column: number; row: number; url: string }>();
        page.on('request', (request) => {
          const url = request.url();
          const found = new RegExp(`image_files/${fullResolutionLevel}/(\\d+)_(\\d+)`).exec(url);
          if (found) tiles.set(found[0], { column: Number(found[1]), row: Number(found[2]), url });
        });
        await openField(page, drawer, `x=740.3&y=880.7&zoom=${1 / pixelRatio}`); // one image pixel per device pixel
        const screen = await screenOf(page);
        await info.attach('screen', { body: Buffer.from(screen, 'base64'), contentType: 'image/png' });
        const box = await page.getByRole('application').boundingBox();
        if (box === null) throw new Error('The viewer is not visible.');
        const left = Math.round(740.3 - (box.width * pixelRatio) / 2);
        const top = Math.round(880.7 - (box.height * pixelRatio) / 2);
        const { equal, compared } = await compareWithTiles(page, screen, [...tiles.values()], {
          left,
          top,
        });
        expect(compared).toBeGreaterThan(400_000);
        expect(equal / compared).toBeGreaterThanOrEqual(0.999);
      });
    }
  });
}
