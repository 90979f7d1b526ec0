import { randomUUID } from 'node:crypto';
import fs from 'node:fs/promises';
import path from 'node:path';
import { createObjectStore, type ObjectStore } from '@lamina/slide';
import type { Config } from '../platform/config.ts';
import { type Finding, note, ok, reasonOf, within, wrong } from './finding.ts';

const timeoutMs = 15_000;
const rangeBytes = 16;

/** Lists, reads a range, writes and deletes, like the program. */
export async function checkObjectStorage({
  objectStore,
  dataDir,
}: Pick<Config, 'objectStore' | 'dataDir'>): Promise<Finding[]> {
  if (objectStore === null) return [];
  const { endpoint, bucket, prefix } = objectStore;
  const where = `${bucket}/${prefix} at ${new URL(endpoint).host}`;
  const store = createObjectStore(objectStore);
  try {
    const first = await within(timeoutMs, firstOf(store.list('')));
    if (first === null)
      return [note('Bucket', `${where} can be listed and is empty.`, 'Put slides into it.')];
    await within(timeoutMs, store.read(first, 0, Math.min(rangeBytes, first.size)));
  } catch (error) {
    return [
      wrong(
        'Bucket',
        `${where} cannot be used: ${reasonOf(error)}.`,
        'Check that this machine can reach S3_ENDPOINT, that the bucket exists, and that the key may list it and read its objects (s3:ListBucket, s3:GetObject). The store must support range requests.',
      ),
    ];
  }
  return [
    ok('Bucket', `${where} can be listed and read by ranges.`),
    await checkWriting(store, where, dataDir),
  ];
}

async function checkWriting(store: ObjectStore, where: string, dataDir: string): Promise<Finding> {
  const file = path.join(dataDir, `.doctor-${randomUUID()}`);
  const key = `.lamina-doctor-${randomUUID()}`;
  try {
    await fs.writeFile(file, 'Lamina was here.\n');
    await within(timeoutMs, store.put(key, file));
    await within(timeoutMs, store.delete(key));
    return ok('Bucket', `${where} can be written.`);
  } catch (error) {
    return note(
      'Bucket',
      `${where} cannot be written: ${reasonOf(error)}.`,
      'Nothing to do if slides are put there in another way. Uploads into the bucket need s3:PutObject and s3:DeleteObject.',
    );
  } finally {
    await fs.rm(file, { force: true });
  }
}

async function firstOf<T>(all: AsyncIterable<T>): Promise<T | null> {
  for await (const one of all) return one;
  return null;
}
