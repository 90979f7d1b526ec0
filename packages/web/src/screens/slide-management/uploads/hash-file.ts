import type { HashAnswer } from './hash-file-worker.ts';

/** The browser cannot read the file, because it was changed or deleted after the user chose it. */
export class FileUnreadableError extends Error {}

/**
 * Reads the whole file in a worker, so that the page stays responsive, and returns its checksum.
 *
 * @returns SHA-256, hexadecimal, lower case
 * @throws FileUnreadableError
 */
export function hashFile(file: Blob): Promise<string> {
  const worker = new Worker(new URL('./hash-file-worker.ts', import.meta.url), { type: 'module' });
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  worker.addEventListener('message', ({ data }: MessageEvent<HashAnswer>) => {
    if ('sha256' in data) resolve(data.sha256);
    else reject(new FileUnreadableError(data.unreadable));
  });
  worker.addEventListener('error', ({ message }) => reject(new FileUnreadableError(message)));
  worker.postMessage(file);
  return promise.finally(() => worker.terminate());
}
