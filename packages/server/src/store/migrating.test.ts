import fs from 'node:fs';
import path from 'node:path';
import SqliteDatabase from 'better-sqlite3';
import { sql } from 'kysely';
import pg from 'pg';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { checkChain } from '../audit/chain-check.ts';
import { searchTextOf } from '../domain/catalogue-order.ts';
import { programVersion } from '../platform/program-version.ts';
import {
  type Database,
  type DatabaseLocation,
  migrationCopyPath,
  migrations,
  openDatabase,
} from './database.ts';
import { executedMigrations } from './migrating.ts';
import {
  type AnyRow,
  allRowsOf,
  emptyDatabaseLocation,
  loadOldDatabase,
  oldVersions,
  readWithoutMigrating,
  temporaryFolder,
} from './testing/old-databases.ts';
import { everyDatabaseKind } from './testing/test-database.ts';

const migrationNames = Object.keys(migrations).sort();

/** Opens a database, which runs the pending migrations, and closes it after the test. */
async function openAndMigrate(location: DatabaseLocation): Promise<Database> {
  const db = await openDatabase(location);
  onTestFinished(() => db.destroy());
  return db;
}

const versionsAndKinds = everyDatabaseKind.flatMap((kind) =>
  oldVersions.map((version) => [version, kind] as const),
);

describe.each(versionsAndKinds)(
  'opening a database whose last migration is %s (database: %s)',
  (version, kind) => {
    it('runs all later migrations and keeps every row', async () => {
      const location = await loadOldDatabase(version, kind);
      const before = await readWithoutMigrating(location, allRowsOf);
      const db = await openAndMigrate(location);
      expect(await executedMigrations(db)).toEqual(migrationNames);
      const after = await allRowsOf(db);
      for (const [table, rows] of before) {
        const expectedRows = rows.map((row) =>
          expect.objectContaining(withIntendedChanges(version, table, row)),
        );
        expect(after.get(table), table).toEqual(expect.arrayContaining(expectedRows));
        // Of the tables that existed before, migrations add rows only to `locks`.
        if (table !== 'locks') expect(after.get(table), table).toHaveLength(rows.length);
      }
      expect(await checkChain(db)).toMatchObject({ state: 'intact', entries: 5 });
    });

    it('leads to the same tables and columns as in a new database', async () => {
      const migratedDb = await openAndMigrate(await loadOldDatabase(version, kind));
      const newDb = await openAndMigrate(await emptyDatabaseLocation(kind));
      const columnsOf = async (db: Database) => {
        const tables = await db.introspection.getTables();
        return tables
          .flatMap(({ name, columns }) =>
            columns.map((column) => `${name}.${column.name} ${column.dataType} ${column.isNullable}`),
          )
          .sort();
      };
      expect(await columnsOf(migratedDb)).toEqual(await columnsOf(newDb));
    });
  },
);

/**
 * Returns a row as migrations change it on purpose. Migration 0017 computes the search text again. Migration 0002 marks slides with
 * only one of pixel size and magnification as unread, so that the server derives the other one.
 */
function withIntendedChanges(version: string, table: string, row: AnyRow): AnyRow {
  if (table !== 'images') return row;
  const searchText = searchTextOf(row as unknown as Parameters<typeof searchTextOf>[0]);
  const withSearchText = { ...row, search_text: searchText };
  const hasHalfOfScale = (row.mpp_x === null) !== (row.objective_power === null);
  return version === '0001' && hasHalfOfScale
    ? { ...withSearchText, fingerprint: null, status: 'pending' }
    : withSearchText;
}

