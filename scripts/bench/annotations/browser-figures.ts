/**
 * Measurements of annotations in a headless Chromium on the same machine: the time to the first picture, the frames
 * while panning, the work when the brush (a tool that paints outlines) is released, and annotations lost in page
 * crashes.
 */
import { type Browser, chromium, type Page } from '@playwright/test';
import { findChromium } from '../../services/chromium.ts';
import { median, quantile } from '../load/statistics.ts';
import type { RunningProduct } from '../product.ts';
import { slideNames } from '../slides/slides.ts';
import { installAnnotationProbe } from './annotation-probe.ts';
import type { Row } from './annotations-part.ts';
import {
  clearLayers,
  type GeneratedFeature,
  makeLayer,
  outline,
  outlinesIn,
} from './generated-annotations.ts';
import { measureCrashes } from './page-crashes.ts';
import { middleOf, openContext, panAround, viewport } from './signed-in-page.ts';

/** Number of measured strokes of the brush. */
const brushStrokes = 10;

/** Runs all measurements in a browser and returns the rows of the result table. */
export async function measureInBrowser(product: RunningProduct, isQuick: boolean): Promise<readonly Row[]> {
  const { openings, crashes } = isQuick ? { openings: 2, crashes: 3 } : { openings: 7, crashes: 50 };
  const browser = await chromium.launch({ executablePath: await findChromium(), args: ['--no-sandbox'] });
  try {
    return [
      await measureFirstPicture(browser, product, openings),
      ...(await measurePanning(browser, product)),
      await measureBrush(browser, product),
      await measureCrashes(browser, product, crashes),
    ];
  } finally {
    await browser.close();
  }
}

/** Opens a field of view in a new browser context, waits until its annotations are drawn, and closes the context after `use`. */
async function withPage<Result>(
  browser: Browser,
  product: RunningProduct,
  field: Readonly<Record<'x' | 'y' | 'zoom', number>>,
  use: (page: Page) => Promise<Result>,
): Promise<Result> {
  const context = await openContext(browser, product);
  try {
    const page = await context.newPage();
    await page.addInitScript(installAnnotationProbe);
    const { x, y, zoom } = field;
    const image = product.imageIdOf(slideNames.scan);
    const query = new URLSearchParams({ image, x: String(x), y: String(y), zoom: String(zoom) });
    await page.goto(`${product.url}/wsi-viewer?${query}`);
    await page.waitForFunction(() => window.annotationProbe.firstPictureAt > 0);
    return await use(page);
  } finally {
    await context.close();
  }
}

/** Creates an annotation layer with these features and deletes it after `use`. */
async function withLayer<Result>(
  product: RunningProduct,
  features: readonly GeneratedFeature[],
  use: () => Promise<Result>,
): Promise<Result> {
  const target = { ...product, imageId: product.imageIdOf(slideNames.scan) };
  await makeLayer(target, features);
  try {
    return await use();
  } finally {
    await clearLayers(target);
  }
}

/** The field of view that contains all annotations of `measureFirstPicture`: its centre in pixels of full resolution, and its zoom. */
const fieldOfAll = { x: 4000, y: 3000, zoom: 0.2 };

/** Measures how soon 10,000 annotations, each of 30 vertices, are drawn. */
function measureFirstPicture(browser: Browser, product: RunningProduct, repeats: number): Promise<Row> {
  return withLayer(product, outlinesIn({ width: 8000, height: 6000 }, 10_000, 30), async () => {
    const pictureTimes: number[] = [];
    const longestTaskTimes: number[] = [];
    for (let repeat = 0; repeat < repeats; repeat++) {
      const measured = await withPage(browser, product, fieldOfAll, async (page) => {
        await page.waitForTimeout(2000); // includes long tasks that follow the first picture
        return page.evaluate(() => {
          const { listRequestedAt, firstPictureAt, longTasks } = window.annotationProbe;
          const durations = longTasks.filter((task) => task.end > listRequestedAt).map((task) => task.ms);
          return { picture: firstPictureAt - listRequestedAt, longestTask: Math.max(0, ...durations) };
        });
      });
      pictureTimes.push(measured.picture);
      longestTaskTimes.push(measured.longestTask);
    }
    return {
      measured: `browser: 10,000 annotations of 30 vertices, from the request of the list to the first picture, median of ${repeats}`,
      result: `${Math.round(median(pictureTimes))} ms`,
      detail: `longest ${Math.round(Math.max(...pictureTimes))} ms; longest task of the main thread ${Math.round(median(longestTaskTimes))} ms`,
      limit: '1000 ms',
    };
  });
}

