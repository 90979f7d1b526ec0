/**
 * Makes one database query of this process fail: on SQLite with the error of an unreadable disk, on PostgreSQL by breaking the
 * connection.
 */
import type { Socket } from 'node:net';
import SqliteDatabase from 'better-sqlite3';
import pg from 'pg';
import { vi } from 'vitest';
import type { DatabaseKind } from '../store/testing/test-database.ts';

export interface FailingDatabase {
  /** Counts queries from 1 again and lets the n-th one fail; with null, none fails. */
  failAt(n: number | null): void;
  /** Returns the SQL text of the query that failed; null when none has failed. */
  failed(): string | null;
  restore(): void;
}

/** Intercepts the queries of all databases of this process, including begin, commit and rollback. */
export function failingDatabase(kind: DatabaseKind): FailingDatabase {
  let queryCount = 0;
  let failing: number | null = null;
  let failed: string | null = null;
  /** Counts a query. @returns whether it has to fail */
  const hasToFail = (text: string) => {
    queryCount++;
    if (queryCount !== failing) return false;
    failed = text;
    return true;
  };
  const spy = kind === 'SQLite' ? spyOnSqlite(hasToFail) : spyOnPostgres(hasToFail);
  return {
    failAt(n) {
      queryCount = 0;
      failed = null;
      failing = n;
    },
    failed: () => failed,
    restore: () => spy.mockRestore(),
  };
}

function spyOnSqlite(hasToFail: (text: string) => boolean) {
  const { prepare } = SqliteDatabase.prototype;
  return vi.spyOn(SqliteDatabase.prototype, 'prepare').mockImplementation(function (
    this: SqliteDatabase.Database,
    text: string,
  ) {
    if (hasToFail(text)) throw new SqliteDatabase.SqliteError('disk I/O error', 'SQLITE_IOERR');
    return prepare.call(this, text);
  });
}

/** The connection breaks before the query is sent: the server rolls its transaction back. */
function spyOnPostgres(hasToFail: (text: string) => boolean) {
  const { query } = pg.Client.prototype;
  return vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function (
    this: pg.Client & { readonly connection: { readonly stream: Socket } },
    ...sent: Parameters<typeof query>
  ) {
    if (hasToFail(String(sent[0]))) this.connection.stream.destroy();
    return query.apply(this, sent);
  });
}
