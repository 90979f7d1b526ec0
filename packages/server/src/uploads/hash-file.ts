/** What a file hashes to, read in a thread of its own: gigabytes would keep everybody else waiting. */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

/**
 * Reads the file once, and has it written to the disk itself before it answers.
 *
 * @returns SHA-256, hexadecimal, lower case
 * @throws what opening and reading throws, with its code
 */
export async function hashFile(file: string, signal: AbortSignal): Promise<string> {
  signal.throwIfAborted();
  const worker = new Worker(new URL('./hash-file-worker.ts', import.meta.url), { workerData: file });
  const stop = () => void worker.terminate();
  signal.addEventListener('abort', stop, { once: true });
  try {
    const [answer] = (await Promise.race([
      once(worker, 'message'),
      once(worker, 'exit').then(() => {
        throw signal.reason instanceof Error ? signal.reason : new Error('The hashing ended early.');
      }),
    ])) as [HashAnswer];
    if ('sha256' in answer) return answer.sha256;
    throw Object.assign(new Error(answer.message), { code: answer.code });
  } finally {
    signal.removeEventListener('abort', stop);
    await worker.terminate();
  }
}

export type HashAnswer = { readonly sha256: string } | { readonly message: string; readonly code: unknown };
