/** Moves all data from the configured database to an empty one of the other kind (embedded or PostgreSQL). */
import fs from 'node:fs';
import type { Logger } from 'pino';
import { createAuditRecorder } from '../audit/audit-recorder.ts';
import type { Config } from '../platform/config.ts';
import { connectDatabase, type Database } from '../store/database.ts';
import { openExclusively } from '../store/embedded-file.ts';
import {
  describeTables,
  digestOf,
  isKnownVersion,
  readRows,
  runInSnapshot,
  schemaVersion,
  unexpectedTables,
} from '../store/table-rows.ts';
import { fillTables, type PrintLine } from './fill-tables.ts';
import { embeddedFile, openTarget, rejectWhileInUse } from './target-database.ts';

interface MoveDependencies {
  readonly config: Config;
  readonly now: () => Date;
  readonly log: Logger;
  readonly printLine: PrintLine;
}

/**
 * Moves all data. Sign-ins remain valid, and the old database stays unchanged.
 *
 * @param url URL of the new PostgreSQL database; null: move to the embedded database
 * @throws Error with a sentence for the operator; the new database is then unchanged
 */
export async function moveDatabase(
  { config, now, log, printLine }: MoveDependencies,
  url: string | null,
): Promise<void> {
  if (url === null && config.databaseUrl === null)
    throw new Error('The data is already in the embedded database.');
  if (url !== null && config.databaseUrl !== null) {
    throw new Error('DATABASE_URL is set: the database is in PostgreSQL already.');
  }
  const source = await openSource(config);
  try {
    const target = await openTarget(url, config.dataDir);
    try {
      if (target.contents !== null && target.contents.accounts > 0) {
        throw new Error(`The new database holds ${target.contents.accounts} accounts: it must be empty.`);
      }
      await runInSnapshot(source, async (snapshot) => {
        const version = await schemaVersion(snapshot);
        if (version === null) throw new Error('There is nothing to move: the database has no tables yet.');
        if (!isKnownVersion(version)) {
          throw new Error(
            `The database was written by a newer version of this program (${version}). Use that version.`,
          );
        }
        const shapes = await describeTables(version);
        const { foreign, missing } = await unexpectedTables(snapshot, shapes);
        if (missing.length > 0) throw new Error(`The database lacks ${missing.join(', ')}.`);
        if (foreign.length > 0)
          printLine(`Tables of other programs stay in the old database: ${foreign.join(', ')}.`);
        const contents = shapes.map((shape) => ({
          shape,
          rows: () => readRows(snapshot, shape),
          digest: () => digestOf(snapshot, shape),
        }));
        await target.replaceContents(async (tx) => {
          await fillTables(tx, version, shapes, contents, printLine);
          await createAuditRecorder({ db: tx, now, log }).record(tx, {
            action: 'database-moved',
            actor: null,
            target: null,
            detail: { to: url === null ? 'SQLite' : 'PostgreSQL' },
            origin: null,
          });
        });
      });
    } finally {
      await target.close();
    }
  } finally {
    await source.destroy();
  }
}

/** Opens the configured database. @throws Error with a sentence for the operator when another program uses it */
async function openSource({ databaseUrl, dataDir }: Config): Promise<Database> {
  if (databaseUrl === null) {
    const file = embeddedFile(dataDir);
    if (!fs.existsSync(file)) throw new Error(`There is nothing to move: ${file} does not exist.`);
    return openExclusively(file);
  }
  const db = await connectDatabase({ url: databaseUrl, file: null });
  try {
    await rejectWhileInUse(db);
  } catch (error) {
    await db.destroy();
    throw error;
  }
  return db;
}
