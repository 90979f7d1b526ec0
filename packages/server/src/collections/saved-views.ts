/**
 * Lists and changes the saved views of an account: fields of view of slides, with a title and settings of colours and layers. A saved
 * view remains when its owner may no longer view the slide.
 */
import { randomUUID } from 'node:crypto';
import {
  AppError,
  type BodyOf,
  type createSavedView as createEndpoint,
  maxSavedViews,
  type SavedView,
  type User,
  type updateSavedView as updateEndpoint,
} from '@lamina/contract';
import type { ActionLimiter } from '../audit/action-limiter.ts';
import type { Actor } from '../audit/actor.ts';
import type { AuditAction, AuditRecorder } from '../audit/audit-recorder.ts';
import type { VisibleImages } from '../catalogue/visible-images.ts';
import type { SignInService } from '../sessions/sign-in-service.ts';
import type { Database, DatabaseTransaction } from '../store/database.ts';
import {
  coloursOf,
  countSavedViewsOf,
  deleteSavedViewRow,
  fieldOf,
  findSavedViews,
  listSavedViewRows,
  type SavedViewRow,
  saveSavedView,
} from '../store/saved-views.ts';
import { editOwnResource } from './edit-own-resource.ts';

export interface SavedViews {
  /** Returns the saved views of an account. */
  list(uid: string): Promise<SavedView[]>;
  /** Returns a saved view. @throws AppError not_found, also for a view of another account */
  get(uid: string, id: string): Promise<SavedView>;
  /** Creates a saved view. @throws AppError not_found for a slide that the actor may not view; too_many_saved_views, rate_limited */
  create(actor: Actor, view: BodyOf<typeof createEndpoint>): Promise<SavedView>;
  /** Changes a saved view that the actor owns. @throws AppError not_found; conflict if `changes.version` is not current */
  update(actor: Actor, id: string, changes: BodyOf<typeof updateEndpoint>): Promise<SavedView>;
  /** Deletes a saved view that the actor owns. @throws AppError not_found */
  delete(actor: Actor, id: string): Promise<void>;
}

interface Dependencies {
  readonly db: Database;
  readonly now: () => Date;
  readonly audit: AuditRecorder;
  // editOwnResource() uses these to check the caller's permission again, and to limit the number of changes.
  readonly signIn: Pick<SignInService, 'holderOf'>;
  readonly actionLimiter: ActionLimiter;
  readonly visibleImages: VisibleImages;
}

export function createSavedViews(dependencies: Dependencies): SavedViews {
  const { db, now, visibleImages } = dependencies;

  /** Runs a change to a saved view that the actor owns, and records its audit event. */
  function edit<T>(
    actor: Actor,
    action: AuditAction,
    work: (tx: DatabaseTransaction, user: User) => Promise<readonly [row: SavedViewRow, result: T]>,
  ): Promise<T> {
    return editOwnResource(dependencies, actor, action, async (tx, user) => {
      const [row, result] = await work(tx, user);
      return { target: row.id, detail: { title: row.title, image: row.image_id }, result };
    });
  }

  /** Returns the row of a saved view of this account. @throws AppError not_found */
  async function findOwnRow(
    connection: Database | DatabaseTransaction,
    uid: string,
    id: string,
  ): Promise<SavedViewRow> {
    const [row] = await findSavedViews(connection, [id]);
    if (row?.uid !== uid) throw new AppError('not_found');
    return row;
  }

  /** Checks that the user may view the slide. @throws AppError not_found */
  async function requireVisible(tx: DatabaseTransaction, user: User, imageId: string): Promise<void> {
    if ((await visibleImages.of(user, [imageId], tx)).size === 0) throw new AppError('not_found');
  }

  return {
    list: async (uid) => (await listSavedViewRows(db, uid)).map(toSavedView),

    get: async (uid, id) => toSavedView(await findOwnRow(db, uid, id)),

    create: (actor, { image_id, title, text, field, colours, layers }) =>
      edit(actor, 'saved-view-created', async (tx, user) => {
        if ((await countSavedViewsOf(tx, actor.uid)) >= maxSavedViews) {
          throw new AppError('too_many_saved_views');
        }
        await requireVisible(tx, user, image_id);
        const at = now().toISOString();
        const row: SavedViewRow = {
          id: randomUUID(),
          uid: actor.uid,
          image_id,
          title,
          text: text || null,
          field: JSON.stringify(field),
          colours: toJson(colours),
          layers: toJson(layers),
          version: 1,
          created_at: at,
          updated_at: at,
        };
        await saveSavedView(tx, row);
        return [row, toSavedView(row)];
      }),

    update: (actor, id, { version, image_id, title, text, field, colours, layers }) =>
      edit(actor, 'saved-view-changed', async (tx, user) => {
        const before = await findOwnRow(tx, actor.uid, id);
        if (version !== undefined && version !== before.version) throw new AppError('conflict');
        if (image_id !== undefined) await requireVisible(tx, user, image_id);
        const row: SavedViewRow = {
          ...before,
          ...(image_id !== undefined && { image_id }),
          ...(title !== undefined && { title }),
          ...(text !== undefined && { text: text || null }),
          ...(field !== undefined && { field: JSON.stringify(field) }),
          ...(colours !== undefined && { colours: toJson(colours) }),
          ...(layers !== undefined && { layers: toJson(layers) }),
          version: before.version + 1,
          updated_at: now().toISOString(),
        };
        await saveSavedView(tx, row);
        return [row, toSavedView(row)];
      }),

    delete: (actor, id) =>
      edit(actor, 'saved-view-deleted', async (tx) => {
        const row = await findOwnRow(tx, actor.uid, id);
        await deleteSavedViewRow(tx, id);
        return [row, undefined];
      }),
  };
}

/** Returns a setting as the database stores it: JSON, or null for an absent setting. */
function toJson(value: unknown): string | null {
  return value === undefined || value === null ? null : JSON.stringify(value);
}

function toSavedView({ uid: _, layers, ...row }: SavedViewRow): SavedView {
  return {
    ...row,
    field: fieldOf(row),
    colours: coloursOf(row),
    layers: layers === null ? null : (JSON.parse(layers) as unknown),
  };
}
