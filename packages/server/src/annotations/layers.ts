/** Manages annotation layers (sets of annotations of a slide). Each change and its audit event are one transaction. */
import { randomUUID } from 'node:crypto';
import {
  type AnnotationLayer,
  AppError,
  annotationRetentionDays,
  type Bilingual,
  type BodyOf,
  type createAnnotationLayer,
  type LayerSource,
  type User,
  type updateAnnotationLayer,
} from '@lamina/contract';
import type { Actor } from '../audit/actor.ts';
import type { AuditAction, AuditRecorder } from '../audit/audit-recorder.ts';
import { layerRightsOf, mayManageAllLayers } from '../domain/annotation-rights.ts';
import type { Translate } from '../domain/translate.ts';
import { recheckCaller } from '../sessions/recheck-caller.ts';
import type { SignInService } from '../sessions/sign-in-service.ts';
import {
  type ClassCount,
  countClasses,
  countLayersOf,
  displayNamesOf,
  insertLayer,
  type LayerRow,
  listLayers,
  lockOwner,
  nextChangeNo,
  saveLayer,
} from '../store/annotation-layers.ts';
import type { Connection, Database, DatabaseTransaction } from '../store/database.ts';
import { requireImage, requireLayerForUpdate } from './layer-access.ts';

/**
 * `reader` is the account of a request; `actor` is the sign-in of the request, by which the transaction reads the account again.
 * `translate` translates texts into the language of the request.
 */
export interface AnnotationLayers {
  /**
   * Returns the layers of a slide that the account may read, or with `onlyDeleted` the deleted layers that it may restore.
   *
   * @throws AppError not_found
   */
  list(reader: User, imageId: string, onlyDeleted: boolean, translate: Translate): Promise<AnnotationLayer[]>;
  /** Creates an empty layer that the caller owns. @throws AppError not_found, too_many_layers */
  create(
    actor: Actor,
    imageId: string,
    layer: BodyOf<typeof createAnnotationLayer> & { readonly source: LayerSource },
    translate: Translate,
  ): Promise<AnnotationLayer>;
  /** Renames, shares, locks or unlocks a layer. @throws AppError not_found, forbidden, conflict, layer_locked */
  update(
    actor: Actor,
    layerId: string,
    change: BodyOf<typeof updateAnnotationLayer>,
    translate: Translate,
  ): Promise<AnnotationLayer>;
  /** Deletes a layer, which can be restored for 30 days. @throws AppError not_found, forbidden, layer_locked */
  remove(actor: Actor, layerId: string): Promise<void>;
  /** Restores a deleted layer. @throws AppError forbidden; not_found for an unknown layer and 30 days after the deletion */
  restore(actor: Actor, layerId: string, translate: Translate): Promise<AnnotationLayer>;
}

interface Dependencies {
  readonly db: Database;
  readonly now: () => Date;
  readonly audit: AuditRecorder;
  readonly signIn: Pick<SignInService, 'holderOf'>; // recheckCaller() reads the caller's account again with it
  /** Called after a change to a slide's annotations has been committed. */
  readonly onCommit: (imageId: string) => void;
}

const deletedAccount: Bilingual = { tr: 'Silinmiş hesap', en: 'Deleted account' };
/** Maximum number of layers of one account on one slide. */
const maxLayersPerAccount = 200;
const dayMs = 24 * 60 * 60_000;

/** Returns a time (ISO 8601). Layers and annotations that were deleted at this time or earlier can no longer be restored. */
export function restorableSince(now: Date): string {
  return new Date(now.getTime() - annotationRetentionDays * dayMs).toISOString();
}

/**
 * Returns the display name of an author or owner, or a text for a deleted account; null for an account without a name.
 *
 * @param names display names by uid; an account that is missing has been deleted
 */
export function authorName(
  names: ReadonlyMap<string, string | null>,
  uid: string | null,
  translate: Translate,
): string | null {
  const name = uid === null ? undefined : names.get(uid);
  return name === undefined ? translate(deletedAccount) : name;
}

