/** The embedded database with one thing wrong: the n-th thing that is asked of it fails, as on a disk that cannot be read. */
import SqliteDatabase from 'better-sqlite3';
import { vi } from 'vitest';

export interface FailingDatabase {
  /** From now on, the n-th question is answered with an error, once; null: none. */
  failAt(n: number | null): void;
  /** The one that has failed; null when none has. */
  failed(): string | null;
  restore(): void;
}

/** Stands between Kysely and every SQLite database of this process: begin, commit and rollback are questions, too. */
export function failingDatabase(): FailingDatabase {
  const { prepare } = SqliteDatabase.prototype;
  let asked = 0;
  let failing: number | null = null;
  let failed: string | null = null;
  const spy = vi.spyOn(SqliteDatabase.prototype, 'prepare').mockImplementation(function (
    this: SqliteDatabase.Database,
    text: string,
  ) {
    asked++;
    if (asked === failing) {
      failed = text;
      throw new SqliteDatabase.SqliteError('disk I/O error', 'SQLITE_IOERR');
    }
    return prepare.call(this, text);
  });
  return {
    failAt(n) {
      asked = 0;
      failed = null;
      failing = n;
    },
    failed: () => failed,
    restore: () => spy.mockRestore(),
  };
}
