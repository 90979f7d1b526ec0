import type { HashReply } from './hash-file-worker.ts';

/** Thrown when the browser cannot read the file, usually because it was changed or deleted after the user had chosen it. */
export class FileUnreadableError extends Error {}

/**
 * Computes the checksum of a file that is being uploaded, in a web worker, so that the page stays responsive.
 *
 * @returns the SHA-256 in lower-case hexadecimal
 * @throws FileUnreadableError
 */
export function hashFile(file: Blob): Promise<string> {
  const worker = new Worker(new URL('./hash-file-worker.ts', import.meta.url), { type: 'module' });
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  worker.addEventListener('message', ({ data }: MessageEvent<HashReply>) => {
    if ('sha256' in data) resolve(data.sha256);
    else reject(new FileUnreadableError(data.unreadable));
  });
  worker.addEventListener('error', ({ message }) => reject(new FileUnreadableError(message)));
  worker.postMessage(file);
  return promise.finally(() => worker.terminate());
}
