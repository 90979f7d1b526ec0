/** What administrators have decided about datasets. A dataset without a row is open to every active member. */
import type { DatasetAccess } from '@lamina/contract';
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
  { name, access, isListed, now }: { name: string; access: DatasetAccess; isListed: boolean; now: string },
): Promise<void> {
  const decided = { access, is_listed: isListed ? 1 : 0, updated_at: now } as const;
  await db
    .insertInto('datasets')
    .values({ name, ...decided })
    .onConflict((conflict) => conflict.column('name').doUpdateSet(decided))
    .execute();
}

/** How many entries of the catalogue each dataset has; those without a dataset are not counted. */
export async function countImagesByDataset(db: Connection): Promise<ReadonlyMap<string, number>> {
  const rows = await db
    .selectFrom('images')
    .select((eb) => ['dataset_name', eb.fn.countAll().as('count')])
    .where('dataset_name', 'is not', null)
    .where('removed_at', 'is', null)
    .where('missing_since', 'is', null)
    .groupBy('dataset_name')
    .execute();
  return new Map(rows.map(({ dataset_name, count }) => [dataset_name ?? '', Number(count)]));
}

/** Whether anything in the catalogue, removed or not, belongs to it, or something was decided about it. */
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

/** Of these images, those that are in one of these datasets. */
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

/** Shared by all to whom nothing is closed: they are nearly everybody. */
export const nothingClosed: ReadonlySet<string> = new Set();

/**
 * The datasets that each of these accounts may not see: the restricted ones that were not granted to it. Whether the
 * account may see any, and whether it is an administrator and sees all, is not asked here.
 */
export async function closedDatasetsOf(
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
