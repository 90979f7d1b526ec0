/**
 * Result layers of a slide (a heatmap, or cells), which an image analysis program has computed. The program sends them through the API, or
 * a user uploads them in the browser; the viewer draws and counts them over the slide.
 */
import { readFile } from 'node:fs/promises';
import type { Page } from '@playwright/test';
import sharp from 'sharp';
import { administratorToken, callApi } from './accounts.ts';
import {
  annotationPanel,
  drawTriangle,
  openSlide,
  savedIndicator,
  startDrawing,
  test,
} from './annotation-steps.ts';
import { expectNoAxeFindings } from './axe.ts';
import { expect } from './test.ts';

const resultsPanel = (page: Page) => page.getByRole('region', { name: 'Analysis results' });
const openResults = (page: Page) => page.getByRole('button', { name: 'Analysis results' }).click();
/** Returns the element that shows the value of the result under the pointer. */
const valueUnderPointer = (page: Page) => resultsPanel(page).getByRole('status');

/** A file that becomes a result layer: a TIFF with one value per pixel (raster) or GeoJSON (vector). */
interface Result {
  readonly name: string;
  readonly kind: 'raster' | 'vector';
  readonly file: Uint8Array;
}

/**
 * Uploads a result as a program does, with the tus protocol, and waits until the server has imported it.
 *
 * @returns the id of the layer
 */
async function sendResult(
  productUrl: string,
  imageId: string,
  { name, kind, file }: Result,
): Promise<string> {
  const token = await administratorToken(productUrl);
  const path = `/image-catalog/images/${imageId}/result-layers`;
  const layer = await callApi(productUrl, 'POST', path, { token, body: { name, kind } });
  const response = await fetch(new URL(layer.upload as string, productUrl), {
    method: 'PATCH',
    headers: {
      authorization: `Bearer ${token}`,
      'tus-resumable': '1.0.0',
      'upload-offset': '0',
      'upload-length': String(file.length),
      'content-type': 'application/offset+octet-stream',
    },
    body: new Uint8Array(file),
  });
  expect(response.status).toBe(204);
  const importedLayer = async () => {
    const { layers } = await callApi(productUrl, 'GET', path, { token });
    return (layers as { id: string; state: string; problem: unknown }[]).find(({ id }) => id === layer.id);
  };
  await expect.poll(importedLayer, { timeout: 30_000 }).toMatchObject({ state: 'ready', problem: null });
  return layer.id as string;
}

/** Opens the slide, adds a result layer, and opens the panel of results. */
async function openWithResult(page: Page, productUrl: string, result: Result) {
  const slide = await openSlide(page);
  const layerId = await sendResult(productUrl, imageIdOf(page), result);
  await page.reload();
  await openResults(page);
  return { slide, layerId };
}

/** Returns the catalogue id of the open slide, from the URL. */
const imageIdOf = (page: Page) => new URL(page.url()).searchParams.get('image') ?? '';

/** Returns the width of a slide in pixels. */
async function widthOf(productUrl: string, imageId: string): Promise<number> {
  const token = await administratorToken(productUrl);
  const { images } = await callApi(productUrl, 'GET', '/image-catalog/images', { token });
  const image = (images as { id: string; width: number }[]).find(({ id }) => id === imageId);
  return image?.width ?? Number.NaN;
}

/** Returns a heatmap as a TIFF file whose values increase from 0 at the left to 255 at the right. */
function buildHeatmap(): Promise<Buffer> {
  const [width, height] = [256, 342];
  const values = Buffer.from(Array.from({ length: width * height }, (_, index) => index % width));
  return sharp(values, { raw: { width, height, channels: 1 } })
    .toColourspace('b-w')
    .tiff({ compression: 'none' })
    .toBuffer();
}

/** Returns 400 cells of 20 × 20 pixels as GeoJSON, in 20 rows and 20 columns; every fourth cell is a mitosis. */
function buildCells(): Uint8Array {
  const features = Array.from({ length: 20 * 20 }, (_, index) => {
    const [x, y] = [40 + (index % 20) * 48, 40 + Math.floor(index / 20) * 48];
    const ring = [
      [x - 10, y - 10],
      [x + 10, y - 10],
      [x + 10, y + 10],
      [x - 10, y + 10],
      [x - 10, y - 10],
    ];
    return {
      type: 'Feature',
      geometry: { type: 'Polygon', coordinates: [ring] },
      properties: {
        objectType: 'detection',
        classification:
          index % 4 === 0 ? { name: 'Mitosis', color: [255, 0, 0] } : { name: 'Other', color: [0, 0, 255] },
        measurements: { Area: 400, Score: index },
      },
    };
  });
  return Buffer.from(JSON.stringify({ type: 'FeatureCollection', features }));
}

