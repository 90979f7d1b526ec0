/**
 * Queries for bearer tokens, one for each sign-in. The database stores only their hashes. Revoking a token deletes its row; a
 * foreign key then also deletes the image sessions (credentials for pixels) of this sign-in.
 */
import type { User } from '@lamina/contract';
import type { Connection, DatabaseTransaction } from './database.ts';
import { asKeyValueRows, lockInOrder } from './dialects.ts';
import type { Row } from './schema.ts';
import { userOf } from './users.ts';

export interface StoredToken {
  readonly user: User;
  readonly createdAt: Date;
  readonly lastUsedAt: Date;
  readonly expiresAt: Date;
}

export async function insertToken(db: Connection, row: Row<'tokens'>): Promise<void> {
  await db.insertInto('tokens').values(row).execute();
}

/** Finds a token by its hash, with the current state of its account; null when it does not exist. */
export async function findToken(db: Connection, hash: string): Promise<StoredToken | null> {
  const row = await db
    .selectFrom('tokens')
    .innerJoin('users', 'users.uid', 'tokens.uid')
    .selectAll('users')
    .select([
      'tokens.created_at as issued_at', // `users` has the columns `created_at` and `expires_at` too
      'tokens.last_used_at',
      'tokens.expires_at as token_expires_at',
    ])
    .where('tokens.hash', '=', hash)
    .executeTakeFirst();
  if (row === undefined) return null;
  return {
    user: userOf(row),
    createdAt: new Date(row.issued_at),
    lastUsedAt: new Date(row.last_used_at),
    expiresAt: new Date(row.token_expires_at),
  };
}

/**
 * Lists the valid tokens of an account, the most recently used first.
 *
 * @param idleSince a token that was last used at or before this time is no longer valid
 */
export async function listTokensOf(
  db: Connection,
  uid: string,
  now: Date,
  idleSince: Date,
): Promise<Row<'tokens'>[]> {
  return db
    .selectFrom('tokens')
    .selectAll()
    .where('uid', '=', uid)
    .where('expires_at', '>', now.toISOString())
    .where('last_used_at', '>', idleSince.toISOString())
    .orderBy('last_used_at', 'desc')
    .orderBy('hash')
    .execute();
}

/** Deletes the tokens of an account that were issued before a time (ISO 8601). */
export async function deleteTokensCreatedBefore(db: Connection, uid: string, time: string): Promise<void> {
  await db.deleteFrom('tokens').where('uid', '=', uid).where('created_at', '<', time).execute();
}

/** Records the time of the last use of a token; does nothing when the token has been revoked. */
export async function touchToken(db: Connection, hash: string, at: Date): Promise<void> {
  const usedAt = at.toISOString();
  await db
    .updateTable('tokens')
    .set({ last_used_at: usedAt })
    .where('hash', '=', hash)
    .where('last_used_at', '<', usedAt) // keeps a later use that another process has recorded
    .execute();
}

/** Records the time of the last use of each of these tokens (by hash) with one statement. */
export async function touchTokens(tx: DatabaseTransaction, usedAt: ReadonlyMap<string, Date>): Promise<void> {
  await lockInOrder(tx, 'tokens', [...usedAt.keys()]); // prevents deadlocks with other processes
  const times = new Map([...usedAt].map(([hash, at]) => [hash, at.toISOString()]));
  await tx
    .updateTable('tokens')
    .from(asKeyValueRows(tx, times).as('used'))
    .set((eb) => ({ last_used_at: eb.ref('used.value') }))
    .whereRef('tokens.hash', '=', 'used.key')
    .whereRef('tokens.last_used_at', '<', 'used.value') // keeps later uses, as in `touchToken`
    .execute();
}

export async function deleteToken(db: Connection, hash: string): Promise<void> {
  await db.deleteFrom('tokens').where('hash', '=', hash).execute();
}

/** Deletes all tokens of an account. @param exceptHash hash of a token that stays, normally that of the current request */
export async function deleteTokensOf(db: Connection, uid: string, exceptHash?: string): Promise<void> {
  let query = db.deleteFrom('tokens').where('uid', '=', uid);
  if (exceptHash !== undefined) query = query.where('hash', '!=', exceptHash);
  await query.execute();
}

/** Deletes the oldest tokens of an account if it has more than `maxTokens`. @returns the hashes of the deleted tokens */
export async function deleteOldestTokens(
  tx: DatabaseTransaction,
  uid: string,
  maxTokens: number,
): Promise<string[]> {
  const newestFirst = await tx
    .selectFrom('tokens')
    .select('hash')
    .where('uid', '=', uid)
    .orderBy('created_at', 'desc')
    .orderBy('hash')
    .execute();
  const hashes = newestFirst.slice(maxTokens).map(({ hash }) => hash);
  if (hashes.length > 0) await tx.deleteFrom('tokens').where('hash', 'in', hashes).execute();
  return hashes;
}

/** Deletes the tokens of all accounts that have expired, or that were last used at or before `idleSince`. */
export async function deleteExpiredTokens(db: Connection, now: Date, idleSince: Date): Promise<void> {
  await db
    .deleteFrom('tokens')
    .where((eb) =>
      eb.or([eb('expires_at', '<=', now.toISOString()), eb('last_used_at', '<=', idleSince.toISOString())]),
    )
    .execute();
}
