/** Hashes files in a worker thread, because hashing gigabytes would block other requests. */
import { runInThread } from '../platform/run-in-thread.ts';

/**
 * Hashes a file and flushes it to the disk.
 *
 * @returns the SHA-256 hash as lower-case hexadecimal text
 * @throws an error with the message and code of the failed file operation; the reason of `signal` when it is aborted
 */
export async function hashFile(file: string, signal: AbortSignal): Promise<string> {
  const module = new URL('./hash-file-worker.ts', import.meta.url);
  const answer = await runInThread<HashAnswer>({ module, workerData: file, signal });
  if ('sha256' in answer) return answer.sha256;
  throw Object.assign(new Error(answer.message), { code: answer.code });
}

/** The message of the worker thread: the hash, or the message and code of the error. */
export type HashAnswer = { readonly sha256: string } | { readonly message: string; readonly code: unknown };