/** Draws a rectangle around the first 10 rows and 8 columns of the cells, and gives it the class Tumor. */
async function outlineTumour(page: Page): Promise<void> {
  // At this position the rectangle is to the right of the panel.
  const [middleX, middleY, zoom] = [100, 300, 0.5];
  await page.goto(`/wsi-viewer?image=${imageIdOf(page)}&x=${middleX}&y=${middleY}&zoom=${zoom}`);
  await startDrawing(page);
  const box = await page.getByRole('application').boundingBox();
  if (box === null) throw new Error('The slide is not visible.');
  const moveTo = (x: number, y: number) =>
    page.mouse.move(
      box.x + box.width / 2 + (x - middleX) * zoom,
      box.y + box.height / 2 + (y - middleY) * zoom,
    );
  await page.keyboard.press('r'); // selects the rectangle tool
  await moveTo(16, 16);
  await page.mouse.down();
  await moveTo(400, 496);
  await page.mouse.up();
  await page.keyboard.press('1'); // assigns the first annotation class, Tumor
  await expect(annotationPanel(page).locator('span', { hasText: 'Tumor' })).toBeVisible();
  await expect(savedIndicator(page)).toHaveText('Saved');
}

/** Returns the number of screen pixels that the layer has coloured. */
function colouredPixels(page: Page, layerId: string): Promise<number> {
  return page.evaluate((id) => {
    const canvas = document.querySelector<HTMLCanvasElement>(`canvas[data-result-layer="${id}"]`);
    const data = canvas?.getContext('2d')?.getImageData(0, 0, canvas.width, canvas.height).data ?? [];
    let count = 0;
    for (let index = 3; index < data.length; index += 4) if (data[index] !== 0) count++;
    return count;
  }, layerId);
}

test('a heatmap result is drawn over the slide, shows the value under the pointer, and needs no request for a new threshold or palette', async ({
  openPageAs,
  product,
}) => {
  test.setTimeout(90_000); // waits for an import, and axe checks both colour schemes
  const page = await openPageAs('admin');
  const { slide, layerId } = await openWithResult(page, product.url, {
    name: 'Tumour probability',
    kind: 'raster',
    file: await buildHeatmap(),
  });
  await expect(resultsPanel(page).getByRole('switch', { name: 'Show: Tumour probability' })).toBeChecked();
  await expect.poll(() => colouredPixels(page, layerId)).toBeGreaterThan(10_000);
  const pixelsBefore = await colouredPixels(page, layerId);

  let requests = 0;
  page.on('request', (request) => {
    if (/overlays/.test(request.url())) requests += 1;
  });
  const lowest = resultsPanel(page).getByRole('slider', { name: 'Lowest value' });
  await lowest.focus();
  for (let step = 0; step < 80; step += 1) await page.keyboard.press('ArrowRight');
  await expect.poll(() => colouredPixels(page, layerId)).toBeLessThan(pixelsBefore * 0.8);
  await resultsPanel(page).getByRole('combobox', { name: 'Palette' }).selectOption('magma');
  expect(requests).toBe(0);

  // The position 600, 700 of the slide is in the middle at zoom 0.5. The heatmap has 256 columns with the values 0 to 255.
  const columnWidth = (await widthOf(product.url, slide.imageId)) / 256;
  const column = Math.floor(600 / columnWidth) + 1; // right of the middle; its number is also its value
  const middleOfColumn = slide.x + ((column + 0.5) * columnWidth - 600) * 0.5;
  await page.mouse.move(middleOfColumn - 1, slide.y);
  await page.mouse.move(middleOfColumn, slide.y);
  await expect(valueUnderPointer(page)).toHaveText(`Value: ${column}`);
  await expectNoAxeFindings(page);

  // Forced, because the visible part of a switch covers its input.
  await resultsPanel(page).getByRole('switch', { name: 'Show: Tumour probability' }).click({ force: true });
  await expect(page.locator(`canvas[data-result-layer="${layerId}"]`)).toHaveCount(0);
});

