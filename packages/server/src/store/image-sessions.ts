/** Image sessions that are alive: one row each, gone when the session or its sign-in is. */
import type { Role, Status } from '@lamina/contract';
import { sql } from 'kysely';
import { seesEveryDataset } from '../domain/dataset-access.ts';
import { type Change, type Connection, change, type Database, isMissingReference } from './database.ts';
import { closedDatasetsOf, nothingClosed } from './datasets.ts';
import { asRows, isOneOf, takeInOrder } from './dialects.ts';
import type { NewRow, Row } from './schema.ts';
import { touchTokens } from './tokens.ts';
import { knownRole, knownStatus } from './users.ts';

/** A session, and what decides whether it is still good: its sign-in and its account as they are now. */
export type SessionStanding = Pick<
  Row<'image_sessions'>,
  'hash' | 'uid' | 'token_hash' | 'created_at' | 'expires_at'
> & {
  readonly token_last_used_at: string;
  readonly token_expires_at: string;
  readonly token_created_at: string;
  readonly account_expires_at: string | null;
  readonly status: Status;
  readonly role: Role;
  /** Restricted datasets that the account may not see. */
  readonly closedDatasets: ReadonlySet<string>;
};

/** How many have not ended, of whoever. @param now ISO 8601 */
export async function countSessions(db: Connection, now: string): Promise<number> {
  const { count } = await db
    .selectFrom('image_sessions')
    .select((eb) => eb.fn.countAll().as('count'))
    .where('expires_at', '>', now)
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** In no order; a session that has ended by a deletion is simply not among them. */
export async function findSessionStandings(
  db: Connection,
  hashes: readonly string[],
): Promise<SessionStanding[]> {
  const rows = await standings(db)
    .where(isOneOf(db, 'image_sessions.hash', hashes))
    .execute();
  return withClosedDatasets(db, rows.map(known));
}

/** Sessions of one account with their counts, newest first. */
export async function listSessionStandings(
  db: Connection,
  uid: string,
): Promise<
  (Omit<SessionStanding, 'closedDatasets'> & Pick<Row<'image_sessions'>, 'prefix' | 'request_count'>)[]
> {
  const rows = await standings(db)
    .select(['image_sessions.prefix', 'image_sessions.request_count'])
    .where('image_sessions.uid', '=', uid)
    .orderBy('image_sessions.created_at', 'desc')
    .orderBy('image_sessions.hash')
    .execute();
  return rows.map(known);
}

async function withClosedDatasets<
  T extends { readonly uid: string; readonly status: Status; readonly role: Role },
>(db: Connection, rows: readonly T[]): Promise<(T & Pick<SessionStanding, 'closedDatasets'>)[]> {
  const members = rows.filter((row) => !seesEveryDataset(row)).map(({ uid }) => uid);
  const closed = await closedDatasetsOf(db, members);
  return rows.map((row) => ({ ...row, closedDatasets: closed.get(row.uid) ?? nothingClosed }));
}

function known<T extends { readonly status: string; readonly role: string }>(row: T) {
  return { ...row, status: knownStatus(row.status), role: knownRole(row.role) };
}

function standings(db: Connection) {
  return db
    .selectFrom('image_sessions')
    .innerJoin('tokens', 'tokens.hash', 'image_sessions.token_hash')
    .innerJoin('users', 'users.uid', 'image_sessions.uid')
    .select([
      'image_sessions.hash',
      'image_sessions.uid',
      'image_sessions.token_hash',
      'image_sessions.created_at',
      'image_sessions.expires_at',
      'tokens.last_used_at as token_last_used_at',
      'tokens.expires_at as token_expires_at',
      'tokens.created_at as token_created_at',
      'users.status',
      'users.role',
      'users.expires_at as account_expires_at',
    ]);
}

export interface StartedSession {
  readonly expiresAt: string;
  /** Sessions that ended so that the account has no more than it may. */
  readonly endedHashes: readonly string[];
}

/**
 * Adds a session that ends with its sign-in at the latest, and ends the account's oldest ones beyond
 * `most`. Alone among changes of accounts, so that a suspension comes wholly before or wholly after it.
 *
 * @param record writes down that it was made, in the same change
 * @returns null when the sign-in is not there any more
 */
export async function insertSession(
  db: Database,
  row: NewRow<'image_sessions'>,
  most: number,
  record: (tx: Change) => Promise<void>,
): Promise<StartedSession | null> {
  try {
    return await insertUnlessSignedOut(db, row, most, record);
  } catch (error) {
    if (isMissingReference(error)) return null; // ended between the look at it and the insert
    throw error;
  }
}

function insertUnlessSignedOut(
  db: Database,
  row: NewRow<'image_sessions'>,
  most: number,
  record: (tx: Change) => Promise<void>,
): Promise<StartedSession | null> {
  return change(db, 'accounts', async (tx) => {
    const token = await tx
      .selectFrom('tokens')
      .select('expires_at')
      .where('hash', '=', row.token_hash)
      .where('uid', '=', row.uid)
      .executeTakeFirst();
    if (token === undefined) return null;
    const expiresAt = row.expires_at < token.expires_at ? row.expires_at : token.expires_at;
    const older = await tx
      .selectFrom('image_sessions')
      .select(['hash', 'expires_at'])
      .where('uid', '=', row.uid)
      .orderBy('created_at', 'desc')
      .orderBy('hash')
      .execute();
    const alive = older.filter(({ expires_at }) => expires_at > row.created_at);
    const endedHashes = [
      ...older.filter(({ expires_at }) => expires_at <= row.created_at),
      ...alive.slice(most - 1),
    ].map(({ hash }) => hash);
    if (endedHashes.length > 0) {
      await tx.deleteFrom('image_sessions').where('hash', 'in', endedHashes).execute();
    }
    await tx
      .insertInto('image_sessions')
      .values({ ...row, expires_at: expiresAt })
      .execute();
    await record(tx);
    return { expiresAt, endedHashes };
  });
}

/** @returns false when there is no such session of this account */
export async function deleteSession(db: Connection, uid: string, hash: string): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('image_sessions')
    .where('hash', '=', hash)
    .where('uid', '=', uid)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

/** What was used since the last time: requests by session, and the latest use by sign-in. */
export interface SessionUse {
  readonly requests: ReadonlyMap<string, number>;
  readonly tokensUsedAt: ReadonlyMap<string, Date>;
}

/** In one statement each, however many they are. */
export async function addSessionUse(db: Database, { requests, tokensUsedAt }: SessionUse): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await takeInOrder(tx, 'image_sessions', [...requests.keys()]);
    await tx
      .updateTable('image_sessions')
      .from(asRows(tx, new Map([...requests].map(([hash, count]) => [hash, String(count)]))).as('used'))
      .set((eb) => ({
        request_count: sql`${eb.ref('request_count')} + cast(${eb.ref('used.value')} as integer)`,
      }))
      .whereRef('image_sessions.hash', '=', 'used.key')
      .execute();
    await touchTokens(tx, tokensUsedAt);
  });
}

/** So that nobody waits for it. */
const sessionsAtOnce = 1000;

/** Deletes some of those that have ended. @returns false when none is left */
export async function deleteExpiredSessions(db: Connection, now: string): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('image_sessions')
    .where('hash', 'in', (eb) =>
      eb.selectFrom('image_sessions').select('hash').where('expires_at', '<=', now).limit(sessionsAtOnce),
    )
    .executeTakeFirst();
  return numDeletedRows === BigInt(sessionsAtOnce);
}
