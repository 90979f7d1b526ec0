/** Which images have been shown in which image sessions. Rows are deleted with their session. */
import { sql } from 'kysely';
import type { Change, Connection } from './database.ts';
import { isOneOf, isPostgres } from './dialects.ts';
import type { NewRow, Row } from './schema.ts';

/** Returns at least the rows of these sessions and images; rows of other pairs of them may be included. */
export async function findOpenings(
  db: Connection,
  sessionHashes: readonly string[],
  imageIds: readonly string[],
): Promise<Row<'image_openings'>[]> {
  return db
    .selectFrom('image_openings')
    .selectAll()
    .where(isOneOf(db, 'session_hash', sessionHashes))
    .where(isOneOf(db, 'image_id', imageIds))
    .execute();
}

/** Inserts rows, or marks existing ones as viewed. The sessions must be held by `preventSessionDeletion`. */
export async function saveOpenings(tx: Change, rows: readonly NewRow<'image_openings'>[]): Promise<void> {
  if (rows.length === 0) return;
  await tx
    .insertInto('image_openings')
    .values([...rows])
    .onConflict((conflict) =>
      conflict.columns(['session_hash', 'image_id']).doUpdateSet((eb) => ({
        is_viewed: eb.ref('excluded.is_viewed'),
      })),
    )
    .execute();
}

/**
 * Keeps these sessions from being deleted until the transaction ends. On PostgreSQL, call it before taking the lock
 * `audit`: changes that delete sessions take the lock after the rows, and the same order prevents deadlocks.
 */
export async function preventSessionDeletion(tx: Change, hashes: readonly string[]): Promise<void> {
  if (!isPostgres(tx)) return; // SQLite has one writer at a time
  const isSelected = isOneOf(tx, 'hash', hashes);
  await sql`select 1 from image_sessions where ${isSelected} order by hash for key share`.execute(tx);
}

/** Returns those of the sessions that still exist. */
export async function existingSessions(db: Connection, hashes: readonly string[]): Promise<Set<string>> {
  const rows = await db
    .selectFrom('image_sessions')
    .select('hash')
    .where(isOneOf(db, 'hash', hashes))
    .execute();
  return new Set(rows.map(({ hash }) => hash));
}