describe.each(everyDatabaseKind)('migration of a database (database: %s)', (kind) => {
  it('records the program version that ran each migration', async () => {
    const db = await openAndMigrate(await loadOldDatabase('0008', kind));
    const rows = await db.selectFrom('schema_changes').select(['migration', 'program_version']).execute();
    const executedNow = migrationNames.filter((name) => name > '0008-catalogue-search');
    expect(rows.sort((a, b) => (a.migration < b.migration ? -1 : 1))).toEqual(
      executedNow.map((migration) => ({ migration, program_version: programVersion })),
    );
  });

  it.each([
    ['which the database records', true, 'version 9.0.0'],
    ['which the database does not record', false, 'a newer version'],
  ])(
    'stops with a message that names both versions when a newer program version, %s, wrote the database',
    async (_, isVersionRecorded, writer) => {
      const location = await emptyDatabaseLocation(kind);
      const newer = await openDatabase(location);
      await sql`insert into kysely_migration (name, timestamp) values ('9999-later', '')`.execute(newer);
      const change = { migration: '9999-later', program_version: '9.0.0', at: '2027-01-01T00:00:00.000Z' };
      if (isVersionRecorded) await newer.insertInto('schema_changes').values(change).execute();
      await newer.destroy();
      const before = await readWithoutMigrating(location, allRowsOf);
      await expect(openDatabase(location)).rejects.toThrow(
        `The database was written by ${writer} of this program (last migration: 9999-later); this is version ` +
          `${programVersion}, which knows migrations up to ${migrationNames.at(-1)}. Start the newer version, or restore a backup ` +
          `that version ${programVersion} made.`,
      );
      expect(await readWithoutMigrating(location, allRowsOf)).toEqual(before);
    },
  );

  it('writes nothing when all migrations have run before', async () => {
    const location = await loadOldDatabase('0008', kind);
    await (await openDatabase(location)).destroy();
    const before = await readWithoutMigrating(location, allRowsOf);
    await (await openDatabase(location)).destroy();
    expect(await readWithoutMigrating(location, allRowsOf)).toEqual(before);
  });
});

describe('migration of an embedded SQLite database', () => {
  it('first copies the database file, and replaces an earlier copy', async () => {
    const location = await loadOldDatabase('0001', 'SQLite');
    const before = await readWithoutMigrating(location, allRowsOf);
    const copy = migrationCopyPath(location.file ?? '');
    fs.writeFileSync(copy, 'an older copy');
    await openAndMigrate(location);
    expect(await readWithoutMigrating({ url: null, file: copy }, allRowsOf)).toEqual(before);
    expect(await readWithoutMigrating({ url: null, file: copy }, executedMigrations)).toEqual(['0001-first']);
  });

  it('makes no copy of a database that is new or already up to date', async () => {
    const location = await emptyDatabaseLocation('SQLite');
    await (await openDatabase(location)).destroy();
    await (await openDatabase(location)).destroy();
    expect(fs.existsSync(migrationCopyPath(location.file ?? ''))).toBe(false);
  });

  it('throws an error and leaves the database unchanged when the copy cannot be made', async () => {
    const location = await loadOldDatabase('0001', 'SQLite');
    const before = await readWithoutMigrating(location, allRowsOf);
    fs.mkdirSync(migrationCopyPath(location.file ?? '')); // no file can replace a folder
    await expect(openDatabase(location)).rejects.toThrow('could not be copied before its migration');
    expect(await readWithoutMigrating(location, allRowsOf)).toEqual(before);
  });

  it('runs all migrations or none when the process is killed at any statement', async () => {
    const location = await loadOldDatabase('0001', 'SQLite');
    const before = await readWithoutMigrating(location, allRowsOf);
    const snapshots = await snapshotsBeforeStatements(location);
    expect(snapshots.length).toBeGreaterThan(50); // the migrations execute more than 50 statements
    for (const [number, file] of snapshots.entries()) {
      const executed = await readWithoutMigrating({ url: null, file }, executedMigrations);
      const hasNoEffect = executed.length === 1; // only migration 0001
      if (hasNoEffect) expect(await readWithoutMigrating({ url: null, file }, allRowsOf)).toEqual(before);
      else expect(executed, `statement ${number}`).toEqual(migrationNames);
      if (number % 8 !== 0) continue; // each start takes a quarter of a second
      const db = await openDatabase({ url: null, file });
      expect(await executedMigrations(db)).toEqual(migrationNames);
      expect(await checkChain(db)).toMatchObject({ state: 'intact', entries: 5 });
      await db.destroy();
    }
  });
});

