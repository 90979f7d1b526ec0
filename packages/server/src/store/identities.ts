/**
 * Queries for the identities with which accounts sign in. An account has either an identity of the embedded sign-in service, which
 * contains its password hash, or identities of external providers (OpenID Connect); it has both only after the command `restore-admin`.
 */
import type { Connection } from './database.ts';

/** Value of the column `provider` for the embedded sign-in service. The column `subject` then contains the uid. */
const embedded = 'embedded';

/** Stores the password hash of a new account. */
export async function insertPassword(db: Connection, uid: string, passwordHash: string): Promise<void> {
  await db
    .insertInto('identities')
    .values({ uid, provider: embedded, subject: uid, password_hash: passwordHash })
    .execute();
}

/** Returns the password hash of an account; null when the account is unknown or signs in only with an external provider. */
export async function findPassword(db: Connection, uid: string): Promise<string | null> {
  const row = await db
    .selectFrom('identities')
    .select('password_hash')
    .where('provider', '=', embedded)
    .where('subject', '=', uid)
    .executeTakeFirst();
  return row?.password_hash ?? null;
}

/** Replaces a password hash. @returns false when the account has none, because it signs in only with an external provider */
export async function updatePassword(db: Connection, uid: string, passwordHash: string): Promise<boolean> {
  const updated = await db
    .updateTable('identities')
    .set({ password_hash: passwordHash })
    .where('provider', '=', embedded)
    .where('subject', '=', uid)
    .executeTakeFirst();
  return updated.numUpdatedRows > 0n;
}

/** Deletes the password hash of an account, which can then sign in only with its external provider. */
export async function deletePassword(db: Connection, uid: string): Promise<void> {
  await db.deleteFrom('identities').where('provider', '=', embedded).where('subject', '=', uid).execute();
}

/** An identity at an external provider (OpenID Connect). */
export interface ExternalIdentity {
  /** Issuer URL of the provider. */
  readonly provider: string;
  /** Id of the user at the provider (claim `sub`). */
  readonly subject: string;
}

/** Adds an external identity to an account. */
export async function insertIdentity(
  db: Connection,
  uid: string,
  { provider, subject }: ExternalIdentity,
): Promise<void> {
  await db.insertInto('identities').values({ uid, provider, subject, password_hash: null }).execute();
}

/** Returns whether the account has an identity at the provider. */
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

/** Returns the uid of the account with this identity; null when there is none. */
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
