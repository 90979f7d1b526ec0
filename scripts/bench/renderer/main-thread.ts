/**
 * The time that the main thread spends on tiles while the view pans with WebGL, measured with a trace of the browser.
 *
 * Without a graphics card, WebGL runs in another process that competes with the page for the processors, and the page waits for it.
 * Therefore the CPU time of the main thread is counted, not the elapsed time. Moreover, a page that draws a frame only every few seconds
 * runs code that the browser has not optimised yet. With `isDrawingLeftOut`, the page leaves out the WebGL calls that are slow in
 * software, and draws as many frames per second as on a machine with a graphics card.
 */
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from '@playwright/test';
import { quantile } from '../load/statistics.ts';

/** CPU time of tasks of the main thread, in milliseconds. Without tasks, the percentiles are NaN. */
interface TaskTimes {
  readonly count: number;
  readonly p50: number;
  readonly p95: number;
  /** 0 without tasks. */
  readonly longest: number;
}

export interface MainThreadFigures {
  /** Tasks that drew tiles. */
  readonly frames: TaskTimes;
  /** Tasks that only copied tiles to graphics memory. */
  readonly copies: TaskTimes;
  /** CPU time of the longest of all tasks, in milliseconds. */
  readonly longest: number;
  /** `tiles` when the longest task draws or copies tiles; otherwise the name of its longest part. */
  readonly longestName: string;
  /** Images that were decoded on the main thread. */
  readonly decodes: number;
}

const drawingMark = 'tiles drawn';
const copyingMark = 'tiles copied';

/**
 * Makes the page write a mark into the trace when it draws tiles or copies them to graphics memory.
 *
 * @param isDrawingLeftOut whether the page leaves out the WebGL calls that draw and copy
 */
export async function markDrawing(page: Page, isDrawingLeftOut: boolean): Promise<void> {
  await page.addInitScript(
    ({ isLeftOut, marks }) => {
      const { prototype } = WebGL2RenderingContext;
      const { drawArrays, texSubImage2D } = prototype;
      // Marks each task once, at its end: the microtask runs in the same task after all calls, so the mark costs no time between
      // the calls.
      const withMark = (call: unknown, name: string) => {
        let isMarkQueued = false;
        const mark = () => {
          isMarkQueued = false;
          performance.mark(name);
        };
        return function callMarked(this: unknown, ...parameters: unknown[]) {
          if (!isMarkQueued) queueMicrotask(mark);
          isMarkQueued = true;
          if (!isLeftOut) (call as (...values: unknown[]) => void).apply(this, parameters);
        };
      };
      Object.assign(prototype, {
        drawArrays: withMark(drawArrays, marks.drawing),
        texSubImage2D: withMark(texSubImage2D, marks.copying),
      });
    },
    { isLeftOut: isDrawingLeftOut, marks: { drawing: drawingMark, copying: copyingMark } },
  );
}

/** An event of the Chromium trace format: `pid` and `tid` identify process and thread; times are in microseconds. */
interface TraceEvent {
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  /** Start. */
  readonly ts: number;
  /** Elapsed time. */
  readonly dur?: number;
  /** CPU time. */
  readonly tdur?: number;
}

/** Traces the main thread of the page while `use` runs. @param folder of the trace file, which is removed afterwards */
export async function traceMainThread(
  browser: Browser,
  page: Page,
  folder: string,
  use: () => Promise<void>,
): Promise<MainThreadFigures> {
  const path = join(folder, 'trace.json');
  await browser.startTracing(page, {
    path,
    categories: [
      'toplevel',
      'devtools.timeline',
      'disabled-by-default-devtools.timeline',
      'blink.user_timing',
    ],
  });
  await use();
  await browser.stopTracing(); // writes the trace to `path`
  const { traceEvents } = JSON.parse(readFileSync(path, 'utf8')) as { traceEvents: readonly TraceEvent[] };
  rmSync(path);
  return figuresOf(traceEvents);
}

/** Computes the figures of a trace. @throws Error when the page drew no tiles */
export function figuresOf(events: readonly TraceEvent[]): MainThreadFigures {
  const firstDrawing = events.find(({ name }) => name === drawingMark); // only the main thread writes this mark
  if (firstDrawing === undefined) throw new Error('The page drew no tiles while it was traced.');
  const mainThreadEvents = events.filter(
    ({ pid, tid }) => pid === firstDrawing.pid && tid === firstDrawing.tid,
  );
  const tasks = mainThreadEvents.filter(({ name, tdur }) => name === 'RunTask' && tdur !== undefined);
  const isWithin = (event: TraceEvent, { ts, dur = 0 }: TraceEvent) => event.ts >= ts && event.ts <= ts + dur;
  const marksOf = (mark: string) => mainThreadEvents.filter(({ name }) => name === mark);
  const [drawingMarks, copyingMarks] = [marksOf(drawingMark), marksOf(copyingMark)];
  const drawsTiles = (task: TraceEvent) => drawingMarks.some((mark) => isWithin(mark, task));
  const copiesTiles = (task: TraceEvent) => copyingMarks.some((mark) => isWithin(mark, task));
  const longest = longestOf(tasks);
  const parts = mainThreadEvents.filter(
    (event) => isWithin(event, longest) && !event.name.includes('RunTask'),
  );
  const nameOfLongest = parts.length > 0 ? longestOf(parts).name : longest.name;
  return {
    frames: taskTimesOf(tasks.filter(drawsTiles)),
    copies: taskTimesOf(tasks.filter((task) => copiesTiles(task) && !drawsTiles(task))),
    longest: millisecondsOf(longest),
    longestName: drawsTiles(longest) || copiesTiles(longest) ? 'tiles' : nameOfLongest,
    decodes: mainThreadEvents.filter(({ name }) =>
      /^(Decode Image|ImageDecodeTask|Decode LazyPixelRef)$/.test(name),
    ).length,
  };
}

/** Summarises the CPU times of tasks. */
function taskTimesOf(tasks: readonly TraceEvent[]): TaskTimes {
  const times = tasks.map(millisecondsOf);
  const [p50, p95] = [quantile(times, 0.5), quantile(times, 0.95)];
  return { count: times.length, p50, p95, longest: Math.max(0, ...times) };
}

const longestOf = (events: readonly TraceEvent[]) =>
  events.reduce((longest, event) => (millisecondsOf(event) > millisecondsOf(longest) ? event : longest));

const millisecondsOf = ({ tdur = 0 }: TraceEvent) => tdur / 1000;
