import fs from 'node:fs';
import path from 'node:path';
import pino from 'pino';
import { describe, expect, it, onTestFinished } from 'vitest';
import { checkChain } from '../audit/chain-check.ts';
import { readConfig } from '../platform/config.ts';
import { type DatabaseLocation, openDatabase } from '../store/database.ts';
import {
  type AnyRow,
  allRowsOf,
  emptyDatabaseLocation,
  executeIn,
  loadOldDatabase,
  readWithoutMigrating,
  temporaryFolder,
} from '../store/testing/old-databases.ts';
import { everyDatabaseKind } from '../store/testing/test-database.ts';
import { moveDatabase } from './move-database.ts';

const log = pino({ level: 'silent' });
const clock = () => new Date('2026-06-01T12:00:00.000Z');

/** Creates an installation in `dataDir` with rows in every table and all migrations applied. */
async function usedInstallation(dataDir: string): Promise<DatabaseLocation> {
  const target = await loadOldDatabase('0008', 'SQLite', dataDir);
  await (await openDatabase(target)).destroy();
  return target;
}

async function move(dataDir: string, from: string | null, to: string | null): Promise<string> {
  const output: string[] = [];
  const config = readConfig({ DATA_DIR: dataDir, DATABASE_URL: from ?? '' }, dataDir);
  await moveDatabase({ config, now: clock, log, printLine: (sentence) => output.push(sentence) }, to);
  return output.join('\n');
}

/** Returns the tables that a move must copy unchanged: all except those to which a move itself writes. */
function copiedTables(all: ReadonlyMap<string, readonly AnyRow[]>): Record<string, readonly AnyRow[]> {
  const { audit, audit_chain, locks, ...unchangedTables } = Object.fromEntries(all);
  return unchangedTables;
}

describe.skipIf(!everyDatabaseKind.includes('PostgreSQL'))(
  'moveDatabase (npm run move) between SQLite and PostgreSQL',
  () => {
    it('copies all rows to PostgreSQL and back, including sign-ins', async () => {
      const dataDir = temporaryFolder();
      const embedded = await usedInstallation(dataDir);
      const { url } = await emptyDatabaseLocation('PostgreSQL');
      const before = await readWithoutMigrating(embedded, allRowsOf);
      const output = await move(dataDir, null, url);
      expect(output).toContain('counts and hashes agree');
      const moved = await readWithoutMigrating({ url, file: null }, allRowsOf);
      expect(copiedTables(moved)).toEqual(copiedTables(before));
      expect(moved.get('tokens')).toHaveLength(1);
      expect(copiedTables(await readWithoutMigrating(embedded, allRowsOf))).toEqual(copiedTables(before));
      expect(await readWithoutMigrating({ url, file: null }, checkChain)).toMatchObject({
        state: 'intact',
        entries: 6, // 5 events of the old database, and `database-moved`
      });

      fs.rmSync(path.join(dataDir, 'lamina.db'));
      await move(dataDir, url, null);
      expect(copiedTables(await readWithoutMigrating(embedded, allRowsOf))).toEqual(copiedTables(before));
      const db = await openDatabase(embedded);
      onTestFinished(() => db.destroy());
      const events = await db.selectFrom('audit').select(['action', 'detail']).where('seq', '>', 5).execute();
      expect(events).toEqual([
        { action: 'database-moved', detail: '{"to":"PostgreSQL"}' },
        { action: 'database-moved', detail: '{"to":"SQLite"}' },
      ]);
    });

    it('moves a database of an older version and applies the newer migrations', async () => {
      const dataDir = temporaryFolder();
      await loadOldDatabase('0001', 'SQLite', dataDir);
      const { url } = await emptyDatabaseLocation('PostgreSQL');
      await move(dataDir, null, url);
      expect(await readWithoutMigrating({ url, file: null }, checkChain)).toMatchObject({
        state: 'intact',
        entries: 6,
      });
    });

    it('throws an error and moves nothing when another process has the database open', async () => {
      const dataDir = temporaryFolder();
      const running = await openDatabase(await usedInstallation(dataDir));
      onTestFinished(() => running.destroy());
      const { url } = await emptyDatabaseLocation('PostgreSQL');
      await expect(move(dataDir, null, url)).rejects.toThrow('A program has the database open');
      expect(await readWithoutMigrating({ url, file: null }, allRowsOf)).toEqual(new Map());
    });

    it('throws an error and leaves the target unchanged when the target database already has accounts', async () => {
      const dataDir = temporaryFolder();
      await usedInstallation(dataDir);
      const usedDatabase = await loadOldDatabase('0008', 'PostgreSQL');
      const before = await readWithoutMigrating(usedDatabase, allRowsOf);
      await expect(move(dataDir, null, usedDatabase.url)).rejects.toThrow(
        'holds 3 accounts: it must be empty',
      );
      expect(await readWithoutMigrating(usedDatabase, allRowsOf)).toEqual(before);
    });

    it('does not move tables of other programs, and prints the names of these tables', async () => {
      const dataDir = temporaryFolder();
      const embedded = await usedInstallation(dataDir);
      const target = await emptyDatabaseLocation('PostgreSQL');
      for (const location of [embedded, target]) {
        await readWithoutMigrating(location, (db) =>
          db.schema.createTable('theirs').addColumn('x', 'integer').execute(),
        );
      }
      expect(await move(dataDir, null, target.url)).toContain(
        'Tables of other programs stay in the old database: theirs.',
      );
      expect((await readWithoutMigrating(target, allRowsOf)).get('theirs')).toEqual([]);
    });

    it.each([
      [
        'a NUL character',
        "update users set display_name = 'a' || char(0) where uid = 'u-new'",
        'Table users, uid "u-new": display_name holds a NUL character',
      ],
      [
        'a number above 2^53',
        'update images set size_bytes = 9007199254740993',
        'size_bytes holds a value that is neither text nor a supported number',
      ],
      [
        'bytes in a text column',
        "update letters set content = x'00ff'",
        'content holds a value that is neither text nor a supported number',
      ],
      ['a missing column', 'alter table images drop column vendor', 'The database lacks images.vendor.'],
      [
        'a row that violates a foreign key',
        "pragma foreign_keys = off; insert into recovery_codes values ('h', 'missing-uid')",
        'recovery_codes_uid_fkey',
      ],
      [
        'tables of a newer version',
        "insert into kysely_migration values ('9999-later', '2027-01-01T00:00:00.000Z')",
        'written by a newer version of this program (9999-later)',
      ],
    ])('throws an error for a database with %s and leaves the target empty', async (_, damage, reason) => {
      const dataDir = temporaryFolder();
      const embedded = await usedInstallation(dataDir);
      executeIn(embedded.file ?? '', damage);
      const { url } = await emptyDatabaseLocation('PostgreSQL');
      await expect(move(dataDir, null, url)).rejects.toThrow(reason);
      expect(await readWithoutMigrating({ url, file: null }, allRowsOf)).toEqual(new Map());
    });

    it('throws an error when the source does not exist or is already of the kind of the target', async () => {
      const dataDir = temporaryFolder();
      await expect(move(dataDir, null, null)).rejects.toThrow('is already in the embedded database');
      await expect(move(dataDir, 'postgres://a/b', 'postgres://c/d')).rejects.toThrow(
        'is in PostgreSQL already',
      );
      await expect(move(dataDir, null, 'postgres://c/d')).rejects.toThrow('There is nothing to move');
    });
  },
);
