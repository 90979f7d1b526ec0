/** The database that is about to be filled: what it holds, who uses it, and how the new one takes its place. */
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { type Change, connectDatabase, type Database } from '../store/database.ts';
import { isPostgres } from '../store/dialects.ts';
import { DatabaseInUse, openAlone, replaceDatabase } from '../store/embedded-file.ts';
import {
  analyzeTables,
  countRows,
  describeTables,
  dropTables,
  isKnownVersion,
  otherConnections,
  schemaVersion,
  takeYourTime,
} from '../store/table-rows.ts';

/** What is in a database that would be replaced. */
export interface Holding {
  readonly accounts: number;
  readonly images: number;
  readonly auditEntries: number;
}

export interface Target {
  /** Null: nothing that this program wrote, or, of an embedded one, nothing that can be read. */
  readonly holding: Holding | null;
  /**
   * @param work makes and fills the tables, none of which is there; when it throws, everything is as it was
   * @returns where the database that was there before is kept; null when it is not
   */
  fill(work: (tx: Change) => Promise<void>): Promise<string | null>;
  close(): Promise<void>;
}

export function embeddedFile(dataDir: string): string {
  return path.join(dataDir, 'lamina.db');
}

/** @throws Error with one sentence when a program uses it */
export async function openTarget(url: string | null, dataDir: string): Promise<Target> {
  return url === null ? openEmbeddedTarget(embeddedFile(dataDir)) : openPostgresTarget(url);
}

async function openEmbeddedTarget(file: string): Promise<Target> {
  fs.mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  const old = openOld(file);
  return {
    holding: old === null ? null : await holdingOf(old),
    async fill(work) {
      const unfinished = `${file}.restoring`;
      for (const ending of ['', '-journal']) fs.rmSync(`${unfinished}${ending}`, { force: true });
      const db = openAlone(unfinished);
      try {
        await db.transaction().execute(work);
      } catch (error) {
        await db.destroy();
        fs.rmSync(unfinished, { force: true });
        throw error;
      }
      await db.destroy();
      await old?.destroy();
      return replaceDatabase(file, unfinished);
    },
    close: async () => old?.destroy(),
  };
}

/** Null when there is none, or one that cannot be read. */
function openOld(file: string): Database | null {
  if (!fs.existsSync(file)) return null;
  try {
    return openAlone(file);
  } catch (error) {
    if (error instanceof DatabaseInUse) throw error;
    return null;
  }
}

async function openPostgresTarget(url: string): Promise<Target> {
  const db = await connectDatabase({ url, file: null });
  return {
    holding: await holdingOf(db),
    async fill(work) {
      await db.transaction().execute(async (tx) => {
        await takeYourTime(tx);
        await refuseWhileInUse(tx);
        const version = await schemaVersion(tx);
        if (version !== null) {
          if (!isKnownVersion(version)) {
            throw new Error(`The database holds tables of a newer version (${version}): take an empty one.`);
          }
          await dropTables(tx, await describeTables(version));
        }
        await work(tx);
      });
      await analyzeTables(db);
      return null;
    },
    close: () => db.destroy(),
  };
}

async function holdingOf(db: Database): Promise<Holding | null> {
  // One after the other: a second connection would be one more that uses the database.
  const accounts = await countRows(db, 'users');
  if (accounts === null) return null;
  const images = (await countRows(db, 'images')) ?? 0;
  return { accounts, images, auditEntries: (await countRows(db, 'audit')) ?? 0 };
}

/** Connections of a program that has just ended are still there for a moment. */
const patienceMs = 2000;
const lookAgainMs = 100;

/** @throws Error with one sentence when anybody else is connected to the database; on PostgreSQL */
export async function refuseWhileInUse(db: Database): Promise<void> {
  if (!isPostgres(db)) return;
  const until = performance.now() + patienceMs;
  for (;;) {
    const others = await otherConnections(db);
    if (others === 0) return;
    if (performance.now() > until) {
      throw new Error(
        `${others} other ${others === 1 ? 'connection is' : 'connections are'} open to the database: stop the servers first, and whatever else uses it.`,
      );
    }
    await setTimeout(lookAgainMs);
  }
}
