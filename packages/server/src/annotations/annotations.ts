/** Lists, changes and restores the annotations of a layer (a set of annotations of a slide); lists their history. */
import {
  type AnnotationChange,
  type AnnotationFeature,
  type AnnotationRevision,
  AppError,
  type listAnnotationHistory,
  type listAnnotations,
  type QueryOf,
  type ResponseOf,
  type User,
} from '@lamina/contract';
import { z } from 'zod';
import type { Actor } from '../audit/actor.ts';
import { decodeCursor, encodeCursor } from '../domain/list-cursor.ts';
import type { Translate } from '../domain/translate.ts';
import { recheckCaller } from '../sessions/recheck-caller.ts';
import type { SignInService } from '../sessions/sign-in-service.ts';
import { displayNamesOf } from '../store/annotation-layers.ts';
import * as store from '../store/annotations.ts';
import type { Database, DatabaseTransaction } from '../store/database.ts';
import type { AdminAccessAudit } from './admin-access-audit.ts';
import { type AppliedChanges, applyChanges, type ParsedChange, rejectRepeatedIds } from './apply-changes.ts';
import { featureOf, featureText } from './feature-json.ts';
import { type ReadableLayer, requireLayer, requireLayerForUpdate } from './layer-access.ts';
import { authorName, restorableSince } from './layers.ts';
import { type AnnotationList, annotationListOf } from './list-text.ts';
import { parseFeature, type SlideSize, type StorableFeature } from './parse-feature.ts';

type ListQuery = QueryOf<typeof listAnnotations>;

/**
 * `actor` is the sign-in of the caller, for the audit log and for a second check of the caller's rights in the
 * transaction, which throws token_invalid if the sign-in has ended meanwhile. `reader` is the account of the caller when
 * the request arrived. `translate` translates texts into the language of the request.
 */
export interface Annotations {
  /** Returns the annotations of a layer as a stream of GeoJSON. @throws AppError not_found, invalid_request */
  list(
    actor: Actor,
    reader: User,
    layerId: string,
    query: ListQuery,
    translate: Translate,
  ): Promise<AnnotationList>;
  /** Applies all changes or none. @throws AppError not_found, forbidden, layer_locked, conflict, layer_full, invalid_request */
  change(
    actor: Actor,
    reader: User,
    layerId: string,
    changes: readonly AnnotationChange[],
  ): Promise<AppliedChanges>;
  /**
   * Creates annotations, or replaces those with the same id, whatever their current revision. Annotations whose content
   * does not change keep their revision.
   *
   * @throws AppError not_found, forbidden, layer_locked, layer_full
   */
  put(actor: Actor, layerId: string, features: readonly StorableFeature[]): Promise<AppliedChanges>;
  /**
   * Restores a deleted annotation and returns it.
   *
   * @throws AppError not_found for an unknown annotation and 30 days after the deletion; forbidden, layer_locked, layer_full
   */
  restore(actor: Actor, layerId: string, annotationId: string): Promise<AnnotationFeature>;
  /** Returns a page of the revisions of a layer or of one annotation, newest first. @throws AppError not_found, invalid_request */
  history(
    actor: Actor,
    reader: User,
    layerId: string,
    query: QueryOf<typeof listAnnotationHistory>,
    translate: Translate,
  ): Promise<ResponseOf<typeof listAnnotationHistory>>;
}

interface Dependencies {
  readonly db: Database;
  readonly now: () => Date;
  readonly signIn: Pick<SignInService, 'holderOf'>; // recheckCaller() reads the caller's account again with it
  readonly adminAccessAudit: AdminAccessAudit;
  /** Called after each committed transaction that may have changed a slide's annotations. */
  readonly onCommit: (imageId: string) => void;
}

