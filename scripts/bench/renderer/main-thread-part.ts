/**
 * `npm run bench -- main-thread`, also a part of `renderer`: measures the time that the main thread spends on tiles while the view pans at
 * 3840 × 2160 with WebGL (main-thread.ts explains which time is counted).
 */
import { chromium } from '@playwright/test';
import { countServedTiles, graphicsOf, panUntil, webGlArguments } from '../../../e2e/renderer-probe.ts';
import { findChromium } from '../../services/chromium.ts';
import { type BenchOptions, cacheFolder, createEnvironment } from '../environment.ts';
import { traceVerdicts } from '../goals.ts';
import { startProduct } from '../product.ts';
import { describeMachine, markdownTable, publish } from '../report.ts';
import { createPageOpener, fourK } from './large-slide-page.ts';
import { type MainThreadFigures, markDrawing, traceMainThread } from './main-thread.ts';

interface Trace extends MainThreadFigures {
  /** Whether the WebGL calls that draw and copy were left out; they are slow only without a graphics card. */
  readonly isDrawingLeftOut: boolean;
  /** Copies of a whole canvas. */
  readonly canvasCopies: number;
}

export async function mainThreadPart({ isQuick }: BenchOptions): Promise<void> {
  const product = await startProduct(await createEnvironment());
  const browser = await chromium.launch({ executablePath: await findChromium(), args: webGlArguments });
  try {
    const openPage = await createPageOpener(browser, product);
    const traces: Trace[] = [];
    for (const isDrawingLeftOut of [false, true]) {
      const page = await openPage(fourK, (newPage) => markDrawing(newPage, isDrawingLeftOut));
      // Few tiles, because a machine without a graphics card also composes the page in software, which is slow.
      const tiles = isQuick ? 200 : 400;
      await panUntil(page, tiles); // the first tiles are not traced
      const tilesBefore = await countServedTiles(page);
      const figures = await traceMainThread(browser, page, cacheFolder(), () =>
        panUntil(page, tilesBefore + tiles),
      );
      const { canvasCopies } = await graphicsOf(page);
      traces.push({ isDrawingLeftOut, canvasCopies, ...figures });
      await page.close();
    }
    report(traces, browser.version(), isQuick);
  } finally {
    await browser.close();
    await product.stop();
  }
}

function report(traces: readonly Trace[], version: string, isQuick: boolean): void {
  publish(
    'main-thread',
    [
      describeMachine({ Chromium: version }),
      '',
      'Milliseconds of the processor, at 3840 × 2160.',
      '',
      markdownTable(traceVerdicts(traces)),
      '',
      markdownTable(
        traces.map(({ isDrawingLeftOut, frames, copies, longest, longestName }) => ({
          'drawing by WebGL': isDrawingLeftOut ? 'left out' : 'in software',
          'frames with tiles': frames.count,
          'frame p50 ms': frames.p50.toFixed(1),
          'p95 ms': frames.p95.toFixed(1),
          'longest ms': frames.longest.toFixed(1),
          'other tasks that copy tiles': copies.count,
          'copying p95 ms': copies.p95.toFixed(1),
          'copying longest ms': copies.longest.toFixed(1),
          'longest task of all': `${longest.toFixed(1)} ms (${longestName})`,
        })),
      ),
    ],
    { isQuick },
  );
}
