/** Runs one import in a worker thread with little memory, which can be ended at any time. */
import type { ResultKind, ResultRegistration } from '@lamina/contract';
import { runInThread } from '../platform/run-in-thread.ts';
import type { Problem } from './problems.ts';

export interface ImportTask {
  readonly kind: ResultKind;
  readonly source: string;
  /** Original name of the file; null: unknown. */
  readonly fileName: string | null;
  /** Path of the file to write. */
  readonly target: string;
  readonly maxBytes: number;
  readonly registration: ResultRegistration;
  readonly isMask: boolean | null;
  readonly slide: {
    readonly width: number;
    readonly height: number;
    readonly mpp: { readonly x: number; readonly y: number } | null;
  };
}

export type ImportAnswer =
  | { readonly ok: true; readonly sizeBytes: number; readonly objects: number | null }
  | { readonly ok: false; readonly problem: Problem; readonly message: string };

/** Heap of the worker; tables of numbers are outside it and bounded by the limits of the contract. */
const heapMegabytes = 128;
/** Of one half of the young generation: larger ones save little time and cost three times their size. */
const youngMegabytes = 8;

/** @throws the reason of the signal when it is aborted; an error of the server's own */
export async function runImport(
  task: ImportTask,
  onProgress: (done: number) => void,
  signal: AbortSignal,
): Promise<ImportAnswer> {
  try {
    return await runInThread<ImportAnswer>({
      module: new URL('./import-worker.ts', import.meta.url),
      workerData: task,
      resourceLimits: { maxOldGenerationSizeMb: heapMegabytes, maxYoungGenerationSizeMb: youngMegabytes },
      onProgress,
      signal,
    });
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'ERR_WORKER_OUT_OF_MEMORY') throw error;
    return { ok: false, problem: 'too_complex', message: 'The import needs too much memory' };
  }
}
