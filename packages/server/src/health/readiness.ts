/**
 * Determines for `GET /health/ready` whether this process is ready for requests: the database answers, the slide folder or the
 * object storage can be read, and the queue of tiles to render is not full. The checks run at most twice a second. The log
 * states why a process is not ready.
 */
import fs from 'node:fs/promises';
import type { Logger } from 'pino';
import type { Config } from '../platform/config.ts';
import { checkObjectStorageAccess, type ObjectStorage } from '../slide-storage/object-storage.ts';
import { checkDatabase, type Database } from '../store/database.ts';
import type { RenderedTiles } from '../tiles/rendered-tiles.ts';

export interface Readiness {
  isReady(): Promise<boolean>;
}

interface ReadinessDependencies {
  readonly config: Pick<Config, 'slidesDir'>;
  readonly db: Database;
  readonly log: Logger;
  readonly renderedTiles: Pick<RenderedTiles, 'figures'>;
  /** Null if no object storage is configured. */
  readonly objectStorage: Pick<ObjectStorage, 'store'> | null;
}

/** Time limit of each check. */
const timeoutMs = 1000;
const cacheTtlMs = 500; // maximum age of a result

export function createReadiness(dependencies: ReadinessDependencies): Readiness {
  const { config, db, log, renderedTiles, objectStorage } = dependencies;
  let lastCheck: { readonly startedAt: number; readonly reason: Promise<string | null> } | null = null;
  let loggedReason: string | null = null;
  /** The last read of the slide folder, until it ends. */
  let folderRead: Promise<void> | null = null;

  /** Reads the slide folder, at most once at a time: each read of a disk that does not respond occupies one of Node's few file threads. */
  function readSlideFolder(): Promise<void> {
    folderRead ??= readFolder(config.slidesDir).finally(() => {
      folderRead = null;
    });
    return folderRead;
  }

  /** Returns why the process is not ready; null if it is ready. */
  async function check(): Promise<string | null> {
    const [databaseError, ...slideErrors] = await Promise.all([
      errorOf(checkDatabase(db)),
      errorOf(readSlideFolder()),
      ...(objectStorage === null
        ? []
        : [errorOf(checkObjectStorageAccess(objectStorage.store, AbortSignal.timeout(timeoutMs)))]),
    ]);
    if (databaseError) return `database unavailable: ${databaseError}`;
    // Slides can be served as long as the slide folder or the object storage can be read.
    if (slideErrors.every((error) => error !== null)) return `slides unreadable: ${slideErrors.join('; ')}`;
    if (renderedTiles.figures().isQueueFull) return 'render queue full';
    return null;
  }

  return {
    async isReady() {
      const now = performance.now();
      if (lastCheck === null || now - lastCheck.startedAt > cacheTtlMs)
        lastCheck = { startedAt: now, reason: check() };
      const reason = await lastCheck.reason;
      if (reason !== loggedReason) {
        if (reason === null) log.info('server ready; /health/ready returns 200');
        else
          log.warn(
            { reason },
            'server is not ready (cause in the field `reason`); /health/ready returns 503 until it is',
          );
        loggedReason = reason;
      }
      return reason === null;
    },
  };
}

/** Returns the error message of work that fails or exceeds the time limit; null when the work succeeds. */
async function errorOf(work: Promise<unknown>): Promise<string | null> {
  const { promise: tooLate, resolve } = Promise.withResolvers<string>();
  const timer = setTimeout(resolve, timeoutMs, `no answer within ${timeoutMs} ms`);
  const failure = work.then(
    () => null,
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
  return Promise.race([failure, tooLate]).finally(() => clearTimeout(timer));
}

/** Checks that the slide folder can be read. A missing folder counts as empty: new installations do not have it yet. */
async function readFolder(folder: string): Promise<void> {
  try {
    const entries = await fs.opendir(folder);
    try {
      await entries.read();
    } finally {
      await entries.close();
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}
