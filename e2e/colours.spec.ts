/** Colours of slides with a colour profile: corrected or as scanned, in both drawers. */
import type { Page } from '@playwright/test';
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

/** A table of 2 × 2 × 2 grid points that turns every colour into its negative. */
const negative = Buffer.from(
  Array.from({ length: 8 }, (_, point) =>
    [point & 1, point & 2, point & 4].map((bit) => (bit ? 0 : 255)),
  ).flat(),
);

/** Gives the slide a colour profile. @returns the addresses of the tiles that were requested */
async function serveProfile(page: Page): Promise<string[]> {
  const requested: string[] = [];
  await page.route('**/image.dzi*', async (route) => {
    const answer = await route.fetch();
    const profile = '<ColourProfile xmlns="urn:lamina:colour" Name="AT2" Bytes="1687824" TableNodes="2"/>';
    await route.fulfill({
      response: answer,
      body: (await answer.text())
        .replace(/<ColourProfile[^>]*>/, '')
        .replace('</Image>', `${profile}</Image>`),
    });
  });
  await page.route('**/colour-table*', (route) =>
    route.fulfill({ contentType: 'application/octet-stream', body: negative }),
  );
  page.on('request', (request) => {
    if (request.url().includes('/image_files/')) requested.push(request.url());
  });
  return requested;
}

async function openSlide(page: Page): Promise<void> {
  await page.goto('/wsi-viewer');
  await page.getByRole('button', { name: slideName }).click();
  await expect(page.getByRole('toolbar', { name: 'View controls' })).toBeVisible();
  await expect(page.getByText('Loading tiles...')).toBeHidden();
}

const greenOf = async (page: Page) => (await meanColourOf(page.getByRole('application'))).green;

test('WebGL corrects colours by the table of the slide; the switch is in the address and remembered', async ({
  visit,
}) => {
  const page = await visit('user');
  await forceDrawer(page, 'webgl');
  const requested = await serveProfile(page);
  await openSlide(page);
  await page.getByRole('button', { name: 'Brightness and colours' }).click();
  await expect(page.getByText(/^Colour profile: AT2, 1[.,][67] MB$/)).toBeVisible();
  await page.waitForTimeout(1000);
  const corrected = await greenOf(page);

  await page.getByText('As scanned', { exact: true }).first().click();
  await expect(page).toHaveURL(/colours=scanned/);
  // The table is a negative; the panel and the ground beside the slide do not change.
  await expect.poll(async () => Math.abs((await greenOf(page)) - corrected)).toBeGreaterThan(30);
  expect(requested.some((url) => url.includes('colour=srgb'))).toBe(false);

  await openSlide(page);
  await page.getByRole('button', { name: 'Brightness and colours' }).click();
  await expect(page.getByRole('radio', { name: 'As scanned' })).toBeChecked();
  await page.getByText('Corrected', { exact: true }).click();
  await expect.poll(async () => Math.abs((await greenOf(page)) - corrected)).toBeLessThan(12);
});

test('the canvas requests corrected tiles, and others after the switch', async ({ visit }) => {
  const page = await visit('user');
  await forceDrawer(page, 'canvas');
  const requested = await serveProfile(page);
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
