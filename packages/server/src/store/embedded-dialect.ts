import type SqliteDatabase from 'better-sqlite3';
import { type DatabaseConnection, SqliteDialect, SqliteDriver } from 'kysely';

/** Kysely's SQLite dialect, except for transactions that SQLite itself has rolled back. */
export class EmbeddedDialect extends SqliteDialect {
  readonly #database: SqliteDatabase.Database;

  constructor(database: SqliteDatabase.Database) {
    super({ database });
    this.#database = database;
  }

  override createDriver(): SqliteDriver {
    return new EmbeddedDriver(this.#database);
  }
}

class EmbeddedDriver extends SqliteDriver {
  readonly #database: SqliteDatabase.Database;

  constructor(database: SqliteDatabase.Database) {
    super({ database });
    this.#database = database;
  }

  /**
   * Rolls back unless SQLite has done so itself, as it does when the disk is full. A second rollback would
   * fail and hide the original error.
   *
   * Source: sqlite.org/lang_transaction.html, "Response To Errors Within A Transaction".
   */
  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    if (this.#database.inTransaction) await super.rollbackTransaction(connection);
  }
}