export function createAnnotations(dependencies: Dependencies): Annotations {
  const { db, signIn, adminAccessAudit, onCommit } = dependencies;

  /** Locks the row of a layer whose annotations the caller may change. @throws AppError not_found, forbidden, layer_locked */
  async function requireChangeableLayer(
    tx: DatabaseTransaction,
    actor: Actor,
    layerId: string,
  ): Promise<ReadableLayer & { readonly user: User }> {
    const readable = await requireLayerForUpdate(tx, layerId, () =>
      recheckCaller(tx, signIn, actor, 'annotations.write'),
    );
    if (!readable.rights.annotate) throw new AppError('forbidden');
    if (readable.layer.locked_by !== null) throw new AppError('layer_locked');
    return readable;
  }

  return {
    async list(actor, reader, layerId, query, translate) {
      const { layer } = await requireLayer(db, reader, layerId);
      await adminAccessAudit.recordRead(actor, reader, layer);
      return annotationListOf(db, layer, query, {
        key: 'account', // a part of the ETag
        textOf: featureText,
        authorsOf: async () => {
          const uids = await store.listAuthors(db, layer.id);
          const names = await displayNamesOf(db, uids);
          return Object.fromEntries(uids.map((uid) => [uid, authorName(names, uid, translate)]));
        },
      });
    },

    async change(actor, reader, layerId, changes) {
      rejectRepeatedIds(changes);
      // The features are parsed before the transaction, because the transaction blocks other changes.
      const { layer: requestedLayer, image } = await requireLayer(db, reader, layerId);
      const parsedChanges = changes.map((change) => parseChange(change, image));
      let afterCommit = () => {}; // replaced by the function that recordChange() returns
      const applied = await db
        .transaction()
        .execute(async (tx) => {
          const { layer, user } = await requireChangeableLayer(tx, actor, layerId);
          const now = dependencies.now().toISOString();
          const result = await applyChanges(tx, { layer, author: actor.uid, now }, parsedChanges);
          afterCommit = await adminAccessAudit.recordChange(tx, actor, user, layer);
          return result;
        })
        .catch(async (error: unknown) => {
          // The error shows the caller the current annotations, which is a reading. The transaction, which would have recorded
          // an event, was rolled back.
          const isConflict = error instanceof AppError && error.code === 'conflict';
          if (isConflict) await adminAccessAudit.recordRead(actor, reader, requestedLayer);
          throw error;
        });
      afterCommit();
      onCommit(image.id);
      return applied;
    },

    async put(actor, layerId, features) {
      let afterCommit = () => {};
      const { applied, imageId } = await db.transaction().execute(async (tx) => {
        const { layer, image, user } = await requireChangeableLayer(tx, actor, layerId);
        const ids = features.map(({ id }) => id);
        const rowById = await store.findAnnotations(tx, layerId, ids);
        const changes = features
          .map((feature) => ({ id: feature.id, feature, base: rowById.get(feature.id)?.revision ?? null }))
          .filter(({ id, feature }) => {
            const row = rowById.get(id);
            return row === undefined || row.deleted_at !== null || row.feature !== feature.json;
          });
        if (changes.length === 0)
          return { applied: { version: layer.version, revisions: {} }, imageId: image.id };
        const now = dependencies.now().toISOString();
        const result = await applyChanges(tx, { layer, author: actor.uid, now }, changes);
        afterCommit = await adminAccessAudit.recordChange(tx, actor, user, layer);
        return { applied: result, imageId: image.id };
      });
      afterCommit();
      onCommit(imageId);
      return applied;
    },

    async restore(actor, layerId, annotationId) {
      let afterCommit = () => {};
      const result = await db.transaction().execute(async (tx) => {
        const { layer, image, user } = await requireChangeableLayer(tx, actor, layerId);
        const row = await store.findAnnotation(tx, layerId, annotationId.toLowerCase());
        if (row === null) throw new AppError('not_found');
        // An annotation that is not deleted is returned unchanged, which counts as a reading (below).
        if (row.deleted_at === null) return { imageId: image.id, layer, user, row, isRestored: false };
        if (row.deleted_at <= restorableSince(dependencies.now())) throw new AppError('not_found');
        const feature = parseFeature(JSON.parse(row.feature) as AnnotationFeature, image);
        const now = dependencies.now().toISOString();
        const change = { id: row.id, feature, base: row.revision };
        await applyChanges(tx, { layer, author: actor.uid, now }, [change]);
        const restoredRow = await store.findAnnotation(tx, layerId, row.id);
        if (restoredRow === null) throw new AppError('not_found');
        afterCommit = await adminAccessAudit.recordChange(tx, actor, user, layer);
        return { imageId: image.id, layer, user, row: restoredRow, isRestored: true };
      });
      afterCommit();
      if (!result.isRestored) await adminAccessAudit.recordRead(actor, result.user, result.layer);
      onCommit(result.imageId);
      return featureOf(result.row) as AnnotationFeature;
    },

    async history(actor, reader, layerId, { annotation, limit, cursor }, translate) {
      const { layer } = await requireLayer(db, reader, layerId);
      await adminAccessAudit.recordRead(actor, reader, layer);
      const before = cursor === undefined ? null : decodeCursor(cursor, parsePosition, HistoryPosition);
      const rows = await store.listRevisions(db, layer.id, {
        annotation: annotation?.toLowerCase() ?? null,
        before,
        limit: limit + 1, // one more row shows whether there is a next page
      });
      const page = rows.slice(0, limit);
      const hasNextPage = rows.length > page.length;
      const last = page.at(-1);
      const names = await displayNamesOf(
        db,
        page.map(({ author }) => author),
      );
      return {
        revisions: page.map(
          (row): AnnotationRevision => ({
            annotation: row.id,
            revision: row.revision,
            change: row.change,
            feature: row.feature === null ? null : (JSON.parse(row.feature) as AnnotationFeature),
            author: row.author,
            author_name: authorName(names, row.author, translate),
            at: row.at,
            version: row.version,
          }),
        ),
        next_cursor: hasNextPage && last !== undefined ? encodeCursor(`${last.version}.${last.id}`) : null,
      };
    },
  };
}

/** Validates a change, and converts the id of the annotation to lower case, in which ids are stored. */
function parseChange(change: AnnotationChange, size: SlideSize): ParsedChange {
  if (change.op === 'delete') {
    return { id: change.id.toLowerCase(), feature: null, base: change.base_revision };
  }
  const feature = parseFeature(change.feature, size);
  return { id: feature.id, feature, base: change.base_revision };
}

/** Position in the history of a layer, written in a cursor as `version.id`. */
const HistoryPosition = z.object({ version: z.number().int(), id: z.guid() });

function parsePosition(text: string): unknown {
  const dot = text.indexOf('.');
  return { version: Number(text.slice(0, dot)), id: text.slice(dot + 1) };
}
