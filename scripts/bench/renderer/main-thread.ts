/**
 * What tiles cost the main thread while the view pans with WebGL, from a trace of the browser.
 *
 * WebGL runs in software, in another process that takes the processors from the page, and the page waits for it. Therefore counted is
 * the time that the main thread has a processor, not the time that passes. A page that gets a frame every few seconds also runs code
 * that the browser has not optimised; `skipsDrawing` leaves out what only software makes slow, so that frames come as they do with
 * a graphics card.
 */
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from '@playwright/test';
import { quantile } from '../load/statistics.ts';

/** Tasks of the main thread, in milliseconds of the processor. */
interface Tasks {
  readonly count: number;
  readonly p50: number;
  readonly p95: number;
  /** 0 without tasks. */
  readonly longest: number;
}

export interface MainThreadFigures {
  /** Tasks that drew tiles. */
  readonly frames: Tasks;
  /** Tasks that only copied tiles to graphics memory. */
  readonly copies: Tasks;
  /** Longest task of all, in milliseconds of the processor. */
  readonly longest: number;
  /** What it was. */
  readonly longestName: string;
  /** Images that were decoded on the main thread. */
  readonly decodes: number;
}

const drawingMark = 'tiles drawn';
const copyingMark = 'tiles copied';

/**
 * Makes the page mark each function that draws tiles or copies them to graphics memory.
 *
 * @param skipsDrawing whether the calls of WebGL that draw and copy are left out
 */
export async function markDrawing(page: Page, skipsDrawing: boolean): Promise<void> {
  await page.addInitScript(
    ({ skips, marks }) => {
      const { prototype } = WebGL2RenderingContext;
      const { drawArrays, texSubImage2D } = prototype;
      const marked = (call: unknown, name: string) => {
        let isMarked = false;
        const mark = () => {
          isMarked = false;
          performance.mark(name);
        };
        return function callMarked(this: unknown, ...parameters: unknown[]) {
          if (!isMarked) queueMicrotask(mark);
          isMarked = true;
          if (!skips) (call as (...values: unknown[]) => void).apply(this, parameters);
        };
      };
      Object.assign(prototype, {
        drawArrays: marked(drawArrays, marks.drawing),
        texSubImage2D: marked(texSubImage2D, marks.copying),
      });
    },
    { skips: skipsDrawing, marks: { drawing: drawingMark, copying: copyingMark } },
  );
}

interface TraceEvent {
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  /** Microseconds. */
  readonly ts: number;
  readonly dur?: number;
  /** Microseconds of the processor. */
  readonly tdur?: number;
}

/** Records the main thread of the page while `use` runs. @param folder for the trace, which is removed */
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
  await browser.stopTracing();
  const { traceEvents } = JSON.parse(readFileSync(path, 'utf8')) as { traceEvents: readonly TraceEvent[] };
  rmSync(path);
  return figuresOf(traceEvents);
}

/** @throws Error when nothing was drawn */
export function figuresOf(events: readonly TraceEvent[]): MainThreadFigures {
  const first = events.find(({ name }) => name === drawingMark);
  if (first === undefined) throw new Error('The page drew no tiles while it was traced.');
  const own = events.filter(({ pid, tid }) => pid === first.pid && tid === first.tid);
  const tasks = own.filter(({ name, tdur }) => name === 'RunTask' && tdur !== undefined);
  const isWithin = (event: TraceEvent, { ts, dur = 0 }: TraceEvent) => event.ts >= ts && event.ts <= ts + dur;
  const marksOf = (mark: string) => own.filter(({ name }) => name === mark);
  const [drawn, copied] = [marksOf(drawingMark), marksOf(copyingMark)];
  const draws = (task: TraceEvent) => drawn.some((mark) => isWithin(mark, task));
  const copies = (task: TraceEvent) => copied.some((mark) => isWithin(mark, task));
  const longest = longestOf(tasks);
  const parts = own.filter((event) => isWithin(event, longest) && !event.name.includes('RunTask'));
  const nameOfLongest = parts.length > 0 ? longestOf(parts).name : longest.name;
  return {
    frames: tasksOf(tasks.filter(draws)),
    copies: tasksOf(tasks.filter((task) => copies(task) && !draws(task))),
    longest: millisecondsOf(longest),
    longestName: draws(longest) || copies(longest) ? 'tiles' : nameOfLongest,
    decodes: own.filter(({ name }) => /^(Decode Image|ImageDecodeTask|Decode LazyPixelRef)$/.test(name))
      .length,
  };
}

function tasksOf(tasks: readonly TraceEvent[]): Tasks {
  const times = tasks.map(millisecondsOf);
  const [p50, p95] = [quantile(times, 0.5), quantile(times, 0.95)];
  return { count: times.length, p50, p95, longest: Math.max(0, ...times) };
}

const longestOf = (events: readonly TraceEvent[]) =>
  events.reduce((one, other) => (millisecondsOf(other) > millisecondsOf(one) ? other : one));

const millisecondsOf = ({ tdur = 0 }: TraceEvent) => tdur / 1000;
