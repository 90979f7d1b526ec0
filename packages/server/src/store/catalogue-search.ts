/**
 * Speeds up the catalogue on PostgreSQL beyond its tables, as far as the permissions of the database user
 * allow.
 */
import { sql } from 'kysely';
import type { Database } from './database.ts';
import { isPostgres } from './dialects.ts';

/**
 * Creates a trigram index, so that a word without matches does not scan every entry; and statistics where
 * there are none yet, as after a move or a restore.
 *
 * @returns null when the index exists or is not needed; otherwise the error
 */
export async function prepareSearch(db: Database): Promise<Error | null> {
  if (!isPostgres(db)) return null;
  try {
    if (!(await hasStatistics(db))) await analyzeImages(db);
    await db.transaction().execute(async (tx) => {
      await sql`set local statement_timeout = 0`.execute(tx); // creating the index of a large table takes time
      await sql`select pg_advisory_xact_lock(hashtext('images_by_words'))`.execute(tx); // one process at a time
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
 * Without statistics every query scans the whole table, for a minute, until PostgreSQL's autovacuum computes
 * them.
 */
async function hasStatistics(db: Database): Promise<boolean> {
  const { rows } = await sql`
    select 1 from pg_stats where schemaname = current_schema() and tablename = 'images' limit 1`.execute(db);
  return rows.length > 0;
}

/** Updates the statistics of the table; PostgreSQL itself does so only some time after a large change. */
export async function analyzeImages(db: Database): Promise<void> {
  if (isPostgres(db)) await sql`analyze images`.execute(db);
}
