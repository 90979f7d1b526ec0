/**
 * Databases that record which strings a search compares, and a recorder of query plans, for tests that a search reveals
 * nothing about entries that the reader may not see.
 */
import SqliteDatabase from 'better-sqlite3';
import { sql } from 'kysely';
import pg from 'pg';
import { onTestFinished, vi } from 'vitest';
import { prepareSearch } from '../catalogue-search.ts';
import { type Database, openDatabase } from '../database.ts';
import { type DatabaseKind, openTestDatabase } from './test-database.ts';

export interface SearchObserver {
  readonly db: Database;
  close(): Promise<void>;
  /** Returns the strings that LIKE has compared with a pattern since the last call. */
  comparedTexts(): Promise<readonly string[]>;
}

/** Replaces SQLite's function `like`, which evaluates LIKE, with a function that records the compared strings. */
async function observeSqlite(): Promise<SearchObserver> {
  // Kysely does not expose its SQLite handle, so a spy collects the handles that prepare statements while the database is opened.
  const { prepare } = SqliteDatabase.prototype;
  const handles = new Set<SqliteDatabase.Database>();
  const spy = vi.spyOn(SqliteDatabase.prototype, 'prepare').mockImplementation(function (
    this: SqliteDatabase.Database,
    text: string,
  ) {
    handles.add(this);
    return prepare.call(this, text);
  });
  const { db, close } = await openTestDatabase('SQLite');
  spy.mockRestore();
  let comparedTexts: string[] = [];
  const openHandles = [...handles].filter(({ open }) => open); // a closed one created the template
  for (const handle of openHandles) {
    // The observed searches have patterns of the form %word%, so the word is the pattern without its first and last character.
    handle.function('like', { deterministic: true }, (pattern: unknown, text: unknown, _escape: unknown) => {
      comparedTexts.push(String(text));
      return String(text).includes(String(pattern).slice(1, -1)) ? 1 : 0;
    });
  }
  return {
    db,
    close,
    async comparedTexts() {
      const recordedTexts = comparedTexts;
      comparedTexts = [];
      return recordedTexts;
    },
  };
}

/** Replaces PostgreSQL's operator ~~, which evaluates LIKE, with an operator in a schema earlier in the search path. */
async function observePostgres(): Promise<SearchObserver> {
  const { db: setupDb, url, close } = await openTestDatabase('PostgreSQL');
  const databaseName = new URL(url ?? '').pathname.slice(1);
  await prepareSearch(setupDb);
  await sql`create schema watched`.execute(setupDb);
  await sql`create table watched.texts (content text)`.execute(setupDb);
  await sql`create function watched.matches(text, text) returns boolean language plpgsql volatile as $$
    begin
      insert into watched.texts values ($1);
      return pg_catalog.textlike($1, $2);
    end $$`.execute(setupDb);
  await sql`create operator watched.~~ (leftarg = text, rightarg = text, function = watched.matches)`.execute(
    setupDb,
  );
  await sql`alter database ${sql.id(databaseName)} set search_path = watched, pg_catalog, public`.execute(
    setupDb,
  );
  const db = await openDatabase({ url, file: null });
  return {
    db,
    async close() {
      await sql`drop schema watched cascade`.execute(setupDb);
      await sql`alter database ${sql.id(databaseName)} reset search_path`.execute(setupDb);
      await db.destroy();
      await close();
    },
    async comparedTexts() {
      const { rows } = await sql<{ content: string }>`
        with deleted as (delete from watched.texts returning content) select content from deleted`.execute(
        db,
      );
      return rows.map(({ content }) => content);
    },
  };
}

/** Opens an empty, migrated database that records the strings that LIKE compares. */
export function openSearchObserver(kind: DatabaseKind): Promise<SearchObserver> {
  return kind === 'SQLite' ? observeSqlite() : observePostgres();
}

export interface RecordedPlans {
  /** Executes again the queries that were recorded since the last call, and returns their query plans as JSON. */
  plans(): Promise<readonly { readonly text: string; readonly plan: string }[]>;
}

/** Records queries on the table `images` whose SQL contains `word`. The plans avoid sequential scans, even of a small table. */
export async function recordPlans(url: string, word: string): Promise<RecordedPlans> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  onTestFinished(() => client.end());
  await client.query('set enable_seqscan = off');
  const { query } = pg.Client.prototype;
  let queries: { text: string; values: unknown[] }[] = [];
  const spy = vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function (
    this: pg.Client,
    ...args: unknown[]
  ) {
    const [text, values] = args;
    if (this !== client && typeof text === 'string' && text.includes('"images"') && text.includes(word)) {
      queries.push({ text, values: (values as unknown[] | undefined) ?? [] });
    }
    return (query as (...all: unknown[]) => unknown).apply(this, args) as never;
  });
  onTestFinished(() => spy.mockRestore());
  return {
    async plans() {
      const recordedQueries = queries;
      queries = [];
      const plans: { text: string; plan: string }[] = [];
      for (const { text, values } of recordedQueries) {
        const { rows } = await client.query<object>(`explain (analyze, format json) ${text}`, values);
        plans.push({ text, plan: JSON.stringify(rows) });
      }
      return plans;
    },
  };
}

/** Updates PostgreSQL's statistics as autovacuum does. Without statistics, PostgreSQL's query plans are arbitrary. */
export async function analyzeImages(db: Database): Promise<void> {
  await sql`analyze images`.execute(db);
}
