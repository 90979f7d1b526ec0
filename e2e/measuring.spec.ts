/** Measuring tools, colours, screenshots and other controls of the viewer. */
import type { Locator, Page } from '@playwright/test';
import { expect, slideName, test } from './test.ts';

/** Length of the drawn ruler in screen pixels. */
const rulerPixels = 200;
/** Screen pixels per image pixel while the ruler is drawn. */
const zoom = 0.5;

/**
 * Opens the slide at a view.
 *
 * @param query URL parameters of the view
 * @returns the slide and the middle of the viewer in CSS pixels
 */
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
  if (box === null) throw new Error('The slide is not visible.');
  return { slide, x: box.x + box.width / 2, y: box.y + box.height / 2 };
}

/** Draws a horizontal ruler of `rulerPixels` with the middle x, y (CSS pixels). */
async function drawRuler(page: Page, x: number, y: number): Promise<void> {
  await page.mouse.move(x - rulerPixels / 2, y);
  await page.mouse.down();
  await page.mouse.move(x, y, { steps: 4 });
  await page.mouse.move(x + rulerPixels / 2, y, { steps: 4 });
  await page.mouse.up();
}

/** Returns the pixel size of the slide from the panel of the selected image, in micrometres. */
async function micrometresPerPixel(page: Page): Promise<number> {
  const fact = page.getByRole('region', { name: 'Selected Image' }).getByText(/^[\d.]+ µm$/);
  return Number.parseFloat((await fact.textContent()) ?? '');
}

test('a double click on a mirrored slide zooms about the clicked place', async ({ openPageAs }) => {
  const page = await openPageAs('user');
  const { x, y } = await openAt(page, `x=600&y=700&zoom=${zoom}&mirror=1`);
  const left = 150; // CSS pixels from the middle
  await page.mouse.dblclick(x - left, y);
  // The clicked place is at the same point of the screen at the doubled zoom.
  const clicked = 600 + left / zoom; // in a mirrored slide, x grows to the left
  const expectedX = clicked - left / (2 * zoom);
  const shown = (name: string) => Number(new URL(page.url()).searchParams.get(name));
  await expect.poll(() => shown('zoom')).toBeCloseTo(2 * zoom, 1);
  await expect.poll(() => Math.abs(shown('x') - expectedX)).toBeLessThan(5);
});

test('Escape during a drag with the ruler draws nothing, and the next drag draws one ruler', async ({
  openPageAs,
}) => {
  const page = await openPageAs('user');
  const { x, y } = await openAt(page, `x=600&y=700&zoom=${zoom}`);
  await page.keyboard.press('m');
  await page.mouse.move(x - 100, y);
  await page.mouse.down();
  await page.mouse.move(x, y, { steps: 4 });
  await page.keyboard.press('Escape');
  await page.mouse.move(x + 50, y, { steps: 4 });
  await page.mouse.up();
  await page.mouse.move(x + 90, y + 90);
  await expect(page.locator('[data-shape]')).toHaveCount(0);
  await drawRuler(page, x, y);
  await expect(page.locator('[data-shape="ruler"]')).toHaveCount(1);
});

test('the ruler measures a known distance to within 1 %, and its length does not change when the slide is rotated', async ({
  openPageAs,
}) => {
  const page = await openPageAs('user');
  const { x, y } = await openAt(page, `x=600&y=700&zoom=${zoom}`);
  await page.keyboard.press('m');
  await drawRuler(page, x, y);

  const measure = page.locator('[data-shape="ruler"] text');
  const expectedUm = (rulerPixels / zoom) * (await micrometresPerPixel(page));
  const measuredUm = Number.parseFloat((await measure.textContent()) ?? '');
  expect(Math.abs(measuredUm / expectedUm - 1)).toBeLessThan(0.01);

  const text = (await measure.textContent()) ?? '';
  // Rotate, mirror, zoom in, move left, rotate by a small angle.
  for (const key of ['r', 'f', '+', 'ArrowLeft', ']']) {
    await page.keyboard.press(key);
    await expect(measure).toHaveText(text);
  }
});

test('the counting circle, in which a user counts cells, has an area of 1 mm² at the scale of the slide', async ({
  openPageAs,
}) => {
  const page = await openPageAs('user');
  const { x, y } = await openAt(page, 'x=600&y=700&zoom=0.25');
  await page.getByRole('button', { name: 'Counting circle, 1 mm²' }).click();
  await page.mouse.click(x, y);
  const circle = page.locator('[data-shape="circle"]');
  await expect(circle.getByText('1 mm²')).toBeVisible();
  const outline = await circle.locator('polyline').first().boundingBox();
  const diameterUm = 2 * Math.sqrt(1 / Math.PI) * 1000; // of a circle of 1 mm²
  const diameter = (diameterUm * 0.25) / (await micrometresPerPixel(page)); // screen pixels at zoom 0.25
  expect(Math.abs((outline?.width ?? 0) / diameter - 1)).toBeLessThan(0.02);
});

