/**
 * Queries for registrations whose e-mail address is not confirmed yet. An address may have several registrations: the server
 * e-mails a confirmation link for each.
 */
import type { Connection } from './database.ts';
import type { Row } from './schema.ts';

export async function insertRegistration(db: Connection, row: Row<'registrations'>): Promise<void> {
  await db.insertInto('registrations').values(row).execute();
}

/** Finds a registration by the hash of its confirmation code; null when the code is unknown, used or expired. */
export async function findRegistration(
  db: Connection,
  hash: string,
  now: Date,
): Promise<Row<'registrations'> | null> {
  const row = await db
    .selectFrom('registrations')
    .selectAll()
    .where('hash', '=', hash)
    .where('expires_at', '>', now.toISOString())
    .executeTakeFirst();
  return row ?? null;
}

/** Deletes all registrations of an address. @param emailKey normalised address (see domain/email.ts) */
export async function deleteRegistrationsOf(db: Connection, emailKey: string): Promise<void> {
  await db.deleteFrom('registrations').where('email_key', '=', emailKey).execute();
}

export async function deleteExpiredRegistrations(db: Connection, now: Date): Promise<void> {
  await db.deleteFrom('registrations').where('expires_at', '<=', now.toISOString()).execute();
}
