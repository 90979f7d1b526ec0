/** Letters that have not gone out yet. Whoever sends one takes it for a while; a row that is gone has been sent. */
import type { Connection } from './database.ts';
import type { Row } from './schema.ts';

export async function insertLetter(db: Connection, row: Row<'letters'>): Promise<void> {
  await db.insertInto('letters').values(row).execute();
}

/** The one that has been due longest; null when none is. */
export async function findDueLetter(db: Connection, now: string): Promise<Row<'letters'> | null> {
  const row = await db
    .selectFrom('letters')
    .selectAll()
    .where('due_at', '<=', now)
    .orderBy('due_at')
    .orderBy('id')
    .limit(1)
    .executeTakeFirst();
  return row ?? null;
}

/** @returns false when another process was first */
export async function takeLetter(db: Connection, letter: Row<'letters'>, until: string): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('letters')
    .set({ due_at: until, attempts: letter.attempts + 1 })
    .where('id', '=', letter.id)
    .where('due_at', '=', letter.due_at)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

export async function postponeLetter(db: Connection, id: string, until: string): Promise<void> {
  await db.updateTable('letters').set({ due_at: until }).where('id', '=', id).execute();
}

export async function deleteLetter(db: Connection, id: string): Promise<void> {
  await db.deleteFrom('letters').where('id', '=', id).execute();
}

/** When the next one is due; null when there is none. */
export async function nextLetterDue(db: Connection): Promise<string | null> {
  const { due } = await db
    .selectFrom('letters')
    .select((eb) => eb.fn.min('due_at').as('due'))
    .executeTakeFirstOrThrow();
  return due;
}
