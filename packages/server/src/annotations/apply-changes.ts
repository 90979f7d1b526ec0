/**
 * Applies a batch of changes to the annotations of a layer: all of them or none. Each change states its base revision: the
 * revision of the annotation that the author of the change has seen. If the current revision is different, the change is
 * a conflict, with an exception for deleted annotations (`isConflict`).
 */
import { type AnnotationChange, AppError, annotationLayerLimits } from '@lamina/contract';
import type { LayerRow } from '../store/annotation-layers.ts';
import { nextChangeNo, saveLayer } from '../store/annotation-layers.ts';
import {
  type AnnotationRow,
  findAnnotations,
  findRevisionOfChange,
  hasDeletedSince,
  insertRevisions,
  lastRevisionsOf,
  type RevisionRow,
  saveAnnotations,
} from '../store/annotations.ts';
import type { DatabaseTransaction } from '../store/database.ts';
import { currentFeatureOf } from './feature-json.ts';
import type { StorableFeature } from './parse-feature.ts';

/** A validated change to one annotation. */
export interface ParsedChange {
  readonly id: string;
  /** The new content; null deletes the annotation. */
  readonly feature: StorableFeature | null;
  /** The base revision; null for a new annotation. */
  readonly base: number | null;
}

export interface AppliedChanges {
  /** Version of the layer after the batch. */
  readonly version: number;
  /** New revisions by id of the annotation. */
  readonly revisions: Readonly<Record<string, number>>;
}

/** The layer, which the transaction has locked, and the author and time of a batch. */
export interface ChangeContext {
  readonly layer: LayerRow;
  readonly author: string; // uid
  readonly now: string; // ISO 8601, UTC
}

/** Checks that a batch changes each annotation only once. @throws AppError invalid_request */
export function rejectRepeatedIds(changes: readonly AnnotationChange[]): void {
  const ids = new Set(
    changes.map((change) => (change.op === 'put' ? change.feature.id : change.id).toLowerCase()),
  );
  if (ids.size < changes.length) throw new AppError('invalid_request', { field: 'changes' });
}

/**
 * Applies the batch and returns the new version and revisions. A batch that the author has sent before, and that was applied,
 * returns its earlier result.
 *
 * @throws AppError conflict with the current state of the conflicting annotations; layer_full
 */
export async function applyChanges(
  tx: DatabaseTransaction,
  context: ChangeContext,
  changes: readonly ParsedChange[],
): Promise<AppliedChanges> {
  const { layer } = context;
  const ids = changes.map(({ id }) => id);
  const currentRows = await findAnnotations(tx, layer.id, ids);
  const conflicting = changes.filter((change) => isConflict(change, currentRows.get(change.id)));
  // A batch that is sent again conflicts with its own earlier results, except for annotations that it created and that
  // were deleted afterwards. Therefore a batch that only creates annotations is always compared with earlier batches.
  if (conflicting.length > 0 || changes.every(({ base }) => base === null)) {
    const earlierResult = await findEarlierResult(tx, context, changes, currentRows);
    if (earlierResult !== null) return earlierResult;
  }
  if (conflicting.length > 0) {
    throw new AppError('conflict', {
      conflicts: conflicting.map(({ id }) => currentFeatureOf(id, currentRows.get(id))),
    });
  }
  return writeChanges(tx, context, changes, currentRows);
}

/** Returns whether a change conflicts with the current state. @param row the annotation; undefined if it has never existed */
function isConflict({ feature, base }: ParsedChange, row: AnnotationRow | undefined): boolean {
  if (row === undefined) return base !== null;
  const isOtherRevision = base !== row.revision;
  if (row.deleted_at === null) return isOtherRevision;
  // A deleted annotation cannot be deleted again, but it can be created again, with or without its last revision as base.
  const isDeletion = feature === null;
  return isDeletion || (base !== null && isOtherRevision);
}

/**
 * Returns the result of an earlier batch of the same author that contained all these changes; null if there is none. A
 * client that did not receive the response sends its batch again. If the author has deleted an annotation since the
 * earlier batch, a batch that stores this annotation again is a new batch.
 */
async function findEarlierResult(
  tx: DatabaseTransaction,
  { layer, author }: ChangeContext,
  changes: readonly ParsedChange[],
  currentRows: ReadonlyMap<string, AnnotationRow>,
): Promise<AppliedChanges | null> {
  if (!changes.every(({ id }) => currentRows.has(id))) return null;
  const revisions: Record<string, number> = {};
  let batchVersion: number | null = null; // all revisions of one batch have the same version of the layer
  for (const { id, feature, base } of changes) {
    const featureJson = feature?.json ?? null;
    const earlierRevision = await findRevisionOfChange(tx, layer.id, author, { id, featureJson, base });
    if (earlierRevision === null) return null;
    const { revision, version } = earlierRevision;
    if (version !== (batchVersion ?? version)) return null;
    const isDeleted = currentRows.get(id)?.deleted_at !== null;
    if (feature !== null && isDeleted && (await hasDeletedSince(tx, layer.id, author, id, revision))) {
      return null;
    }
    batchVersion = version;
    revisions[id] = revision;
  }
  return batchVersion === null ? null : { version: batchVersion, revisions };
}

