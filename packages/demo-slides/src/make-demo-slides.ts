/**
 * The demonstration slides, which the server draws on its first start when its slide folder is empty: two synthetic sections that
 * look like tissue stained with haematoxylin and eosin. One slide also gets results as an analysis program would
 * compute them: a heatmap and outlines of cells.
 *
 * Each slide is drawn in a child process of low priority, so the server stays responsive. Files are written under hidden names and
 * renamed when all are complete, so an aborted or failed run leaves no incomplete files.
 */
import { type ChildProcess, fork } from 'node:child_process';
import fs from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { DrawReport, DrawRequest, ResultFiles, SlidePart } from './process-messages.ts';

const drawingProgram = fileURLToPath(new URL('./draw-slide-process.ts', import.meta.url));

const DATASET = 'Demo';

interface DemoSlide {
  readonly fileName: string;
  readonly organ: string;
  readonly tissue: DrawRequest['tissue'];
  readonly seed: number;
  /** File names of the results of this slide; the server finds them by these names. Null for a slide without results. */
  readonly results: ResultFiles | null;
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
  /** The slide folder; created when it does not exist. The slides are written to its subfolder `Demo`. */
  readonly folder: string;
  /** Called with a progress message for the operator. */
  readonly onProgress?: (message: string) => void;
  readonly signal?: AbortSignal;
  /** Draws only this part of each slide, for tests: a few tiles take a second, a whole slide half a minute. */
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
  const slidePaths = demoSlideFiles(folder);
  // The name is hidden and has no slide extension, so that no scan of the folder opens an incomplete slide.
  const unfinishedPathOf = (fileName: string) => path.join(datasetFolder, `.${fileName}.unfinished`);
  const unfinishedPaths = slides.map(({ fileName }) => unfinishedPathOf(fileName));
  const resultNames = slides.flatMap(({ results }) =>
    results === null ? [] : [results.heatmap, results.cells],
  );

  onProgress('No slides yet: drawing two demonstration slides, which takes about half a minute.');
  const reportProgress = createProgressReporter(onProgress);
  /** Aborted with the error of the first drawing process that fails; this kills the other process. */
  const stop = new AbortController();
  try {
    const drawings = slides.map(async ({ tissue, seed, results }, index) => {
      const request: DrawRequest = {
        file: unfinishedPaths[index] as string,
        tissue,
        seed,
        part: parts?.[tissue] ?? null,
        results: results && {
          heatmap: unfinishedPathOf(results.heatmap),
          cells: unfinishedPathOf(results.cells),
        },
      };
      await drawInProcess(request, (percent) => reportProgress(index, percent), stop.signal, signal);
    });
    // The first failure stops the other process. Both processes have ended before the cleanup below.
    await Promise.all(drawings.map((drawing) => drawing.catch((error: unknown) => stop.abort(error))));
    signal?.throwIfAborted();
    stop.signal.throwIfAborted();

    await fs.writeFile(path.join(datasetFolder, 'catalogue.csv'), catalogueOf(slides));
    for (const [index, file] of unfinishedPaths.entries()) await fs.rename(file, slidePaths[index] as string);
    // The slides are renamed first: a scan of the folder would list a heatmap without its slide as a slide.
    for (const name of resultNames) await fs.rename(unfinishedPathOf(name), path.join(datasetFolder, name));
  } finally {
    const leftovers = [...unfinishedPaths, ...resultNames.map(unfinishedPathOf)];
    await Promise.all(leftovers.map((file) => fs.rm(file, { force: true, recursive: true })));
  }
  onProgress('The demonstration slides are ready.');
  return slidePaths;
}

/** Draws one slide in a child process and waits until that process has ended. Kills the process when one of `signals` is aborted. */
async function drawInProcess(
  request: DrawRequest,
  onPercent: (percent: number) => void,
  ...signals: readonly (AbortSignal | undefined)[]
): Promise<void> {
  // The process gets no environment variables: it needs none, and those of the server contain secrets.
  const child = fork(drawingProgram, {
    env: {},
    execArgv: [],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const activeSignals = signals.filter((signal) => signal !== undefined);
  const killChild = () => child.kill('SIGKILL');
  for (const signal of activeSignals) signal.addEventListener('abort', killChild);
  try {
    const result = waitForResult(child, request.tissue, onPercent);
    child.send(request);
    if (activeSignals.some((signal) => signal.aborted)) killChild();
    await result;
  } finally {
    for (const signal of activeSignals) signal.removeEventListener('abort', killChild);
    killChild();
  }
}

/** Waits until the process has ended. @throws Error when it reported a failure or ended without reporting `done` */
function waitForResult(
  child: ChildProcess,
  tissue: DrawRequest['tissue'],
  onPercent: (percent: number) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let lastReport: DrawReport | null = null;
    child.on('message', (report: DrawReport) => {
      lastReport = report;
      if (report.kind === 'progress') onPercent(report.percent);
      else child.kill('SIGKILL'); // `done` and `failed` are the last reports
    });
    child.once('error', reject);
    child.once('exit', () => {
      if (lastReport?.kind === 'done') resolve();
      else if (lastReport?.kind === 'failed')
        reject(new Error(`Drawing the ${tissue} demonstration slide failed: ${lastReport.message}`));
      else reject(new Error(`The process that draws the ${tissue} demonstration slide ended unexpectedly.`));
    });
  });
}

/** Returns a function that takes the progress of each slide and reports 25, 50 and 75 % of the mean of all slides. */
function createProgressReporter(
  onProgress: (message: string) => void,
): (index: number, percent: number) => void {
  const percents = slides.map(() => 0);
  let reportedPercent = 0;
  return (index, percent) => {
    percents[index] = percent;
    const meanPercent = percents.reduce((sum, value) => sum + value, 0) / percents.length;
    const nextPercent = Math.floor(meanPercent / 25) * 25;
    if (nextPercent <= reportedPercent || nextPercent >= 100) return;
    reportedPercent = nextPercent;
    onProgress(`Drawing the demonstration slides: ${nextPercent} % done.`);
  };
}

/** Returns the content of `catalogue.csv`, from which the server reads dataset and organ of each slide. */
function catalogueOf(demoSlides: readonly DemoSlide[]): string {
  const lines = demoSlides.map(({ fileName, organ }) => `${fileName},${DATASET},${organ}\n`);
  return `file_name,dataset_name,organ_type\n${lines.join('')}`;
}
