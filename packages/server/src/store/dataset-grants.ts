/** Who may see which restricted dataset. */
import type { DatasetGrant } from '@lamina/contract';
import type { Connection } from './database.ts';

export interface NewGrant {
  readonly uid: string;
  readonly dataset: string;
  /** Uid of the administrator. */
  readonly grantedBy: string;
  readonly now: string;
}

/** @returns false when it was granted before */
export async function insertGrant(db: Connection, grant: NewGrant): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('dataset_grants')
    .values({ uid: grant.uid, dataset: grant.dataset, granted_by: grant.grantedBy, at: grant.now })
    .onConflict((conflict) => conflict.columns(['uid', 'dataset']).doNothing())
    .executeTakeFirst();
  return (numInsertedOrUpdatedRows ?? 0n) > 0n;
}

/** @returns false when there was no such grant */
export async function deleteGrant(db: Connection, uid: string, dataset: string): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('dataset_grants')
    .where('uid', '=', uid)
    .where('dataset', '=', dataset)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

export async function hasGrant(db: Connection, uid: string, dataset: string): Promise<boolean> {
  const row = await db
    .selectFrom('dataset_grants')
    .select('uid')
    .where('uid', '=', uid)
    .where('dataset', '=', dataset)
    .executeTakeFirst();
  return row !== undefined;
}

/** Names in no order. */
async function listGrantsOf(db: Connection, uid: string): Promise<string[]> {
  const rows = await db.selectFrom('dataset_grants').select('dataset').where('uid', '=', uid).execute();
  return rows.map(({ dataset }) => dataset);
}

/** The account is granted these datasets and no other. @returns what was given and what was taken */
export async function replaceGrants(
  db: Connection,
  { uid, grantedBy, now }: Omit<NewGrant, 'dataset'>,
  datasets: readonly string[],
): Promise<{ readonly given: readonly string[]; readonly taken: readonly string[] }> {
  const before = new Set(await listGrantsOf(db, uid));
  const given = [...new Set(datasets)].filter((dataset) => !before.has(dataset));
  const taken = [...before].filter((dataset) => !datasets.includes(dataset));
  for (const dataset of given) await insertGrant(db, { uid, dataset, grantedBy, now });
  for (const dataset of taken) await deleteGrant(db, uid, dataset);
  return { given, taken };
}

/** All there are, in the order they were given. */
export function listGrants(db: Connection): Promise<(DatasetGrant & { readonly dataset: string })[]> {
  return db
    .selectFrom('dataset_grants')
    .innerJoin('users', 'users.uid', 'dataset_grants.uid')
    .select([
      'dataset_grants.dataset',
      'dataset_grants.at',
      'users.uid',
      'users.email',
      'users.display_name as displayName',
    ])
    .orderBy('dataset_grants.at')
    .orderBy('users.uid')
    .execute();
}
