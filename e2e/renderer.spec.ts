/** Drawing with WebGL: memory during pans over many tiles, loss of the graphics context, colours, and saved pictures. */
import { readFile } from 'node:fs/promises';
import type { Browser, Page } from '@playwright/test';
import {
  collectGarbage,
  countGraphics,
  countServedTiles,
  forceDrawer,
  graphicsOf,
  panUntil,
  processesOf,
  serveLargeSlide,
  tileSize,
  webGlArguments,
} from './renderer-probe.ts';
import { meanColourOf } from './screenshot.ts';
import { expect, slideName, test } from './test.ts';

test.use({
  viewport: { width: 900, height: 640 },
  trace: 'off',
  launchOptions: {
    executablePath: process.env.PLAYWRIGHT_CHROMIUM ?? '/usr/bin/chromium',
    args: webGlArguments,
  },
});

/** Returns the private memory (RssAnon) of all renderer and GPU processes of the browser, in MB. */
async function memoryOf(browser: Browser): Promise<number> {
  let kilobytes = 0;
  for (const { type, id } of await processesOf(browser)) {
    if (type !== 'renderer' && type !== 'GPU') continue;
    const status = await readFile(`/proc/${id}/status`, 'utf8');
    kilobytes += Number(/RssAnon:\s+(\d+)/.exec(status)?.[1] ?? 0);
  }
  return Math.round(kilobytes / 1024);
}

test('object URLs, bitmaps and textures stay below their limits while the viewer pans over more tiles than its limit of textures', async ({
  openPageAs,
  browser,
}, info) => {
  test.setTimeout(300_000); // the page loads more than a thousand tiles
  const tiles = Number(process.env.RENDERER_TILES ?? 1400);
  const page = await openPageAs('user');
  await forceDrawer(page, 'webgl');
  await countGraphics(page);
  await serveLargeSlide(page, 100_000);
  await page.goto('/wsi-viewer');
  await page.getByRole('button', { name: slideName }).click();
  await expect(page).toHaveURL(/image=/);
  await page.goto(`${page.url().replace(/[&?](x|y|zoom)=[^&]*/g, '')}&x=4000&y=50000&zoom=1`);
  await expect(page.getByTitle('Scale bar')).toBeVisible();

  const figures = [];
  for (const share of [0.2, 0.6, 1]) {
    await panUntil(page, tiles * share);
    await collectGarbage(page);
    figures.push({
      tiles: await countServedTiles(page),
      ...(await graphicsOf(page)),
      memory: await memoryOf(browser),
    });
  }
  await info.attach('figures', { body: JSON.stringify(figures, null, 2), contentType: 'application/json' });
  const [, , last] = figures;
  // Textures of 240 × 240 pixels with 4 bytes each in 256 MB, and one texture for the colour table.
  const maxTextures = (256 * 2 ** 20) / (tileSize * tileSize * 4) + 1;
  expect(last?.objectUrls).toBe(0);
  expect(last?.bitmaps).toBeLessThan(100);
  expect(last?.textures).toBeLessThanOrEqual(maxTextures);
  expect(last?.mainThreadDecodes).toBe(0);
  expect(last?.canvasCopies).toBe(0);
  expect(last?.contexts).toBe(1);
});

/** Opens a slide that is drawn with WebGL. */
async function openWithWebGl(page: Page): Promise<void> {
  await forceDrawer(page, 'webgl');
  await page.goto('/wsi-viewer');
  await page.getByRole('button', { name: slideName }).click();
  await expect(page.getByRole('toolbar', { name: 'View controls' })).toBeVisible();
  await expect(page.getByText('Loading tiles...')).toBeHidden();
}

const meanColour = (page: Page) => meanColourOf(page.getByRole('application'));

test('the viewer draws the slide again after a lost WebGL context is restored', async ({ openPageAs }) => {
  const page = await openPageAs('user');
  await openWithWebGl(page);
  await page.waitForTimeout(1000); // until the last tile has faded in
  const before = await meanColour(page);
  const isLost = await page.evaluate(async () => {
    const canvas = document.querySelector('.openseadragon-canvas canvas');
    const gl = canvas instanceof HTMLCanvasElement ? canvas.getContext('webgl2') : null;
    const extension = gl?.getExtension('WEBGL_lose_context');
    extension?.loseContext();
    await new Promise((done) => setTimeout(done, 300));
    const lost = gl?.isContextLost();
    extension?.restoreContext();
    return lost;
  });
  expect(isLost).toBe(true);
  await expect
    .poll(async () => {
      const after = await meanColour(page);
      return Math.abs(after.red - before.red) + Math.abs(after.green - before.green);
    })
    .toBeLessThan(2);
});

