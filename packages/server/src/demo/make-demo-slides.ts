/**
 * Demonstration slides for a server that has none of its own: two sections, drawn by a program, that look
 * like tissue stained with haematoxylin and eosin.
 *
 * Each is drawn in a process of low priority, so the server answers meanwhile. Files appear under their
 * names when they are complete; whatever ends the work early leaves nothing behind.
 */
import { type ChildProcess, fork } from 'node:child_process';
import fs from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { DrawingOrder, DrawingReport, SlidePart } from './drawing-order.ts';

const program = fileURLToPath(new URL('./draw-demo-slide.ts', import.meta.url));

const DATASET = 'Demo';

interface DemoSlide {
  readonly fileName: string;
  readonly organ: string;
  readonly tissue: DrawingOrder['tissue'];
  readonly seed: number;
}

const slides: readonly DemoSlide[] = [
  { fileName: 'colon-demo.svs', organ: 'Colon', tissue: 'colon', seed: 11 },
  { fileName: 'liver-demo.svs', organ: 'Liver', tissue: 'liver', seed: 23 },
];

export interface DemoSlidesOptions {
  /** Folder of demonstration slides; made when it is not there. The slides come into its folder `Demo`. */
  readonly folder: string;
  /** Told a sentence now and then, for a person who waits. */
  readonly onProgress?: (sentence: string) => void;
  readonly signal?: AbortSignal;
  /** Draws only this part of each slide: some tiles take a second where a slide takes half a minute. */
  readonly parts?: Readonly<Record<DrawingOrder['tissue'], SlidePart>>;
}

/** Paths of the demonstration slides in a folder of them, whether or not they are there. */
export function demoSlideFiles(folder: string): readonly string[] {
  return slides.map(({ fileName }) => path.join(folder, DATASET, fileName));
}

/**
 * Makes the demonstration slides, and `catalogue.csv` with their organs beside them.
 *
 * @returns the paths of the slides
 * @throws the reason of `signal` when it is aborted; Error when a slide could not be drawn
 */
export async function makeDemoSlides(options: DemoSlidesOptions): Promise<readonly string[]> {
  const { folder, onProgress = () => {}, signal, parts } = options;
  signal?.throwIfAborted();
  const datasetFolder = path.join(folder, DATASET);
  await fs.mkdir(datasetFolder, { recursive: true });
  const finished = demoSlideFiles(folder);
  // Hidden, and no name of a slide: nobody takes them for one meanwhile.
  const unfinished = slides.map(({ fileName }) => path.join(datasetFolder, `.${fileName}.unfinished`));

  onProgress('No slides yet: drawing two demonstration slides, which takes about half a minute.');
  const tellProgress = progressTeller(onProgress);
  const stop = new AbortController();
  try {
    const drawings = slides.map(async ({ tissue, seed }, index) => {
      const order: DrawingOrder = {
        file: unfinished[index] as string,
        tissue,
        seed,
        part: parts?.[tissue] ?? null,
      };
      await drawInProcess(order, (percent) => tellProgress(index, percent), stop.signal, signal);
    });
    // One that fails ends the other; both have ended before anything is cleaned up.
    const results = await Promise.allSettled(
      drawings.map((drawing) =>
        drawing.catch((error: unknown) => {
          stop.abort();
          throw error;
        }),
      ),
    );
    signal?.throwIfAborted();
    for (const result of results) if (result.status === 'rejected') throw result.reason;

    await fs.writeFile(path.join(datasetFolder, 'catalogue.csv'), catalogueOf(slides));
    for (const [index, file] of unfinished.entries()) await fs.rename(file, finished[index] as string);
  } finally {
    await Promise.all(unfinished.map((file) => fs.rm(file, { force: true, recursive: true })));
  }
  onProgress('The demonstration slides are ready.');
  return finished;
}

/** Draws one slide in a process of its own, and waits until that has ended. */
async function drawInProcess(
  order: DrawingOrder,
  onPercent: (percent: number) => void,
  ...signals: readonly (AbortSignal | undefined)[]
): Promise<void> {
  const child = fork(program, { execArgv: [], stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const given = signals.filter((signal) => signal !== undefined);
  const end = () => child.kill('SIGKILL');
  for (const signal of given) signal.addEventListener('abort', end);
  try {
    const reported = reportOf(child, onPercent);
    child.send(order);
    if (given.some((signal) => signal.aborted)) end();
    await reported;
  } finally {
    for (const signal of given) signal.removeEventListener('abort', end);
    end();
  }
}

/** Settles when the process has ended. @throws Error with what it reported, or that it ended early */
function reportOf(child: ChildProcess, onPercent: (percent: number) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    let last: DrawingReport | null = null;
    child.on('message', (report: DrawingReport) => {
      last = report;
      if (report.kind === 'progress') onPercent(report.percent);
      else child.kill('SIGKILL');
    });
    child.once('error', reject);
    child.once('exit', () => {
      if (last?.kind === 'done') resolve();
      else if (last?.kind === 'failed')
        reject(new Error(`A demonstration slide could not be drawn: ${last.message}`));
      else reject(new Error('The process that draws a demonstration slide ended early'));
    });
  });
}

/** A sentence at each quarter of the whole work. */
function progressTeller(onProgress: (sentence: string) => void): (index: number, percent: number) => void {
  const percents = slides.map(() => 0);
  let told = 0;
  return (index, percent) => {
    percents[index] = percent;
    const whole = percents.reduce((sum, value) => sum + value, 0) / percents.length;
    const quarter = Math.floor(whole / 25) * 25;
    if (quarter <= told || quarter >= 100) return;
    told = quarter;
    onProgress(`Demonstration slides: ${quarter} %`);
  };
}

function catalogueOf(drawn: readonly DemoSlide[]): string {
  const lines = drawn.map(({ fileName, organ }) => `${fileName},${DATASET},${organ}\n`);
  return `file_name,dataset_name,organ_type\n${lines.join('')}`;
}
