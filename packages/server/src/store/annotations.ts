/**
 * Queries for annotations (drawn or detected objects of a slide, grouped in layers) and for their history. Each change of an
 * annotation is a revision.
 */
import type { Connection, DatabaseTransaction } from './database.ts';
import { isOneOf } from './dialects.ts';
import type { Row } from './schema.ts';

export type AnnotationRow = Row<'annotations'>;
export type RevisionRow = Row<'annotation_revisions'>;

/** Number of rows per statement. A row has at most 19 values, so the total stays below SQLite's limit of 32,766 parameters. */
const rowsPerStatement = 1000;

/** Finds an annotation, even if it is deleted; null when it does not exist. */
export async function findAnnotation(
  db: Connection,
  layerId: string,
  id: string,
): Promise<AnnotationRow | null> {
  const row = await db
    .selectFrom('annotations')
    .selectAll()
    .where('layer_id', '=', layerId)
    .where('id', '=', id)
    .executeTakeFirst();
  return row ?? null;
}

/** Finds annotations by id, including deleted ones; unknown ids are missing from the result. */
export async function findAnnotations(
  db: Connection,
  layerId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, AnnotationRow>> {
  const rows = await db
    .selectFrom('annotations')
    .selectAll()
    .where('layer_id', '=', layerId)
    .where(isOneOf(db, 'id', ids))
    .execute();
  return new Map(rows.map((row) => [row.id, row]));
}

/** Inserts annotations, or replaces existing ones, which keep their position, first author and time of creation. */
export async function saveAnnotations(
  tx: DatabaseTransaction,
  rows: readonly AnnotationRow[],
): Promise<void> {
  for (let start = 0; start < rows.length; start += rowsPerStatement) {
    await tx
      .insertInto('annotations')
      .values(rows.slice(start, start + rowsPerStatement))
      .onConflict((conflict) =>
        conflict.columns(['layer_id', 'id']).doUpdateSet((eb) => ({
          feature: eb.ref('excluded.feature'),
          object_type: eb.ref('excluded.object_type'),
          class_name: eb.ref('excluded.class_name'),
          class_color: eb.ref('excluded.class_color'),
          min_x: eb.ref('excluded.min_x'),
          min_y: eb.ref('excluded.min_y'),
          max_x: eb.ref('excluded.max_x'),
          max_y: eb.ref('excluded.max_y'),
          vertices: eb.ref('excluded.vertices'),
          revision: eb.ref('excluded.revision'),
          change_no: eb.ref('excluded.change_no'),
          updated_by: eb.ref('excluded.updated_by'),
          updated_at: eb.ref('excluded.updated_at'),
          deleted_at: eb.ref('excluded.deleted_at'),
        })),
      )
      .execute();
  }
}

/** Appends revisions to the history of annotations. */
export async function insertRevisions(tx: DatabaseTransaction, rows: readonly RevisionRow[]): Promise<void> {
  for (let start = 0; start < rows.length; start += rowsPerStatement) {
    await tx
      .insertInto('annotation_revisions')
      .values(rows.slice(start, start + rowsPerStatement))
      .execute();
  }
}

/** Returns the highest revision numbers in the history of annotations by id; ids without a history are missing from the result. */
export async function lastRevisionsOf(
  db: Connection,
  layerId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  if (ids.length === 0) return new Map();
  const rows = await db
    .selectFrom('annotation_revisions')
    .select((eb) => ['id', eb.fn.max('revision').as('revision')])
    .where('layer_id', '=', layerId)
    .where(isOneOf(db, 'id', ids))
    .groupBy('id')
    .execute();
  return new Map(rows.map(({ id, revision }) => [id, revision]));
}

/** A change to an annotation whose revision `findRevisionOfChange` searches for. */
export interface SearchedChange {
  readonly id: string;
  /** JSON of the feature after the change; null for a deletion. */
  readonly featureJson: string | null;
  /** Revision that the change was based on; null for a new annotation. */
  readonly base: number | null;
}

/**
 * Finds the latest revision by the account `author` that the change could have produced; null when there is none. With it, the server
 * recognises a change that a client sends again because the first response was lost. The database compares the features, because the
 * history of an annotation may contain more of them than fit into memory.
 */
export async function findRevisionOfChange(
  db: Connection,
  layerId: string,
  author: string,
  { id, featureJson, base }: SearchedChange,
): Promise<Pick<RevisionRow, 'revision' | 'version'> | null> {
  let query = db
    .selectFrom('annotation_revisions')
    .select(['revision', 'version'])
    .where('layer_id', '=', layerId)
    .where('id', '=', id);
  if (base !== null) query = query.where('revision', '=', base + 1);
  if (featureJson === null) query = query.where('change', '=', 'delete');
  // A client that creates a deleted annotation again sends no base, and the history then contains `restore`.
  else if (base === null) query = query.where('change', 'in', ['create', 'restore']);
  query = query.where('author', '=', author);
  if (featureJson !== null) query = query.where('feature', '=', featureJson);
  const row = await query.orderBy('revision', 'desc').limit(1).executeTakeFirst();
  return row ?? null;
}

/** Returns whether the account `author` deleted the annotation after the revision `since`. */
export async function hasDeletedSince(
  db: Connection,
  layerId: string,
  author: string,
  id: string,
  since: number,
): Promise<boolean> {
  const row = await db
    .selectFrom('annotation_revisions')
    .select('revision')
    .where('layer_id', '=', layerId)
    .where('id', '=', id)
    .where('revision', '>', since)
    .where('change', '=', 'delete')
    .where('author', '=', author)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** A rectangle in pixels of full resolution. All four limits are inclusive. */
export interface Box {
  readonly minX: number;
  readonly minY: number;
  readonly maxX: number;
  readonly maxY: number;
}

export type ListedAnnotation = Pick<
  AnnotationRow,
  'position' | 'feature' | 'revision' | 'created_by' | 'created_at' | 'updated_by' | 'updated_at'
>;

/**
 * Lists the annotations of a layer in the order of their creation, without deleted ones.
 *
 * @param page `box` selects the annotations whose bounds touch the box (null: all); `after` is the position of the last
 *   annotation of the previous page (0 for the first page, because positions start at 1)
 */
export function listAnnotations(
  db: Connection,
  layerId: string,
  { box, after, limit }: { readonly box: Box | null; readonly after: number; readonly limit: number },
): Promise<ListedAnnotation[]> {
  let query = db
    .selectFrom('annotations')
    .select(['position', 'feature', 'revision', 'created_by', 'created_at', 'updated_by', 'updated_at'])
    .where('layer_id', '=', layerId)
    .where('position', '>', after)
    .where('deleted_at', 'is', null);
  if (box !== null) {
    query = query
      .where('max_x', '>=', box.minX)
      .where('min_x', '<=', box.maxX)
      .where('max_y', '>=', box.minY)
      .where('min_y', '<=', box.maxY);
  }
  return query.orderBy('position').limit(limit).execute();
}

/**
 * Lists the annotations of a layer, including deleted ones, that changed after the change `sinceChangeNo`, in the order
 * of changes.
 *
 * @param sinceChangeNo number of the last change of the slide's annotations that the caller knows
 *   (`annotation_images.change_no`)
 */
export function listChangedAnnotations(
  db: Connection,
  layerId: string,
  sinceChangeNo: number,
  limit: number,
): Promise<AnnotationRow[]> {
  return db
    .selectFrom('annotations')
    .selectAll()
    .where('layer_id', '=', layerId)
    .where('change_no', '>', sinceChangeNo)
    .orderBy('change_no')
    .orderBy('position')
    .limit(limit)
    .execute();
}

/** Returns the uids of the accounts that created or last changed an annotation of the layer, even a deleted one. */
export async function listAuthors(db: Connection, layerId: string): Promise<readonly string[]> {
  const authors = await db
    .selectFrom('annotations')
    .select('created_by as uid')
    .where('layer_id', '=', layerId)
    .union(db.selectFrom('annotations').select('updated_by as uid').where('layer_id', '=', layerId))
    .execute();
  return authors.map(({ uid }) => uid);
}

/** Position in the history of a layer. The history is sorted by the version of the layer, then by annotation id. */
export interface HistoryPosition {
  readonly version: number;
  readonly id: string;
}

/**
 * Lists the history of a layer, newest first.
 *
 * @param query `annotation` is the id of the only annotation to list (null: all); `before` is the last revision of the
 *   previous page (null: the first page)
 */
export function listRevisions(
  db: Connection,
  layerId: string,
  {
    annotation,
    before,
    limit,
  }: {
    readonly annotation: string | null;
    readonly before: HistoryPosition | null;
    readonly limit: number;
  },
): Promise<RevisionRow[]> {
  let query = db.selectFrom('annotation_revisions').selectAll().where('layer_id', '=', layerId);
  if (annotation !== null) query = query.where('id', '=', annotation);
  if (before !== null) {
    query = query.where((eb) =>
      eb.or([
        eb('version', '<', before.version),
        eb.and([eb('version', '=', before.version), eb('id', '<', before.id)]),
      ]),
    );
  }
  return query.orderBy('version', 'desc').orderBy('id', 'desc').limit(limit).execute();
}

/**
 * Permanently deletes annotations that were marked as deleted before a time (ISO 8601), and the copies of their GeoJSON
 * features in the history. The history still states who changed the annotations and when.
 */
export async function eraseAnnotationsDeletedBefore(tx: DatabaseTransaction, before: string): Promise<void> {
  // Deletes the annotations first: an annotation that a concurrent transaction restores stays, and keeps its history.
  const erased = await tx
    .deleteFrom('annotations')
    .where('deleted_at', '<', before)
    .returning(['layer_id', 'id'])
    .execute();
  for (const [layerId, rows] of Map.groupBy(erased, ({ layer_id }) => layer_id)) {
    const ids = rows.map(({ id }) => id);
    await tx
      .updateTable('annotation_revisions')
      .set({ feature: null })
      .where('layer_id', '=', layerId)
      .where(isOneOf(tx, 'id', ids))
      .execute();
  }
}
