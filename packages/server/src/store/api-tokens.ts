/**
 * Queries for API tokens (credentials of programs). The database stores only hashes of tokens. Revoking a token deletes its row,
 * so it cannot become valid again.
 */
import { ApiTokenScope, type User } from '@lamina/contract';
import type { Connection, DatabaseTransaction } from './database.ts';
import type { Row } from './schema.ts';
import { userOf } from './users.ts';

export interface StoredApiToken {
  readonly id: string;
  /** SHA-256 of the token, base64url. */
  readonly hash: string;
  /** First characters of the token, by which its owner recognises it. */
  readonly prefix: string;
  readonly name: string;
  readonly scopes: readonly ApiTokenScope[];
  /** Names of the datasets that the token may read; null: every dataset that the owner may see. */
  readonly datasets: readonly string[] | null;
  readonly createdAt: string;
  readonly expiresAt: string;
  readonly lastUsedAt: string | null;
  /** Current state of the owner's account. */
  readonly user: User;
}

type TokenRow = Row<'api_tokens'>;

/** Inserts a token that has not been used yet. */
export async function insertApiToken(
  tx: DatabaseTransaction,
  {
    scopes,
    datasets,
    ...row
  }: Omit<TokenRow, 'scopes' | 'datasets' | 'last_used_at'> & Pick<StoredApiToken, 'scopes' | 'datasets'>,
): Promise<void> {
  await tx
    .insertInto('api_tokens')
    .values({
      ...row,
      scopes: JSON.stringify(scopes),
      datasets: datasets && JSON.stringify(datasets),
      last_used_at: null,
    })
    .execute();
}

function selectTokensWithOwners(db: Connection) {
  return db
    .selectFrom('api_tokens')
    .innerJoin('users', 'users.uid', 'api_tokens.uid')
    .selectAll('users')
    .select([
      'api_tokens.id as token_id',
      'api_tokens.hash as token_hash',
      'api_tokens.prefix as token_prefix',
      'api_tokens.name as token_name',
      'api_tokens.scopes as token_scopes',
      'api_tokens.datasets as token_datasets',
      'api_tokens.created_at as token_created_at',
      'api_tokens.expires_at as token_expires_at',
      'api_tokens.last_used_at as token_last_used_at',
    ]);
}

type TokenWithOwnerRow = Awaited<ReturnType<ReturnType<typeof selectTokensWithOwners>['execute']>>[number];

function tokenOf(row: TokenWithOwnerRow): StoredApiToken {
  const scopes = JSON.parse(row.token_scopes) as string[];
  return {
    id: row.token_id,
    hash: row.token_hash,
    prefix: row.token_prefix,
    name: row.token_name,
    // Ignores scopes that this version of the program does not know.
    scopes: scopes.flatMap((scope) => ApiTokenScope.safeParse(scope).data ?? []),
    datasets: row.token_datasets === null ? null : (JSON.parse(row.token_datasets) as string[]),
    createdAt: row.token_created_at,
    expiresAt: row.token_expires_at,
    lastUsedAt: row.token_last_used_at,
    user: userOf(row),
  };
}

/** Finds a token, even an expired one, with the current state of its owner's account; null when it does not exist. */
export async function findApiToken(db: Connection, hash: string): Promise<StoredApiToken | null> {
  const row = await selectTokensWithOwners(db).where('api_tokens.hash', '=', hash).executeTakeFirst();
  return row === undefined ? null : tokenOf(row);
}

/** Lists the tokens that have not expired, newest first. @param uid owner; null lists the tokens of all accounts */
export async function listApiTokens(
  db: Connection,
  uid: string | null,
  now: string,
): Promise<StoredApiToken[]> {
  let query = selectTokensWithOwners(db).where('api_tokens.expires_at', '>', now);
  if (uid !== null) query = query.where('api_tokens.uid', '=', uid);
  const rows = await query.orderBy('api_tokens.created_at', 'desc').orderBy('api_tokens.id').execute();
  return rows.map(tokenOf);
}

/**
 * Deletes a token, which revokes it.
 *
 * @param uid owner of the token; null deletes a token of any owner
 * @returns owner, name and prefix of the deleted token; null when there is no such token
 */
export async function deleteApiToken(
  tx: DatabaseTransaction,
  id: string,
  uid: string | null,
): Promise<Pick<TokenRow, 'uid' | 'name' | 'prefix'> | null> {
  let query = tx.deleteFrom('api_tokens').where('id', '=', id);
  if (uid !== null) query = query.where('uid', '=', uid);
  return (await query.returning(['uid', 'name', 'prefix']).executeTakeFirst()) ?? null;
}

/** Deletes all tokens of an account. */
export async function deleteApiTokensOf(db: Connection, uid: string): Promise<void> {
  await db.deleteFrom('api_tokens').where('uid', '=', uid).execute();
}

/** Deletes the tokens of an account that were created before a time (ISO 8601). */
export async function deleteApiTokensCreatedBefore(db: Connection, uid: string, time: string): Promise<void> {
  await db.deleteFrom('api_tokens').where('uid', '=', uid).where('created_at', '<', time).execute();
}

export async function deleteExpiredApiTokens(db: Connection, now: string): Promise<void> {
  await db.deleteFrom('api_tokens').where('expires_at', '<=', now).execute();
}

/** Records the time (ISO 8601) of the last use of a token. */
export async function touchApiToken(db: Connection, id: string, usedAt: string): Promise<void> {
  await db.updateTable('api_tokens').set({ last_used_at: usedAt }).where('id', '=', id).execute();
}

/**
 * Records a use of a token, once per clock hour for each kind of use and target (the id of an image; empty for calls
 * that concern no image). The caller writes the first use of an hour to the audit log. The records serve only to
 * recognise the first use, so this function deletes the records of earlier hours.
 *
 * @returns false when a use of this kind and target is already recorded for this hour
 * @throws a foreign key error (`isMissingReference` in database.ts) when the token has been revoked
 */
export async function insertApiTokenUse(
  tx: DatabaseTransaction,
  use: Row<'api_token_uses'>,
): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('api_token_uses')
    .values(use)
    .onConflict((conflict) => conflict.columns(['token_id', 'target', 'kind', 'hour']).doNothing())
    .executeTakeFirst();
  if ((numInsertedOrUpdatedRows ?? 0n) === 0n) return false;
  await tx
    .deleteFrom('api_token_uses')
    .where('token_id', '=', use.token_id)
    .where('hour', '<', use.hour)
    .execute();
  return true;
}
