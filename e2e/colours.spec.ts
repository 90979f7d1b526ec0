/**
 * Colours of slides with a colour profile, corrected or as scanned, with both drawers (the parts that draw tiles: WebGL and
 * canvas).
 */
import type { Page } from '@playwright/test';
import { buildColourTable, serveProfile } from './colour-profile.ts';
import { forceDrawer, webGlArguments } from './renderer-probe.ts';
import { meanColourOf } from './screenshot.ts';
import { expect, slideName, test } from './test.ts';

test.use({
  trace: 'off',
  launchOptions: {
    executablePath: process.env.PLAYWRIGHT_CHROMIUM ?? '/usr/bin/chromium',
    args: webGlArguments,
  },
});

/** A colour table that inverts every colour, so that the correction is easy to detect. */
const invertingTable = buildColourTable(2, (rgb) => rgb.map((sample) => 1 - sample));

async function openSlide(page: Page): Promise<void> {
  await page.goto('/wsi-viewer');
  await page.getByRole('button', { name: slideName }).click();
  await expect(page.getByRole('toolbar', { name: 'View controls' })).toBeVisible();
  await expect(page.getByText('Loading tiles...')).toBeHidden();
}

/** Returns the mean of the green channel in the middle of the viewer, 0 to 255. */
const greenOf = async (page: Page) => (await meanColourOf(page.getByRole('application'))).green;

for (const drawer of ['webgl', 'canvas'] as const) {
  test(`with the ${drawer} drawer, the viewer applies the colour profile of the slide, and keeps the choice “As scanned” in the URL and when the slide is opened again`, async ({
    openPageAs,
  }) => {
    const page = await openPageAs('user');
    await forceDrawer(page, drawer);
    const requestedTiles = await serveProfile(page, invertingTable);
    await openSlide(page);
    await page.getByRole('button', { name: 'Brightness and colours' }).click();
    await expect(page.getByText(/^Colour profile: AT2, 1[.,][67] MB$/)).toBeVisible();
    await page.waitForTimeout(1000); // until the last tile has faded in
    const corrected = await greenOf(page);
    const navigator = page.locator('.navigator');
    const navigatorGreen = async () => (await meanColourOf(navigator)).green;
    const correctedNavigator = await navigatorGreen();

    await page.getByText('As scanned', { exact: true }).first().click();
    await expect(page).toHaveURL(/colours=scanned/);
    // The mean also includes the colour panel and the background, which do not change.
    await expect.poll(async () => Math.abs((await greenOf(page)) - corrected)).toBeGreaterThan(30);
    await expect
      .poll(async () => Math.abs((await navigatorGreen()) - correctedNavigator))
      .toBeGreaterThan(30);
    expect(requestedTiles.some((url) => url.includes('colour=srgb'))).toBe(false);

    await openSlide(page);
    await page.getByRole('button', { name: 'Brightness and colours' }).click();
    await expect(page.getByRole('radio', { name: 'As scanned' })).toBeChecked();
    await page.getByText('Corrected', { exact: true }).click();
    await expect.poll(async () => Math.abs((await greenOf(page)) - corrected)).toBeLessThan(12);
    await expect.poll(async () => Math.abs((await navigatorGreen()) - correctedNavigator)).toBeLessThan(12);
  });
}

test('in a browser without OffscreenCanvas, the viewer requests colour-corrected tiles, or uncorrected ones when the user chooses “As scanned”', async ({
  openPageAs,
}) => {
  const page = await openPageAs('user');
  await forceDrawer(page, 'canvas');
  await page.addInitScript(() => Reflect.deleteProperty(window, 'OffscreenCanvas')); // the viewer needs it for the correction
  const requestedTiles = await serveProfile(page, invertingTable);
  await openSlide(page);
  expect(requestedTiles.length).toBeGreaterThan(0);
  expect(requestedTiles.every((url) => url.includes('colour=srgb'))).toBe(true);
  requestedTiles.length = 0;
  await page.getByRole('button', { name: 'Brightness and colours' }).click();
  await page.getByText('As scanned', { exact: true }).first().click();
  await expect(page).toHaveURL(/colours=scanned/);
  await expect.poll(() => requestedTiles.some((url) => !url.includes('colour='))).toBe(true);
  await expect(page.getByText('Loading tiles...')).toBeHidden();
  const lastCorrected = requestedTiles.findLastIndex((url) => url.includes('colour=srgb'));
  const firstUncorrected = requestedTiles.findIndex((url) => !url.includes('colour='));
  expect(firstUncorrected).toBeGreaterThan(lastCorrected);
});
