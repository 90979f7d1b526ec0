/**
 * Measurements of a result layer (cell outlines that an image analysis program has computed) in a headless Chromium on the same machine:
 * the time to the layer's first picture, the time of the main thread per frame while panning, and the time to hide or show a class.
 */
import { createReadStream, existsSync, mkdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import { type Browser, chromium, type Page } from '@playwright/test';
import { callApi } from '../../services/api-client.ts';
import { findChromium } from '../../services/chromium.ts';
import { middleOf, openContext, panAround } from '../annotations/signed-in-page.ts';
import { createEnvironment } from '../environment.ts';
import { median, quantile } from '../load/statistics.ts';
import { type RunningProduct, startProduct } from '../product.ts';
import { bigSlide, slideNames } from '../slides/slides.ts';
import { classNames, writeOutlines } from './generated-outlines.ts';
import { installLayerProbe } from './layer-probe.ts';

/** A row of the result table, by column. */
export type Row = Readonly<Record<string, string>>;

/** Number of measured openings of a page. */
const openings = 7;
/** Zooms from the whole slide (0.02) through cells drawn as points to cells drawn as outlines at full resolution (1). */
const zooms = [0.02, 0.1, 0.5, 1] as const;

/**
 * Imports a layer of `objects` outlines for the large slide (`slideNames.scan`, of the size `bigSlide`) into the product and measures it.
 *
 * @param folder folder of the generated files, and of the data of the product
 */
export async function measureInBrowser(folder: string, objects: number): Promise<readonly Row[]> {
  const environment = await createEnvironment();
  const cache = join(folder, 'product');
  rmSync(cache, { recursive: true, force: true });
  mkdirSync(cache, { recursive: true });
  const product = await startProduct({ ...environment, cache });
  const browser = await chromium.launch({ executablePath: await findChromium(), args: ['--no-sandbox'] });
  try {
    const layerId = await sendOutlines(product, folder, objects);
    const layer = { browser, product, layerId, outlines: `${objects.toLocaleString('en')} outlines` };
    const rows = [await measureFirstPicture(layer)];
    for (const zoom of zooms) rows.push(await measurePanning(layer, zoom));
    rows.push(await measureStyleChange(layer));
    return rows;
  } finally {
    await browser.close();
    await product.stop();
  }
}

/** Uploads the outlines through the API as an analysis program would, and waits for the import. @returns the id of the layer */
async function sendOutlines(product: RunningProduct, folder: string, objects: number): Promise<string> {
  const file = join(folder, `${objects}-${bigSlide.width}.geojson`);
  if (!existsSync(file)) await writeOutlines(file, objects, bigSlide);
  const { url, token } = product;
  const path = `/image-catalog/images/${product.imageIdOf(slideNames.scan)}/result-layers`;
  const body = { name: 'Cells', kind: 'vector' };
  const layer = await callApi<{ id: string; upload: string }>(url, 'POST', path, { token, body });
  const uploadResponse = await fetch(new URL(layer.upload, url), {
    method: 'PATCH',
    headers: {
      authorization: `Bearer ${token}`,
      'tus-resumable': '1.0.0',
      'upload-offset': '0',
      'upload-length': String(statSync(file).size),
      'content-type': 'application/offset+octet-stream',
    },
    body: Readable.toWeb(createReadStream(file)) as BodyInit,
    duplex: 'half', // required when the body is a stream
  } as RequestInit);
  if (!uploadResponse.ok)
    throw new Error(`The upload failed: ${uploadResponse.status} ${await uploadResponse.text()}`);
  for (;;) {
    const { layers } = await callApi<{ layers: { id: string; state: string; problem: unknown }[] }>(
      url,
      'GET',
      path,
      { token },
    );
    const imported = layers.find(({ id }) => id === layer.id);
    if (imported?.state === 'ready') return layer.id;
    if (imported?.problem) throw new Error(`The import failed: ${JSON.stringify(imported)}`);
    await setTimeout(500);
  }
}

interface ShownLayer {
  readonly browser: Browser;
  readonly product: RunningProduct;
  readonly layerId: string;
  /** Number of outlines as text for the result. */
  readonly outlines: string;
}

/**
 * Opens the slide at its middle in a new browser context, and waits until the layer is drawn.
 *
 * @param use receives the page and the time of the first picture, in milliseconds since the navigation
 */
async function withPage<Result>(
  { browser, product, layerId }: ShownLayer,
  zoom: number,
  use: (page: Page, pictureAt: number) => Promise<Result>,
): Promise<Result> {
  const context = await openContext(browser, product);
  try {
    const page = await context.newPage();
    await page.addInitScript(installLayerProbe);
    const image = product.imageIdOf(slideNames.scan);
    const [x, y] = [bigSlide.width / 2, bigSlide.height / 2];
    // The URL parameter `results` contains the first 8 characters of the layer's id.
    const query = { image, x: String(x), y: String(y), zoom: String(zoom), results: layerId.slice(0, 8) };
    await page.goto(`${product.url}/wsi-viewer?${new URLSearchParams(query)}`);
    // The function returns false until a reduced copy of the canvas has a pixel that is not transparent, and then the time.
    const pictureTime = await page.waitForFunction(
      () => {
        const canvas = document.querySelector<HTMLCanvasElement>('canvas[data-result-layer]');
        const copyContext = new OffscreenCanvas(64, 64).getContext('2d', { willReadFrequently: true });
        if (canvas === null || copyContext === null || canvas.width === 0) return false;
        copyContext.drawImage(canvas, 0, 0, 64, 64);
        const isDrawn = copyContext.getImageData(0, 0, 64, 64).data.some((value) => value !== 0);
        return isDrawn && performance.now();
      },
      undefined,
      { polling: 'raf' },
    );
    return await use(page, Number(await pictureTime.jsonValue()));
  } finally {
    await context.close();
  }
}

/** Measures how soon the layer is drawn after its first request. */
async function measureFirstPicture(layer: ShownLayer): Promise<Row> {
  const times: number[] = [];
  for (let opening = 0; opening < openings; opening++) {
    const time = await withPage(
      layer,
      zooms[opening % zooms.length] ?? 1,
      async (page, pictureAt) => pictureAt - (await page.evaluate(() => window.layerProbe.requestedAt)),
    );
    times.push(time);
  }
  return {
    measured: `${layer.outlines}: from the first request for the layer to its first picture, median of ${openings} at different zooms`,
    result: `${Math.round(median(times))} ms`,
    detail: `longest ${Math.round(Math.max(...times))} ms`,
    limit: '1000 ms',
  };
}

/** Measures the time that the main thread takes for each frame while the slide moves. */
function measurePanning(layer: ShownLayer, zoom: number): Promise<Row> {
  return withPage(layer, zoom, async (page) => {
    const middle = await middleOf(page);
    await page.waitForTimeout(3000); // until the page is idle
    await page.evaluate(() => {
      window.layerProbe.frames.length = 0; // forgets the frames before the panning
    });
    await panAround(page, middle);
    const frameTimes = await page.evaluate(() => window.layerProbe.frames);
    return {
      measured: `${layer.outlines}: main thread per frame while panning, zoom ${zoom}, p95`,
      result: `${quantile(frameTimes, 0.95).toFixed(1)} ms`,
      detail: `median ${median(frameTimes).toFixed(1)} ms, longest ${Math.max(...frameTimes).toFixed(1)} ms of ${frameTimes.length} frames`,
      limit: '4 ms',
    };
  });
}

/** Measures how fast a class is hidden and shown with its checkbox in the panel. */
function measureStyleChange(layer: ShownLayer): Promise<Row> {
  return withPage(layer, 0.5, async (page) => {
    await page.getByRole('button', { name: 'Analysis results' }).click();
    const checkboxes = page
      .getByRole('region', { name: 'Analysis results' })
      .getByRole('checkbox', { name: /^Show: / });
    await checkboxes.first().waitFor();
    await page.waitForTimeout(3000); // until the page is idle
    await page.evaluate(() => {
      window.layerProbe.requests = 0;
    });
    const changes: { readonly ms: number; readonly frames: number }[] = [];
    for (let click = 0; click < 2 * classNames.length; click++) {
      await checkboxes.nth(Math.floor(click / 2)).click(); // hides each class, and then shows it again
      await page.waitForFunction(() => window.layerProbe.change !== null); // the click has set it to null
      const change = await page.evaluate(() => window.layerProbe.change);
      if (change !== null) changes.push(change);
      await page.waitForTimeout(300); // until the work for this click is finished
    }
    const requests = await page.evaluate(() => window.layerProbe.requests);
    return {
      measured: `${layer.outlines}: a class is hidden or shown, from the click to the drawn layer, longest of ${changes.length}`,
      result: `${Math.max(...changes.map(({ frames }) => frames))} frames, ${requests} requests`,
      detail: `median ${Math.round(median(changes.map(({ ms }) => ms)))} ms, longest ${Math.round(Math.max(...changes.map(({ ms }) => ms)))} ms`,
      limit: '1 frame, 0 requests',
    };
  });
}
