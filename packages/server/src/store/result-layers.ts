/**
 * Queries for result layers (heat maps or objects that an analysis program has computed for a slide), and for readable
 * slides: the server searches for result files beside the files of these slides.
 */
import type { ResultState } from '@lamina/contract';
import type { Connection, DatabaseTransaction } from './database.ts';
import type { NewRow, Row, SlideRoot } from './schema.ts';

export type ResultLayerRow = Row<'result_layers'>;

export async function findResultLayer(db: Connection, id: string): Promise<ResultLayerRow | null> {
  const row = await db.selectFrom('result_layers').selectAll().where('id', '=', id).executeTakeFirst();
  return row ?? null;
}

/** Returns the id of the slide of a result layer or annotation layer; null when the layer does not exist. */
export async function findImageIdOfLayer(db: Connection, id: string): Promise<string | null> {
  const row = await db
    .selectFrom('result_layers')
    .select('image_id')
    .where('id', '=', id)
    .unionAll(db.selectFrom('annotation_layers').select('image_id').where('id', '=', id))
    .executeTakeFirst();
  return row?.image_id ?? null;
}

/**
 * Finds a layer and locks it until the transaction ends; null when it does not exist. Must be the first statement of
 * the transaction, so that SQLite acquires its write lock before the transaction reads.
 */
export async function lockResultLayer(tx: DatabaseTransaction, id: string): Promise<ResultLayerRow | null> {
  const row = await tx
    .updateTable('result_layers')
    .set((eb) => ({ percent: eb.ref('percent') })) // changes no value, but locks the row
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst();
  return row ?? null;
}

/**
 * Value of `problem` for a deleted layer whose file was found beside its slide. The row stays so that the next search
 * does not import the file again; lists of layers omit it.
 */
export const removedResultProblem = 'removed';

/** Lists the layers of a slide, oldest first, without deleted layers. */
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

/** Column values of a new layer whose file has not been read yet. */
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

export function insertResultLayer(
  tx: DatabaseTransaction,
  row: NewRow<'result_layers'>,
): Promise<ResultLayerRow> {
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

/** Updates a layer if it is in one of the states. @returns false when it is in another state or no longer exists */
export async function updateResultLayerInState(
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

/** The states of a layer whose file is not imported yet and has not been rejected. */
const unfinishedStates = ['uploading', 'queued', 'importing'] as const satisfies readonly ResultState[];

/** Returns the total size in bytes of all stored results and of all announced uploads that are not imported yet. */
export async function sumResultBytes(db: Connection): Promise<number> {
  const { stored, announced } = await db
    .selectFrom('result_layers')
    .select((eb) => [
      eb.fn.sum('size_bytes').as('stored'),
      eb.fn.sum('upload_bytes').filterWhere('state', 'in', unfinishedStates).as('announced'),
    ])
    .executeTakeFirstOrThrow();
  return Number(stored ?? 0) + Number(announced ?? 0);
}

/**
 * Lists the ids of layers, unordered.
 *
 * @param filter selects the layers in `state` that were last changed before a time (ISO 8601); undefined selects all
 */
export async function listResultLayerIds(
  db: Connection,
  filter?: { readonly state: ResultState; readonly before: string },
): Promise<string[]> {
  let query = db.selectFrom('result_layers').select('id');
  if (filter !== undefined) {
    query = query.where('state', '=', filter.state).where('updated_at', '<', filter.before);
  }
  return (await query.execute()).map(({ id }) => id);
}

/** Lists the layers whose file is not imported yet and has not been rejected. */
export function listUnfinishedResultLayers(
  db: Connection,
): Promise<Pick<ResultLayerRow, 'id' | 'state' | 'upload_bytes'>[]> {
  return db
    .selectFrom('result_layers')
    .select(['id', 'state', 'upload_bytes'])
    .where('state', 'in', unfinishedStates)
    .execute();
}

/** Removes the owner of all layers of an account, before the account is deleted; administrators then manage these layers. */
export async function releaseResultLayersOf(tx: DatabaseTransaction, uid: string): Promise<void> {
  await tx.updateTable('result_layers').set({ owner_uid: null }).where('owner_uid', '=', uid).execute();
}

export interface SlideOnDisk {
  /** Id of the catalogue entry. */
  readonly id: string;
  readonly root: Exclude<SlideRoot, 'bucket'>;
  /** Path of the main file relative to the root. */
  readonly path: string;
}

export type SlideInBucket = Pick<SlideOnDisk, 'id' | 'path'>;

/** Lists the readable slides that are stored in folders, unordered. */
export async function listSlidesOnDisk(db: Connection): Promise<SlideOnDisk[]> {
  return (await listReadySlides(db, { inBucket: false })) as SlideOnDisk[];
}

/** Lists the readable slides that are stored in the bucket, unordered. */
export function listSlidesInBucket(db: Connection): Promise<SlideInBucket[]> {
  return listReadySlides(db, { inBucket: true });
}

function listReadySlides(db: Connection, { inBucket }: { readonly inBucket: boolean }) {
  return db
    .selectFrom('images')
    .select(['id', 'root', 'path'])
    .where('root', inBucket ? '=' : '!=', 'bucket')
    .where('missing_since', 'is', null)
    .where('removed_at', 'is', null)
    .where('status', '=', 'ready')
    .execute();
}

/** Lists the layers whose files were found beside slides, in folders or in the bucket, including deleted layers. */
export function listFoundResultLayers(db: Connection): Promise<ResultLayerRow[]> {
  return db.selectFrom('result_layers').selectAll().where('source', '=', 'folder').execute();
}

/**
 * Lists the layers that `layer` replaces: when the content of a file beside a slide changes, a new layer of this file is created.
 * Empty for an uploaded file, which replaces no other layer.
 */
export async function listReplacedResultLayers(
  db: Connection,
  layer: ResultLayerRow,
): Promise<ResultLayerRow[]> {
  if (layer.source !== 'folder') return [];
  return db
    .selectFrom('result_layers')
    .selectAll()
    .where('source', '=', 'folder')
    .where('image_id', '=', layer.image_id)
    .where('source_path', '=', layer.source_path)
    .where('created_at', '<=', layer.created_at)
    .where('id', '!=', layer.id)
    .execute();
}

/** Marks a layer from a file beside its slide as deleted (`removedResultProblem`). The row stays until that file changes or is gone. */
export async function removeFoundResultLayer(db: Connection, id: string): Promise<void> {
  await db
    .updateTable('result_layers')
    .set({ state: 'failed', problem: removedResultProblem, size_bytes: 0, object_count: null })
    .where('id', '=', id)
    .execute();
}
