/** Moves everything from the database of the settings to an empty one of the other kind. */
import fs from 'node:fs';
import type { Logger } from 'pino';
import { createAudit } from '../audit.ts';
import type { Config } from '../config.ts';
import { connectDatabase, type Database } from '../store/database.ts';
import { openAlone } from '../store/embedded-file.ts';
import {
  atOneMoment,
  describeTables,
  digestOf,
  isKnownVersion,
  oddTables,
  readRows,
  schemaVersion,
} from '../store/table-rows.ts';
import { fillTables, type Say } from './fill-tables.ts';
import { embeddedFile, openTarget, refuseWhileInUse } from './target-database.ts';

interface Ground {
  readonly config: Config;
  readonly now: () => Date;
  readonly log: Logger;
  readonly say: Say;
}

/**
 * Whoever is signed in stays so. The old database stays as it is.
 *
 * @param url of the PostgreSQL database; null: to the embedded one
 * @throws Error with one sentence; the new database is as it was then
 */
export async function moveDatabase({ config, now, log, say }: Ground, url: string | null): Promise<void> {
  if (url === null && config.databaseUrl === null)
    throw new Error('The database is the embedded one already.');
  if (url !== null && config.databaseUrl !== null) {
    throw new Error('DATABASE_URL is set: the database is in PostgreSQL already.');
  }
  const source = await openSource(config);
  try {
    const target = await openTarget(url, config.dataDir);
    try {
      if (target.holding !== null && target.holding.accounts > 0) {
        throw new Error(`The new database holds ${target.holding.accounts} accounts: it has to be empty.`);
      }
      await atOneMoment(source, async (from) => {
        const version = await schemaVersion(from);
        if (version === null) throw new Error('There is nothing to move: the database has no tables yet.');
        if (!isKnownVersion(version)) {
          throw new Error(
            `The database was written by a newer version of this program (${version}): use that.`,
          );
        }
        const shapes = await describeTables(version);
        const { foreign, missing } = await oddTables(from, shapes);
        if (missing.length > 0) throw new Error(`The database lacks ${missing.join(', ')}.`);
        if (foreign.length > 0)
          say(`Stay behind, since they are none of this program: ${foreign.join(', ')}.`);
        const contents = shapes.map((shape) => ({
          shape,
          rows: () => readRows(from, shape),
          digest: () => digestOf(from, shape),
        }));
        await target.fill(async (tx) => {
          await fillTables(tx, version, shapes, contents, say);
          await createAudit({ db: tx, now, log }).record(tx, {
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

/** @throws Error with one sentence when a server, or anybody else, uses it */
async function openSource({ databaseUrl, dataDir }: Config): Promise<Database> {
  if (databaseUrl === null) {
    const file = embeddedFile(dataDir);
    if (!fs.existsSync(file)) throw new Error(`There is nothing to move: ${file} is not there.`);
    return openAlone(file);
  }
  const db = await connectDatabase({ url: databaseUrl, file: null });
  try {
    await refuseWhileInUse(db);
  } catch (error) {
    await db.destroy();
    throw error;
  }
  return db;
}
