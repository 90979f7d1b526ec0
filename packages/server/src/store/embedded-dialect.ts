import type SqliteDatabase from 'better-sqlite3';
import { type DatabaseConnection, SqliteDialect, SqliteDriver } from 'kysely';

/** SQLite as Kysely knows it, but for the end of a transaction that SQLite has ended by itself. */
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
   * A full disk makes SQLite roll back at once; being told to do it again, it would complain, and that there is no room
   * would be lost behind the complaint.
   *
   * Source: sqlite.org/lang_transaction.html, "Response To Errors Within A Transaction".
   */
  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    if (this.#database.inTransaction) await super.rollbackTransaction(connection);
  }
}
