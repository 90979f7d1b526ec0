/** Opens the object storage (an S3 bucket with slides) that the settings name, with a disk cache on this machine. */
import path from 'node:path';
import {
  createBlockDiskCache,
  createObjectReader,
  createObjectStore,
  type ObjectReader,
  type ObjectStore,
  SlideError,
} from '@lamina/slide';
import type { Logger } from 'pino';
import type { Config } from '../platform/config.ts';

export type { ObjectStore };

export interface ObjectStorage {
  /** Lists the bucket and stores uploads. */
  readonly store: ObjectStore;
  /** Reads slides. */
  readonly reader: ObjectReader;
  /** Resolves when all writes to the disk cache have finished and its files are closed. */
  close(): Promise<void>;
}

/** Memory for blocks (parts of objects) until they are written to the disk: 128 blocks of 256 KiB. */
const memoryCacheBytes = 32 * 1024 * 1024;

/** Opens the object storage; null when the settings do not name any. */
export function openObjectStorage({
  config,
  log,
}: {
  readonly config: Pick<Config, 'objectStore' | 'objectCacheBytes' | 'dataDir'>;
  readonly log: Logger;
}): ObjectStorage | null {
  if (config.objectStore === null) return null;
  const store = createObjectStore(config.objectStore);
  const folder = path.join(config.dataDir, 'blocks');
  const diskCache = createBlockDiskCache({
    folder,
    maxBytes: config.objectCacheBytes,
    warn: (error) =>
      log.warn(
        { err: error, folder },
        'disk cache of the object storage could not be written; slides stay available, but load more slowly',
      ),
  });
  return {
    store,
    reader: createObjectReader({ store, maxMemoryBytes: memoryCacheBytes, diskCache }),
    close: () => diskCache.close(),
  };
}

/** A key that no object has. The response that this object is missing proves that the object storage is accessible. */
const absentKey = '.lamina-asks';

/** Checks the access to object storage. @throws SlideError when it does not answer or denies access */
export async function checkObjectStorageAccess(
  store: Pick<ObjectStore, 'head'>,
  signal: AbortSignal,
): Promise<void> {
  try {
    await store.head(absentKey, signal);
  } catch (error) {
    if (!(error instanceof SlideError && error.code === 'FILE_MISSING')) throw error;
  }
}
