/**
 * Determines whether this process is ready: the database answers, slides are readable from a folder or bucket, and the render queue is not full.
 * The checks run at most twice a second; the log states why a process is not ready.
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
  /** Null when slides are in folders only. */
  readonly objectStorage: Pick<ObjectStorage, 'store'> | null;
}

/** Time limit of each check. */
const timeoutMs = 1000;
const cacheTtlMs = 500;

export function createReadiness(dependencies: ReadinessDependencies): Readiness {
  const { config, db, log, renderedTiles, objectStorage } = dependencies;
  let last: { readonly at: number; readonly reason: Promise<string | null> } | null = null;
  let loggedReason: string | null = null;

  /** Returns why the process is not ready, or null. */
  async function check(): Promise<string | null> {
    const [database, ...roots] = await Promise.all([
      errorOf(checkDatabase(db)),
      errorOf(readFolder(config.slidesDir)),
      ...(objectStorage === null
        ? []
        : [errorOf(checkObjectStorageAccess(objectStorage.store, AbortSignal.timeout(timeoutMs)))]),
    ]);
    if (database) return `database unavailable: ${database}`;
    if (roots.every((error) => error !== null)) return `slides unreadable: ${roots.join('; ')}`;
    if (renderedTiles.figures().isFull) return 'render queue full';
    return null;
  }

  return {
    async isReady() {
      const now = performance.now();
      if (last === null || now - last.at > cacheTtlMs) last = { at: now, reason: check() };
      const reason = await last.reason;
      if (reason !== loggedReason) {
        if (reason === null) log.info('server ready');
        else
          log.warn({ reason }, 'server not ready; /health/ready responds with 503 until the reason is gone');
        loggedReason = reason;
      }
      return reason === null;
    },
  };
}

/** Returns the error message of the work; null when it succeeds within the time limit. */
async function errorOf(work: Promise<unknown>): Promise<string | null> {
  const { promise: tooLate, resolve } = Promise.withResolvers<string>();
  const timer = setTimeout(resolve, timeoutMs, `no answer within ${timeoutMs} ms`);
  const failure = work.then(
    () => null,
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
  return Promise.race([failure, tooLate]).finally(() => clearTimeout(timer));
}

/** Reads the slide folder; a missing folder counts as empty, as on a new installation or with object storage. */
async function readFolder(folder: string): Promise<void> {
  try {
    const entries = await fs.opendir(folder);
    await entries.read();
    await entries.close();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}
