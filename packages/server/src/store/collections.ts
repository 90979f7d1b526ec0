/**
 * Queries for collections (ordered lists of slides, cases and saved views, each with an optional text and question),
 * for the answers to their questions, and for presentations, in which followers see what a presenter shows.
 */
import { Question } from '@lamina/contract';
import type { ExpressionBuilder } from 'kysely';
import type { Connection, DatabaseTransaction } from './database.ts';
import { isOneOf } from './dialects.ts';
import type { Row, Tables } from './schema.ts';
import { parseRole, parseStatus } from './users.ts';

/** An item of a collection: a slide, a case or a saved view. */
export interface StoredItem {
  readonly type: Row<'collection_items'>['type'];
  /** Id of the slide, case or saved view. */
  readonly id: string;
  readonly text: string | null;
  readonly question: Question | null;
}

export interface StoredCollection extends Row<'collections'> {
  readonly items: readonly StoredItem[];
  /** Accounts that may read a collection whose `readers` is `listed`; empty when all members may read it. */
  readonly readerUids: readonly string[];
  /** Display name of the owner; null when the account has none. */
  readonly ownerName: string | null;
}

/**
 * Lists the collections that an account owns or may read, the most recently changed first. If there are more than `limit`, those of other
 * accounts that were changed longest ago are left out.
 *
 * @param limit at least `maxOwnCollections`, so that no collection of the account itself is left out
 */
export async function listCollectionsFor(
  db: Connection,
  uid: string,
  limit: number,
): Promise<StoredCollection[]> {
  const rows = await db
    .selectFrom('collections')
    .selectAll()
    .where((eb) => isReadableBy(eb, uid))
    .orderBy((eb) => eb.case().when('uid', '=', uid).then(0).else(1).end())
    .orderBy('updated_at', 'desc')
    .orderBy('id')
    .limit(limit)
    .execute();
  // The dates are in ISO 8601. The sort is stable, so collections of the same time stay in their order.
  rows.sort((a, b) => (a.updated_at === b.updated_at ? 0 : a.updated_at > b.updated_at ? -1 : 1));
  return withItemsReadersAndOwners(db, rows);
}

export async function countCollectionsOf(db: Connection, uid: string): Promise<number> {
  const { count } = await db
    .selectFrom('collections')
    .select((eb) => eb.fn.countAll().as('count'))
    .where('uid', '=', uid)
    .executeTakeFirstOrThrow();
  return Number(count);
}

export async function findCollection(db: Connection, id: string): Promise<StoredCollection | null> {
  const rows = await db.selectFrom('collections').selectAll().where('id', '=', id).execute();
  return (await withItemsReadersAndOwners(db, rows))[0] ?? null;
}

/**
 * Whether a collection exists and the account owns it or may read it. With `uid` null (a share link gives the access), only whether it
 * exists. Does not read the items, which may be large.
 */
export async function mayReadCollection(db: Connection, id: string, uid: string | null): Promise<boolean> {
  let query = db.selectFrom('collections').select('id').where('id', '=', id);
  if (uid !== null) query = query.where((eb) => isReadableBy(eb, uid));
  return (await query.executeTakeFirst()) !== undefined;
}

/** Returns the condition that an account owns a collection or may read it. */
function isReadableBy(eb: ExpressionBuilder<Tables, 'collections'>, uid: string) {
  return eb.or([
    eb('uid', '=', uid),
    eb('readers', '=', 'members'),
    eb('id', 'in', eb.selectFrom('collection_readers').select('collection_id').where('uid', '=', uid)),
  ]);
}

async function withItemsReadersAndOwners(
  db: Connection,
  rows: readonly Row<'collections'>[],
): Promise<StoredCollection[]> {
  if (rows.length === 0) return [];
  const ids = rows.map(({ id }) => id);
  const isSelected = isOneOf(db, 'collection_id', ids);
  const items = await db
    .selectFrom('collection_items')
    .selectAll()
    .where(isSelected)
    .orderBy('position')
    .execute();
  const readers = await db
    .selectFrom('collection_readers')
    .selectAll()
    .where(isSelected)
    .orderBy('uid')
    .execute();
  const owners = await db
    .selectFrom('users')
    .select(['uid', 'display_name'])
    .where(
      isOneOf(
        db,
        'uid',
        rows.map(({ uid }) => uid),
      ),
    )
    .execute();
  const itemsByCollection = Map.groupBy(items, ({ collection_id }) => collection_id);
  const readersByCollection = Map.groupBy(readers, ({ collection_id }) => collection_id);
  const ownerNamesByUid = new Map(owners.map(({ uid, display_name }) => [uid, display_name]));
  return rows.map((row) => ({
    ...row,
    items: (itemsByCollection.get(row.id) ?? []).map(({ type, target_id, text, question }) => ({
      type,
      id: target_id,
      text,
      question: question === null ? null : Question.parse(JSON.parse(question)),
    })),
    readerUids: (readersByCollection.get(row.id) ?? []).map(({ uid }) => uid),
    ownerName: ownerNamesByUid.get(row.uid) ?? null,
  }));
}

