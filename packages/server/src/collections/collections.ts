/**
 * Lists, reads and changes collections: lists of slides, cases and saved views that an account shares with readers. If a reader may
 * not view an item, the item is listed without title and images. A saved view belongs to the owner of the collection; readers
 * see it if they may view its slide.
 */
import { randomUUID } from 'node:crypto';
import {
  AppError,
  type BodyOf,
  type Case,
  type Collection,
  type CollectionItem,
  type createCollection as createEndpoint,
  maxListedCollections,
  maxOwnCollections,
  type User,
  type updateCollection as updateEndpoint,
} from '@lamina/contract';
import type { ActionLimiter } from '../audit/action-limiter.ts';
import type { Actor } from '../audit/actor.ts';
import type { AuditAction, AuditRecorder } from '../audit/audit-recorder.ts';
import type { Cases } from '../cases/cases.ts';
import type { VisibleImages } from '../catalogue/visible-images.ts';
import { withoutAnswer } from '../domain/questions.ts';
import type { SignInService } from '../sessions/sign-in-service.ts';
import {
  countCollectionsOf,
  deleteCollectionRow,
  findCollection,
  listCollectionsFor,
  type StoredCollection,
  type StoredItem,
  saveCollection,
} from '../store/collections.ts';
import type { Connection, Database, DatabaseTransaction } from '../store/database.ts';
import type { ImageRow } from '../store/images.ts';
import { coloursOf, fieldOf, findSavedViews, type SavedViewRow } from '../store/saved-views.ts';
import { listUsersByUid } from '../store/users.ts';
import { editOwnResource } from './edit-own-resource.ts';

type NewCollection = BodyOf<typeof createEndpoint>;

export interface Collections {
  /** Returns the collections that the reader owns or may read, at most `maxListedCollections`. */
  list(reader: User): Promise<Collection[]>;
  /** Returns a collection as the reader sees it. @throws AppError not_found, also for one that the reader may not see */
  get(reader: User, id: string, connection?: Connection): Promise<Collection>;
  /** Returns the stored form of a collection of this account. @throws AppError not_found for a collection of another account */
  findOwn(uid: string, id: string, connection?: Connection): Promise<StoredCollection>;
  /**
   * Creates a collection.
   *
   * @throws AppError not_found for an item that the owner may not view, and for an unknown reader; too_many_collections, rate_limited
   */
  create(actor: Actor, collection: NewCollection): Promise<Collection>;
  /**
   * Changes a collection that the actor owns.
   *
   * @throws AppError not_found, also for an added item that the owner may not view; conflict if `changes.version` is not current
   */
  update(actor: Actor, id: string, changes: BodyOf<typeof updateEndpoint>): Promise<Collection>;
  /** Deletes a collection that the actor owns. @throws AppError not_found */
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
  readonly cases: Pick<Cases, 'visible'>;
}

/** The targets to which items refer, by id: saved views regardless of rights; cases and images only if the reader may view them. */
interface Targets {
  readonly views: ReadonlyMap<string, SavedViewRow>;
  readonly cases: ReadonlyMap<string, Case>;
  readonly images: ReadonlyMap<string, ImageRow>;
}