/** Measures panning over 3,334 outlines of 30 vertices (100,020 vertices) that fill the field of view, at two magnifications. */
async function measurePanning(browser: Browser, product: RunningProduct): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const zoom of [0.2, 0.4]) {
    const field = { width: viewport.width / zoom, height: viewport.height / zoom }; // pixels of full resolution
    const row = await withLayer(product, outlinesIn(field, 3334, 30), () =>
      withPage(browser, product, { x: field.width / 2, y: field.height / 2, zoom }, async (page) => {
        const middle = await middleOf(page);
        await page.waitForTimeout(2000); // until the page is idle
        await page.evaluate(() => {
          window.annotationProbe.frames.length = 0; // forgets the frames before the panning
        });
        await panAround(page, middle);
        const frameTimes = await page.evaluate(() => window.annotationProbe.frames);
        return {
          measured: `browser: main thread per frame while panning with 100,000 vertices in view, zoom ${zoom}, p95`,
          result: `${quantile(frameTimes, 0.95).toFixed(1)} ms`,
          detail: `median ${median(frameTimes).toFixed(1)} ms, longest ${Math.max(...frameTimes).toFixed(1)} ms of ${frameTimes.length} frames`,
          limit: '4 ms',
        };
      }),
    );
    rows.push(row);
  }
  return rows;
}

/**
 * Measures brush strokes outwards over the edge of a round outline of 50,000 vertices. Its radius is 1600 pixels of full resolution,
 * which at zoom 0.25 are 400 CSS pixels.
 */
function measureBrush(browser: Browser, product: RunningProduct): Promise<Row> {
  return withLayer(product, [outline(4000, 3000, 1600, 50_000)], () =>
    withPage(browser, product, { x: 4000, y: 3000, zoom: 0.25 }, async (page) => {
      await page.keyboard.press('d'); // opens the drawing tools
      await page.getByRole('region', { name: 'Annotations' }).getByRole('button', { name: /^Area/ }).click(); // selects the outline
      await page.keyboard.press('b'); // selects the brush
      await page.waitForTimeout(1500); // meanwhile the browser compiles the code of the brush
      const [x, y] = await middleOf(page);
      for (let stroke = 0; stroke < brushStrokes; stroke++) {
        const angle = 0.25 * stroke - 1.2; // in radians; each stroke crosses the edge at another place
        /** Returns a position on the screen. @param radius distance from the middle in CSS pixels */
        const positionAt = (radius: number) =>
          [x + radius * Math.cos(angle), y + radius * Math.sin(angle)] as const;
        await page.mouse.move(...positionAt(380)); // inside the edge
        await page.mouse.down();
        for (let step = 0; step <= 10; step++) await page.mouse.move(...positionAt(380 + 6 * step));
        await page.waitForTimeout(100); // until the page has drawn the stroke, so that the release includes only its own work
        await page.mouse.up();
        await page.waitForTimeout(700); // until the work for this stroke is finished
      }
      const releases = await page.evaluate(() => window.annotationProbe.releases);
      const strokes = releases.slice(-brushStrokes); // without the click, which is also a release
      const workTimes = strokes.map(({ work }) => work);
      const pictureTimes = strokes.map(({ picture }) => picture);
      return {
        measured: `browser: release of the brush on an outline of 50,000 vertices, longest of ${brushStrokes}`,
        result: `${Math.round(Math.max(...workTimes))} ms`,
        detail: `median ${Math.round(median(workTimes))} ms; with the next frame median ${Math.round(median(pictureTimes))}, longest ${Math.round(Math.max(...pictureTimes))} ms`,
        limit: '100 ms',
      };
    }),
  );
}
