/**
 * Queries for annotation layers (sets of annotations of a slide), and for one counter per slide that numbers the
 * changes to its annotations. With these numbers, viewers request the changes that they have not received yet.
 */
import type { AnnotationColor } from '@lamina/contract';
import { sql } from 'kysely';
import type { Connection, DatabaseTransaction } from './database.ts';
import { isOneOf } from './dialects.ts';
import type { NewRow, Row } from './schema.ts';

export type LayerRow = Row<'annotation_layers'>;

/** Finds a layer, even if it is deleted; null when it does not exist. */
export async function findLayer(db: Connection, id: string): Promise<LayerRow | null> {
  const row = await db.selectFrom('annotation_layers').selectAll().where('id', '=', id).executeTakeFirst();
  return row ?? null;
}

/**
 * Finds a layer, even if it is deleted, and locks it until the transaction ends; null when it does not exist. A
 * transaction that holds no other lock must call this first, so that SQLite acquires its write lock before the
 * transaction reads.
 */
export async function lockLayer(tx: DatabaseTransaction, id: string): Promise<LayerRow | null> {
  const row = await tx
    .updateTable('annotation_layers')
    .set((eb) => ({ version: eb.ref('version') })) // changes no value, but locks the row
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst();
  return row ?? null;
}

/**
 * Locks an account until the transaction ends: until then, no other transaction creates a layer of the account or deletes
 * the account. A transaction that holds no other lock must call this first, so that SQLite acquires its write lock before
 * the transaction reads.
 */
export async function lockOwner(tx: DatabaseTransaction, uid: string): Promise<void> {
  await tx
    .updateTable('users')
    .set((eb) => ({ updated_at: eb.ref('updated_at') })) // changes no value, but locks the row
    .where('uid', '=', uid)
    .execute();
}

/** Lists the layers of a slide, oldest first: with `onlyDeleted` the deleted layers, otherwise all others. */
export function listLayers(
  db: Connection,
  imageId: string,
  { onlyDeleted }: { readonly onlyDeleted: boolean },
): Promise<LayerRow[]> {
  return db
    .selectFrom('annotation_layers')
    .selectAll()
    .where('image_id', '=', imageId)
    .where('deleted_at', onlyDeleted ? 'is not' : 'is', null)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
}

/** Lists all layers of a slide, including deleted ones, oldest first. */
export function listAllLayers(db: Connection, imageId: string): Promise<LayerRow[]> {
  return db
    .selectFrom('annotation_layers')
    .selectAll()
    .where('image_id', '=', imageId)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
}

