/** Accounts as administrators see them: with the text of the application, the end date and the grants. */
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

/** SQLite accepts 32,766 parameters; above this number the grants of all accounts are read. */
const mostUidsInQuery = 1000;

/** Newest first. */
export async function listUserDetails(db: Connection): Promise<UserDetails[]> {
  const rows = await details(db).orderBy('users.created_at', 'desc').orderBy('users.uid', 'desc').execute();
  return withGrants(db, rows);
}

export async function findUserDetails(db: Connection, uid: string): Promise<UserDetails | null> {
  const rows = await details(db).where('users.uid', '=', uid).execute();
  return (await withGrants(db, rows))[0] ?? null;
}

/** The accounts of these ids that exist, in the order of the ids. */
export async function findUserDetailsOf(db: Connection, uids: readonly string[]): Promise<UserDetails[]> {
  if (uids.length === 0) return [];
  const rows = await details(db)
    .where('users.uid', 'in', [...uids])
    .execute();
  const found = new Map((await withGrants(db, rows)).map((user) => [user.uid, user]));
  return uids.flatMap((uid) => found.get(uid) ?? []);
}

/** What a list of people is searched, filtered and sorted by. */
export type ListedUser = User & { readonly affiliation: string | null };

/** In no order. */
export async function listUsersForSearch(db: Connection): Promise<ListedUser[]> {
  const rows = await db
    .selectFrom('users')
    .leftJoin('applications', 'applications.uid', 'users.uid')
    .selectAll('users')
    .select('applications.affiliation')
    .execute();
  return rows.map((row) => ({ ...userOf(row), affiliation: row.affiliation }));
}

/** @param since ISO 8601; counts only applicants who registered after it */
export async function countPendingUsers(db: Connection, since = ''): Promise<number> {
  const { count } = await db
    .selectFrom('users')
    .select((eb) => eb.fn.countAll().as('count'))
    .where('status', '=', 'pending')
    .where('created_at', '>', since)
    .executeTakeFirstOrThrow();
  return Number(count);
}

function details(db: Connection) {
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
  let query = db.selectFrom('dataset_grants').select(['uid', 'dataset']).orderBy('dataset');
  if (rows.length <= mostUidsInQuery) {
    query = query.where(
      'uid',
      'in',
      rows.map(({ uid }) => uid),
    );
  }
  const grants = await query.execute();
  const byUid = Map.groupBy(grants, ({ uid }) => uid);
  return rows.map((row) => ({
    ...userOf(row),
    affiliation: row.affiliation,
    purpose: row.purpose,
    decisionReason: row.decision_reason,
    secondFactor: row.second_factor_since !== null,
    datasets: (byUid.get(row.uid) ?? []).map(({ dataset }) => dataset),
  }));
}