export function createAnnotationLayers(dependencies: Dependencies): AnnotationLayers {
  const { db, audit, signIn, onCommit } = dependencies;
  const isoNow = () => dependencies.now().toISOString();

  /** Runs a change to a layer in a transaction, and calls `onCommit` afterwards. */
  async function commit<T extends Pick<AnnotationLayer, 'image_id'>>(
    work: (tx: DatabaseTransaction) => Promise<T>,
  ): Promise<T> {
    const changed = await db.transaction().execute(work);
    onCommit(changed.image_id);
    return changed;
  }

  /** Returns the layers as the API describes them, with counts, names and the rights of the reader. */
  async function describeLayers(
    connection: Connection,
    reader: User,
    layers: readonly LayerRow[],
    translate: Translate,
  ): Promise<AnnotationLayer[]> {
    const counts = await countClasses(
      connection,
      layers.map(({ id }) => id),
    );
    const names = await displayNamesOf(
      connection,
      layers.flatMap(({ owner_uid }) => owner_uid ?? []),
    );
    return layers.map((layer) =>
      toAnnotationLayer(reader, layer, counts.get(layer.id) ?? [], names, translate),
    );
  }

  async function describeLayer(
    tx: DatabaseTransaction,
    reader: User,
    layer: LayerRow,
    translate: Translate,
  ): Promise<AnnotationLayer> {
    const [described] = await describeLayers(tx, reader, [layer], translate);
    if (described === undefined) throw new AppError('not_found');
    return described;
  }

  const recordEvent = (
    tx: DatabaseTransaction,
    actor: Actor,
    action: AuditAction,
    layer: LayerRow,
    detail: Readonly<Record<string, string | boolean | null>> = {},
  ) =>
    audit.record(tx, {
      action,
      actor: actor.uid,
      target: layer.image_id,
      detail: { layer: layer.id, owner: layer.owner_uid, ...detail },
      origin: actor.origin,
    });

  return {
    async list(reader, imageId, onlyDeleted, translate) {
      await requireImage(db, reader, imageId);
      const since = restorableSince(dependencies.now());
      const layers = (await listLayers(db, imageId, { onlyDeleted })).filter((layer) => {
        const rights = layerRightsOf(reader, layer);
        if (!onlyDeleted) return rights.read;
        return rights.manage && layer.deleted_at !== null && layer.deleted_at > since;
      });
      return describeLayers(db, reader, layers, translate);
    },

    create: (actor, imageId, { name, visibility, editing, source }, translate) =>
      commit(async (tx) => {
        const user = await requireWriter(tx, actor, imageId);
        if ((await countLayersOf(tx, imageId, actor.uid)) >= maxLayersPerAccount) {
          throw new AppError('too_many_layers');
        }
        const at = isoNow();
        const layer = await insertLayer(tx, {
          id: randomUUID(),
          image_id: imageId,
          name,
          owner_uid: actor.uid,
          visibility,
          editing,
          locked_by: null,
          source,
          created_at: at,
          updated_at: at,
          deleted_at: null,
          version: 1,
          change_no: await nextChangeNo(tx, imageId),
          annotation_count: 0,
          vertex_count: 0,
          next_position: 1,
        });
        await recordEvent(tx, actor, 'annotation-layer-created', layer, { visibility });
        return describeLayer(tx, user, layer, translate);
      }),

    update: (actor, layerId, { version, locked, ...requestedFields }, translate) =>
      commit(async (tx) => {
        const { layer, rights, user } = await requireLayerForUpdate(tx, layerId, () =>
          recheckCaller(tx, signIn, actor, 'annotations.write'),
        );
        if (!rights.manage) throw new AppError('forbidden');
        if (version !== layer.version) {
          throw new AppError('conflict', { conflicts: [await describeLayer(tx, user, layer, translate)] });
        }
        const changes = changesOf(layer, requestedFields);
        const isLocked = layer.locked_by !== null;
        const lockedBy = lockAfter(layer, user, locked);
        const mayNotUnlock = isLocked && lockedBy === null && !rights.lock;
        if (mayNotUnlock) throw new AppError('forbidden');
        const staysLocked = isLocked && lockedBy !== null;
        if (staysLocked && Object.keys(changes).length > 0) {
          throw new AppError('layer_locked');
        }
        if (Object.keys(changes).length === 0 && lockedBy === layer.locked_by) {
          return describeLayer(tx, user, layer, translate);
        }
        const saved = await saveLayer(tx, layer, { ...changes, locked_by: lockedBy }, isoNow());
        await recordEvent(tx, actor, 'annotation-layer-changed', saved, {
          visibility: saved.visibility,
          editing: saved.editing,
          locked: saved.locked_by !== null,
        });
        return describeLayer(tx, user, saved, translate);
      }),

    async remove(actor, layerId) {
      await commit(async (tx) => {
        const { layer, rights, user } = await requireLayerForUpdate(tx, layerId, () =>
          recheckCaller(tx, signIn, actor, 'annotations.write'),
        );
        if (!rights.manage) throw new AppError('forbidden');
        if (layer.locked_by !== null && !mayManageAllLayers(user)) throw new AppError('layer_locked');
        const at = isoNow();
        const deleted = await saveLayer(tx, layer, { deleted_at: at }, at);
        await recordEvent(tx, actor, 'annotation-layer-deleted', deleted);
        return deleted;
      });
    },

    restore: (actor, layerId, translate) =>
      commit(async (tx) => {
        const { layer, rights, user } = await requireLayerForUpdate(
          tx,
          layerId,
          () => recheckCaller(tx, signIn, actor, 'annotations.write'),
          { includesDeleted: true },
        );
        if (layer.deleted_at === null && !rights.manage) throw new AppError('forbidden');
        // For a deleted layer, the response does not reveal to other accounts that the layer exists.
        if (!rights.manage) throw new AppError('not_found');
        if (layer.deleted_at === null) return describeLayer(tx, user, layer, translate);
        if (layer.deleted_at <= restorableSince(dependencies.now())) throw new AppError('not_found');
        const saved = await saveLayer(tx, layer, { deleted_at: null }, isoNow());
        await recordEvent(tx, actor, 'annotation-layer-restored', saved);
        return describeLayer(tx, user, saved, translate);
      }),
  };

  /**
   * Locks the account of the caller, which may write annotations of the image, and returns it. Until the commit, the
   * account is not deleted, and the number of its layers does not grow.
   *
   * @throws AppError not_found, forbidden
   */
  async function requireWriter(tx: DatabaseTransaction, actor: Actor, imageId: string): Promise<User> {
    await lockOwner(tx, actor.uid);
    const user = await recheckCaller(tx, signIn, actor, 'annotations.write');
    await requireImage(tx, user, imageId);
    return user;
  }
}