/** Counts the layers that an account owns on a slide, without deleted ones. */
export async function countLayersOf(db: Connection, imageId: string, uid: string): Promise<number> {
  const { count } = await db
    .selectFrom('annotation_layers')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('image_id', '=', imageId)
    .where('owner_uid', '=', uid)
    .where('deleted_at', 'is', null)
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Inserts a layer. @returns its row */
export async function insertLayer(
  tx: DatabaseTransaction,
  row: NewRow<'annotation_layers'>,
): Promise<LayerRow> {
  return tx.insertInto('annotation_layers').values(row).returningAll().executeTakeFirstOrThrow();
}

export type LayerChanges = Partial<
  Pick<
    LayerRow,
    | 'name'
    | 'visibility'
    | 'editing'
    | 'locked_by'
    | 'owner_uid'
    | 'deleted_at'
    | 'annotation_count'
    | 'vertex_count'
    | 'next_position'
  >
>;

/**
 * Changes a layer and increments its version. The transaction must hold the lock of the layer (see `lockLayer`).
 *
 * @param changeNo result of `nextChangeNo` in this transaction; undefined: this function calls `nextChangeNo`
 */
export async function saveLayer(
  tx: DatabaseTransaction,
  layer: LayerRow,
  changes: LayerChanges,
  now: string,
  changeNo?: number,
): Promise<LayerRow> {
  const change_no = changeNo ?? (await nextChangeNo(tx, layer.image_id));
  return tx
    .updateTable('annotation_layers')
    .set({
      ...changes,
      // Event streams report this change to the accounts that can no longer see the layer.
      ...(layer.visibility === 'members' &&
        changes.visibility === 'private' && { hidden_change_no: change_no }),
      version: layer.version + 1,
      change_no,
      updated_at: now,
    })
    .where('id', '=', layer.id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/**
 * Increments the counter of changes of a slide's annotations and returns the new value. A concurrent transaction for
 * the same slide waits here until this one ends, so the numbers follow the order of the commits.
 */
export async function nextChangeNo(tx: DatabaseTransaction, imageId: string): Promise<number> {
  const { change_no } = await tx
    .insertInto('annotation_images')
    .values({ image_id: imageId, change_no: 1 })
    .onConflict((conflict) =>
      conflict
        .column('image_id')
        .doUpdateSet((eb) => ({ change_no: eb('annotation_images.change_no', '+', 1) })),
    )
    .returning('change_no')
    .executeTakeFirstOrThrow();
  return change_no;
}

/** Returns the number of annotation changes of each slide; slides without changes are missing from the result. */
export async function changeNumbersOf(
  db: Connection,
  imageIds: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  if (imageIds.length === 0) return new Map();
  const rows = await db
    .selectFrom('annotation_images')
    .selectAll()
    .where(isOneOf(db, 'image_id', imageIds))
    .execute();
  return new Map(rows.map((row) => [row.image_id, row.change_no]));
}

export interface ClassCount {
  /** Name of the class; null for the annotations without a class. */
  readonly name: string | null;
  /** Colour of the annotations, or one of their colours if these differ; null when no annotation has a colour. */
  readonly color: AnnotationColor | null;
  readonly count: number;
}

/** Counts the annotations of each layer by class, the most frequent class first. Returns the counts by layer id. */
export async function countClasses(
  db: Connection,
  layerIds: readonly string[],
): Promise<ReadonlyMap<string, readonly ClassCount[]>> {
  if (layerIds.length === 0) return new Map();
  const rows = await db
    .selectFrom('annotations')
    .select(['layer_id', 'class_name'])
    .select((eb) => [eb.fn.max('class_color').as('color'), eb.fn.countAll<number>().as('count')])
    .where(isOneOf(db, 'layer_id', layerIds))
    .where('deleted_at', 'is', null)
    .groupBy(['layer_id', 'class_name'])
    .orderBy(sql`count(*)`, 'desc')
    .orderBy('class_name')
    .execute();
  const rowsByLayer = Map.groupBy(rows, ({ layer_id }) => layer_id);
  return new Map(
    [...rowsByLayer].map(([layerId, layerRows]) => [
      layerId,
      layerRows.map(({ class_name, color, count }) => ({
        name: class_name,
        color: color === null ? null : (JSON.parse(color) as AnnotationColor),
        count: Number(count),
      })),
    ]),
  );
}

/** Returns the display names of accounts by uid (null: no name); deleted accounts are missing from the result. */
export async function displayNamesOf(
  db: Connection,
  uids: Iterable<string>,
): Promise<ReadonlyMap<string, string | null>> {
  const distinctUids = [...new Set(uids)];
  if (distinctUids.length === 0) return new Map();
  const rows = await db
    .selectFrom('users')
    .select(['uid', 'display_name'])
    .where(isOneOf(db, 'uid', distinctUids))
    .execute();
  return new Map(rows.map(({ uid, display_name }) => [uid, display_name]));
}

/**
 * Prepares the deletion of an account. The administrators become the owners of its layers that all members see; its
 * private layers are deleted permanently. Both apply also to layers that are marked as deleted.
 *
 * @returns the ids of the slides whose layers have changed
 */
export async function releaseLayersOf(
  tx: DatabaseTransaction,
  uid: string,
  now: string,
): Promise<readonly string[]> {
  await lockOwner(tx, uid); // waits for a transaction that creates a layer of the account
  const owned = await tx
    .selectFrom('annotation_layers')
    .select('id')
    .where('owner_uid', '=', uid)
    .orderBy('id')
    .execute();
  // Locks all layers, sorted by id, then the counters of their slides (`nextChangeNo`), sorted by slide id. The same
  // order in all transactions prevents deadlocks.
  const layers: LayerRow[] = [];
  for (const { id } of owned) {
    const layer = await lockLayer(tx, id);
    if (layer !== null) layers.push(layer);
  }
  layers.sort((a, b) => (a.image_id < b.image_id ? -1 : 1));
  for (const layer of layers) {
    if (layer.visibility === 'members') {
      await saveLayer(tx, layer, { owner_uid: null }, now); // null: the administrators own the layer
    } else {
      await nextChangeNo(tx, layer.image_id); // so that viewers of the slide learn that the layer is gone
      await tx.deleteFrom('annotation_layers').where('id', '=', layer.id).execute();
    }
  }
  return [...new Set(layers.map(({ image_id }) => image_id))];
}

/** Deletes the rows of layers that were marked as deleted before a time (ISO 8601). */
export async function eraseLayersDeletedBefore(db: Connection, before: string): Promise<void> {
  await db.deleteFrom('annotation_layers').where('deleted_at', '<', before).execute();
}