/** This function is longer than 60 lines because reading and changing share the functions that find targets. */
export function createCollections(dependencies: Dependencies): Collections {
  const { db, now, visibleImages, cases } = dependencies;

  /** Finds the targets of items, and the slides of the saved views among them. */
  async function findTargets(
    reader: User,
    items: readonly Pick<StoredItem, 'type' | 'id'>[],
    connection: Connection,
  ): Promise<Targets> {
    const idsOf = (type: StoredItem['type']) =>
      items.filter((item) => item.type === type).map(({ id }) => id);
    const views = await findSavedViews(connection, idsOf('view'));
    return {
      views: new Map(views.map((view) => [view.id, view])),
      cases: await cases.visible(reader, idsOf('case'), connection),
      images: await visibleImages.of(
        reader,
        [...idsOf('slide'), ...views.map(({ image_id }) => image_id)],
        connection,
      ),
    };
  }

  /** Returns the collections as the reader sees them. Only the owner sees correct answers and the other readers. */
  async function toSeenCollections(
    reader: User,
    stored: readonly StoredCollection[],
    connection: Connection,
  ): Promise<Collection[]> {
    const targets = await findTargets(
      reader,
      stored.flatMap(({ items }) => items),
      connection,
    );
    return stored.map(({ uid, ownerName, readerUids, items, readers, ...otherFields }): Collection => {
      const isOwn = uid === reader.uid;
      const visibleReaderUids = isOwn
        ? [...readerUids]
        : readerUids.filter((readerUid) => readerUid === reader.uid);
      return {
        ...otherFields,
        owner: uid,
        owner_name: ownerName,
        own: isOwn,
        readers: readers === 'members' ? 'members' : visibleReaderUids,
        items: items.map((item) => ({
          type: item.type,
          id: item.id,
          text: item.text,
          question: item.question === null || isOwn ? item.question : withoutAnswer(item.question),
          ...visiblePartsOf(item, uid, targets),
        })),
      };
    });
  }

  /** Runs a change to a collection that the actor owns, and records its audit event. */
  function edit<T>(
    actor: Actor,
    action: AuditAction,
    work: (tx: DatabaseTransaction, user: User) => Promise<readonly [stored: StoredCollection, result: T]>,
  ): Promise<T> {
    return editOwnResource(dependencies, actor, action, async (tx, user) => {
      const [{ id, title, items, readers }, result] = await work(tx, user);
      return { target: id, detail: { title, items: items.length, readers }, result };
    });
  }

  /**
   * Returns the items in stored form. `storedItems` are the items that the collection already has: they may stay, even if the owner may no
   * longer view them.
   *
   * @throws AppError not_found for another item that the owner may not view; invalid_request for a question whose correct choice does
   *   not exist
   */
  async function toStoredItems(
    tx: DatabaseTransaction,
    user: User,
    newItems: NewCollection['items'],
    storedItems: readonly StoredItem[] = [],
  ): Promise<StoredItem[]> {
    const isStored = ({ type, id }: NewCollection['items'][number]) =>
      storedItems.some((item) => item.type === type && item.id === id);
    const addedItems = newItems.filter((item) => !isStored(item));
    const targets = await findTargets(user, addedItems, tx);
    if (!newItems.every(hasExistingChoices)) throw new AppError('invalid_request', { field: 'items' });
    for (const item of addedItems) {
      if (!visiblePartsOf(item, user.uid, targets).access) throw new AppError('not_found');
    }
    return newItems.map(({ type, id, text, question }) => ({
      type,
      id,
      text: text || null,
      question: question ?? null,
    }));
  }

  /** Returns the readers in stored form; `members` means all accounts. @throws AppError not_found for an unknown account */
  async function toStoredReaders(tx: DatabaseTransaction, newReaders: NewCollection['readers']) {
    if (newReaders === 'members') return { readers: 'members', readerUids: [] } as const;
    const readerUids = [...new Set(newReaders)];
    if ((await listUsersByUid(tx, readerUids)).length < readerUids.length) throw new AppError('not_found');
    return { readers: 'listed', readerUids } as const;
  }

  async function findReadable(
    reader: User,
    id: string,
    connection: Connection = db,
  ): Promise<StoredCollection> {
    const stored = await findCollection(connection, id);
    const isReadable =
      stored !== null &&
      (stored.uid === reader.uid || stored.readers === 'members' || stored.readerUids.includes(reader.uid));
    if (!isReadable) throw new AppError('not_found');
    return stored;
  }

  async function findOwn(uid: string, id: string, connection: Connection = db): Promise<StoredCollection> {
    const stored = await findCollection(connection, id);
    if (stored?.uid !== uid) throw new AppError('not_found');
    return stored;
  }

  async function get(reader: User, id: string, connection: Connection = db): Promise<Collection> {
    const [seen] = await toSeenCollections(reader, [await findReadable(reader, id, connection)], connection);
    if (seen === undefined) throw new AppError('not_found');
    return seen;
  }

  return {
    list: async (reader) =>
      toSeenCollections(reader, await listCollectionsFor(db, reader.uid, maxListedCollections), db),
    get,
    findOwn,

    create: (actor, { title, description, items, readers }) =>
      edit(actor, 'collection-created', async (tx, user) => {
        if ((await countCollectionsOf(tx, actor.uid)) >= maxOwnCollections) {
          throw new AppError('too_many_collections');
        }
        const at = now().toISOString();
        const stored: StoredCollection = {
          id: randomUUID(),
          uid: actor.uid,
          ownerName: user.displayName,
          title,
          description: description || null,
          ...(await toStoredReaders(tx, readers)),
          items: await toStoredItems(tx, user, items),
          version: 1,
          created_at: at,
          updated_at: at,
        };
        await saveCollection(tx, stored);
        return [stored, await get(user, stored.id, tx)];
      }),

    update: (actor, id, { version, title, description, items, readers }) =>
      edit(actor, 'collection-changed', async (tx, user) => {
        const before = await findOwn(actor.uid, id, tx);
        if (version !== undefined && version !== before.version) throw new AppError('conflict');
        const stored: StoredCollection = {
          ...before,
          ...(title !== undefined && { title }),
          ...(description !== undefined && { description: description || null }),
          ...(readers !== undefined && (await toStoredReaders(tx, readers))),
          ...(items !== undefined && { items: await toStoredItems(tx, user, items, before.items) }),
          version: before.version + 1,
          updated_at: now().toISOString(),
        };
        await saveCollection(tx, stored);
        return [stored, await get(user, id, tx)];
      }),

    delete: (actor, id) =>
      edit(actor, 'collection-deleted', async (tx) => {
        const stored = await findOwn(actor.uid, id, tx);
        await deleteCollectionRow(tx, id);
        return [stored, undefined];
      }),
  };
}

/** Whether all correct choices of the item's question exist. The request schema does not compare the indexes with the number of choices. */
function hasExistingChoices({ question }: NewCollection['items'][number]): boolean {
  return question?.kind !== 'choice' || question.correct.every((index) => index < question.choices.length);
}

/** The parts of an item that depend on the rights of the reader. */
type VisibleParts = Pick<CollectionItem, 'access' | 'title' | 'images' | 'field' | 'colours'>;

const noAccess: VisibleParts = { access: false, title: null, images: [], field: null };

/** Returns what the reader may see of an item. @param owner uid of the collection's owner, to whom its saved views belong */
function visiblePartsOf(
  { type, id }: Pick<StoredItem, 'type' | 'id'>,
  owner: string,
  targets: Targets,
): VisibleParts {
  if (type === 'case') {
    const visibleCase = targets.cases.get(id);
    if (visibleCase === undefined) return noAccess;
    const images = visibleCase.slides.map(({ image_id }) => image_id);
    return { access: true, title: visibleCase.name, images, field: null };
  }
  if (type === 'slide') {
    const image = targets.images.get(id);
    return image === undefined
      ? noAccess
      : { access: true, title: image.file_name, images: [id], field: null };
  }
  const view = targets.views.get(id);
  if (view?.uid !== owner || !targets.images.has(view.image_id)) return noAccess;
  const colours = coloursOf(view);
  return {
    access: true,
    title: view.title,
    images: [view.image_id],
    field: fieldOf(view),
    ...(colours !== null && { colours }),
  };
}