type RequestedFields = Pick<BodyOf<typeof updateAnnotationLayer>, 'name' | 'visibility' | 'editing'>;

function changesOf(layer: LayerRow, { name, visibility, editing }: RequestedFields): Partial<LayerRow> {
  return {
    ...(name !== undefined && name !== layer.name && { name }),
    ...(visibility !== undefined && visibility !== layer.visibility && { visibility }),
    ...(editing !== undefined && editing !== layer.editing && { editing }),
  };
}

/**
 * Returns the new value of `locked_by`; null for an unlocked layer. The value states who has locked the layer, because only an
 * administrator may unlock a layer that an administrator has locked.
 */
function lockAfter(layer: LayerRow, user: User, locked: boolean | undefined): LayerRow['locked_by'] {
  if (locked === undefined) return layer.locked_by;
  if (!locked) return null;
  if (mayManageAllLayers(user)) return 'admin';
  return layer.locked_by ?? 'owner';
}

/** Converts the row of a layer to the `AnnotationLayer` of the API, with the rights of the reader. */
export function toAnnotationLayer(
  reader: User,
  layer: LayerRow,
  counts: readonly ClassCount[],
  names: ReadonlyMap<string, string | null>,
  translate: Translate,
): AnnotationLayer {
  const { annotate, manage, lock } = layerRightsOf(reader, layer);
  const locked = layer.locked_by !== null;
  return {
    id: layer.id,
    image_id: layer.image_id,
    name: layer.name,
    owner: layer.owner_uid,
    owner_name: authorName(names, layer.owner_uid, translate),
    visibility: layer.visibility,
    editing: layer.editing,
    locked,
    source: layer.source,
    created_at: layer.created_at,
    updated_at: layer.updated_at,
    version: layer.version,
    deleted_at: layer.deleted_at,
    annotation_count: layer.annotation_count,
    counts: [...counts],
    rights: { annotate: annotate && !locked, manage, lock },
  };
}
