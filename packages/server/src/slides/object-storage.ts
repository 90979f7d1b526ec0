/** The object store of the settings, and what is kept of it on this machine. */
import path from 'node:path';
import {
  createBlockShelf,
  createObjectReader,
  createObjectStore,
  type ObjectReader,
  type ObjectStore,
  SlideError,
} from '@lamina/slide';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';

export type { ObjectStore };

export interface ObjectStorage {
  /** For looking through the bucket, and for putting uploads there. */
  readonly store: ObjectStore;
  /** For reading slides. */
  readonly reader: ObjectReader;
  /** Resolves when nothing is written to the disk any more, and no file of it is open. */
  close(): Promise<void>;
}

/** A hundred and twenty blocks: what has just come, until it is on the disk and is read from there. */
const memoryCacheBytes = 32 * 1024 * 1024;

/** @returns null where the settings name none */
export function openObjectStorage({
  config,
  log,
}: {
  readonly config: Pick<Config, 'objectStore' | 'objectCacheBytes' | 'dataDir'>;
  readonly log: Logger;
}): ObjectStorage | null {
  if (config.objectStore === null) return null;
  const store = createObjectStore(config.objectStore);
  const shelf = createBlockShelf({
    folder: path.join(config.dataDir, 'blocks'),
    maxBytes: config.objectCacheBytes,
    warn: (error) => log.warn({ err: error }, 'parts of objects could not be kept on the disk'),
  });
  return {
    store,
    reader: createObjectReader({ store, maxMemoryBytes: memoryCacheBytes, shelf }),
    close: () => shelf.close(),
  };
}

/** No object has this name: whoever says so answers. */
const nobodysKey = '.lamina-asks';

/** @throws SlideError when the store does not answer, or lets nobody in */
export async function askWhetherThere(store: Pick<ObjectStore, 'head'>, signal: AbortSignal): Promise<void> {
  try {
    await store.head(nobodysKey, signal);
  } catch (error) {
    if (!(error instanceof SlideError && error.code === 'FILE_MISSING')) throw error;
  }
}
