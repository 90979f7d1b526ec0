/** Steps that the browser tests of annotations share. Annotations belong to annotation layers; a slide has any number of layers. */
import type { Locator, Page } from '@playwright/test';
import { administratorToken, callApi } from './accounts.ts';
import { test as base, expect, slideName } from './test.ts';

/**
 * A test that ends by deleting all annotation and result layers of the slides, because other tests open the same slides. The layers are
 * deleted after the pages of the test are closed; a page that is still saving would report an error about a missing layer.
 */
export const test = base.extend<{ readonly clearSlidesAfterwards: undefined }>({
  // Automatic fixtures begin before the fixture `openPageAs`, which opens pages, and end after it.
  clearSlidesAfterwards: [
    async ({ product }, use) => {
      await use(undefined);
      await clearSlides(product.url);
    },
    { auto: true },
  ],
});

interface OpenSlide {
  /** Id of the slide in the catalogue. */
  readonly imageId: string;
  /** Middle of the viewer on the screen, in CSS pixels. */
  readonly x: number;
  readonly y: number;
}

/** Opens the slide in the viewer around the point 600, 700 (pixels of full resolution) and waits until its tiles are loaded. */
export async function openSlide(page: Page): Promise<OpenSlide> {
  await page.goto('/wsi-viewer');
  await page.getByRole('button', { name: slideName }).click();
  await expect(page.getByRole('toolbar', { name: 'Measuring and colours' })).toBeVisible();
  const imageId = new URL(page.url()).searchParams.get('image') ?? '';
  await page.goto(`/wsi-viewer?image=${imageId}&x=600&y=700&zoom=0.5`);
  await expect(page.getByRole('toolbar', { name: 'Measuring and colours' })).toBeVisible();
  await expect(page.getByText('Loading tiles...')).toBeHidden();
  const box = await page.getByRole('application').boundingBox();
  if (box === null) throw new Error('The slide is not visible.');
  return { imageId, x: box.x + box.width / 2, y: box.y + box.height / 2 };
}

/**
 * Draws a triangle around the middle of the viewer: clicks its three corners, and then the first corner again, which closes the polygon.
 */
export async function drawTriangle(page: Page, { x, y }: OpenSlide): Promise<void> {
  await page.keyboard.press('p'); // the polygon tool
  const cornersFromMiddle = [
    [0, -60],
    [80, 60],
    [-80, 60],
    [0, -60],
  ] as const;
  for (const [dx, dy] of cornersFromMiddle) {
    await page.mouse.click(x + dx, y + dy);
    // Without the pause, two clicks at one position could be a double click, which ends the polygon.
    await page.waitForTimeout(50);
  }
}

/** Opens the drawing tools with the key D. */
export async function startDrawing(page: Page): Promise<void> {
  await expect(page.getByRole('toolbar', { name: 'Measuring and colours' })).toBeVisible();
  await page.keyboard.press('d');
  await expect(page.getByRole('toolbar', { name: 'Drawing tools' })).toBeVisible();
}

export const annotationPanel = (page: Page): Locator => page.getByRole('region', { name: 'Annotations' });
export const annotationRow = (page: Page, name: RegExp): Locator =>
  annotationPanel(page).getByRole('button', { name });
/** The element that the page contains only while all changes are saved. */
export const savedIndicator = (page: Page): Locator => page.locator('[data-save-state="saved"]');

/** Deletes all annotation layers and result layers of all slides. */
async function clearSlides(productUrl: string): Promise<void> {
  const token = await administratorToken(productUrl);
  const { images } = await callApi(productUrl, 'GET', '/image-catalog/images', { token });
  for (const { id } of images as { id: string }[]) {
    for (const kind of ['annotation-layers', 'result-layers']) {
      const { layers } = await callApi(productUrl, 'GET', `/image-catalog/images/${id}/${kind}`, { token });
      for (const layer of layers as { id: string }[]) {
        await callApi(productUrl, 'DELETE', `/${kind}/${layer.id}`, { token });
      }
    }
  }
}