/**
 * Opens a database and copies its files before each statement. Each copy has the state that a process would leave if it were killed
 * at that moment.
 */
async function snapshotsBeforeStatements({ file }: DatabaseLocation): Promise<string[]> {
  const database = file ?? '';
  const folder = temporaryFolder();
  const snapshots: string[] = [];
  const prepare = SqliteDatabase.prototype.prepare;
  const spy = vi.spyOn(SqliteDatabase.prototype, 'prepare').mockImplementation(function (this: never, text) {
    const snapshot = path.join(folder, `${snapshots.length}.db`);
    for (const ending of ['', '-wal']) {
      if (fs.existsSync(`${database}${ending}`))
        fs.copyFileSync(`${database}${ending}`, `${snapshot}${ending}`);
    }
    snapshots.push(snapshot);
    return prepare.call(this, text);
  });
  try {
    await (await openDatabase({ url: null, file: database })).destroy();
  } finally {
    spy.mockRestore();
  }
  return snapshots;
}

describe.skipIf(!everyDatabaseKind.includes('PostgreSQL'))('migration of a PostgreSQL database', () => {
  it('is rolled back when the connection breaks at any statement', async () => {
    const location = await loadOldDatabase('0001', 'PostgreSQL');
    const before = await readWithoutMigrating(location, allRowsOf);
    const statements = await countStatements(await loadOldDatabase('0001', 'PostgreSQL'));
    expect(statements).toBeGreaterThan(50);
    // Each start takes a quarter of a second, so only every twelfth statement is tested.
    for (let number = 2; number <= statements; number += 12) {
      await expect(breakConnectionBefore(number, () => openDatabase(location))).rejects.toThrow();
      expect(await readWithoutMigrating(location, executedMigrations), `statement ${number}`).toEqual([
        '0001-first',
      ]);
    }
    expect(await readWithoutMigrating(location, allRowsOf)).toEqual(before);
    const db = await openAndMigrate(location);
    expect(await executedMigrations(db)).toEqual(migrationNames);
    expect(await checkChain(db)).toMatchObject({ state: 'intact', entries: 5 });
  });

  it.each([
    ['an empty database', () => emptyDatabaseLocation('PostgreSQL')],
    ['a database whose last migration is 0001', () => loadOldDatabase('0001', 'PostgreSQL')],
  ])('runs once when four processes open %s at the same time', async (_, createDatabase) => {
    const location = await createDatabase();
    const databases = await Promise.all([1, 2, 3, 4].map(() => openDatabase(location)));
    const [firstDb] = databases;
    const { rows } = await sql<{ name: string }>`select name from kysely_migration order by name`.execute(
      firstDb as Database,
    );
    expect(rows.map(({ name }) => name)).toEqual(migrationNames);
    await Promise.all(databases.map((db) => db.destroy()));
  });
});

/** Counts the statements of a start that migrates the database. */
async function countStatements(location: DatabaseLocation): Promise<number> {
  const spy = vi.spyOn(pg.Client.prototype, 'query');
  try {
    await (await openDatabase(location)).destroy();
    return spy.mock.calls.length;
  } finally {
    spy.mockRestore();
  }
}

/**
 * Runs work, and breaks the database connection before the statement with this number, as if the process were killed there.
 */
async function breakConnectionBefore<T>(number: number, work: () => Promise<T>): Promise<T> {
  let count = 0;
  const query = pg.Client.prototype.query;
  const spy = vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function (
    this: pg.Client & { connection: { stream: { destroy(): void } } },
    ...args: unknown[]
  ) {
    if (++count === number) this.connection.stream.destroy();
    return Reflect.apply(query, this, args) as never;
  } as never);
  try {
    return await work();
  } finally {
    spy.mockRestore();
  }
}