/** Returns the number of red pixels of the picture that an action saves: annotations without a class and mitoses are red. */
async function redPixelsOfPicture(page: Page, save: () => Promise<void>): Promise<number> {
  const downloading = page.waitForEvent('download');
  await save();
  const { data } = await sharp(await (await downloading).path())
    .removeAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  let count = 0;
  for (let index = 0; index < data.length; index += 3) {
    const [red = 0, green = 0, blue = 0] = data.subarray(index, index + 3);
    if (red > green + 120 && red > blue + 120) count += 1; // the pink of tissue has more blue
  }
  return count;
}

test('saved pictures show the annotations and the result layers that are visible over the slide', async ({
  openPageAs,
  product,
}) => {
  test.setTimeout(90_000); // waits for an import
  const page = await openPageAs('admin');
  const slide = await openSlide(page);
  const screenshot = () => page.keyboard.press('s');
  const plain = await redPixelsOfPicture(page, screenshot);

  await startDrawing(page);
  await drawTriangle(page, slide);
  await expect(savedIndicator(page)).toHaveText('Saved');
  await page.keyboard.press('d'); // ends the drawing mode
  const withTriangle = await redPixelsOfPicture(page, screenshot);
  expect(withTriangle).toBeGreaterThan(plain + 200);

  await sendResult(product.url, slide.imageId, { name: 'Cells', kind: 'vector', file: buildCells() });
  await page.reload();
  await openResults(page);
  await expect(resultsPanel(page).getByRole('switch', { name: 'Show: Cells' })).toBeChecked();
  const layer = await page.locator('canvas[data-result-layer]').getAttribute('data-result-layer');
  await expect.poll(() => colouredPixels(page, layer ?? '')).toBeGreaterThan(1000);
  expect(await redPixelsOfPicture(page, screenshot)).toBeGreaterThan(withTriangle + 200);

  // The panel draws the slide again from its tiles.
  await page.keyboard.press('Shift+S');
  const panel = page.getByRole('region', { name: 'Save picture…' });
  const savedByPanel = await redPixelsOfPicture(page, () =>
    panel.getByRole('button', { name: 'Save' }).click(),
  );
  expect(savedByPanel).toBeGreaterThan(withTriangle + 200);
});

test.describe('a result layer whose tiles fail to load', () => {
  test.use({ expectedConsoleErrors: /ERR_FAILED/ });

  test('the panel shows that parts of the layer are missing, and the viewer loads them when the server responds again', async ({
    openPageAs,
    product,
  }) => {
    const page = await openPageAs('admin');
    await page.route('**/overlays/*/tiles/**', (route) => route.abort());
    const { layerId } = await openWithResult(page, product.url, {
      name: 'Unreachable heatmap',
      kind: 'raster',
      file: await buildHeatmap(),
    });
    const item = resultsPanel(page).getByRole('listitem').filter({ hasText: 'Unreachable heatmap' });
    await expect(item).toContainText('Parts of this layer could not be loaded. Trying again…');
    expect(await colouredPixels(page, layerId)).toBe(0);

    await page.unroute('**/overlays/*/tiles/**');
    await expect.poll(() => colouredPixels(page, layerId)).toBeGreaterThan(10_000);
    await expect(item).not.toContainText('could not be loaded');
  });
});

test('the cells of a result layer are drawn and counted by class, a class can be hidden, and the layer can be deleted', async ({
  openPageAs,
  product,
}) => {
  test.setTimeout(90_000); // waits for an import, and axe checks both colour schemes
  const page = await openPageAs('admin');
  const { slide, layerId } = await openWithResult(page, product.url, {
    name: 'Cells',
    kind: 'vector',
    file: buildCells(),
  });
  const item = resultsPanel(page)
    .getByRole('listitem')
    .filter({ has: page.getByRole('switch', { name: 'Show: Cells' }) });
  if (!(await item.getByRole('switch').isChecked())) await item.getByRole('switch').click({ force: true });
  const legend = item.getByRole('list', { name: 'Classes' });
  await page.keyboard.press('h'); // shows the whole slide
  // The whole slide is in view, so all cells of the file are counted.
  await expect(legend.getByRole('listitem').filter({ hasText: 'Mitosis' })).toHaveText('Mitosis100');
  await expect(legend.getByRole('listitem').filter({ hasText: 'Other' })).toHaveText('Other300');
  await expect.poll(() => colouredPixels(page, layerId)).toBeGreaterThan(1000);
  const pixelsOfAllClasses = await colouredPixels(page, layerId);
  await legend.getByRole('checkbox', { name: 'Show: Other' }).uncheck();
  await expect.poll(() => colouredPixels(page, layerId)).toBeLessThan(pixelsOfAllClasses / 2);
  await expectNoAxeFindings(page);

  await page.mouse.move(slide.x, slide.y);
  await page.mouse.wheel(0, -600);
  await expect(legend.getByRole('listitem').filter({ hasText: 'Mitosis' })).not.toHaveText('Mitosis100');

  await resultsPanel(page).getByRole('button', { name: 'Delete: Cells' }).click();
  const dialog = page.getByRole('dialog', { name: 'Delete the result layer?' });
  await dialog.getByRole('button', { name: 'Delete the layer' }).click();
  await expect(resultsPanel(page).getByRole('switch', { name: 'Show: Cells' })).toHaveCount(0);
});

