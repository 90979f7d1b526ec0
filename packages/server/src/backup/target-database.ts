/**
 * The target database of a restore or move. This module reports its contents, rejects a database that another program uses, and
 * replaces the contents. A new file replaces the embedded database; in PostgreSQL, one transaction replaces all tables.
 */
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { connectDatabase, type Database, type DatabaseTransaction } from '../store/database.ts';
import { isPostgres } from '../store/dialects.ts';
import { DatabaseInUse, openExclusively, replaceDatabase } from '../store/embedded-file.ts';
import {
  analyzeTables,
  countOtherConnections,
  countRows,
  describeTables,
  dropTables,
  isKnownVersion,
  schemaVersion,
  withoutStatementTimeout,
} from '../store/table-rows.ts';

/** Number of rows that a restore or move would replace. */
export interface DatabaseContents {
  readonly accounts: number;
  readonly images: number;
  readonly auditEntries: number;
}

export interface Target {
  /** Null if the database has no tables of this program, and for an embedded database that cannot be read. */
  readonly contents: DatabaseContents | null;
  /**
   * Replaces the contents.
   *
   * @param work creates and fills the tables in an empty database; if it throws, the contents stay unchanged
   * @returns the path of the safety copy of the previous embedded database; null when there was none
   * @throws Error with a sentence for the operator when another program uses PostgreSQL; the errors that `work` throws
   */
  replaceContents(work: (tx: DatabaseTransaction) => Promise<void>): Promise<string | null>;
  close(): Promise<void>;
}

export function embeddedFile(dataDir: string): string {
  return path.join(dataDir, 'lamina.db');
}

/**
 * Opens the target database.
 *
 * @param url null: the embedded database
 * @throws Error with a sentence for the operator when another program uses the database
 */
export async function openTarget(url: string | null, dataDir: string): Promise<Target> {
  return url === null ? openEmbeddedTarget(embeddedFile(dataDir)) : openPostgresTarget(url);
}

async function openEmbeddedTarget(file: string): Promise<Target> {
  fs.mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  const previous = openPrevious(file);
  return {
    contents: previous && (await contentsUnlessDamaged(previous)),
    async replaceContents(work) {
      const unfinishedFile = `${file}.restoring`; // an interrupted run may have left it, with a rollback journal
      for (const suffix of ['', '-journal']) fs.rmSync(`${unfinishedFile}${suffix}`, { force: true });
      const db = openExclusively(unfinishedFile);
      try {
        await db.transaction().execute(work);
      } catch (error) {
        await db.destroy();
        fs.rmSync(unfinishedFile, { force: true });
        throw error;
      }
      await db.destroy();
      await previous?.destroy();
      return replaceDatabase(file, unfinishedFile);
    },
    close: async () => previous?.destroy(),
  };
}

/** Opens the previous database. @returns null when its file does not exist or cannot be read */
function openPrevious(file: string): Database | null {
  if (!fs.existsSync(file)) return null;
  try {
    return openExclusively(file);
  } catch (error) {
    if (error instanceof DatabaseInUse) throw error;
    return null;
  }
}

/** Returns the contents; null when the file is damaged, which only the queries of some tables may find out. */
async function contentsUnlessDamaged(db: Database): Promise<DatabaseContents | null> {
  try {
    return await contentsOf(db);
  } catch (error) {
    if (/^SQLITE_(CORRUPT|NOTADB)/.test(String((error as { code?: unknown }).code))) return null;
    await db.destroy();
    throw error;
  }
}

async function openPostgresTarget(url: string): Promise<Target> {
  const db = await connectDatabase({ url, file: null });
  try {
    await rejectWhileInUse(db); // before a restore copies files; `replaceContents` checks again
  } catch (error) {
    await db.destroy();
    throw error;
  }
  return {
    contents: await contentsOf(db),
    async replaceContents(work) {
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
      await analyzeTables(db); // updates the statistics of the query planner
      return null;
    },
    close: () => db.destroy(),
  };
}

async function contentsOf(db: Database): Promise<DatabaseContents | null> {
  // One query after the other: a second connection would look like another program that uses the database.
  const accounts = await countRows(db, 'users');
  if (accounts === null) return null;
  const images = (await countRows(db, 'images')) ?? 0;
  return { accounts, images, auditEntries: (await countRows(db, 'audit')) ?? 0 };
}

/** Maximum wait for other connections to end: the connections of a program that has just exited remain for a moment. */
const maxWaitMs = 2000;
const pollIntervalMs = 100;

/** Checks that there are no other connections to PostgreSQL. @throws Error with a sentence for the operator */
export async function rejectWhileInUse(db: Database): Promise<void> {
  if (!isPostgres(db)) return;
  const deadline = performance.now() + maxWaitMs;
  for (;;) {
    const others = await countOtherConnections(db);
    if (others === 0) return;
    if (performance.now() > deadline) {
      throw new Error(
        `${others} other ${others === 1 ? 'connection is' : 'connections are'} open to the database: stop the servers first, and other programs that use it.`,
      );
    }
    await setTimeout(pollIntervalMs);
  }
}
