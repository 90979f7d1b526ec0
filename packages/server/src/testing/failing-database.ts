/** A database whose n-th query fails: on SQLite with a disk I/O error, on PostgreSQL with a broken connection. */
import type { Socket } from 'node:net';
import SqliteDatabase from 'better-sqlite3';
import pg from 'pg';
import { vi } from 'vitest';
import type { DatabaseKind } from '../store/testing/test-database.ts';

export interface FailingDatabase {
  /** Starts to count queries from 1, and makes the n-th one fail; with null, no query fails. */
  failAt(n: number | null): void;
  /** Returns the SQL text of the query that failed; null when none has failed. */
  failed(): string | null;
  /** Returns the number of queries since the last call of `failAt`. */
  queryCount(): number;
  restore(): void; // ends the interception
}

/** Intercepts the queries of all databases of this process, including begin, commit and rollback. Call `restore` after the test. */
export function failingDatabase(kind: DatabaseKind): FailingDatabase {
  let queryCount = 0;
  let failingNumber: number | null = null;
  let failed: string | null = null;
  /** Counts a query. @returns whether it has to fail */
  const hasToFail = (text: string) => {
    queryCount++;
    if (queryCount !== failingNumber) return false;
    failed = text;
    return true;
  };
  const spy = kind === 'SQLite' ? spyOnSqlite(hasToFail) : spyOnPostgres(hasToFail);
  return {
    failAt(n) {
      queryCount = 0;
      failed = null;
      failingNumber = n;
    },
    failed: () => failed,
    queryCount: () => queryCount,
    restore: () => spy.mockRestore(),
  };
}

/** Intercepts the methods with which Kysely runs a prepared statement; the server keeps statements, and prepares them only once. */
function spyOnSqlite(hasToFail: (text: string) => boolean) {
  const probe = new SqliteDatabase(':memory:');
  const prototype = Object.getPrototypeOf(probe.prepare('select 1')) as SqliteDatabase.Statement;
  probe.close();
  const spies = (['all', 'run', 'iterate'] as const).map((method) => {
    const original = prototype[method] as (...values: unknown[]) => never;
    return vi.spyOn(prototype, method).mockImplementation(function (
      this: SqliteDatabase.Statement,
      ...values: unknown[]
    ) {
      if (hasToFail(this.source)) throw new SqliteDatabase.SqliteError('disk I/O error', 'SQLITE_IOERR');
      return original.apply(this, values);
    });
  });
  return {
    mockRestore() {
      for (const spy of spies) spy.mockRestore();
    },
  };
}

/** Breaks the connection before the query is sent, so that PostgreSQL rolls the transaction back. */
function spyOnPostgres(hasToFail: (text: string) => boolean) {
  const { query } = pg.Client.prototype;
  return vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function (
    this: pg.Client & { readonly connection: { readonly stream: Socket } },
    ...args: Parameters<typeof query>
  ) {
    if (hasToFail(String(args[0]))) this.connection.stream.destroy(); // the first argument is the SQL text
    return query.apply(this, args);
  });
}
