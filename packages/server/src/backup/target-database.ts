/** The target database of a restore or move: what it contains, whether it is in use, and how its contents are replaced. */
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { type Change, connectDatabase, type Database } from '../store/database.ts';
import { isPostgres } from '../store/dialects.ts';
import { DatabaseInUse, openExclusively, replaceDatabase } from '../store/embedded-file.ts';
import {
  analyzeTables,
  countRows,
  describeTables,
  dropTables,
  isKnownVersion,
  otherConnections,
  schemaVersion,
  withoutStatementTimeout,
} from '../store/table-rows.ts';

/** Contents that would be lost. */
export interface DatabaseContents {
  readonly accounts: number;
  readonly images: number;
  readonly auditEntries: number;
}

export interface Target {
  /** Null: no tables of this program, or an embedded database that cannot be read. */
  readonly holding: DatabaseContents | null;
  /**
   * @param work creates and fills the tables, none of which exists; when it throws, the database stays unchanged
   * @returns the path of the previous embedded database; null when there is none
   */
  fill(work: (tx: Change) => Promise<void>): Promise<string | null>;
  close(): Promise<void>;
}

export function embeddedFile(dataDir: string): string {
  return path.join(dataDir, 'lamina.db');
}

/** @throws Error with one sentence when a program uses the database */
export async function openTarget(url: string | null, dataDir: string): Promise<Target> {
  return url === null ? openEmbeddedTarget(embeddedFile(dataDir)) : openPostgresTarget(url);
}

async function openEmbeddedTarget(file: string): Promise<Target> {
  fs.mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  const previous = openPrevious(file);
  return {
    holding: previous === null ? null : await contentsOf(previous),
    async fill(work) {
      const unfinished = `${file}.restoring`;
      for (const ending of ['', '-journal']) fs.rmSync(`${unfinished}${ending}`, { force: true });
      const db = openExclusively(unfinished);
      try {
        await db.transaction().execute(work);
      } catch (error) {
        await db.destroy();
        fs.rmSync(unfinished, { force: true });
        throw error;
      }
      await db.destroy();
      await previous?.destroy();
      return replaceDatabase(file, unfinished);
    },
    close: async () => previous?.destroy(),
  };
}

/** Returns null when the file does not exist or cannot be read. */
function openPrevious(file: string): Database | null {
  if (!fs.existsSync(file)) return null;
  try {
    return openExclusively(file);
  } catch (error) {
    if (error instanceof DatabaseInUse) throw error;
    return null;
  }
}

async function openPostgresTarget(url: string): Promise<Target> {
  const db = await connectDatabase({ url, file: null });
  return {
    holding: await contentsOf(db),
    async fill(work) {
      await db.transaction().execute(async (tx) => {
        await withoutStatementTimeout(tx);
        await rejectWhileInUse(tx);
        const version = await schemaVersion(tx);
        if (version !== null) {
          if (!isKnownVersion(version)) {
            throw new Error(
              `The database contains tables of a newer version (${version}). Use an empty database.`,
            );
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

async function contentsOf(db: Database): Promise<DatabaseContents | null> {
  // Sequential: a second connection would count as another user of the database.
  const accounts = await countRows(db, 'users');
  if (accounts === null) return null;
  const images = (await countRows(db, 'images')) ?? 0;
  return { accounts, images, auditEntries: (await countRows(db, 'audit')) ?? 0 };
}

/** Connections of a program that has just exited remain for a moment. */
const waitMs = 2000;
const pollMs = 100;

/** @throws Error with one sentence when there are other connections to the PostgreSQL database */
export async function rejectWhileInUse(db: Database): Promise<void> {
  if (!isPostgres(db)) return;
  const until = performance.now() + waitMs;
  for (;;) {
    const others = await otherConnections(db);
    if (others === 0) return;
    if (performance.now() > until) {
      throw new Error(
        `${others} other ${others === 1 ? 'connection is' : 'connections are'} open to the database: stop the servers first, and other programs that use it.`,
      );
    }
    await setTimeout(pollMs);
  }
}
