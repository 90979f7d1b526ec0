import SqliteDatabase from 'better-sqlite3';
import { Kysely, sql } from 'kysely';
import { expect, it, onTestFinished, vi } from 'vitest';
import { EmbeddedDialect } from './embedded-dialect.ts';

interface Tables {
  slides: { id: number; name?: string };
}

/** Opens a database in memory with the slides 1, 2 and 3. `prepare` is called for each statement that SQLite compiles. */
async function openSlides() {
  const database = new SqliteDatabase(':memory:');
  const prepare = vi.spyOn(database, 'prepare');
  const db = new Kysely<Tables>({ dialect: new EmbeddedDialect(database) });
  onTestFinished(() => db.destroy());
  await sql`create table slides (id integer primary key)`.execute(db);
  for (const id of [1, 2, 3]) await db.insertInto('slides').values({ id }).execute();
  return { db, prepare };
}

it('EmbeddedDialect (SQLite driver) compiles a statement once, and runs it with the values of each call', async () => {
  const { db, prepare } = await openSlides();
  prepare.mockClear();
  const find = (id: number) => db.selectFrom('slides').select('id').where('id', '=', id).execute();
  expect([await find(1), await find(3), await find(4)]).toEqual([[{ id: 1 }], [{ id: 3 }], []]);
  expect(prepare).toHaveBeenCalledTimes(1);
});

it('EmbeddedDialect (SQLite driver) returns a column that was added to the table between two runs of the same SELECT statement', async () => {
  const { db } = await openSlides();
  const findAll = () => db.selectFrom('slides').selectAll().where('id', '=', 1).execute();
  expect(await findAll()).toEqual([{ id: 1 }]);
  await sql`alter table slides add column name text not null default 'a.svs'`.execute(db);
  expect(await findAll()).toEqual([{ id: 1, name: 'a.svs' }]);
});
