/** Result layers of slides. */
import type { ResultState } from '@lamina/contract';
import type { Change, Connection } from './database.ts';
import type { NewRow, Row, SlideRoot } from './schema.ts';

export type ResultLayerRow = Row<'result_layers'>;

export async function findResultLayer(db: Connection, id: string): Promise<ResultLayerRow | null> {
  const row = await db.selectFrom('result_layers').selectAll().where('id', '=', id).executeTakeFirst();
  return row ?? null;
}

/** Finds a layer and locks it until the transaction ends; the first statement of a transaction. */
export async function lockResultLayer(tx: Change, id: string): Promise<ResultLayerRow | null> {
  const row = await tx
    .updateTable('result_layers')
    .set((eb) => ({ percent: eb.ref('percent') }))
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst();
  return row ?? null;
}

/** Problem of a layer of a file beside its slide that was deleted: the row stays, so that the file is not imported again. */
export const removedResultProblem = 'removed';

/** Lists the layers of a slide, oldest first. */
export function listResultLayersOf(db: Connection, imageId: string): Promise<ResultLayerRow[]> {
  return db
    .selectFrom('result_layers')
    .selectAll()
    .where('image_id', '=', imageId)
    .where((eb) => eb.or([eb('problem', 'is', null), eb('problem', '!=', removedResultProblem)]))
    .orderBy('created_at')
    .orderBy('id')
    .execute();
}

/** Columns of a layer whose file has not been read, uploaded without a registration. */
export const newResultColumns = {
  source_path: null,
  source_version: null,
  registration: null,
  percent: 0,
  problem: null,
  upload_bytes: null,
  size_bytes: 0,
  object_count: null,
} as const satisfies Partial<NewRow<'result_layers'>>;

export function insertResultLayer(tx: Change, row: NewRow<'result_layers'>): Promise<ResultLayerRow> {
  return tx.insertInto('result_layers').values(row).returningAll().executeTakeFirstOrThrow();
}

type ResultLayerChanges = Partial<
  Pick<
    ResultLayerRow,
    | 'state'
    | 'percent'
    | 'problem'
    | 'upload_bytes'
    | 'size_bytes'
    | 'object_count'
    | 'source_version'
    | 'updated_at'
  >
>;

/** @returns false when the layer no longer exists, or is in none of the states */
export async function updateResultLayer(
  db: Connection,
  id: string,
  changes: ResultLayerChanges,
  states: readonly ResultState[],
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('result_layers')
    .set(changes)
    .where('id', '=', id)
    .where('state', 'in', [...states])
    .executeTakeFirstOrThrow();
  return numUpdatedRows > 0;
}

export async function deleteResultLayerRow(db: Connection, id: string): Promise<void> {
  await db.deleteFrom('result_layers').where('id', '=', id).execute();
}

/** Sums the bytes of all results, with those that uploads have announced. */
export async function sumResultBytes(db: Connection): Promise<number> {
  const { stored, announced } = await db
    .selectFrom('result_layers')
    .select((eb) => [eb.fn.sum('size_bytes').as('stored'), eb.fn.sum('upload_bytes').as('announced')])
    .executeTakeFirstOrThrow();
  return Number(stored ?? 0) + Number(announced ?? 0);
}

/** Lists the ids of all layers; of one state, those that have not changed since a time. */
export async function listResultLayerIds(
  db: Connection,
  is?: { readonly state: ResultState; readonly before: string },
): Promise<string[]> {
  let query = db.selectFrom('result_layers').select('id');
  if (is !== undefined) query = query.where('state', '=', is.state).where('updated_at', '<', is.before);
  return (await query.execute()).map(({ id }) => id);
}

/** The layers of a deleted account belong to the administrators. */
export async function releaseResultLayersOf(tx: Change, uid: string): Promise<void> {
  await tx.updateTable('result_layers').set({ owner_uid: null }).where('owner_uid', '=', uid).execute();
}

export interface SlideOnDisk {
  readonly id: string;
  readonly root: Exclude<SlideRoot, 'bucket'>;
  readonly path: string;
}

export type SlideInBucket = Pick<SlideOnDisk, 'id' | 'path'>;

/** Lists the slides of the catalogue whose files are in folders. */
export async function listSlidesOnDisk(db: Connection): Promise<SlideOnDisk[]> {
  return (await listReadySlides(db, '!=')) as SlideOnDisk[];
}

/** Lists the slides of the catalogue that are objects. */
export function listSlidesInBucket(db: Connection): Promise<SlideInBucket[]> {
  return listReadySlides(db, '=');
}

function listReadySlides(db: Connection, isInBucket: '=' | '!=') {
  return db
    .selectFrom('images')
    .select(['id', 'root', 'path'])
    .where('root', isInBucket, 'bucket')
    .where('missing_since', 'is', null)
    .where('removed_at', 'is', null)
    .where('status', '=', 'ready')
    .execute();
}

/** Lists the layers of files that were found beside slides, removed ones included. */
export function listFoundResultLayers(db: Connection): Promise<ResultLayerRow[]> {
  return db.selectFrom('result_layers').selectAll().where('source', '=', 'folder').execute();
}

/** Hides the layer of a file beside its slide as long as the file stays as it is. */
export async function removeFoundResultLayer(db: Connection, id: string): Promise<void> {
  await db
    .updateTable('result_layers')
    .set({ state: 'failed', problem: removedResultProblem, size_bytes: 0, object_count: null })
    .where('id', '=', id)
    .execute();
}
