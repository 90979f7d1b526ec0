/**
 * `npm run bench -- renderer`: measures the memory of the viewer while it pans over thousands of tiles with WebGL; runs the parts `colours`
 * and `main-thread` first. WebGL runs in software, so counts and memory are meaningful, but frames per second are not.
 */
import { readFileSync } from 'node:fs';
import { type Browser, chromium, type Page } from '@playwright/test';
import {
  collectGarbage,
  type GraphicsCounts,
  graphicsOf,
  panUntil,
  processesOf,
  servedTiles,
  webGlArguments,
} from '../../../e2e/renderer-probe.ts';
import { findChromium } from '../../services/chromium.ts';
import { type BenchOptions, createEnvironment } from '../environment.ts';
import { rendererVerdicts } from '../goals.ts';
import { startProduct } from '../product.ts';
import { circumstances, publish, tableOf } from '../report.ts';
import { coloursPart } from './colours-part.ts';
import { createOpening, fourK } from './large-slide-page.ts';
import { mainThreadPart } from './main-thread-part.ts';

const laptop = { width: 1280, height: 800 };

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
    const open = await createOpening(browser, product);
    const page = await open(laptop, watchLongTasks);
    const samples: Sample[] = [];
    for (const tiles of isQuick ? [300, 600] : [2000, 4000, 6000, 8000, 10_000]) {
      await panUntil(page, tiles);
      samples.push(await sampleOf(browser, page));
    }
    await page.close();
    const fourKPage = await open(fourK, watchLongTasks);
    await panUntil(fourKPage, isQuick ? 300 : 1500);
    const fourKSample = await sampleOf(browser, fourKPage);
    report(samples, fourKSample, browser.version(), isQuick);
  } finally {
    await browser.close();
    await product.stop();
  }
}

/** Makes the page record its longest task; `takeLongestTask` returns the milliseconds and begins again with 0. */
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

async function sampleOf(browser: Browser, page: Page): Promise<Sample> {
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
    tiles: await servedTiles(page),
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
      circumstances({ Chromium: version }),
      '',
      'WebGL in software (SwiftShader). Memory is the private memory of all processes that draw pages; with a graphics card the textures are in its memory.',
      '',
      tableOf(rendererVerdicts(samples)),
      '',
      tableOf([...samples.map((sample) => row('1280 × 800', sample)), row('3840 × 2160', fourKSample)]),
    ],
    { isQuick },
  );
}
