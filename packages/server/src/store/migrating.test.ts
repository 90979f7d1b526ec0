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
  copyBeforeMigration,
  type Database,
  type DatabaseLocation,
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
import { databaseKinds } from './testing/test-database.ts';

const known = Object.keys(migrations).sort();

async function opened(place: DatabaseLocation): Promise<Database> {
  const db = await openDatabase(place);
  onTestFinished(() => db.destroy());
  return db;
}

const onEach = databaseKinds.flatMap((kind) => oldVersions.map((version) => [version, kind] as const));

describe.each(onEach)('a database of version %s, on %s', (version, kind) => {
  it('is migrated and keeps every row', async () => {
    const place = await loadOldDatabase(version, kind);
    const before = await readWithoutMigrating(place, allRowsOf);
    const db = await opened(place);
    expect(await executedMigrations(db)).toEqual(known);
    const after = await allRowsOf(db);
    for (const [table, rows] of before) {
      const kept = rows.map((row) => expect.objectContaining(changedOnPurpose(version, table, row)));
      expect(after.get(table), table).toEqual(expect.arrayContaining(kept));
      if (table !== 'locks') expect(after.get(table), table).toHaveLength(rows.length);
    }
    expect(await checkChain(db)).toMatchObject({ state: 'intact', entries: 5 });
  });

  it('has the same tables as a new database after the migration', async () => {
    const [old, fresh] = [
      await opened(await loadOldDatabase(version, kind)),
      await opened(await emptyDatabaseLocation(kind)),
    ];
    const columns = async (db: Database) => {
      const tables = await db.introspection.getTables();
      return tables
        .flatMap(({ name, columns: each }) =>
          each.map((column) => `${name}.${column.name} ${column.dataType} ${column.isNullable}`),
        )
        .sort();
    };
    expect(await columns(old)).toEqual(await columns(fresh));
  });
});

/**
 * The intended change of 0002: slides with only one of pixel size and magnification are read again to derive
 * the other.
 */
function changedOnPurpose(version: string, table: string, row: AnyRow): AnyRow {
  if (table !== 'images') return row;
  const folded = { ...row, search_text: searchTextOf(row as unknown as Parameters<typeof searchTextOf>[0]) };
  const isHalf = (row.mpp_x === null) !== (row.objective_power === null);
  return version === '0001' && isHalf ? { ...folded, fingerprint: null, status: 'pending' } : folded;
}

describe.each(databaseKinds)('migrations, on %s', (kind) => {
  it('record the program version that ran them', async () => {
    const db = await opened(await loadOldDatabase('0008', kind));
    const rows = await db.selectFrom('schema_changes').select(['migration', 'program_version']).execute();
    const ran = known.filter((name) => name > '0008-catalogue-search');
    expect(rows.sort((a, b) => (a.migration < b.migration ? -1 : 1))).toEqual(
      ran.map((migration) => ({ migration, program_version: programVersion })),
    );
  });

  it.each([
    ['a version with a recorded name', true, 'version 9.0.0'],
    ['a version without a recorded name', false, 'a newer version'],
  ])('are rejected for a database of %s, with both versions in the message', async (_, isNamed, writer) => {
    const place = await emptyDatabaseLocation(kind);
    const newer = await openDatabase(place);
    await sql`insert into kysely_migration (name, timestamp) values ('9999-later', '')`.execute(newer);
    const change = { migration: '9999-later', program_version: '9.0.0', at: '2027-01-01T00:00:00.000Z' };
    if (isNamed) await newer.insertInto('schema_changes').values(change).execute();
    await newer.destroy();
    const before = await readWithoutMigrating(place, allRowsOf);
    await expect(openDatabase(place)).rejects.toThrow(
      `The database was written by ${writer} of this program (its tables are at 9999-later); this is version ` +
        `${programVersion}, which knows them up to ${known.at(-1)}. Start the newer version, or restore a backup ` +
        `that version ${programVersion} made.`,
    );
    expect(await readWithoutMigrating(place, allRowsOf)).toEqual(before);
  });

  it('write nothing when the database is up to date', async () => {
    const place = await loadOldDatabase('0008', kind);
    await (await openDatabase(place)).destroy();
    const before = await readWithoutMigrating(place, allRowsOf);
    await (await openDatabase(place)).destroy();
    expect(await readWithoutMigrating(place, allRowsOf)).toEqual(before);
  });
});