async function writeChanges(
  tx: DatabaseTransaction,
  { layer, author, now }: ChangeContext,
  changes: readonly ParsedChange[],
  currentRows: ReadonlyMap<string, AnnotationRow>,
): Promise<AppliedChanges> {
  const counters = countersAfter(layer, changes, currentRows);
  let { next_position: position } = layer;
  // An annotation is erased 30 days after its deletion, but its history stays. If it is created again, its revision numbers continue.
  const withoutRow = changes.map(({ id }) => id).filter((id) => !currentRows.has(id));
  const erasedRevisions = await lastRevisionsOf(tx, layer.id, withoutRow);
  const changeNo = await nextChangeNo(tx, layer.image_id); // event streams find new changes by this number
  const rows: AnnotationRow[] = [];
  const revisions: RevisionRow[] = [];
  for (const { id, feature } of changes) {
    const previousRow = currentRows.get(id);
    const revision = (previousRow?.revision ?? erasedRevisions.get(id) ?? 0) + 1;
    const row = nextRow({ layer, author, now, changeNo, revision, position }, { id, feature }, previousRow);
    if (previousRow === undefined) position++;
    rows.push(row);
    revisions.push({
      layer_id: layer.id,
      id,
      revision: row.revision,
      change: changeKindOf(feature, previousRow),
      feature: feature?.json ?? null,
      version: layer.version + 1,
      author,
      at: now,
    });
  }
  await saveAnnotations(tx, rows);
  await insertRevisions(tx, revisions);
  const { version } = await saveLayer(tx, layer, { ...counters, next_position: position }, now, changeNo);
  return { version, revisions: Object.fromEntries(rows.map(({ id, revision }) => [id, revision])) };
}

/**
 * Returns the counters of a layer after changes. They do not include deleted annotations.
 *
 * @param currentRows the annotations of the layer that have the ids of the changes, also deleted ones
 * @throws AppError layer_full
 */
export function countersAfter(
  layer: Pick<LayerRow, 'annotation_count' | 'vertex_count'>,
  changes: readonly Pick<ParsedChange, 'id' | 'feature'>[],
  currentRows: ReadonlyMap<string, Pick<AnnotationRow, 'deleted_at' | 'vertices'>>,
): Pick<LayerRow, 'annotation_count' | 'vertex_count'> {
  let { annotation_count: count, vertex_count: vertices } = layer;
  for (const { id, feature } of changes) {
    const previousRow = currentRows.get(id);
    if (previousRow !== undefined && previousRow.deleted_at === null) {
      count--;
      vertices -= previousRow.vertices;
    }
    if (feature !== null) {
      count++;
      vertices += feature.vertices;
    }
  }
  if (count > annotationLayerLimits.annotations || vertices > annotationLayerLimits.vertices) {
    throw new AppError('layer_full');
  }
  return { annotation_count: count, vertex_count: vertices };
}

/** Returns the row of an annotation after a change. @param position position in the layer if the annotation is new */
function nextRow(
  {
    layer,
    author,
    now,
    changeNo,
    revision,
    position,
  }: ChangeContext & { readonly changeNo: number; readonly revision: number; readonly position: number },
  { id, feature }: Pick<ParsedChange, 'id' | 'feature'>,
  previousRow: AnnotationRow | undefined,
): AnnotationRow {
  const changeFields = {
    revision,
    change_no: changeNo,
    updated_by: author,
    updated_at: now,
  };
  if (feature === null) {
    if (previousRow === undefined) throw new AppError('conflict');
    return { ...previousRow, ...changeFields, deleted_at: now };
  }
  return {
    layer_id: layer.id,
    id,
    position: previousRow?.position ?? position,
    created_by: previousRow?.created_by ?? author,
    created_at: previousRow?.created_at ?? now,
    ...changeFields,
    deleted_at: null,
    feature: feature.json,
    object_type: feature.objectType,
    class_name: feature.className,
    class_color: feature.classColor,
    min_x: feature.box.minX,
    min_y: feature.box.minY,
    max_x: feature.box.maxX,
    max_y: feature.box.maxY,
    vertices: feature.vertices,
  };
}

function changeKindOf(
  feature: StorableFeature | null,
  previousRow: AnnotationRow | undefined,
): RevisionRow['change'] {
  if (feature === null) return 'delete';
  if (previousRow === undefined) return 'create';
  return previousRow.deleted_at === null ? 'change' : 'restore';
}
