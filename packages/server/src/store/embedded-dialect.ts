/** The dialect (driver and SQL compiler of Kysely) with which database.ts opens the embedded SQLite database. */
import type SqliteDatabase from 'better-sqlite3';
import { type DatabaseConnection, SqliteDialect, type SqliteDialectConfig, SqliteDriver } from 'kysely';
import { LRUCache } from 'lru-cache';

/**
 * Kysely's SQLite dialect, changed so that it keeps prepared statements, and does not roll back a transaction that SQLite has rolled
 * back already.
 */
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
    super({ database: keepStatements(database) });
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

/** Maximum number of kept statements (LRU). A query with a list of values needs a statement for each length of the list. */
const maxStatements = 500;

/**
 * Returns the database as Kysely uses it. Preparing a statement takes longer than most queries, so statements are kept. A kept statement
 * may run again: Kysely runs one statement at a time, and SQLite compiles it again after a change of the schema.
 */
function keepStatements(database: SqliteDatabase.Database): SqliteDialectConfig['database'] {
  const statements = new LRUCache<string, SqliteDatabase.Statement>({ max: maxStatements });
  return {
    prepare(text) {
      const kept = statements.get(text);
      if (kept !== undefined) return kept;
      const statement = database.prepare(text);
      statements.set(text, statement);
      return statement;
    },
    close: () => void database.close(),
  };
}
