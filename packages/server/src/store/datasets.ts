/**
 * Queries for the access settings of datasets (named sets of slides), and for the datasets that accounts may not see. A dataset
 * without settings is open to every active member.
 */
import { type DatasetAccess, nameKey } from '@lamina/contract';
import type { Connection } from './database.ts';
import { isOneOf } from './dialects.ts';
import type { Row } from './schema.ts';

export type DatasetRow = Row<'datasets'>;

/** Finds the access settings of a dataset by its canonical name; null when it has none. */
export async function findDataset(db: Connection, name: string): Promise<DatasetRow | null> {
  const row = await db.selectFrom('datasets').selectAll().where('name', '=', name).executeTakeFirst();
  return row ?? null;
}

/** Lists the access settings of all datasets that have some, unordered. */
export function listDatasetRows(db: Connection): Promise<DatasetRow[]> {
  return db.selectFrom('datasets').selectAll().execute();
}

/** Inserts or replaces the access settings of a dataset. @param settings `name` is the canonical name of the dataset */
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
    /** Whether members see that the dataset exists while it is restricted. */
    isListed: boolean;
    /** Whether share links may open slides of the dataset. Without this field, the stored value becomes false. */
    isShared?: boolean;
    /**
     * Whether original files may be downloaded even if labels or patient data cannot be removed from them. Undefined
     * keeps the stored value; a new row then gets false.
     */
    hasIdentifiableOriginals?: boolean;
    /** ISO 8601. */
    now: string;
  },
): Promise<void> {
  const settings = {
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
    .values({ name, ...settings })
    .onConflict((conflict) => conflict.column('name').doUpdateSet(settings))
    .execute();
}

/** Returns the uids to which each restricted dataset is granted, by `nameKey` (one key for all spellings of a name). */
export async function grantedUidsByRestrictedDataset(
  db: Connection,
): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const rows = await db
    .selectFrom('datasets')
    .leftJoin('dataset_grants', 'dataset_grants.dataset', 'datasets.name')
    .select(['datasets.name', 'dataset_grants.uid'])
    .where('datasets.access', '=', 'restricted')
    .execute();
  const uidsByDataset = new Map<string, Set<string>>();
  for (const { name, uid } of rows) {
    const key = nameKey(name);
    const uids = uidsByDataset.get(key) ?? new Set();
    if (uid !== null) uids.add(uid);
    uidsByDataset.set(key, uids);
  }
  return uidsByDataset;
}

/** Counts the ready slides of each dataset. A dataset is missing from the result if all its entries are removed or missing. */
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
  return new Map(rows.map(({ dataset_name: name, count }) => [name ?? '', Number(count)])); // the query excludes null
}

/** Returns whether the dataset exists: it has access settings or a catalogue entry. A removed entry counts, too. */
export async function datasetExists(db: Connection, name: string): Promise<boolean> {
  if ((await findDataset(db, name)) !== null) return true;
  const image = await db
    .selectFrom('images')
    .select('id')
    .where('dataset_name', '=', name)
    .limit(1)
    .executeTakeFirst();
  return image !== undefined;
}

/** Returns whether the dataset has a slide that members may open if they have access to the dataset. */
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

/** Returns those of `imageIds` whose images belong to one of the datasets. */
export async function imageIdsInDatasets(
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

/** Empty set, for accounts that may see every dataset. All of them share this one object, which saves memory. */
export const noRestrictedDatasets: ReadonlySet<string> = new Set();

/**
 * Returns, for each uid, the names of the restricted datasets that are not granted to the account; an empty map when no dataset
 * is restricted. Checks only grants: the caller must check the status and the role, because administrators see every dataset
 * without grants.
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
  const notGranted = new Map(uids.map((uid) => [uid, new Set(restricted.map(({ name }) => name))]));
  const grants = await db
    .selectFrom('dataset_grants')
    .select(['uid', 'dataset'])
    .where(isOneOf(db, 'uid', [...notGranted.keys()]))
    .execute();
  for (const { uid, dataset } of grants) notGranted.get(uid)?.delete(dataset);
  return notGranted;
}
