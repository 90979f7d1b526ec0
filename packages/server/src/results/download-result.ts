/** Copies a result file (output of an analysis program) from the bucket to the disk, where an import reads it. */
import fs from 'node:fs/promises';
import path from 'node:path';
import { type ObjectMetadata, SlideError } from '@lamina/slide';
import { RetryLater } from '../jobs/jobs.ts';
import type { ObjectStore } from '../slide-storage/object-storage.ts';
import { ImportRejectedError } from './problems.ts';

/** Maximum number of bytes that one request to the object store reads. */
const partBytes = 8 * 2 ** 20;

interface Download {
  readonly store: Pick<ObjectStore, 'head' | 'read'>;
  readonly key: string;
  /** Path of the local file, which is overwritten. */
  readonly target: string;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

/**
 * Downloads an object.
 *
 * @returns false when the bucket has no such object
 * @throws ImportRejectedError when the object is larger than `maxBytes`; RetryLater when the store does not respond, or
 *   the object was replaced during the download
 */
export async function downloadResult({ store, key, target, maxBytes, signal }: Download): Promise<boolean> {
  try {
    const { size, etag } = await store.head(key, signal);
    if (size > maxBytes) throw new ImportRejectedError('quota_exceeded', 'The object is too large');
    await fs.mkdir(path.dirname(target), { recursive: true });
    await copy({ size, etag, key }); // with the ETag, reading fails if the object was replaced
    return true;
  } catch (error) {
    if (!(error instanceof SlideError)) throw error;
    if (error.code === 'FILE_MISSING') return false;
    throw new RetryLater('The object could not be read; the job is retried later.', { cause: error });
  }

  async function copy(object: ObjectMetadata & { readonly key: string }): Promise<void> {
    const file = await fs.open(target, 'w');
    try {
      for (let offset = 0; offset < object.size; offset += partBytes) {
        const length = Math.min(partBytes, object.size - offset);
        await file.writeFile(await store.read(object, offset, length, signal)); // appends, because it writes at the file position
      }
    } finally {
      await file.close();
    }
  }
}
