/** The dialect (driver and SQL compiler of Kysely) with which database.ts opens the embedded SQLite database. */
import type SqliteDatabase from 'better-sqlite3';
import { type DatabaseConnection, SqliteDialect, SqliteDriver } from 'kysely';

/** Kysely's SQLite dialect, changed so that it does not roll back a transaction that SQLite has rolled back already. */
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
   * Rolls back the transaction unless SQLite has done so by itself, for example because the disk is full. A second rollback
   * would fail and hide the original error.
   *
   * Source: sqlite.org/lang_transaction.html, "Response To Errors Within A Transaction".
   */
  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    if (this.#database.inTransaction) await super.rollbackTransaction(connection);
  }
}