test('mitoses of a result layer are counted inside an annotation and filtered by a measurement, and the counts are exported as CSV', async ({
  openPageAs,
  product,
}) => {
  test.setTimeout(90_000); // waits for an import, and axe checks both colour schemes
  const page = await openPageAs('admin');
  await openSlide(page);
  await outlineTumour(page);
  await openWithResult(page, product.url, { name: 'Cells', kind: 'vector', file: buildCells() });
  const layer = resultsPanel(page).getByRole('listitem').filter({ hasText: 'Mitosis' }).first();
  const mitoses = layer
    .getByRole('list', { name: 'Classes' })
    .getByRole('listitem')
    .filter({ hasText: 'Mitosis' });
  const others = layer
    .getByRole('list', { name: 'Classes' })
    .getByRole('listitem')
    .filter({ hasText: 'Other' });
  await resultsPanel(page).getByRole('combobox', { name: 'Count in' }).selectOption({ label: '1. Tumor' });
  // The annotation contains the cells of the first 10 rows and 8 columns: 80 cells, of which 20 are mitoses.
  await expect(mitoses).toHaveText('Mitosis20');
  await expect(others).toHaveText('Other60');

  await layer.getByRole('checkbox', { name: 'Show: Other' }).uncheck();
  const downloading = page.waitForEvent('download');
  await resultsPanel(page).getByRole('button', { name: 'Export the counts (CSV)' }).click();
  const file = await downloading;
  expect(file.suggestedFilename()).toBe('Cells.csv');
  expect(await readFile(await file.path(), 'utf8')).toBe(
    '\uFEFFLayer,Region,Class,Measurement,Minimum,Maximum,Count\r\nCells,1. Tumor,Mitosis,,,,20\r\n',
  );

  await resultsPanel(page).getByRole('combobox', { name: 'Filter by measurement' }).selectOption('Score');
  await expect(mitoses).toHaveText('Mitosis20');
  await resultsPanel(page).getByRole('slider', { name: 'Lowest value' }).press('ArrowRight');
  // The first cell, a mitosis, has the score 0.
  await expect(mitoses).toHaveText('Mitosis19');
  await resultsPanel(page).getByRole('checkbox', { name: 'Colour by measurement' }).check();
  await expectNoAxeFindings(page);
  await resultsPanel(page)
    .getByRole('combobox', { name: 'Count in' })
    .selectOption({ label: 'Field of view' });
  await resultsPanel(page).getByRole('combobox', { name: 'Filter by measurement' }).selectOption('No filter');
  // The whole slide is in view.
  await expect(mitoses).toHaveText('Mitosis100');
});