test('a user measures a distance on the slide by keyboard, and Backspace removes the measurement', async ({
  openPageAs,
}) => {
  const page = await openPageAs('user');
  await openAt(page, `x=600&y=700&zoom=${zoom}`);
  await page.keyboard.press('m');
  await page.keyboard.press('Enter');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowRight');
  const previousX = new URL(page.url()).searchParams.get('x');
  await expect.poll(() => new URL(page.url()).searchParams.get('x')).not.toBe(previousX);
  await page.keyboard.press('Enter');
  const ruler = page.locator('[data-shape="ruler"]');
  await expect(ruler.locator('text')).toHaveText(/^[\d.]+ (µm|mm)$/);
  await page.keyboard.press('Backspace');
  await expect(ruler).toHaveCount(0);
  await page.keyboard.press('Escape');
  await expect(page.getByRole('button', { name: 'Ruler' })).toHaveAttribute('aria-pressed', 'false');
});

test('the contrast slider of the viewer changes the colours of the slide, and the button “As scanned” resets the colours', async ({
  openPageAs,
}) => {
  const page = await openPageAs('user');
  const { slide } = await openAt(page, 'x=600&y=700&zoom=0.5');
  /** Returns the CSS filter that changes the colours; undefined when the slide has no filter. */
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

test('the ruler draws again, without being chosen again, after a click on empty glass has set the white balance', async ({
  openPageAs,
}) => {
  const page = await openPageAs('user');
  const { x, y } = await openAt(page, 'x=600&y=700&zoom=0.5'); // the middle is empty glass
  await page.keyboard.press('m');
  await page.getByRole('button', { name: 'Brightness and colours' }).click();
  await page.getByRole('button', { name: 'White balance', exact: true }).click();
  await page.mouse.click(x, y);
  await expect(page.getByText('The white balance has been set')).toBeAttached();
  await expect(page.getByRole('button', { name: 'Ruler' })).toHaveAttribute('aria-pressed', 'true');
  await expect(page.locator('[data-shape="ruler"]')).toHaveCount(0);
  await drawRuler(page, x, y);
  await expect(page.locator('[data-shape="ruler"] text')).toBeVisible();
});

test.describe('without a network', () => {
  test.use({ expectedConsoleErrors: /ERR_INTERNET_DISCONNECTED|The server does not respond/ });

  test('the slide and its measurements stay when the drawing tools cannot be loaded, and Retry loads the tools when the network is back', async ({
    openPageAs,
  }) => {
    const page = await openPageAs('user');
    const { x, y } = await openAt(page, 'x=600&y=700&zoom=0.5');
    await page.keyboard.press('m');
    await drawRuler(page, x, y);
    await page.context().setOffline(true);
    await page.keyboard.press('d');
    const message = page.getByRole('alert').filter({ hasText: 'The annotations cannot be shown' });
    await expect(message).toBeVisible();
    await expect(page.locator('[data-shape="ruler"] text')).toBeVisible();
    await message.getByRole('button', { name: 'Close' }).click();
    await expect(message).toBeHidden();

    await page.keyboard.press('d');
    await message.getByRole('button', { name: 'Retry' }).click();
    await expect(message).toBeVisible(); // again, because the network is still missing
    await page.context().setOffline(false);
    await message.getByRole('button', { name: 'Retry' }).click();
    await expect(page.getByRole('toolbar', { name: 'Drawing tools' })).toBeVisible();
    await expect(page.locator('[data-shape="ruler"] text')).toBeVisible();
  });
});

test('the key S saves a screenshot of the viewer as a PNG file named after the slide', async ({
  openPageAs,
}) => {
  const page = await openPageAs('user');
  await openAt(page, 'x=600&y=700&zoom=0.5');
  const downloading = page.waitForEvent('download');
  await page.keyboard.press('s');
  const name = (await downloading).suggestedFilename();
  expect(name).toContain(slideName);
  expect(name).toMatch(/\.png$/);
  await expect(page.getByText('The screenshot has been saved')).toBeAttached();
});

test('clicks inside the counting circle of the viewer count cells, and Backspace removes the last counted cell', async ({
  openPageAs,
}) => {
  const page = await openPageAs('user');
  const { x, y } = await openAt(page, 'x=600&y=700&zoom=0.25');
  await page.keyboard.press('c'); // selects the counting circle, which the click places
  await page.mouse.click(x, y);
  await page.keyboard.press('k'); // selects the counting tool
  await expect(page.getByText('Counted: 0 · Click each cell once')).toBeVisible();
  await page.mouse.click(x + 20, y);
  await page.mouse.click(x - 20, y + 30);
  const circle = page.locator('[data-shape="circle"] text');
  await expect(circle).toHaveText('1 mm²: 2');
  await page.keyboard.press('Backspace');
  await expect(circle).toHaveText('1 mm²: 1');
});

test('the end of a ruler can be dragged by its handle after Esc has ended the ruler tool', async ({
  openPageAs,
}) => {
  const page = await openPageAs('user');
  const { x, y } = await openAt(page, `x=600&y=700&zoom=${zoom}`);
  await page.keyboard.press('m');
  await drawRuler(page, x, y);
  await page.keyboard.press('Escape');
  const measure = page.locator('[data-shape="ruler"] text');
  const before = Number.parseFloat((await measure.textContent()) ?? '');
  await page.mouse.move(x + rulerPixels / 2, y);
  await page.mouse.down();
  await page.mouse.move(x, y, { steps: 4 });
  await page.mouse.up();
  await expect
    .poll(async () => Number.parseFloat((await measure.textContent()) ?? '') / before)
    .toBeCloseTo(0.5, 1);
});

test('when a counting circle is larger than the screen, the view zooms out until the circle fits on the screen', async ({
  openPageAs,
}) => {
  const page = await openPageAs('user');
  const { slide } = await openAt(page, 'x=600&y=700&zoom=2');
  await page.getByRole('button', { name: 'Counting circle, 1 mm²' }).click();
  await expect.poll(() => Number(new URL(page.url()).searchParams.get('zoom'))).toBeLessThan(0.5);
  const box = await slide.boundingBox();
  if (box === null) throw new Error('The slide is not visible.');
  await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
  const outline = await page.locator('[data-shape="circle"] polyline').first().boundingBox();
  expect(outline?.height ?? 0).toBeLessThan(box.height);
});

test('Esc closes the colour panel or rotation panel of the viewer, and the focus returns to the button that opened the panel', async ({
  openPageAs,
}) => {
  const page = await openPageAs('user');
  await openAt(page, 'x=600&y=700&zoom=0.5');
  for (const [button, slider] of [
    ['Brightness and colours', page.getByRole('slider', { name: 'Contrast' })],
    ['Rotation angle', page.getByRole('slider', { name: 'Rotation angle' })],
  ] as const) {
    await page.getByRole('button', { name: button }).click();
    await slider.focus();
    await page.keyboard.press('Escape');
    await expect(slider).toHaveCount(0);
    await expect(page.getByRole('button', { name: button })).toBeFocused();
  }
});

test('the viewer shows a typed rotation angle over the slide and keeps the angle in the URL', async ({
  openPageAs,
}) => {
  const page = await openPageAs('user');
  await openAt(page, 'x=600&y=700&zoom=0.5');
  await page.getByRole('button', { name: 'Rotation angle' }).click();
  await page.getByRole('textbox', { name: 'Rotation angle' }).fill('37');
  await expect(page.getByText('37°', { exact: true })).toBeVisible();
  await expect.poll(() => new URL(page.url()).searchParams.get('rotation')).toBe('37');
});

test('a button of the viewer copies the link to the current view', async ({ openPageAs }) => {
  const page = await openPageAs('user');
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await openAt(page, 'x=600&y=700&zoom=0.5');
  await page.getByRole('button', { name: 'Copy link to this view' }).click();
  await expect(page.getByRole('button', { name: 'Link copied' })).toBeVisible();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(page.url());
});

test('on a phone, at most six controls of the viewer cover the slide until the button All tools is pressed', async ({
  openPageAs,
}) => {
  const page = await openPageAs('user');
  await page.setViewportSize({ width: 390, height: 844 });
  await openAt(page, 'x=600&y=700&zoom=0.5');
  const controls = page.getByRole('group', { name: 'Slide tools' }).getByRole('button');
  expect(await controls.count()).toBeLessThanOrEqual(6);
  await page.getByRole('button', { name: 'All tools' }).click();
  await expect(page.getByRole('button', { name: 'Ruler' })).toBeVisible();
  await expect(page.getByRole('button', { name: 'Mirror' })).toBeVisible();
  await page.getByRole('button', { name: 'Hide tools' }).click();
  await expect(page.getByRole('button', { name: 'Ruler' })).toBeHidden();
});
