/** Annotations: drawing tools, saving, and the changes that other users see. */
import type { Page } from '@playwright/test';
import {
  drawTriangle,
  openSlide,
  annotationPanel as panel,
  annotationRow as row,
  savedIndicator,
  startDrawing,
  test,
} from './annotation-steps.ts';
import { expectNoAxeFindings } from './axe.ts';
import { expect } from './test.ts';

test('a polygon that is drawn and classified with a digit key is still present after a reload', async ({
  openPageAs,
}) => {
  const page = await openPageAs('user');
  const slide = await openSlide(page);
  await startDrawing(page);
  await drawTriangle(page, slide);
  await expect(row(page, /^Area/)).toHaveAttribute('aria-pressed', 'true');
  await page.keyboard.press('1');
  await expect(panel(page).locator('span', { hasText: 'Tumor' })).toBeVisible();
  const size = await row(page, /^Area/).textContent();
  expect(size).toMatch(/mm²|µm²/);
  await expect(savedIndicator(page)).toHaveText('Saved');

  await page.reload();
  await startDrawing(page);
  await expect(panel(page).locator('span', { hasText: 'Tumor' })).toBeVisible();
  expect((await row(page, /^Area/).textContent()) ?? '').toContain(size?.slice(0, 8) ?? 'no size');
  await page.mouse.click(slide.x, slide.y);
  await expect(row(page, /^Area/)).toHaveAttribute('aria-pressed', 'true');

  await page.keyboard.press('Delete');
  await expect(panel(page).getByText('This slide has no annotations yet.')).toBeVisible();
  await page.keyboard.press('Control+z');
  await expect(row(page, /^Area/)).toBeVisible();
  await expect(savedIndicator(page)).toHaveText('Saved');
});

test.describe('an annotation that cannot be saved', () => {
  test.use({ expectedConsoleErrors: /ERR_FAILED|Failed to load resource/ });

  test('an annotation drawn while the server is unreachable is kept in the browser, and is saved after a reload when the server responds', async ({
    openPageAs,
  }) => {
    const page = await openPageAs('user');
    const slide = await openSlide(page);
    await page.route('**/api/v1/annotation-layers/*/changes', (route) => route.abort());
    await startDrawing(page);
    await drawTriangle(page, slide);
    await expect(page.getByText('Offline: 1 change kept on this computer')).toBeVisible();

    await page.unroute('**/api/v1/annotation-layers/*/changes');
    const sent = page.waitForResponse((response) => response.url().endsWith('/changes') && response.ok());
    await page.reload();
    await sent;
    await startDrawing(page);
    await expect(row(page, /^Area/)).toBeVisible();
    await expect(savedIndicator(page)).toHaveText('Saved');
  });
});

test('the brush tool paints an area, enlarges it, and erases part of it while Alt is pressed', async ({
  openPageAs,
}) => {
  const page = await openPageAs('user');
  const slide = await openSlide(page);
  await startDrawing(page);
  await page.keyboard.press('b'); // selects the brush
  /** Paints a horizontal stroke. @param fromX and `toX` are CSS pixels from the middle of the viewer */
  const paint = async (fromX: number, toX: number) => {
    await page.mouse.move(slide.x + fromX, slide.y);
    await page.mouse.down();
    await page.mouse.move(slide.x + (fromX + toX) / 2, slide.y, { steps: 4 });
    await page.mouse.move(slide.x + toX, slide.y, { steps: 4 });
    await page.mouse.up();
  };
  /** Returns the area that the row of the annotation shows, for example 12.5 for "12.5 µm²". */
  const shownArea = async () =>
    Number.parseFloat(/[\d.]+(?= [mµ]m²)/.exec((await row(page, /^Area/).textContent()) ?? '')?.[0] ?? '');
  await paint(-60, 0);
  await expect(row(page, /^Area/)).toBeVisible();
  const paintedArea = await shownArea();
  await paint(-10, 60);
  await expect.poll(shownArea).toBeGreaterThan(paintedArea);
  await expect(row(page, /^Area/)).toHaveCount(1);
  const enlargedArea = await shownArea();
  await page.keyboard.down('Alt');
  await paint(-120, -40);
  await page.keyboard.up('Alt');
  await expect.poll(shownArea).toBeLessThan(enlargedArea);
});

test('in the drawing mode of the viewer, axe finds no accessibility violation, and on a phone at most six controls cover the slide', async ({
  openPageAs,
}) => {
  const page = await openPageAs('user');
  const slide = await openSlide(page);
  await startDrawing(page);
  await drawTriangle(page, slide);
  await expect(row(page, /^Area/)).toBeVisible();
  await expectNoAxeFindings(page, 'drawing mode');
  await page.setViewportSize({ width: 390, height: 844 });
  await page.reload();
  await startDrawing(page);
  const controls = page.getByRole('group', { name: 'Slide tools' }).getByRole('button');
  expect(await controls.count()).toBeLessThanOrEqual(6);
  await page.getByRole('button', { name: 'All tools' }).click();
  await expect(page.getByRole('button', { name: 'Rectangle' })).toBeVisible();
  await expectNoAxeFindings(page, 'drawing mode on a phone');
});

