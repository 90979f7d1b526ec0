/** How accounts sign in. The embedded sign-in service keeps the password's hash here. */
import type { Connection } from './database.ts';

const embedded = 'embedded';

export async function insertPassword(db: Connection, uid: string, passwordHash: string): Promise<void> {
  await db
    .insertInto('identities')
    .values({ uid, provider: embedded, subject: uid, password_hash: passwordHash })
    .execute();
}

/** Null when the account is unknown or signs in elsewhere. */
export async function findPassword(db: Connection, uid: string): Promise<string | null> {
  const row = await db
    .selectFrom('identities')
    .select('password_hash')
    .where('provider', '=', embedded)
    .where('subject', '=', uid)
    .executeTakeFirst();
  return row?.password_hash ?? null;
}

/** @returns false when the account has none, and so signs in elsewhere */
export async function updatePassword(db: Connection, uid: string, passwordHash: string): Promise<boolean> {
  const updated = await db
    .updateTable('identities')
    .set({ password_hash: passwordHash })
    .where('provider', '=', embedded)
    .where('subject', '=', uid)
    .executeTakeFirst();
  return updated.numUpdatedRows > 0n;
}

/** The account from now on signs in elsewhere alone. */
export async function deletePassword(db: Connection, uid: string): Promise<void> {
  await db.deleteFrom('identities').where('provider', '=', embedded).where('subject', '=', uid).execute();
}

/** A person as an external provider names them. */
export interface ExternalIdentity {
  /** The issuer. */
  readonly provider: string;
  readonly subject: string;
}

export async function insertIdentity(
  db: Connection,
  uid: string,
  { provider, subject }: ExternalIdentity,
): Promise<void> {
  await db.insertInto('identities').values({ uid, provider, subject, password_hash: null }).execute();
}

/** Uid of the account; null for somebody who was never here. */
export async function findUidOfIdentity(
  db: Connection,
  { provider, subject }: ExternalIdentity,
): Promise<string | null> {
  const row = await db
    .selectFrom('identities')
    .select('uid')
    .where('provider', '=', provider)
    .where('subject', '=', subject)
    .executeTakeFirst();
  return row?.uid ?? null;
}
