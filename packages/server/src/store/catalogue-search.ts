/**
 * Creates a trigram index (extension pg_trgm) and statistics, with which PostgreSQL searches the catalogue faster. The
 * database user may lack the permissions for this, so the server does it when it starts, where a failure is harmless,
 * instead of in a migration.
 */
import { sql } from 'kysely';
import type { Database } from './database.ts';
import { isPostgres } from './dialects.ts';

/**
 * Creates a trigram index of the table `images`, so that a search with few results does not scan every row. Also computes
 * statistics if the table has none, which is the case after the database was moved or restored.
 *
 * @returns null when the index exists afterwards or the database is SQLite; otherwise the error
 */
export async function prepareSearch(db: Database): Promise<Error | null> {
  if (!isPostgres(db)) return null;
  try {
    if (!(await hasStatistics(db))) await analyzeImages(db);
    await db.transaction().execute(async (tx) => {
      await sql`set local statement_timeout = 0`.execute(tx); // indexing a large table may exceed the normal limit of 30 s
      await sql`select pg_advisory_xact_lock(hashtext('images_by_words'))`.execute(tx); // other processes wait here
      const { rows } = await sql`select 1 where to_regclass('images_by_words') is not null`.execute(tx);
      if (rows.length > 0) return;
      await sql`create extension if not exists pg_trgm`.execute(tx);
      await sql`create index images_by_words on images using gin (search_text gin_trgm_ops)`.execute(tx);
    });
    return null;
  } catch (error) {
    return error as Error;
  }
}

/**
 * Returns whether PostgreSQL has statistics of the table `images`. Without them every query scans the whole table until
 * autovacuum computes them, usually about a minute after the restore.
 */
async function hasStatistics(db: Database): Promise<boolean> {
  const { rows } = await sql`
    select 1 from pg_stats where schemaname = current_schema() and tablename = 'images' limit 1`.execute(db);
  return rows.length > 0;
}

/** Updates PostgreSQL's statistics of the table `images`. Autovacuum does so only some time after a large change. */
export async function analyzeImages(db: Database): Promise<void> {
  if (isPostgres(db)) await sql`analyze images`.execute(db);
}