test('an account with the role viewer sees shared annotations and has no drawing tools', async ({
  openPageAs,
}) => {
  const page = await openPageAs('user');
  const slide = await openSlide(page);
  await startDrawing(page);
  await drawTriangle(page, slide);
  await expect(row(page, /^Area/)).toBeVisible();
  await expect(savedIndicator(page)).toHaveText('Saved');
  await panel(page).getByRole('combobox', { name: 'Who can see the layer?' }).selectOption('members');
  await expect(panel(page).getByRole('combobox', { name: 'Who can change the layer?' })).toBeVisible();

  const reader = await openPageAs('viewer');
  await openSlide(reader);
  await reader.getByRole('button', { name: 'Annotations' }).click();
  await expect(row(reader, /^Area/)).toBeVisible();
  await expect(reader.getByRole('button', { name: 'Polygon' })).toHaveCount(0);
  await reader.mouse.click(slide.x, slide.y);
  await expect(row(reader, /^Area/)).toHaveAttribute('aria-pressed', 'true');
  await reader.keyboard.press('Delete');
  await expect(row(reader, /^Area/)).toBeVisible();
});

test("two people see each other's changes to a shared annotation layer within a second", async ({
  openPageAs,
}) => {
  const page = await openPageAs('user');
  const slide = await openSlide(page);
  await startDrawing(page);
  await drawTriangle(page, slide);
  await expect(savedIndicator(page)).toHaveText('Saved');
  await panel(page).getByRole('combobox', { name: 'Who can see the layer?' }).selectOption('members');
  await panel(page).getByRole('combobox', { name: 'Who can change the layer?' }).selectOption('members');

  const colleague = await openPageAs('user');
  await openSlide(colleague);
  await startDrawing(colleague);
  await expect(colleague.locator('[data-live]')).toBeAttached(); // the page receives changes of other users
  await expect(row(colleague, /^Area/)).toBeVisible();
  await expect(panel(colleague).getByText('No class')).toBeVisible();

  const responded = page.waitForResponse((response) => response.url().endsWith('/changes'));
  await page.keyboard.press('1'); // assigns the first annotation class, Tumor
  await responded;
  await expect(panel(colleague).locator('span', { hasText: 'Tumor' })).toBeVisible({ timeout: 1000 });

  await row(colleague, /^Area/).click();
  await colleague.keyboard.press('Delete');
  await expect(savedIndicator(colleague)).toHaveText('Saved');
  await expect(panel(page).getByText('This slide has no annotations yet.')).toBeVisible({ timeout: 1000 });
});

/** Returns whether an annotation is visible over the slide. */
function isDrawnOn(page: Page): Promise<boolean> {
  return page.evaluate(() => {
    const canvas = document.querySelector<HTMLCanvasElement>('[data-live] canvas');
    const context = canvas?.getContext('2d');
    if (!canvas || !context || canvas.width === 0) return false;
    return context.getImageData(0, 0, canvas.width, canvas.height).data.some((value) => value > 0);
  });
}

test('when a user shares the first annotation layer of a slide, its annotations appear on the open page of another user', async ({
  openPageAs,
}) => {
  const reader = await openPageAs('viewer');
  await openSlide(reader);
  await expect(reader.getByRole('button', { name: 'Annotations' })).toBeVisible();

  const page = await openPageAs('user');
  const slide = await openSlide(page);
  await startDrawing(page);
  await drawTriangle(page, slide);
  await expect(savedIndicator(page)).toHaveText('Saved');
  expect(await isDrawnOn(reader)).toBe(false);
  await panel(page).getByRole('combobox', { name: 'Who can see the layer?' }).selectOption('members');
  await expect.poll(() => isDrawnOn(reader), { intervals: [50] }).toBe(true);
});

test('a click with the wand tool outlines the region of similar colour around the clicked point', async ({
  openPageAs,
}) => {
  const page = await openPageAs('user');
  const slide = await openSlide(page);
  await startDrawing(page);
  await page.keyboard.press('w'); // selects the wand
  await page.mouse.click(slide.x, slide.y);
  await expect(row(page, /^Area/)).toHaveCount(1);
  await expect(savedIndicator(page)).toHaveText('Saved');
});

test('the cut tool splits an area into two annotations along a drawn line', async ({ openPageAs }) => {
  const page = await openPageAs('user');
  const slide = await openSlide(page);
  await startDrawing(page);
  await drawTriangle(page, slide);
  await expect(row(page, /^Area/)).toHaveCount(1);
  await page.keyboard.press('x'); // selects the cut tool
  await page.mouse.click(slide.x + 10, slide.y - 120);
  await page.mouse.dblclick(slide.x + 10, slide.y + 120);
  await expect(row(page, /^Area/)).toHaveCount(2);
  await expect(savedIndicator(page)).toHaveText('Saved');
});
