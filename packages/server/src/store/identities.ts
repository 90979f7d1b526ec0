/** Sign-in identities of accounts. The embedded sign-in service stores password hashes here. */
import type { Connection } from './database.ts';

const embedded = 'embedded';

export async function insertPassword(db: Connection, uid: string, passwordHash: string): Promise<void> {
  await db
    .insertInto('identities')
    .values({ uid, provider: embedded, subject: uid, password_hash: passwordHash })
    .execute();
}

/** Returns the password hash; null when the account is unknown or signs in with an external provider. */
export async function findPassword(db: Connection, uid: string): Promise<string | null> {
  const row = await db
    .selectFrom('identities')
    .select('password_hash')
    .where('provider', '=', embedded)
    .where('subject', '=', uid)
    .executeTakeFirst();
  return row?.password_hash ?? null;
}

/** @returns false when the account has no password, because it signs in with an external provider */
export async function updatePassword(db: Connection, uid: string, passwordHash: string): Promise<boolean> {
  const updated = await db
    .updateTable('identities')
    .set({ password_hash: passwordHash })
    .where('provider', '=', embedded)
    .where('subject', '=', uid)
    .executeTakeFirst();
  return updated.numUpdatedRows > 0n;
}

/** Deletes the password; the account then signs in with its external provider only. */
export async function deletePassword(db: Connection, uid: string): Promise<void> {
  await db.deleteFrom('identities').where('provider', '=', embedded).where('subject', '=', uid).execute();
}

/** An identity of an external provider. */
export interface ExternalIdentity {
  /** The issuer URL. */
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

/** Whether the account has an identity of the provider. */
export async function hasIdentityOf(db: Connection, uid: string, provider: string): Promise<boolean> {
  const row = await db
    .selectFrom('identities')
    .select('subject')
    .where('uid', '=', uid)
    .where('provider', '=', provider)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** Returns the uid of the account; null for an unknown identity. */
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