test('when a lost WebGL context is not restored, the viewer draws the slide on a 2D canvas without a reload', async ({
  openPageAs,
}) => {
  const page = await openPageAs('user');
  await openWithWebGl(page);
  await page.waitForTimeout(1000); // until the last tile has faded in
  const before = await meanColour(page);
  await page.evaluate(() => {
    const canvas = document.querySelector('.openseadragon-canvas canvas');
    const gl = canvas instanceof HTMLCanvasElement ? canvas.getContext('webgl2') : null;
    gl?.getExtension('WEBGL_lose_context')?.loseContext();
  });
  await expect
    .poll(
      async () => {
        const after = await meanColour(page);
        return Math.abs(after.red - before.red) + Math.abs(after.green - before.green);
      },
      { timeout: 15_000 },
    )
    .toBeLessThan(2);
});

test('in the WebGL viewer, brightness changes the colours until the button Reset colours is pressed, and a click on empty glass sets the white balance', async ({
  openPageAs,
}) => {
  const page = await openPageAs('user');
  await openWithWebGl(page);
  await page.waitForTimeout(1000); // until the last tile has faded in
  const before = await meanColour(page);
  const colours = page.getByRole('button', { name: /^Brightness and colours/ });
  await colours.click();
  await page.getByRole('slider', { name: 'Brightness' }).focus();
  await page.keyboard.press('Home');
  await colours.click();
  // About half of the measured area is background, which does not change.
  await expect.poll(async () => (await meanColour(page)).red).toBeLessThan(before.red - 20);
  await page.getByRole('button', { name: 'Reset colours' }).click();
  await expect.poll(async () => Math.abs((await meanColour(page)).red - before.red)).toBeLessThan(3);

  await colours.click();
  await page.getByRole('button', { name: 'White balance', exact: true }).click();
  await expect(page.getByText('Click an empty, bright place on the slide')).toBeVisible();
  const stage = await page.getByRole('application').boundingBox();
  if (stage === null) throw new Error('The viewer is not visible.');
  // Clicks empty glass on the left of the tissue.
  await page.mouse.click(stage.x + stage.width * 0.2, stage.y + stage.height * 0.6);
  await expect(page.getByRole('button', { name: 'Reset white balance' })).toBeVisible();
  await expect(page.getByText('The white balance has been set')).toBeAttached();
  await expect(page.getByText('Colours changed')).toBeVisible();
});

// The first bytes of a file of each format, in hexadecimal.
for (const [format, magic] of [
  ['PNG', '89504e47'],
  ['JPEG', 'ffd8ff'],
] as const) {
  test(`the viewer saves a picture of the slide as ${format} with the pixel size that the save panel shows for the chosen magnification`, async ({
    openPageAs,
  }) => {
    const page = await openPageAs('user');
    await openWithWebGl(page);
    await page.keyboard.press('Shift+S');
    const panel = page.getByRole('region', { name: 'Save picture…' });
    await panel.getByText(format, { exact: true }).click();
    const choices = await panel.getByRole('combobox').locator('option').allTextContents();
    await panel.getByRole('combobox').selectOption({ index: choices.length - 1 }); // the last magnification of the list
    const pixels = /([\d,.]+) × ([\d,.]+) pixels/.exec(await panel.innerText());
    const [width, height] = [pixels?.[1], pixels?.[2]].map((text) => Number(text?.replace(/[,.]/g, '')));
    const downloading = page.waitForEvent('download');
    await panel.getByRole('button', { name: 'Save' }).click();
    const file = await readFile(await (await downloading).path());
    expect(file.subarray(0, magic.length / 2).toString('hex')).toBe(magic);
    const size = await page.evaluate(async (bytes) => {
      const blob = new Blob([Uint8Array.from(atob(bytes), (character) => character.charCodeAt(0))]);
      const bitmap = await createImageBitmap(blob);
      return [bitmap.width, bitmap.height];
    }, file.toString('base64'));
    expect(size).toEqual([width, height]);
    expect(width).toBeGreaterThan(1000);
  });
}
