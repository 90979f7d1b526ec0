/** Runs a task in a separate worker thread, because long work in the main thread would block other requests. */
import { Worker, type WorkerOptions } from 'node:worker_threads';

interface ThreadTask extends Pick<WorkerOptions, 'workerData' | 'resourceLimits'> {
  /** Module that the thread runs. It posts any number of `ThreadProgress` messages, then its result, and must end after that. */
  readonly module: URL;
  readonly onProgress?: (progress: number) => void;
  /** Ends the thread early when it is aborted. */
  readonly signal: AbortSignal;
}

/** A progress message, which a thread may post before its result. */
export interface ThreadProgress {
  /** The share of the work that is done, 0 to 1. */
  readonly progress: number;
}

/**
 * Runs a module in a worker thread, and returns its result when the thread has ended.
 *
 * @throws the reason of the signal when it is aborted; the error of the thread, also when the thread exceeds its resource
 *   limits; an Error when the thread ends without a result
 */
export async function runInThread<Result>(task: ThreadTask): Promise<Result> {
  const { module, onProgress, signal, ...options } = task;
  signal.throwIfAborted();
  const worker = new Worker(module, options);
  let received: { readonly value: Result } | null = null;
  worker.on('message', (message: Result | ThreadProgress) => {
    if (isProgress(message)) onProgress?.(message.progress);
    else received = { value: message };
  });
  const exited = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
  const stop = () => void worker.terminate();
  signal.addEventListener('abort', stop, { once: true });
  try {
    await new Promise<void>((resolve, reject) => {
      worker.once('error', reject);
      // Waits until the thread ends by itself, because terminating it right after its result sometimes crashed the process.
      void exited.then(resolve);
    });
  } finally {
    signal.removeEventListener('abort', stop);
    await exited;
  }
  const result = received as { readonly value: Result } | null; // TypeScript ignores the assignment in the listener
  if (result !== null) return result.value;
  // The thread was terminated by the signal, or exited without posting a result.
  throw signal.reason instanceof Error ? signal.reason : new Error('The thread ended without a result.');
}

function isProgress(message: unknown): message is ThreadProgress {
  return typeof message === 'object' && message !== null && 'progress' in message;
}
