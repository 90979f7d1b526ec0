/** Queries for password resets: hashes of codes that the server e-mails in links. An account has at most one. */
import type { Connection } from './database.ts';
import type { Row } from './schema.ts';

/** Stores the hash of a code. It replaces an earlier code of the account. */
export async function replaceReset(db: Connection, row: Row<'password_resets'>): Promise<void> {
  await deleteResetsOf(db, row.uid);
  await db.insertInto('password_resets').values(row).execute();
}

/** Returns the uid of the account to which a code belongs; null when the code is unknown or expired. */
export async function findUidOfReset(db: Connection, hash: string, now: Date): Promise<string | null> {
  const row = await db
    .selectFrom('password_resets')
    .select('uid')
    .where('hash', '=', hash)
    .where('expires_at', '>', now.toISOString())
    .executeTakeFirst();
  return row?.uid ?? null;
}

export async function deleteResetsOf(db: Connection, uid: string): Promise<void> {
  await db.deleteFrom('password_resets').where('uid', '=', uid).execute();
}

export async function deleteExpiredResets(db: Connection, now: Date): Promise<void> {
  await db.deleteFrom('password_resets').where('expires_at', '<=', now.toISOString()).execute();
}