/** Inserts or replaces a collection with its items and readers. */
export async function saveCollection(
  tx: DatabaseTransaction,
  { items, readerUids, ownerName: _, ...row }: StoredCollection,
): Promise<void> {
  const { id, ...fields } = row;
  await tx
    .insertInto('collections')
    .values(row)
    .onConflict((conflict) => conflict.column('id').doUpdateSet(fields))
    .execute();
  await tx.deleteFrom('collection_items').where('collection_id', '=', id).execute();
  if (items.length > 0) {
    await tx
      .insertInto('collection_items')
      .values(
        items.map(({ id: target_id, type, text, question }, position) => ({
          collection_id: id,
          position,
          type,
          target_id,
          text,
          question: question === null ? null : JSON.stringify(question),
        })),
      )
      .execute();
  }
  await tx.deleteFrom('collection_readers').where('collection_id', '=', id).execute();
  if (readerUids.length > 0) {
    await tx
      .insertInto('collection_readers')
      .values(readerUids.map((uid) => ({ collection_id: id, uid })))
      .execute();
  }
}

/** Deletes a collection and, by foreign keys, its items, readers, answers and presentation. */
export async function deleteCollectionRow(tx: DatabaseTransaction, id: string): Promise<void> {
  await tx.deleteFrom('collections').where('id', '=', id).execute();
}

/** Stores the answer of a person (an account or a visitor), replaces an earlier answer, and counts the attempt. */
export async function saveAnswer(
  tx: DatabaseTransaction,
  row: Omit<Row<'collection_answers'>, 'attempts' | 'first_answered_at'>,
): Promise<void> {
  const { answer, is_correct, answered_at } = row;
  await tx
    .insertInto('collection_answers')
    .values({ ...row, attempts: 1, first_answered_at: answered_at })
    .onConflict((conflict) =>
      conflict.columns(['collection_id', 'item_key', 'person']).doUpdateSet((eb) => ({
        answer,
        is_correct,
        answered_at,
        attempts: eb('collection_answers.attempts', '+', 1),
      })),
    )
    .execute();
}

/**
 * Lists the answers in a collection in the order of the first attempts, with the name of the account (null for visitors). Rows from
 * before the column `first_answered_at` are sorted by the last attempt instead.
 */
export function listAnswerRows(db: Connection, collectionId: string) {
  return db
    .selectFrom('collection_answers')
    .leftJoin('users', 'users.uid', 'collection_answers.uid')
    .selectAll('collection_answers')
    .select('users.display_name')
    .where('collection_id', '=', collectionId)
    .orderBy((eb) => eb.fn.coalesce('first_answered_at', 'answered_at'))
    .orderBy('item_key')
    .orderBy('person')
    .execute();
}

export type PresentationRow = Row<'presentations'>;

/**
 * Stores what the presenter shows now. A state that is sent again only renews `updated_at`.
 *
 * @returns the number of changes of the presentation so far
 */
export async function savePresentation(
  tx: DatabaseTransaction,
  { collection_id, state, updated_at }: Omit<PresentationRow, 'seq'>,
): Promise<number> {
  const { seq } = await tx
    .insertInto('presentations')
    .values({ collection_id, state, updated_at, seq: 1 })
    .onConflict((conflict) =>
      conflict.column('collection_id').doUpdateSet((eb) => ({
        state,
        updated_at,
        seq: eb
          .case()
          .when('presentations.state', '=', state)
          .then(eb.ref('presentations.seq'))
          .else(eb('presentations.seq', '+', 1))
          .end(),
      })),
    )
    .returning('seq')
    .executeTakeFirstOrThrow();
  return seq;
}

/**
 * Finds the presentations of collections with status, role and end date of the presenter's account, unordered. Collections that were
 * never presented are missing from the result.
 */
export async function findPresentations(db: Connection, collectionIds: readonly string[]) {
  const rows = await db
    .selectFrom('presentations')
    .innerJoin('collections', 'collections.id', 'presentations.collection_id')
    .innerJoin('users', 'users.uid', 'collections.uid')
    .selectAll('presentations')
    .select(['users.status', 'users.role', 'users.expires_at'])
    .where(isOneOf(db, 'presentations.collection_id', collectionIds))
    .execute();
  return rows.map(({ status, role, expires_at, ...row }) => ({
    ...row,
    presenter: { status: parseStatus(status), role: parseRole(role), expiresAt: expires_at },
  }));
}
