/**
 * Whether this process can do its work: the database answers, slides can be read from somewhere, and tiles can be made.
 * Looked at twice a second at most, however often somebody asks; why it is not so stands in the log.
 */
import fs from 'node:fs/promises';
import type { Logger } from 'pino';
import type { Config } from './config.ts';
import type { MadeTiles } from './slides/made-tiles.ts';
import { askWhetherThere, type ObjectStorage } from './slides/object-storage.ts';
import { checkDatabase, type Database } from './store/database.ts';

export interface Readiness {
  isReady(): Promise<boolean>;
}

interface Ground {
  readonly config: Pick<Config, 'slidesDir'>;
  readonly db: Database;
  readonly log: Logger;
  readonly madeTiles: Pick<MadeTiles, 'figures'>;
  /** Null where slides lie in folders alone. */
  readonly objectStorage: Pick<ObjectStorage, 'store'> | null;
}

/** What takes longer does not answer. */
const answersWithinMs = 1000;
const believedForMs = 500;

export function createReadiness({ config, db, log, madeTiles, objectStorage }: Ground): Readiness {
  let looked: { readonly at: number; readonly missing: Promise<string | null> } | null = null;
  let told: string | null = null;

  /** What is missing; null: nothing. */
  async function look(): Promise<string | null> {
    const [database, ...roots] = await Promise.all([
      faultOf(checkDatabase(db)),
      faultOf(readFolder(config.slidesDir)),
      ...(objectStorage === null
        ? []
        : [faultOf(askWhetherThere(objectStorage.store, AbortSignal.timeout(answersWithinMs)))]),
    ]);
    if (database) return `the database does not answer: ${database}`;
    if (roots.every((fault) => fault !== null)) return `slides cannot be read: ${roots.join('; ')}`;
    if (madeTiles.figures().isFull) return 'too many tiles wait to be made';
    return null;
  }

  return {
    async isReady() {
      const now = performance.now();
      if (looked === null || now - looked.at > believedForMs) looked = { at: now, missing: look() };
      const missing = await looked.missing;
      if (missing !== told) {
        if (missing === null) log.info('ready again');
        else log.warn(`not ready: ${missing}`);
        told = missing;
      }
      return missing === null;
    },
  };
}

/** Null: it did what it should, in time. */
async function faultOf(work: Promise<unknown>): Promise<string | null> {
  const { promise: tooLate, resolve } = Promise.withResolvers<string>();
  const timer = setTimeout(resolve, answersWithinMs, `no answer within ${answersWithinMs} ms`);
  const fault = work.then(
    () => null,
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
  return Promise.race([fault, tooLate]).finally(() => clearTimeout(timer));
}

/** A folder that is not there is an empty one: somebody has no slides yet, or none in folders. */
async function readFolder(folder: string): Promise<void> {
  try {
    const entries = await fs.opendir(folder);
    await entries.read();
    await entries.close();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}
