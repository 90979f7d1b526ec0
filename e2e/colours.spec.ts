/** Colours of slides with a colour profile: corrected or as scanned, in both drawers. */
import type { Page } from '@playwright/test';
import { serveProfile, tableOf } from './colour-profile.ts';
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

/** Turns every colour into its negative. */
const negative = tableOf(2, (rgb) => rgb.map((sample) => 1 - sample));

async function openSlide(page: Page): Promise<void> {
  await page.goto('/wsi-viewer');
  await page.getByRole('button', { name: slideName }).click();
  await expect(page.getByRole('toolbar', { name: 'View controls' })).toBeVisible();
  await expect(page.getByText('Loading tiles...')).toBeHidden();
}

const greenOf = async (page: Page) => (await meanColourOf(page.getByRole('application'))).green;

for (const drawer of ['webgl', 'canvas'] as const) {
  test(`the ${drawer} drawer corrects colours by the table of the slide; the switch is in the address and remembered`, async ({
    visit,
  }) => {
    const page = await visit('user');
    await forceDrawer(page, drawer);
    const requested = await serveProfile(page, negative);
    await openSlide(page);
    await page.getByRole('button', { name: 'Brightness and colours' }).click();
    await expect(page.getByText(/^Colour profile: AT2, 1[.,][67] MB$/)).toBeVisible();
    await page.waitForTimeout(1000);
    const corrected = await greenOf(page);
    const navigator = page.locator('.navigator');
    const smallGreen = async () => (await meanColourOf(navigator)).green;
    const smallCorrected = await smallGreen();

    await page.getByText('As scanned', { exact: true }).first().click();
    await expect(page).toHaveURL(/colours=scanned/);
    // The table is a negative; the panel and the ground beside the slide do not change.
    await expect.poll(async () => Math.abs((await greenOf(page)) - corrected)).toBeGreaterThan(30);
    await expect.poll(async () => Math.abs((await smallGreen()) - smallCorrected)).toBeGreaterThan(30);
    expect(requested.some((url) => url.includes('colour=srgb'))).toBe(false);

    await openSlide(page);
    await page.getByRole('button', { name: 'Brightness and colours' }).click();
    await expect(page.getByRole('radio', { name: 'As scanned' })).toBeChecked();
    await page.getByText('Corrected', { exact: true }).click();
    await expect.poll(async () => Math.abs((await greenOf(page)) - corrected)).toBeLessThan(12);
    await expect.poll(async () => Math.abs((await smallGreen()) - smallCorrected)).toBeLessThan(12);
  });
}

test('a browser without graphics card that cannot read a canvas requests corrected tiles, and others after the switch', async ({
  visit,
}) => {
  const page = await visit('user');
  await forceDrawer(page, 'canvas');
  await page.addInitScript(() => Reflect.deleteProperty(window, 'OffscreenCanvas'));
  const requested = await serveProfile(page, negative);
  await openSlide(page);
  expect(requested.length).toBeGreaterThan(0);
  expect(requested.every((url) => url.includes('colour=srgb'))).toBe(true);
  requested.length = 0;
  await page.getByRole('button', { name: 'Brightness and colours' }).click();
  await page.getByText('As scanned', { exact: true }).first().click();
  await expect(page).toHaveURL(/colours=scanned/);
  await expect.poll(() => requested.some((url) => !url.includes('colour='))).toBe(true);
  await expect(page.getByText('Loading tiles...')).toBeHidden();
  const prefetched = requested.findLastIndex((url) => url.includes('colour=srgb'));
  expect(requested.findIndex((url) => !url.includes('colour='))).toBeGreaterThan(prefetched);
});
