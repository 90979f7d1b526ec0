/**
 * Puts what has come whole into the bucket where slides lie. A bucket knows no rename: the files of a folder come one
 * after the other, those that are opened as slides last, and the catalogue looks again when all of them are there.
 */
import { hasSlideName } from '@lamina/contract';
import type { ObjectStore } from '../slides/object-storage.ts';
import type { UploadDestination, WholeUpload } from './upload-destination.ts';

type Bucket = Pick<ObjectStore, 'list' | 'put'>;

/** @param signal aborted when the process is about to end */
export function createBucketDestination(bucket: Bucket, signal: AbortSignal): UploadDestination {
  return {
    root: 'bucket',
    isTaken: async (place) => (await objectsAt(bucket, place, signal)).size > 0,
    place: (whole) => placeInBucket(bucket, whole, signal),
  };
}

async function placeInBucket(
  bucket: Bucket,
  { place, isFolder, files, isAgain }: WholeUpload,
  signal: AbortSignal,
): Promise<boolean> {
  const objects = files.map(({ part, path, sizeBytes }) => ({
    key: isFolder ? `${place}/${path}` : place,
    part,
    sizeBytes,
  }));
  const there = await objectsAt(bucket, place, signal);
  const sizes = new Map(objects.map(({ key, sizeBytes }) => [key, sizeBytes]));
  const areOurs = isAgain && [...there].every(([key, size]) => sizes.get(key) === size);
  if (there.size > 0 && !areOurs) return false;
  const inOrder = objects.toSorted((a, b) => Number(hasSlideName(a.key)) - Number(hasSlideName(b.key)));
  for (const { key, part } of inOrder) if (!there.has(key)) await bucket.put(key, part, signal);
  return true;
}

/** Sizes by key, of the object of this name and of those below it. */
async function objectsAt(
  bucket: Bucket,
  place: string,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, number>> {
  const found = new Map<string, number>();
  for await (const { key, size } of bucket.list(place, signal)) {
    if (key !== place) break; // the name itself comes before all that begins with it
    found.set(key, size);
  }
  for await (const { key, size } of bucket.list(`${place}/`, signal)) found.set(key, size);
  return found;
}
