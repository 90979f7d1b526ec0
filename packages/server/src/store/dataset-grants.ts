/**
 * Queries for grants. A grant is the right of one account to see one restricted dataset (a set of slides that not all members may
 * see). A grant can also permit downloads of original files, so an account can have a grant for an open dataset, too.
 */
import type { DatasetGrant } from '@lamina/contract';
import type { Connection } from './database.ts';

export interface NewGrant {
  readonly uid: string;
  readonly dataset: string;
  /** Uid of the administrator who grants the dataset. */
  readonly grantedBy: string;
  /** ISO 8601. */
  readonly now: string;
}

/** Grants a dataset to an account. @returns false when the account already has the grant */
export async function insertGrant(db: Connection, grant: NewGrant): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('dataset_grants')
    .values({ uid: grant.uid, dataset: grant.dataset, granted_by: grant.grantedBy, at: grant.now })
    .onConflict((conflict) => conflict.columns(['uid', 'dataset']).doNothing())
    .executeTakeFirst();
  return (numInsertedOrUpdatedRows ?? 0n) > 0n;
}

/**
 * Allows or forbids an account to download original files of a dataset. The account must have a grant for the dataset.
 *
 * @returns false when nothing changed: the right was already set this way, or the account has no grant
 */
export async function setDownloadGrant(
  db: Connection,
  {
    uid,
    dataset,
    isAllowed,
  }: { readonly uid: string; readonly dataset: string; readonly isAllowed: boolean },
): Promise<boolean> {
  const flag = isAllowed ? 1 : 0;
  const { numUpdatedRows } = await db
    .updateTable('dataset_grants')
    .set({ may_download: flag })
    .where('uid', '=', uid)
    .where('dataset', '=', dataset)
    .where('may_download', '!=', flag)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Returns whether the account may download original files of the dataset. Administrators need a grant for this, too. */
export async function mayDownload(db: Connection, uid: string, dataset: string): Promise<boolean> {
  const row = await db
    .selectFrom('dataset_grants')
    .select('may_download')
    .where('uid', '=', uid)
    .where('dataset', '=', dataset)
    .executeTakeFirst();
  return row?.may_download === 1;
}

/** Revokes a grant. @returns false when it did not exist */
export async function deleteGrant(db: Connection, uid: string, dataset: string): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('dataset_grants')
    .where('uid', '=', uid)
    .where('dataset', '=', dataset)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

/** Returns whether the dataset is granted to the account. */
export async function hasGrant(db: Connection, uid: string, dataset: string): Promise<boolean> {
  const row = await db
    .selectFrom('dataset_grants')
    .select('uid')
    .where('uid', '=', uid)
    .where('dataset', '=', dataset)
    .executeTakeFirst();
  return row !== undefined;
}

/**
 * Replaces the grants of an account for restricted datasets; its grants for open datasets stay.
 *
 * @returns the names of the datasets whose grants were added and removed
 */
export async function replaceGrants(
  db: Connection,
  { uid, grantedBy, now }: Omit<NewGrant, 'dataset'>,
  datasets: readonly string[],
): Promise<{ readonly added: readonly string[]; readonly removed: readonly string[] }> {
  const previous = await db
    .selectFrom('dataset_grants')
    .innerJoin('datasets', 'datasets.name', 'dataset_grants.dataset')
    .select('dataset_grants.dataset')
    .where('dataset_grants.uid', '=', uid)
    .where('datasets.access', '=', 'restricted')
    .execute();
  const removed = previous.map(({ dataset }) => dataset).filter((dataset) => !datasets.includes(dataset));
  for (const dataset of removed) await deleteGrant(db, uid, dataset);
  const added: string[] = [];
  for (const dataset of datasets) {
    if (await insertGrant(db, { uid, dataset, grantedBy, now })) added.push(dataset);
  }
  return { added, removed };
}

/** Revokes all grants of an account, also those for open datasets. @returns the names of the datasets */
export async function deleteGrantsOf(db: Connection, uid: string): Promise<string[]> {
  const rows = await db.deleteFrom('dataset_grants').where('uid', '=', uid).returning('dataset').execute();
  return rows.map(({ dataset }) => dataset);
}

/** Lists the grants of all datasets with the names of the accounts, oldest first. */
export async function listGrants(db: Connection): Promise<(DatasetGrant & { readonly dataset: string })[]> {
  const rows = await db
    .selectFrom('dataset_grants')
    .innerJoin('users', 'users.uid', 'dataset_grants.uid')
    .select([
      'dataset_grants.dataset',
      'dataset_grants.at',
      'dataset_grants.may_download',
      'users.uid',
      'users.email',
      'users.display_name as displayName',
    ])
    .orderBy('dataset_grants.at')
    .orderBy('users.uid')
    .execute();
  return rows.map(({ may_download, ...grant }) => ({ ...grant, download: may_download === 1 }));
}
