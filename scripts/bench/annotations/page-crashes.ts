/**
 * A measurement that crashes a page repeatedly while the page cannot save. Then another page saves the annotations that
 * the browser has stored, and the measurement counts the missing ones.
 */
import { setTimeout } from 'node:timers/promises';
import type { Browser, Page } from '@playwright/test';
import { callApi } from '../../services/api-client.ts';
import type { RunningProduct } from '../product.ts';
import { slideNames } from '../slides/slides.ts';
import type { Row } from './annotations-part.ts';
import { clearLayers } from './generated-annotations.ts';
import { middleOf, openContext } from './signed-in-page.ts';

/** URL pattern of the requests that save annotations. */
const saveRequests = '**/api/v1/annotation-layers/*/changes';

/**
 * Repeats `crashes` times: opens a page, draws an annotation that the page cannot save, and crashes the page. Then opens a page
 * that can save, and counts the annotations on the server.
 */
export async function measureCrashes(
  browser: Browser,
  product: RunningProduct,
  crashes: number,
): Promise<Row> {
  const target = { ...product, imageId: product.imageIdOf(slideNames.scan) };
  const context = await openContext(browser, product);
  const openViewer = async (page: Page, crash: number) => {
    const query = new URLSearchParams({
      image: target.imageId,
      x: String(1000 + crash * 5), // another place for each annotation
      y: '700',
      zoom: '0.5',
    });
    await page.goto(`${product.url}/wsi-viewer?${query}`);
    await page.getByRole('toolbar', { name: 'Measuring and colours' }).waitFor();
    await page.keyboard.press('d'); // opens the drawing tools
    await page.getByRole('toolbar', { name: 'Drawing tools' }).waitFor();
  };
  try {
    await context.route(saveRequests, (route) => route.abort());
    for (let crash = 0; crash < crashes; crash++) {
      const page = await context.newPage();
      await openViewer(page, crash);
      await drawRectangle(page, crash);
      const devTools = await context.newCDPSession(page);
      // The command gets no response when the page crashes.
      await Promise.race([devTools.send('Page.crash').catch(() => undefined), setTimeout(1000)]);
      await page.close();
    }
    await context.unroute(saveRequests);
    const page = await context.newPage();
    await openViewer(page, 0); // the page sends all annotations that the browser has stored
    await page.locator('[data-save-state="saved"]').waitFor();
    const path = `/image-catalog/images/${target.imageId}/annotation-layers`;
    const { layers } = await callApi<{ layers: { annotation_count: number }[] }>(product.url, 'GET', path, {
      token: product.token,
    });
    const saved = layers.reduce((sum, layer) => sum + layer.annotation_count, 0);
    return {
      measured: `browser: annotations lost in ${crashes} crashes of the page, each before the server has saved the annotation`,
      result: crashes - saved,
      detail: `${saved} of ${crashes} annotations that were drawn before a crash were saved by the next page`,
      limit: '0',
    };
  } finally {
    await context.close();
    await clearLayers(target);
  }
}

/** Draws a rectangle, and waits until the page shows it as not yet saved. @param extraWidth CSS pixels that make the rectangles differ */
async function drawRectangle(page: Page, extraWidth: number): Promise<void> {
  const [x, y] = await middleOf(page);
  await page.keyboard.press('r'); // selects the rectangle tool
  await page.mouse.move(x - 40, y - 30);
  await page.mouse.down();
  await page.mouse.move(x + 20 + extraWidth, y + 30, { steps: 3 });
  await page.mouse.up();
  await page.locator('[data-save-state]:not([data-save-state="saved"])').waitFor();
}
