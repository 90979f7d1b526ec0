/** A check of `npm run doctor`: the object storage (S3) that is configured for slides. */
import { randomUUID } from 'node:crypto';
import fs from 'node:fs/promises';
import path from 'node:path';
import { createObjectStore, type ObjectStore } from '@lamina/slide';
import type { Config } from '../platform/config.ts';
import { type Finding, note, ok, reasonOf, withTimeout, wrong } from './finding.ts';

const timeoutMs = 15_000;
const testRangeBytes = 16; // number of bytes that the check reads from an object

/** Checks that objects can be listed and, unless there are none, read by ranges (for slides), written and deleted (for uploads). */
export async function checkObjectStorage({
  objectStore,
  dataDir,
}: Pick<Config, 'objectStore' | 'dataDir'>): Promise<Finding[]> {
  if (objectStore === null) return [];
  const { endpoint, bucket, prefix } = objectStore;
  const location = `${bucket}/${prefix} at ${new URL(endpoint).host}`;
  const store = createObjectStore(objectStore);
  try {
    const firstObject = await withTimeout(timeoutMs, firstOf(store.list(''))); // '': all keys that begin with the prefix
    if (firstObject === null)
      return [note('Bucket', `${location} can be listed and is empty.`, 'Put slides into it.')];
    await withTimeout(timeoutMs, store.read(firstObject, 0, Math.min(testRangeBytes, firstObject.size)));
  } catch (error) {
    return [
      wrong(
        'Bucket',
        `${location} cannot be used: ${reasonOf(error)}.`,
        'Check that this machine can reach S3_ENDPOINT, that the bucket exists, and that the key may list it and read its objects (s3:ListBucket, s3:GetObject). The store must support range requests.',
      ),
    ];
  }
  return [
    ok('Bucket', `${location} can be listed and read by ranges.`),
    await checkWriting(store, location, dataDir),
  ];
}

/** Stores and deletes a test object. */
async function checkWriting(store: ObjectStore, location: string, dataDir: string): Promise<Finding> {
  const file = path.join(dataDir, `.doctor-${randomUUID()}`);
  const key = `.lamina-doctor-${randomUUID()}`;
  try {
    await fs.writeFile(file, 'Test file of npm run doctor.\n');
    await withTimeout(timeoutMs, store.put(key, file));
    await withTimeout(timeoutMs, store.delete(key));
    return ok('Bucket', `${location} can be written.`);
  } catch (error) {
    return note(
      'Bucket',
      `${location} cannot be written: ${reasonOf(error)}.`,
      'Nothing to do if slides are put there in another way. Uploads into the bucket need s3:PutObject and s3:DeleteObject.',
    );
  } finally {
    await fs.rm(file, { force: true });
  }
}

async function firstOf<T>(items: AsyncIterable<T>): Promise<T | null> {
  for await (const item of items) return item;
  return null;
}
