/**
 * Queries that record which images were shown in which image sessions (credentials with which viewers request pixels), so that the
 * audit log records each image once per session. A foreign key deletes a row together with its session.
 */
import { sql } from 'kysely';
import type { Connection, DatabaseTransaction } from './database.ts';
import { isOneOf, isPostgres } from './dialects.ts';
import type { NewRow, Row } from './schema.ts';

/** Finds the rows that state which of these images these sessions have shown, unordered. */
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

/** Inserts rows, or updates `is_viewed` of existing rows. The caller must have called `preventSessionDeletion` before. */
export async function saveOpenings(
  tx: DatabaseTransaction,
  rows: readonly NewRow<'image_openings'>[],
): Promise<void> {
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
 * Prevents the deletion of image sessions until the transaction ends. Must be called before the transaction acquires the lock
 * `audit`: transactions that delete sessions lock the session rows first and `audit` second, and the same order prevents deadlocks.
 */
export async function preventSessionDeletion(
  tx: DatabaseTransaction,
  hashes: readonly string[],
): Promise<void> {
  if (!isPostgres(tx)) return; // SQLite has one writer at a time, so no other transaction can delete the sessions
  const isSelected = isOneOf(tx, 'hash', hashes);
  await sql`select 1 from image_sessions where ${isSelected} order by hash for key share`.execute(tx);
}

/** Returns those of `hashes` whose sessions still exist. */
export async function existingSessions(db: Connection, hashes: readonly string[]): Promise<Set<string>> {
  const rows = await db
    .selectFrom('image_sessions')
    .select('hash')
    .where(isOneOf(db, 'hash', hashes))
    .execute();
  return new Set(rows.map(({ hash }) => hash));
}
