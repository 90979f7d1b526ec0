/** Access settings of datasets. A dataset without a row is open to every active member. */
import { type DatasetAccess, nameKey } from '@lamina/contract';
import type { Connection } from './database.ts';
import { isOneOf } from './dialects.ts';
import type { Row } from './schema.ts';

export type DatasetRow = Row<'datasets'>;

export async function findDataset(db: Connection, name: string): Promise<DatasetRow | null> {
  const row = await db.selectFrom('datasets').selectAll().where('name', '=', name).executeTakeFirst();
  return row ?? null;
}

export function listDatasetRows(db: Connection): Promise<DatasetRow[]> {
  return db.selectFrom('datasets').selectAll().execute();
}

export async function saveDataset(
  db: Connection,
  {
    name,
    access,
    isListed,
    isShared = false,
    hasIdentifiableOriginals,
    now,
  }: {
    name: string;
    access: DatasetAccess;
    isListed: boolean;
    isShared?: boolean;
    /** Absent: unchanged; false for a new row. */
    hasIdentifiableOriginals?: boolean;
    now: string;
  },
): Promise<void> {
  const decided = {
    access,
    is_listed: isListed ? 1 : 0,
    is_shared: isShared ? 1 : 0,
    updated_at: now,
    ...(hasIdentifiableOriginals !== undefined && {
      identifiable_originals: hasIdentifiableOriginals ? (1 as const) : (0 as const),
    }),
  } as const;
  await db
    .insertInto('datasets')
    .values({ name, ...decided })
    .onConflict((conflict) => conflict.column('name').doUpdateSet(decided))
    .execute();
}

/** Returns the accounts to which each restricted dataset is granted, by the key of its name. */
export async function listRestrictedDatasets(
  db: Connection,
): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const rows = await db
    .selectFrom('datasets')
    .leftJoin('dataset_grants', 'dataset_grants.dataset', 'datasets.name')
    .select(['datasets.name', 'dataset_grants.uid'])
    .where('datasets.access', '=', 'restricted')
    .execute();
  const granted = new Map<string, Set<string>>();
  for (const { name, uid } of rows) {
    const key = nameKey(name);
    const uids = granted.get(key) ?? new Set();
    granted.set(key, uid === null ? uids : uids.add(uid));
  }
  return granted;
}

/** Counts the ready slides of each dataset that has catalogue entries, as the statistics count them. */
export async function countImagesByDataset(db: Connection): Promise<ReadonlyMap<string, number>> {
  const rows = await db
    .selectFrom('images')
    .select((eb) => [
      'dataset_name',
      eb.fn.sum<number>(eb.case().when('status', '=', 'ready').then(1).else(0).end()).as('count'),
    ])
    .where('dataset_name', 'is not', null)
    .where('removed_at', 'is', null)
    .where('missing_since', 'is', null)
    .groupBy('dataset_name')
    .execute();
  return new Map(rows.map(({ dataset_name, count }) => [dataset_name ?? '', Number(count)]));
}

/** Whether any catalogue entry, removed or not, belongs to the dataset, or it has access settings. */
export async function isDataset(db: Connection, name: string): Promise<boolean> {
  if ((await findDataset(db, name)) !== null) return true;
  const image = await db
    .selectFrom('images')
    .select('id')
    .where('dataset_name', '=', name)
    .limit(1)
    .executeTakeFirst();
  return image !== undefined;
}

/** Whether the dataset has an entry that members with access to the dataset may open. */
export async function hasVisibleImage(db: Connection, name: string): Promise<boolean> {
  const image = await db
    .selectFrom('images')
    .select('id')
    .where('dataset_name', '=', name)
    .where('status', '=', 'ready')
    .where('removed_at', 'is', null)
    .where('missing_since', 'is', null)
    .where('hidden_at', 'is', null)
    .limit(1)
    .executeTakeFirst();
  return image !== undefined;
}

/** Returns those of the images that belong to one of the datasets. */
export async function listImagesIn(
  db: Connection,
  datasets: ReadonlySet<string>,
  imageIds: readonly string[],
): Promise<ReadonlySet<string>> {
  if (datasets.size === 0 || imageIds.length === 0) return new Set();
  const rows = await db
    .selectFrom('images')
    .select('id')
    .where('id', 'in', [...imageIds])
    .where('dataset_name', 'in', [...datasets])
    .execute();
  return new Set(rows.map(({ id }) => id));
}

/** Shared by the many accounts without restrictions. */
export const noRestrictedDatasets: ReadonlySet<string> = new Set();

/**
 * Returns the restricted datasets that each account may not see because they are not granted to it. Does not
 * check the account's status, nor whether it is an administrator and sees all.
 */
export async function restrictedDatasetsOf(
  db: Connection,
  uids: readonly string[],
): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const restricted = await db
    .selectFrom('datasets')
    .select('name')
    .where('access', '=', 'restricted')
    .execute();
  if (restricted.length === 0 || uids.length === 0) return new Map();
  const closed = new Map(uids.map((uid) => [uid, new Set(restricted.map(({ name }) => name))]));
  const grants = await db
    .selectFrom('dataset_grants')
    .select(['uid', 'dataset'])
    .where(isOneOf(db, 'uid', [...closed.keys()]))
    .execute();
  for (const { uid, dataset } of grants) closed.get(uid)?.delete(dataset);
  return closed;
}
