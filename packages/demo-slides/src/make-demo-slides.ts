/**
 * Draws the demonstration slides for a server without slides: two synthetic sections that look like tissue stained with
 * haematoxylin and eosin, and the results of a program for one of them: a heatmap and outlines of cells.
 *
 * Each slide is drawn in a child process of low priority, so the server stays responsive. A file gets its name when it is
 * complete; an aborted or failed run leaves no files.
 */
import { type ChildProcess, fork } from 'node:child_process';
import fs from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { DrawReport, DrawRequest, ResultPaths, SlidePart } from './process-messages.ts';

const program = fileURLToPath(new URL('./draw-slide-process.ts', import.meta.url));

const DATASET = 'Demo';

interface DemoSlide {
  readonly fileName: string;
  readonly organ: string;
  readonly tissue: DrawRequest['tissue'];
  readonly seed: number;
  /** Names of its results, by which the server finds them; null: it has none. */
  readonly results: ResultPaths | null;
}

const slides: readonly DemoSlide[] = [
  {
    fileName: 'colon-demo.svs',
    organ: 'Colon',
    tissue: 'colon',
    seed: 11,
    results: { heatmap: 'colon-demo_likelihood_map.tif', cells: 'colon-demo_detections.geojson.gz' },
  },
  { fileName: 'liver-demo.svs', organ: 'Liver', tissue: 'liver', seed: 23, results: null },
];

export interface DemoSlidesOptions {
  /** Created when it does not exist. The slides are written to its subfolder `Demo`. */
  readonly folder: string;
  /** Called with a progress message for people. */
  readonly onProgress?: (message: string) => void;
  readonly signal?: AbortSignal;
  /** Draws only this part of each slide: a few tiles take a second, a whole slide half a minute. */
  readonly parts?: Readonly<Record<DrawRequest['tissue'], SlidePart>>;
}

/** Returns the paths of the demonstration slides in a folder, whether or not they exist. */
export function demoSlideFiles(folder: string): readonly string[] {
  return slides.map(({ fileName }) => path.join(folder, DATASET, fileName));
}

/**
 * Draws the demonstration slides, and writes `catalogue.csv` with their organs beside them.
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
  // A hidden file without the extension of a slide, so that no scan opens an incomplete slide.
  const unfinishedOf = (fileName: string) => path.join(datasetFolder, `.${fileName}.unfinished`);
  const unfinished = slides.map(({ fileName }) => unfinishedOf(fileName));
  const resultNames = slides.flatMap(({ results }) =>
    results === null ? [] : Object.values<string>({ ...results }),
  );

  onProgress('No slides yet: drawing two demonstration slides, which takes about half a minute.');
  const reportProgress = createProgressReporter(onProgress);
  const stop = new AbortController();
  try {
    const drawings = slides.map(async ({ tissue, seed, results }, index) => {
      const order: DrawRequest = {
        file: unfinished[index] as string,
        tissue,
        seed,
        part: parts?.[tissue] ?? null,
        results: results && {
          heatmap: unfinishedOf(results.heatmap),
          cells: unfinishedOf(results.cells),
        },
      };
      await drawInProcess(order, (percent) => reportProgress(index, percent), stop.signal, signal);
    });
    // The first failure stops the other drawing. Both processes have ended before the cleanup.
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
    // After the slide: beside no slide, a heatmap would be a slide itself.
    for (const name of resultNames) await fs.rename(unfinishedOf(name), path.join(datasetFolder, name));
  } finally {
    const begun = [...unfinished, ...resultNames.map(unfinishedOf)];
    await Promise.all(begun.map((file) => fs.rm(file, { force: true, recursive: true })));
  }
  onProgress('The demonstration slides are ready.');
  return finished;
}

/** Draws one slide in a child process and waits until that process has ended. */
async function drawInProcess(
  order: DrawRequest,
  onPercent: (percent: number) => void,
  ...signals: readonly (AbortSignal | undefined)[]
): Promise<void> {
  // It needs no setting, and so holds no secret that another process could read.
  const child = fork(program, { env: {}, execArgv: [], stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const activeSignals = signals.filter((signal) => signal !== undefined);
  const end = () => child.kill('SIGKILL');
  for (const signal of activeSignals) signal.addEventListener('abort', end);
  try {
    const result = waitForResult(child, onPercent);
    child.send(order);
    if (activeSignals.some((signal) => signal.aborted)) end();
    await result;
  } finally {
    for (const signal of activeSignals) signal.removeEventListener('abort', end);
    end();
  }
}

/** Waits for the end of the process. @throws Error with the failure it reported, or when it ended without a report */
function waitForResult(child: ChildProcess, onPercent: (percent: number) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    let last: DrawReport | null = null;
    child.on('message', (report: DrawReport) => {
      last = report;
      if (report.kind === 'progress') onPercent(report.percent);
      else child.kill('SIGKILL');
    });
    child.once('error', reject);
    child.once('exit', () => {
      if (last?.kind === 'done') resolve();
      else if (last?.kind === 'failed')
        reject(new Error(`Drawing a demonstration slide failed: ${last.message}`));
      else reject(new Error('The process that draws a demonstration slide ended unexpectedly.'));
    });
  });
}

/** Returns a function that takes the progress of each slide and reports every quarter of the whole. */
function createProgressReporter(
  onProgress: (message: string) => void,
): (index: number, percent: number) => void {
  const percents = slides.map(() => 0);
  let reported = 0;
  return (index, percent) => {
    percents[index] = percent;
    const whole = percents.reduce((sum, value) => sum + value, 0) / percents.length;
    const quarter = Math.floor(whole / 25) * 25;
    if (quarter <= reported || quarter >= 100) return;
    reported = quarter;
    onProgress(`Demonstration slides: ${quarter} %`);
  };
}

function catalogueOf(drawn: readonly DemoSlide[]): string {
  const lines = drawn.map(({ fileName, organ }) => `${fileName},${DATASET},${organ}\n`);
  return `file_name,dataset_name,organ_type\n${lines.join('')}`;
}
