/** A measured import of a result file with the code of the server: its time and memory. */
import { type ImportOutcome, runImport } from '../../../packages/server/src/results/run-import.ts';
import type { Size } from './generated-outlines.ts';

interface MeasuredImport {
  readonly outcome: ImportOutcome;
  readonly seconds: number;
  /** Largest growth of the resident memory of the process during the import. */
  readonly moreMegabytes: number;
}

interface ImportedFile {
  readonly kind: 'vector' | 'raster';
  readonly source: string; // path of the uploaded file
  readonly target: string; // path of the layer that the import writes
  /** Size of the slide in pixels. */
  readonly slide: Size;
}

/** Interval between two readings of the memory. */
const sampleIntervalMs = 10;

/** Imports a file without a size limit. The `outcome` of the result says whether the file was accepted. */
export async function measureImport({ slide, ...file }: ImportedFile): Promise<MeasuredImport> {
  const bytesAtStart = process.memoryUsage.rss();
  let peakBytes = bytesAtStart;
  const sampling = setInterval(() => {
    peakBytes = Math.max(peakBytes, process.memoryUsage.rss());
  }, sampleIntervalMs);
  const task = {
    ...file,
    maxBytes: 2 ** 40, // no limit in practice
    registration: { method: 'full-size' }, // the result covers the whole slide
    isMask: null, // decided from the values of a raster
    slide: { ...slide, mpp: null },
  } as const;
  const startedAt = performance.now();
  try {
    const ignoreProgress = () => undefined;
    const neverAborted = new AbortController().signal;
    const outcome = await runImport(task, ignoreProgress, neverAborted);
    const seconds = (performance.now() - startedAt) / 1000;
    return { outcome, seconds, moreMegabytes: Math.round((peakBytes - bytesAtStart) / 1e6) };
  } finally {
    clearInterval(sampling);
  }
}
