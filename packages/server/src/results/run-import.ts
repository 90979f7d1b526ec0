/**
 * Runs the import of one result file (the output of an analysis program) in a worker thread with limited memory, which
 * can be terminated at any time.
 */
import fs from 'node:fs/promises';
import type { ResultKind, ResultRegistration } from '@lamina/contract';
import { runInThread } from '../platform/run-in-thread.ts';
import type { Problem } from './problems.ts';

export interface ImportTask {
  readonly kind: ResultKind;
  /** Path of the file to import. */
  readonly source: string;
  /** Path and maximum size of the layer's file, which the import writes. */
  readonly target: string;
  readonly maxBytes: number;
  /** How the result is placed on the slide. */
  readonly registration: ResultRegistration;
  /** False for a raster of continuous values; true for a mask; null: its palette and values decide. */
  readonly isMask: boolean | null;
  readonly slide: {
    readonly width: number;
    readonly height: number;
    readonly mpp: { readonly x: number; readonly y: number } | null; // micrometres per pixel; null: unknown
  };
}

export type ImportOutcome =
  /** `objects`: number of objects; null for a raster. */
  | { readonly ok: true; readonly sizeBytes: number; readonly objects: number | null }
  | { readonly ok: false; readonly problem: Problem; readonly message: string };

/** Limit of the JavaScript heap of the worker. Typed arrays are outside the heap; `resultLimits` of the contract limit their size. */
const heapMegabytes = 128;
/** Size of a semi-space of the young generation. A larger one would save little time, but occupy three times its size in memory. */
const youngMegabytes = 8;

/** Imports a file. @throws the reason of the signal when it is aborted; any other error that the file did not cause */
export async function runImport(
  task: ImportTask,
  onProgress: (fraction: number) => void,
  signal: AbortSignal,
): Promise<ImportOutcome> {
  try {
    return await runInThread<ImportOutcome>({
      module: new URL('./import-worker.ts', import.meta.url),
      workerData: task,
      resourceLimits: { maxOldGenerationSizeMb: heapMegabytes, maxYoungGenerationSizeMb: youngMegabytes },
      onProgress,
      signal,
    });
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'ERR_WORKER_OUT_OF_MEMORY') throw error;
    await fs.rm(task.target, { force: true }); // after any other rejection, the worker itself deletes this file
    return { ok: false, problem: 'too_complex', message: 'The import needs too much memory' };
  }
}
