/**
 * Applies a batch of changes to a layer: all of them or none. Each change names the revision of the annotation on which its
 * author based it; a different current revision is a conflict.
 */
import { type AnnotationChange, AppError, annotationLayerLimits } from '@lamina/contract';
import type { LayerRow } from '../store/annotation-layers.ts';
import { nextChangeNo, saveLayer } from '../store/annotation-layers.ts';
import {
  type AnnotationRow,
  findAnnotations,
  insertRevisions,
  listRevisionsBy,
  type RevisionRow,
  saveAnnotations,
} from '../store/annotations.ts';
import type { Change } from '../store/database.ts';
import { featureAsItIs } from './feature-json.ts';
import type { StorableFeature } from './parse-feature.ts';

/** A validated change. `feature` null deletes the annotation; `base` is the revision that the author knew, null for a new one. */
export interface ParsedChange {
  readonly id: string;
  readonly feature: StorableFeature | null;
  readonly base: number | null;
}

export interface AppliedChanges {
  readonly version: number;
  readonly revisions: Readonly<Record<string, number>>;
}

/** Where and by whom a batch is applied. The transaction holds the lock of the layer. */
export interface ChangeContext {
  readonly layer: LayerRow;
  readonly author: string;
  readonly now: string;
}

/** @throws AppError invalid_request when an annotation occurs twice */
export function rejectRepeatedIds(changes: readonly AnnotationChange[]): void {
  const ids = new Set(
    changes.map((change) => (change.op === 'put' ? change.feature.id : change.id).toLowerCase()),
  );
  if (ids.size < changes.length) throw new AppError('invalid_request', { field: 'changes' });
}

/** @throws AppError conflict, layer_full */
export async function applyChanges(
  tx: Change,
  context: ChangeContext,
  changes: readonly ParsedChange[],
): Promise<AppliedChanges> {
  const { layer } = context;
  const ids = changes.map(({ id }) => id);
  const current = await findAnnotations(tx, layer.id, ids);
  const conflicting = changes.filter((change) => isConflict(change, current.get(change.id)));
  // A change that was applied before conflicts with its own result, except where it deleted or restored an annotation.
  if (conflicting.length > 0 || changes.every(({ base }) => base === null)) {
    const earlier = await findEarlierResult(tx, context, changes, current);
    if (earlier !== null) return earlier;
  }
  if (conflicting.length > 0) {
    throw new AppError('conflict', {
      conflicts: conflicting.map(({ id }) => featureAsItIs(id, current.get(id))),
    });
  }
  return writeChanges(tx, context, changes, current);
}

function isConflict({ feature, base }: ParsedChange, row: AnnotationRow | undefined): boolean {
  if (row === undefined) return base !== null;
  if (row.deleted_at !== null) return feature === null || (base !== null && base !== row.revision);
  return base !== row.revision;
}

/**
 * Returns the result of an earlier batch of the same author that made exactly these changes, or null. A client that did not
 * receive the response sends its batch again. When the author has deleted an annotation since, storing it again is a new change.
 */
async function findEarlierResult(
  tx: Change,
  { layer, author }: ChangeContext,
  changes: readonly ParsedChange[],
  current: ReadonlyMap<string, AnnotationRow>,
): Promise<AppliedChanges | null> {
  if (!changes.every(({ id }) => current.has(id))) return null;
  const ids = changes.map(({ id }) => id);
  const revisions = Map.groupBy(await listRevisionsBy(tx, layer.id, author, ids), ({ id }) => id);
  const applied: RevisionRow[] = [];
  for (const change of changes) {
    const ownRevisions = revisions.get(change.id) ?? [];
    const earlier = ownRevisions.find((revision) => isResultOf(change, revision));
    if (earlier === undefined) return null;
    const isPutAgain =
      change.feature !== null &&
      current.get(change.id)?.deleted_at !== null &&
      ownRevisions.some(({ change: kind, revision }) => kind === 'delete' && revision > earlier.revision);
    if (isPutAgain) return null;
    applied.push(earlier);
  }
  const version = applied[0]?.version;
  if (version === undefined || applied.some((revision) => revision.version !== version)) return null;
  return {
    version,
    revisions: Object.fromEntries(applied.map(({ id, revision }) => [id, revision])),
  };
}

function isResultOf({ feature, base }: ParsedChange, revision: RevisionRow): boolean {
  if (base !== null && revision.revision !== base + 1) return false;
  if (feature === null) return revision.change === 'delete';
  if (base === null && revision.change === 'change') return false;
  return revision.feature === feature.json;
}

async function writeChanges(
  tx: Change,
  { layer, author, now }: ChangeContext,
  changes: readonly ParsedChange[],
  current: ReadonlyMap<string, AnnotationRow>,
): Promise<AppliedChanges> {
  let { annotation_count: count, vertex_count: vertices, next_position: position } = layer;
  const changeNo = await nextChangeNo(tx, layer.image_id);
  const rows: AnnotationRow[] = [];
  const revisions: RevisionRow[] = [];
  for (const { id, feature } of changes) {
    const before = current.get(id);
    /** Vertices that the counters of the layer contain for this annotation; null: new or deleted. */
    const countedVertices = before !== undefined && before.deleted_at === null ? before.vertices : null;
    const row = nextRow({ layer, author, now, changeNo, position }, { id, feature }, before);
    if (before === undefined) position++;
    count += (feature === null ? 0 : 1) - (countedVertices === null ? 0 : 1);
    vertices += (feature?.vertices ?? 0) - (countedVertices ?? 0);
    rows.push(row);
    revisions.push({
      layer_id: layer.id,
      id,
      revision: row.revision,
      change: kindOf(feature, before),
      feature: feature?.json ?? null,
      version: layer.version + 1,
      author,
      at: now,
    });
  }
  if (count > annotationLayerLimits.annotations || vertices > annotationLayerLimits.vertices) {
    throw new AppError('layer_full');
  }
  await saveAnnotations(tx, rows);
  await insertRevisions(tx, revisions);
  const counters = { annotation_count: count, vertex_count: vertices, next_position: position };
  const { version } = await saveLayer(tx, layer, counters, now, changeNo);
  return { version, revisions: Object.fromEntries(rows.map(({ id, revision }) => [id, revision])) };
}

function nextRow(
  {
    layer,
    author,
    now,
    changeNo,
    position,
  }: ChangeContext & { readonly changeNo: number; readonly position: number },
  { id, feature }: Pick<ParsedChange, 'id' | 'feature'>,
  before: AnnotationRow | undefined,
): AnnotationRow {
  const changed = {
    revision: (before?.revision ?? 0) + 1,
    change_no: changeNo,
    updated_by: author,
    updated_at: now,
  };
  if (feature === null) {
    if (before === undefined) throw new AppError('conflict');
    return { ...before, ...changed, deleted_at: now };
  }
  return {
    layer_id: layer.id,
    id,
    position: before?.position ?? position,
    created_by: before?.created_by ?? author,
    created_at: before?.created_at ?? now,
    ...changed,
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

function kindOf(feature: StorableFeature | null, before: AnnotationRow | undefined): RevisionRow['change'] {
  if (feature === null) return 'delete';
  if (before === undefined) return 'create';
  return before.deleted_at === null ? 'change' : 'restore';
}
