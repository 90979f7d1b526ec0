/** Runs a task in a separate worker thread, because long work in the main thread would block other requests. */
import { Worker, type WorkerOptions } from 'node:worker_threads';

interface ThreadTask extends Pick<WorkerOptions, 'workerData' | 'resourceLimits'> {
  /** Module that posts one answer, and before it any number of `ThreadProgress`. It must not keep the thread running after that. */
  readonly module: URL;
  readonly onProgress?: (done: number) => void;
  /** Ends the thread early. */
  readonly signal: AbortSignal;
}

/** A progress message, which a thread may post before its answer. */
export interface ThreadProgress {
  /** The part that is done, 0 to 1. */
  readonly progress: number;
}

/**
 * Returns the answer of the thread once the thread has ended.
 *
 * @throws the reason of the signal when it is aborted; the error of the thread, also when it exceeds its resource limits
 */
export async function answerOfThread<Answer>(task: ThreadTask): Promise<Answer> {
  const { module, onProgress, signal, ...options } = task;
  signal.throwIfAborted();
  const worker = new Worker(module, options);
  let answer: { readonly value: Answer } | null = null;
  worker.on('message', (message: Answer | ThreadProgress) => {
    if (isProgress(message)) onProgress?.(message.progress);
    else answer = { value: message };
  });
  const exited = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
  const stop = () => void worker.terminate();
  signal.addEventListener('abort', stop, { once: true });
  try {
    await new Promise<void>((resolve, reject) => {
      worker.once('error', reject);
      // The thread ends by itself, because terminating it right after its answer sometimes crashed the process.
      void exited.then(resolve);
    });
  } finally {
    signal.removeEventListener('abort', stop);
    await exited;
  }
  const answered = answer as { readonly value: Answer } | null; // TypeScript does not see what the listener sets
  if (answered !== null) return answered.value;
  throw signal.reason instanceof Error ? signal.reason : new Error('The thread ended without an answer.');
}

function isProgress(message: unknown): message is ThreadProgress {
  return typeof message === 'object' && message !== null && 'progress' in message;
}
