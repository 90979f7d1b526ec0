/** Accounts as administrators see them: with what their owners wrote, when they end, and what is granted to them. */
import type { UserDetails } from '@lamina/contract';
import type { Connection } from './database.ts';
import type { Row } from './schema.ts';
import { userOf } from './users.ts';

type DetailsRow = Row<'users'> & {
  readonly affiliation: string | null;
  readonly purpose: string | null;
  readonly decision_reason: string | null;
  readonly second_factor_since: string | null;
};

/** Newest first. */
export async function listUserDetails(db: Connection): Promise<UserDetails[]> {
  const rows = await details(db).orderBy('users.created_at', 'desc').orderBy('users.uid', 'desc').execute();
  return withGrants(db, rows);
}

export async function findUserDetails(db: Connection, uid: string): Promise<UserDetails | null> {
  const rows = await details(db).where('users.uid', '=', uid).execute();
  return (await withGrants(db, rows))[0] ?? null;
}

/** Who waits for approval, longest first. */
export async function listWaiting(db: Connection, limit: number): Promise<UserDetails[]> {
  const rows = await details(db)
    .where('users.status', '=', 'pending')
    .orderBy('users.created_at')
    .orderBy('users.uid')
    .limit(limit)
    .execute();
  return withGrants(db, rows);
}

/** @param since ISO 8601; only those who registered after it */
export async function countWaitingUsers(db: Connection, since = ''): Promise<number> {
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
  let query = db.selectFrom('dataset_grants').select(['uid', 'dataset']).orderBy('dataset');
  const [only] = rows;
  if (rows.length === 1 && only !== undefined) query = query.where('uid', '=', only.uid);
  const grants = rows.length === 0 ? [] : await query.execute();
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
