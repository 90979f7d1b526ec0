/**
 * Stores complete uploads in the bucket of object storage. Objects cannot be renamed, so this module stores the files of a
 * folder one after the other: slide files last, so that a scan does not find a slide before its other files.
 */
import { hasSlideName } from '@lamina/slide/names';
import type { ObjectStore } from '../slide-storage/object-storage.ts';
import type { CompleteUpload, UploadDestination } from './upload-destination.ts';

type Bucket = Pick<ObjectStore, 'list' | 'put'>;

/** Creates the destination. @param signal aborted when the process ends */
export function createBucketDestination(bucket: Bucket, signal: AbortSignal): UploadDestination {
  return {
    root: 'bucket',
    isTaken: async (targetPath) =>
      (await listObjectsAt(bucket, targetPath, signal)).size > 0 ||
      (await isBelowObject(bucket, targetPath, signal)),
    store: (upload) => storeInBucket(bucket, upload, signal),
  };
}

/** Stores the files of an upload. @returns false when the target path is taken */
async function storeInBucket(
  bucket: Bucket,
  { targetPath, isFolder, files, isRetry }: CompleteUpload,
  signal: AbortSignal,
): Promise<boolean> {
  const objects = files.map(({ receivedFile, path, sizeBytes }) => ({
    key: isFolder ? `${targetPath}/${path}` : targetPath,
    file: receivedFile,
    sizeBytes,
  }));
  const existing = await listObjectsAt(bucket, targetPath, signal);
  const uploadSizes = new Map(objects.map(({ key, sizeBytes }) => [key, sizeBytes]));
  // An earlier attempt may have stored some of the files. Any other object means that the path is taken.
  const isFromEarlierAttempt = isRetry && [...existing].every(([key, size]) => uploadSizes.get(key) === size);
  if (existing.size > 0 && !isFromEarlierAttempt) return false;
  if (await isBelowObject(bucket, targetPath, signal)) return false;
  const slidesLast = objects.toSorted((a, b) => Number(hasSlideName(a.key)) - Number(hasSlideName(b.key)));
  for (const { key, file } of slidesLast) if (!existing.has(key)) await bucket.put(key, file, signal);
  return true;
}

/** Returns whether a parent of a path is an object. The catalogue shows such a parent as a file, without the objects below it. */
async function isBelowObject(bucket: Bucket, targetPath: string, signal: AbortSignal): Promise<boolean> {
  const names = targetPath.split('/');
  for (let depth = 1; depth < names.length; depth++) {
    if ((await sizeOfObject(bucket, names.slice(0, depth).join('/'), signal)) !== null) return true;
  }
  return false;
}

/** Lists the object with this key and the objects of the folder with this name. @returns sizes by key */
async function listObjectsAt(
  bucket: Bucket,
  targetPath: string,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, number>> {
  const sizesByKey = new Map<string, number>();
  const sizeOfTarget = await sizeOfObject(bucket, targetPath, signal);
  if (sizeOfTarget !== null) sizesByKey.set(targetPath, sizeOfTarget);
  for await (const { key, size } of bucket.list(`${targetPath}/`, signal)) sizesByKey.set(key, size);
  return sizesByKey;
}

/** Returns the size in bytes of the object with exactly this key, or null if there is none. */
async function sizeOfObject(bucket: Bucket, wantedKey: string, signal: AbortSignal): Promise<number | null> {
  for await (const { key, size } of bucket.list(wantedKey, signal)) {
    return key === wantedKey ? size : null; // keys are sorted, so the key that equals the prefix comes first
  }
  return null;
}
