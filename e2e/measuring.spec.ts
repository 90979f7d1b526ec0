/** What is drawn over a slide stands where its tissue is, and says how large that is. */
import type { Locator, Page } from '@playwright/test';
import { expect, slideName, test } from './test.ts';

/** Screen pixels of a line that is drawn, and the zoom it is drawn at: screen pixels per image pixel. */
const length = 200;
const zoom = 0.5;

async function openAt(page: Page, query: string): Promise<{ slide: Locator; x: number; y: number }> {
  await page.goto('/wsi-viewer');
  await page.getByRole('button', { name: slideName }).click();
  const slide = page.getByRole('application');
  await expect(page.getByRole('toolbar', { name: 'Measuring and colours' })).toBeVisible();
  const image = new URL(page.url()).searchParams.get('image');
  await page.goto(`/wsi-viewer?image=${image}&${query}`);
  await expect(page.getByRole('toolbar', { name: 'Measuring and colours' })).toBeVisible();
  await expect(page.getByText('Loading tiles...')).toBeHidden();
  const box = await slide.boundingBox();
  if (box === null) throw new Error('the slide is not seen');
  return { slide, x: box.x + box.width / 2, y: box.y + box.height / 2 };
}

async function drawRuler(page: Page, x: number, y: number): Promise<void> {
  await page.mouse.move(x - length / 2, y);
  await page.mouse.down();
  await page.mouse.move(x, y, { steps: 4 });
  await page.mouse.move(x + length / 2, y, { steps: 4 });
  await page.mouse.up();
}

/** What the file says of its pixels, in the panel of the selected image. */
async function micrometresPerPixel(page: Page): Promise<number> {
  const fact = page.getByRole('region', { name: 'Selected Image' }).getByText(/^[\d.]+ µm$/);
  return Number.parseFloat((await fact.textContent()) ?? '');
}

test('the ruler measures a known distance to within 1 %, and keeps it however the slide is turned', async ({
  visit,
}) => {
  const page = await visit('user');
  const { x, y } = await openAt(page, `x=600&y=700&zoom=${zoom}`);
  await page.keyboard.press('m');
  await drawRuler(page, x, y);

  const measure = page.locator('[data-shape="ruler"] text');
  const known = (length / zoom) * (await micrometresPerPixel(page));
  const told = Number.parseFloat((await measure.textContent()) ?? '');
  expect(Math.abs(told / known - 1)).toBeLessThan(0.01);

  const text = (await measure.textContent()) ?? '';
  for (const key of ['r', 'f', '+', 'ArrowLeft', ']']) {
    await page.keyboard.press(key);
    await expect(measure).toHaveText(text);
  }
});

test('the counting circle has the diameter of one square millimetre on the scale of the slide', async ({
  visit,
}) => {
  const page = await visit('user');
  const { x, y } = await openAt(page, 'x=600&y=700&zoom=0.25');
  await page.getByRole('button', { name: 'Counting circle, 1 mm²' }).click();
  await page.mouse.click(x, y);
  const circle = page.locator('[data-shape="circle"]');
  await expect(circle.getByText('1 mm²')).toBeVisible();
  const outline = await circle.locator('polyline').first().boundingBox();
  const diameter = (2 * Math.sqrt(1 / Math.PI) * 1000 * 0.25) / (await micrometresPerPixel(page));
  expect(Math.abs((outline?.width ?? 0) / diameter - 1)).toBeLessThan(0.02);
});

test('a slide is measured by the keyboard alone, and what was drawn is taken back', async ({ visit }) => {
  const page = await visit('user');
  await openAt(page, `x=600&y=700&zoom=${zoom}`);
  await page.keyboard.press('m');
  await page.keyboard.press('Enter');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowRight');
  const moved = new URL(page.url()).searchParams.get('x');
  await expect.poll(() => new URL(page.url()).searchParams.get('x')).not.toBe(moved);
  await page.keyboard.press('Enter');
  const ruler = page.locator('[data-shape="ruler"]');
  await expect(ruler.locator('text')).toHaveText(/^[\d.]+ (µm|mm)$/);
  await page.keyboard.press('Backspace');
  await expect(ruler).toHaveCount(0);
  await page.keyboard.press('Escape');
  await expect(page.getByRole('button', { name: 'Ruler' })).toHaveAttribute('aria-pressed', 'false');
});

test('colours are adjusted for the eye, and come back as they were scanned', async ({ visit }) => {
  const page = await visit('user');
  const { slide } = await openAt(page, 'x=600&y=700&zoom=0.5');
  const filter = () =>
    slide.evaluate((element) => {
      const canvases = [...element.querySelectorAll('canvas')];
      return canvases.map((canvas) => getComputedStyle(canvas).filter).find((text) => text !== 'none');
    });
  expect(await filter()).toBeUndefined();
  await page.getByRole('button', { name: 'Brightness and colours' }).click();
  await page.getByRole('slider', { name: 'Contrast' }).focus();
  await page.keyboard.press('ArrowRight');
  await expect.poll(filter).toContain('slide-colours');
  await page.getByRole('button', { name: 'As scanned' }).click();
  await expect.poll(filter).toBeUndefined();
});

test('a screenshot is a picture named after the slide', async ({ visit }) => {
  const page = await visit('user');
  await openAt(page, 'x=600&y=700&zoom=0.5');
  const downloading = page.waitForEvent('download');
  await page.keyboard.press('s');
  const name = (await downloading).suggestedFilename();
  expect(name).toContain(slideName);
  expect(name).toMatch(/\.png$/);
  await expect(page.getByText('The screenshot has been saved')).toBeAttached();
});
