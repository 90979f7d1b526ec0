/**
 * Queries for accounts as administrators see them: with the affiliation and purpose of the application, the second factor, and
 * the grants (restricted datasets that the account may see).
 */
import type { User, UserDetails } from '@lamina/contract';
import type { Connection } from './database.ts';
import type { Row } from './schema.ts';
import { userOf } from './users.ts';

type DetailsRow = Row<'users'> & {
  readonly affiliation: string | null;
  readonly purpose: string | null;
  readonly decision_reason: string | null;
  readonly second_factor_since: string | null;
};

/**
 * Maximum number of uids in a query, below SQLite's limit of 32,766 parameters. For more accounts, the query reads the grants of
 * all accounts.
 */
const maxUidsInQuery = 1000;

/** Lists all accounts, newest first. */
export async function listUserDetails(db: Connection): Promise<UserDetails[]> {
  const rows = await selectDetails(db)
    .orderBy('users.created_at', 'desc')
    .orderBy('users.uid', 'desc')
    .execute();
  return withGrants(db, rows);
}

export async function findUserDetails(db: Connection, uid: string): Promise<UserDetails | null> {
  const rows = await selectDetails(db).where('users.uid', '=', uid).execute();
  return (await withGrants(db, rows))[0] ?? null;
}

/** Finds accounts by uid, in the order of the uids; unknown uids are missing from the result. */
export async function listUserDetailsByUid(db: Connection, uids: readonly string[]): Promise<UserDetails[]> {
  if (uids.length === 0) return [];
  const rows = await selectDetails(db)
    .where('users.uid', 'in', [...uids])
    .execute();
  const usersByUid = new Map((await withGrants(db, rows)).map((user) => [user.uid, user]));
  return uids.flatMap((uid) => usersByUid.get(uid) ?? []);
}

/** An account with the fields by which administrators search, filter and sort lists of people. */
export type ListedUser = User & { readonly affiliation: string | null };

/** Lists all accounts with the fields for searching, unordered. */
export async function listUsersForSearch(db: Connection): Promise<ListedUser[]> {
  const rows = await db
    .selectFrom('users')
    .leftJoin('applications', 'applications.uid', 'users.uid')
    .selectAll('users')
    .select('applications.affiliation')
    .execute();
  return rows.map((row) => ({ ...userOf(row), affiliation: row.affiliation }));
}

/**
 * Counts the pending accounts: those whose application no administrator has approved or rejected yet.
 *
 * @param since counts only accounts that registered after this time (ISO 8601); '' counts all
 */
export async function countPendingUsers(db: Connection, since = ''): Promise<number> {
  const { count } = await db
    .selectFrom('users')
    .select((eb) => eb.fn.countAll().as('count'))
    .where('status', '=', 'pending')
    .where('created_at', '>', since)
    .executeTakeFirstOrThrow();
  return Number(count);
}

function selectDetails(db: Connection) {
  return db
    .selectFrom('users')
    .leftJoin('applications', 'applications.uid', 'users.uid')
    .leftJoin('second_factors', 'second_factors.uid', 'users.uid')
    .selectAll('users')
    .select(['applications.affiliation', 'applications.purpose', 'applications.decision_reason'])
    .select('second_factors.confirmed_at as second_factor_since');
}

async function withGrants(db: Connection, rows: readonly DetailsRow[]): Promise<UserDetails[]> {
  if (rows.length === 0) return [];
  let query = db
    .selectFrom('dataset_grants')
    .innerJoin('datasets', 'datasets.name', 'dataset_grants.dataset')
    .select(['dataset_grants.uid', 'dataset_grants.dataset'])
    .where('datasets.access', '=', 'restricted') // a grant for an open dataset only permits downloads of original files
    .orderBy('dataset_grants.dataset');
  if (rows.length <= maxUidsInQuery) {
    query = query.where(
      'uid',
      'in',
      rows.map(({ uid }) => uid),
    );
  }
  const grants = await query.execute();
  const grantsByUid = Map.groupBy(grants, ({ uid }) => uid);
  return rows.map((row) => ({
    ...userOf(row),
    affiliation: row.affiliation,
    purpose: row.purpose,
    decisionReason: row.decision_reason,
    secondFactor: row.second_factor_since !== null,
    datasets: (grantsByUid.get(row.uid) ?? []).map(({ dataset }) => dataset),
  }));
}
