/** What makes the catalogue quick on PostgreSQL beyond its tables, as far as the database's user may. */
import { sql } from 'kysely';
import type { Database } from './database.ts';
import { isPostgres } from './dialects.ts';

/**
 * An index of all sequences of three characters, so that a word which nobody has is not looked for in every entry; and
 * statistics where there are none yet, as after a move or a restore.
 *
 * @returns null when it is there, or is not needed; otherwise why it could not be made
 */
export async function prepareSearch(db: Database): Promise<Error | null> {
  if (!isPostgres(db)) return null;
  try {
    if (!(await hasStatistics(db))) await takeStock(db);
    await db.transaction().execute(async (tx) => {
      await sql`set local statement_timeout = 0`.execute(tx); // a large table takes its time
      await sql`select pg_advisory_xact_lock(hashtext('images_by_words'))`.execute(tx); // one process after the other
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

/** Without them every question is answered by a walk through the whole table, a minute long, until PostgreSQL sees to it. */
async function hasStatistics(db: Database): Promise<boolean> {
  const { rows } = await sql`
    select 1 from pg_stats where schemaname = current_schema() and tablename = 'images' limit 1`.execute(db);
  return rows.length > 0;
}

/** Statistics of the table as it is now; PostgreSQL takes them by itself only a while after a large change. */
export async function takeStock(db: Database): Promise<void> {
  if (isPostgres(db)) await sql`analyze images`.execute(db);
}
