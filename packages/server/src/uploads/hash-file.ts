/** Hashes files in a worker thread, because hashing gigabytes would block other requests. */
import { answerOfThread } from '../platform/answer-of-thread.ts';

/**
 * Hashes a file and flushes it to the disk.
 *
 * @returns SHA-256, hexadecimal, lower case
 * @throws the error of opening or reading the file, with its code
 */
export async function hashFile(file: string, signal: AbortSignal): Promise<string> {
  const module = new URL('./hash-file-worker.ts', import.meta.url);
  const answer = await answerOfThread<HashAnswer>({ module, workerData: file, signal });
  if ('sha256' in answer) return answer.sha256;
  throw Object.assign(new Error(answer.message), { code: answer.code });
}

export type HashAnswer = { readonly sha256: string } | { readonly message: string; readonly code: unknown };
