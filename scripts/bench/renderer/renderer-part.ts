/**
 * `npm run bench -- renderer`: runs the parts `colours` and `main-thread`, and then measures the memory of the viewer while it pans over
 * thousands of tiles with WebGL. WebGL runs in software, so counts and memory are meaningful, but frames per second are not.
 */
import { readFileSync } from 'node:fs';
import { type Browser, chromium, type Page } from '@playwright/test';
import {
  collectGarbage,
  countServedTiles,
  type GraphicsCounts,
  graphicsOf,
  panUntil,
  processesOf,
  webGlArguments,
} from '../../../e2e/renderer-probe.ts';
import { findChromium } from '../../services/chromium.ts';
import { type BenchOptions, createEnvironment } from '../environment.ts';
import { rendererVerdicts } from '../goals.ts';
import { startProduct } from '../product.ts';
import { describeMachine, markdownTable, publish } from '../report.ts';
import { coloursPart } from './colours-part.ts';
import { createPageOpener, fourK } from './large-slide-page.ts';
import { mainThreadPart } from './main-thread-part.ts';

const laptop = { width: 1280, height: 800 };

/** The state of a page at one time. Inherits the counts of object URLs, bitmaps, textures, decodes, canvas copies and WebGL contexts. */
interface Sample extends GraphicsCounts {
  /** Tiles that the page has loaded so far. */
  readonly tiles: number;
  /** Private memory of the browser's renderer and GPU processes, in MB. */
  readonly memory: number;
  /** Duration of the longest task of the page since the last sample, in ms. */
  readonly longestTask: number;
}

export async function rendererPart(options: BenchOptions): Promise<void> {
  const { isQuick } = options;
  await coloursPart(options);
  await mainThreadPart(options);
  const product = await startProduct(await createEnvironment());
  const browser = await chromium.launch({ executablePath: await findChromium(), args: webGlArguments });
  try {
    const openPage = await createPageOpener(browser, product);
    const page = await openPage(laptop, watchLongTasks);
    const samples: Sample[] = [];
    // `tiles` is the number of all tiles that the page has loaded when the sample is taken.
    for (const tiles of isQuick ? [300, 600] : [2000, 4000, 6000, 8000, 10_000]) {
      await panUntil(page, tiles);
      samples.push(await takeSample(browser, page));
    }
    await page.close();
    const fourKPage = await openPage(fourK, watchLongTasks);
    await panUntil(fourKPage, isQuick ? 300 : 1500);
    const fourKSample = await takeSample(browser, fourKPage);
    report(samples, fourKSample, browser.version(), isQuick);
  } finally {
    await browser.close();
    await product.stop();
  }
}

/** Makes the page record its longest task. `takeLongestTask` in the page returns its milliseconds and resets the record to 0. */
async function watchLongTasks(page: Page): Promise<void> {
  await page.addInitScript(() => {
    let longest = 0;
    Object.assign(window, {
      takeLongestTask: () => {
        const longestSoFar = longest;
        longest = 0;
        return longestSoFar;
      },
    });
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) longest = Math.max(longest, duration);
    }).observe({ type: 'longtask' });
  });
}

/** Takes a sample after a garbage collection. */
async function takeSample(browser: Browser, page: Page): Promise<Sample> {
  const longestTask = await page.evaluate(() =>
    (window as unknown as { takeLongestTask: () => number }).takeLongestTask(),
  );
  await collectGarbage(page);
  let kilobytes = 0;
  for (const { type, id } of await processesOf(browser)) {
    if (type !== 'renderer' && type !== 'GPU') continue;
    // RssAnon: resident memory that no file backs, which is private to the process.
    kilobytes += Number(/RssAnon:\s+(\d+)/.exec(readFileSync(`/proc/${id}/status`, 'utf8'))?.[1] ?? 0);
  }
  return {
    tiles: await countServedTiles(page),
    ...(await graphicsOf(page)),
    memory: kilobytes / 1024,
    longestTask,
  };
}

function report(samples: readonly Sample[], fourKSample: Sample, version: string, isQuick: boolean): void {
  const row = (name: string, sample: Sample) => ({
    viewer: name,
    tiles: sample.tiles,
    'object URLs': sample.objectUrls,
    bitmaps: sample.bitmaps,
    textures: sample.textures,
    'main-thread decodes': sample.mainThreadDecodes,
    'canvas copies': sample.canvasCopies,
    contexts: sample.contexts,
    MB: sample.memory.toFixed(0),
    'longest task ms': sample.longestTask.toFixed(0),
  });
  publish(
    'renderer',
    [
      describeMachine({ Chromium: version }),
      '',
      'WebGL in software (SwiftShader). Memory is the private memory of all processes that draw pages; with a graphics card the textures are in its memory.',
      '',
      markdownTable(rendererVerdicts(samples)),
      '',
      markdownTable([...samples.map((sample) => row('1280 × 800', sample)), row('3840 × 2160', fourKSample)]),
    ],
    { isQuick },
  );
}
