/** Copies a result from the bucket to a file, which the import reads. */
import fs from 'node:fs/promises';
import path from 'node:path';
import { type ObjectFacts, SlideError } from '@lamina/slide';
import { RetryLater } from '../jobs/jobs.ts';
import type { ObjectStore } from '../slide-storage/object-storage.ts';
import { RefusedResult } from './problems.ts';

/** Of one request. */
const partBytes = 8 * 2 ** 20;

interface Download {
  readonly store: Pick<ObjectStore, 'head' | 'read'>;
  readonly key: string;
  /** Path of the file, which is replaced. */
  readonly target: string;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

/**
 * @returns false when there is no such object
 * @throws RefusedResult when it is larger than the limit; RetryLater when the store does not answer, or the object was
 *   replaced meanwhile
 */
export async function downloadResult({ store, key, target, maxBytes, signal }: Download): Promise<boolean> {
  try {
    const facts = await store.head(key, signal);
    if (facts.size > maxBytes) throw new RefusedResult('quota_exceeded', 'The object is too large');
    await fs.mkdir(path.dirname(target), { recursive: true });
    await copy({ ...facts, key });
    return true;
  } catch (error) {
    if (!(error instanceof SlideError)) throw error;
    if (error.code === 'FILE_MISSING') return false;
    throw new RetryLater('The object store did not answer; the job tries again later.', { cause: error });
  }

  async function copy(object: ObjectFacts & { readonly key: string }): Promise<void> {
    const file = await fs.open(target, 'w');
    try {
      for (let offset = 0; offset < object.size; offset += partBytes) {
        const length = Math.min(partBytes, object.size - offset);
        await file.write(await store.read(object, offset, length, signal), 0, length, offset);
      }
    } finally {
      await file.close();
    }
  }
}