test('the URL keeps the order and settings of two result layers and the position of the divider with which they are compared', async ({
  openPageAs,
  product,
}) => {
  test.setTimeout(90_000); // waits for an import, and axe checks both colour schemes
  const page = await openPageAs('admin');
  await openSlide(page);
  const imageId = imageIdOf(page);
  const heatmapId = await sendResult(product.url, imageId, {
    name: 'Heat',
    kind: 'raster',
    file: await buildHeatmap(),
  });
  await openWithResult(page, product.url, { name: 'Cells', kind: 'vector', file: buildCells() });
  const switches = resultsPanel(page).getByRole('switch', { name: /^Show: / });
  const names = () => switches.evaluateAll((all) => all.map((each) => each.getAttribute('aria-label')));
  await expect.poll(names).toEqual(['Show: Heat', 'Show: Cells']);
  await resultsPanel(page).getByRole('switch', { name: 'Show: Cells' }).click({ force: true });

  const moveDown = resultsPanel(page).getByRole('button', { name: 'Move down: Heat' });
  await moveDown.focus();
  await page.keyboard.press('Enter');
  await expect.poll(names).toEqual(['Show: Cells', 'Show: Heat']);
  await expect(moveDown).toBeFocused();
  // The layer that is drawn first is below the others.
  const lowestLayer = page.locator('canvas[data-result-layer]').first();
  await expect(lowestLayer).toHaveAttribute('data-result-layer', heatmapId);
  await resultsPanel(page).getByRole('combobox', { name: 'Palette' }).selectOption('magma');
  await resultsPanel(page).getByRole('switch', { name: 'Compare two layers' }).click({ force: true });
  const divider = page.getByRole('slider', { name: 'Divider' });
  await divider.press('Home');
  await divider.press('PageUp');
  await expect(divider).toHaveAttribute('aria-valuenow', '10');
  await expect(lowestLayer).toHaveCSS('clip-path', 'inset(0px 0px 0px 10%)');
  /**
   * The setting of the result layers in the URL: the layers in the order of the panel, each with its settings, and the divider in
   * percent.
   */
  const resultsParameter = () => new URL(page.url()).searchParams.get('results');
  await expect.poll(resultsParameter).toMatch(/^[0-9a-f]{8}\*[0-9a-f]{8}_p-magma\*swipe-10$/);
  await expectNoAxeFindings(page);

  const historyLength = await page.evaluate(() => history.length);
  const { x, y, width, height } = (await page.locator('canvas[data-result-layer]').first().boundingBox()) as {
    x: number;
    y: number;
    width: number;
    height: number;
  };
  await page.mouse.move(x + width * 0.1, y + height / 2);
  await page.mouse.down();
  await page.mouse.move(x + width * 0.3, y + height / 2, { steps: 5 });
  await page.mouse.up();
  await expect(divider).toHaveAttribute('aria-valuenow', '30');
  await expect.poll(resultsParameter).toContain('*swipe-30');
  expect(await page.evaluate(() => history.length)).toBe(historyLength);

  await page.reload();
  // The layers are drawn even though the panel is closed.
  await expect(lowestLayer).toHaveCSS('clip-path', 'inset(0px 0px 0px 30%)');
  await openResults(page);
  await expect.poll(names).toEqual(['Show: Cells', 'Show: Heat']);
  await expect(resultsPanel(page).getByRole('combobox', { name: 'Palette' })).toHaveValue('magma');
});

test('a user uploads a result layer, sees the reason for a rejected file, and cancels an upload', async ({
  openPageAs,
}) => {
  test.setTimeout(90_000); // waits for an import, and axe checks both colour schemes
  const page = await openPageAs('admin');
  await openSlide(page);
  await openResults(page);
  await expect(resultsPanel(page)).toContainText('This slide has no results yet.');
  const dialog = page.getByRole('dialog', { name: 'Add a result' });
  async function upload(name: string, buffer: Buffer) {
    await resultsPanel(page).getByRole('button', { name: 'Add a result' }).click();
    await dialog.locator('input[type=file]').setInputFiles({ name, buffer, mimeType: '' });
    await dialog.getByRole('button', { name: 'Upload', exact: true }).click();
  }
  await resultsPanel(page).getByRole('button', { name: 'Add a result' }).click();
  await dialog.locator('input[type=file]').setInputFiles({
    name: 'model 1.geojson',
    buffer: Buffer.from(buildCells()),
    mimeType: '',
  });
  await expect(dialog.getByRole('textbox', { name: 'Name' })).toHaveValue('model 1');
  await expect(dialog.getByRole('combobox', { name: 'Kind' })).toHaveValue('vector');
  await dialog.getByRole('textbox', { name: 'Name' }).fill('Cells of model 1');
  await expectNoAxeFindings(page);
  await dialog.getByRole('button', { name: 'Upload', exact: true }).click();
  await expect(dialog).toBeHidden();
  const cellsSwitch = resultsPanel(page).getByRole('switch', { name: 'Show: Cells of model 1' });
  await expect(cellsSwitch).toBeChecked({ timeout: 30_000 });
  await expect(resultsPanel(page).getByRole('list', { name: 'Classes' })).toContainText('Mitosis');

  await upload('broken.tif', Buffer.from('This is not a TIFF file.'));
  await expect(resultsPanel(page)).toContainText('The file has an unknown format', { timeout: 30_000 });

  // The server does not respond, so the upload waits until the user cancels it.
  await page.route('**/result-layers/*/file', () => undefined);
  await upload('late.geojson', Buffer.from(buildCells()));
  await dialog.getByRole('button', { name: 'Cancel the upload' }).click();
  await expect(dialog).toBeHidden();
  await expect(resultsPanel(page).getByRole('switch')).toHaveCount(2);
});
