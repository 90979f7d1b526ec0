/**
 * Queries for the outbox of e-mails, the table `letters`. A process claims an e-mail by postponing its due time, sends it, and then
 * deletes the row. If the process is killed in between, another process sends the e-mail when it is due again.
 */
import type { Connection } from './database.ts';
import type { Row } from './schema.ts';

export async function insertEmail(db: Connection, row: Row<'letters'>): Promise<void> {
  await db.insertInto('letters').values(row).execute();
}

/** Finds the e-mail that has been due longest; null when none is due. */
export async function findDueEmail(db: Connection, now: string): Promise<Row<'letters'> | null> {
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

/** Claims an e-mail until a time (ISO 8601) and counts the attempt. @returns false when another process claimed it first */
export async function claimEmail(db: Connection, email: Row<'letters'>, until: string): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('letters')
    .set({ due_at: until, attempts: email.attempts + 1 })
    .where('id', '=', email.id)
    .where('due_at', '=', email.due_at)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Sets the time of the next attempt (ISO 8601), after an attempt has failed. */
export async function postponeEmail(db: Connection, id: string, until: string): Promise<void> {
  await db.updateTable('letters').set({ due_at: until }).where('id', '=', id).execute();
}

export async function deleteEmail(db: Connection, id: string): Promise<void> {
  await db.deleteFrom('letters').where('id', '=', id).execute();
}

/** Returns when the next e-mail is due (ISO 8601); null when the outbox is empty. */
export async function nextEmailDue(db: Connection): Promise<string | null> {
  const { due } = await db
    .selectFrom('letters')
    .select((eb) => eb.fn.min('due_at').as('due'))
    .executeTakeFirstOrThrow();
  return due;
}