describe('an embedded database', () => {
  it('is copied before a migration, and the copy replaces an earlier copy', async () => {
    const place = await loadOldDatabase('0001', 'SQLite');
    const before = await readWithoutMigrating(place, allRowsOf);
    const copy = copyBeforeMigration(place.file ?? '');
    fs.writeFileSync(copy, 'an older copy');
    await opened(place);
    expect(await readWithoutMigrating({ url: null, file: copy }, allRowsOf)).toEqual(before);
    expect(await readWithoutMigrating({ url: null, file: copy }, executedMigrations)).toEqual(['0001-first']);
  });

  it('is not copied when it is new or already up to date', async () => {
    const place = await emptyDatabaseLocation('SQLite');
    await (await openDatabase(place)).destroy();
    await (await openDatabase(place)).destroy();
    expect(fs.existsSync(copyBeforeMigration(place.file ?? ''))).toBe(false);
  });

  it('stays unchanged when the copy fails', async () => {
    const place = await loadOldDatabase('0001', 'SQLite');
    const before = await readWithoutMigrating(place, allRowsOf);
    fs.mkdirSync(copyBeforeMigration(place.file ?? '')); // no file can replace a folder
    await expect(openDatabase(place)).rejects.toThrow('could not be copied before its migration');
    expect(await readWithoutMigrating(place, allRowsOf)).toEqual(before);
  });

  it('killed before any statement is unchanged or migrated, and migrates at the next start', async () => {
    const place = await loadOldDatabase('0001', 'SQLite');
    const before = await readWithoutMigrating(place, allRowsOf);
    const moments = await momentsOf(place);
    expect(moments.length).toBeGreaterThan(50);
    for (const [number, file] of moments.entries()) {
      const executed = await readWithoutMigrating({ url: null, file }, executedMigrations);
      if (executed.length === 1)
        expect(await readWithoutMigrating({ url: null, file }, allRowsOf)).toEqual(before);
      else expect(executed, `statement ${number}`).toEqual(known);
      if (number % 8 !== 0) continue; // each start takes a quarter of a second
      const db = await openDatabase({ url: null, file });
      expect(await executedMigrations(db)).toEqual(known);
      expect(await checkChain(db)).toMatchObject({ state: 'intact', entries: 5 });
      await db.destroy();
    }
  });
});

/** Copies the files before each statement of a start: the state that a killed process would leave. */
async function momentsOf({ file }: DatabaseLocation): Promise<string[]> {
  const database = file ?? '';
  const kept = temporaryFolder();
  const moments: string[] = [];
  const prepare = SqliteDatabase.prototype.prepare;
  const spy = vi.spyOn(SqliteDatabase.prototype, 'prepare').mockImplementation(function (this: never, text) {
    const moment = path.join(kept, `${moments.length}.db`);
    for (const ending of ['', '-wal']) {
      if (fs.existsSync(`${database}${ending}`))
        fs.copyFileSync(`${database}${ending}`, `${moment}${ending}`);
    }
    moments.push(moment);
    return prepare.call(this, text);
  });
  try {
    await (await openDatabase({ url: null, file: database })).destroy();
  } finally {
    spy.mockRestore();
  }
  return moments;
}

describe.skipIf(!databaseKinds.includes('PostgreSQL'))('a PostgreSQL database', () => {
  it('whose connection breaks before a statement is unchanged, and migrates at the next start', async () => {
    const place = await loadOldDatabase('0001', 'PostgreSQL');
    const before = await readWithoutMigrating(place, allRowsOf);
    const statements = await countStatements(await loadOldDatabase('0001', 'PostgreSQL'));
    expect(statements).toBeGreaterThan(50);
    // Each start takes a quarter of a second, so only every twelfth statement is tested.
    for (let number = 2; number <= statements; number += 12) {
      await expect(cutBefore(number, () => openDatabase(place))).rejects.toThrow();
      expect(await readWithoutMigrating(place, executedMigrations), `statement ${number}`).toEqual([
        '0001-first',
      ]);
    }
    expect(await readWithoutMigrating(place, allRowsOf)).toEqual(before);
    const db = await opened(place);
    expect(await executedMigrations(db)).toEqual(known);
    expect(await checkChain(db)).toMatchObject({ state: 'intact', entries: 5 });
  });

  it.each([
    ['new', () => emptyDatabaseLocation('PostgreSQL')],
    ['old', () => loadOldDatabase('0001', 'PostgreSQL')],
  ])('that is %s is migrated once by four processes that start at the same time', async (_, make) => {
    const place = await make();
    const all = await Promise.all([1, 2, 3, 4].map(() => openDatabase(place)));
    const [first] = all;
    const { rows } = await sql<{ name: string }>`select name from kysely_migration order by name`.execute(
      first as Database,
    );
    expect(rows.map(({ name }) => name)).toEqual(known);
    await Promise.all(all.map((db) => db.destroy()));
  });
});

async function countStatements(place: DatabaseLocation): Promise<number> {
  const spy = vi.spyOn(pg.Client.prototype, 'query');
  try {
    await (await openDatabase(place)).destroy();
    return spy.mock.calls.length;
  } finally {
    spy.mockRestore();
  }
}

/** Destroys the connection before the statement with this number, as when the process is killed there. */
async function cutBefore<T>(number: number, work: () => Promise<T>): Promise<T> {
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
