/** Collections with their items and readers, the answers to their questions, and presentations. */
import { Question } from '@lamina/contract';
import type { Change, Connection } from './database.ts';
import { isOneOf } from './dialects.ts';
import type { Row } from './schema.ts';

export interface StoredItem {
  readonly type: Row<'collection_items'>['type'];
  readonly id: string;
  readonly text: string | null;
  readonly question: Question | null;
}

export interface StoredCollection extends Row<'collections'> {
  readonly items: readonly StoredItem[];
  /** Uids; empty for a collection whose readers are all members. */
  readonly readerUids: readonly string[];
  readonly ownerName: string | null;
}

/** Lists the collections that an account owns or may read, last changed first. */
export async function listCollectionsFor(db: Connection, uid: string): Promise<StoredCollection[]> {
  const rows = await db
    .selectFrom('collections')
    .selectAll()
    .where((eb) =>
      eb.or([
        eb('uid', '=', uid),
        eb('readers', '=', 'members'),
        eb('id', 'in', eb.selectFrom('collection_readers').select('collection_id').where('uid', '=', uid)),
      ]),
    )
    .orderBy('updated_at', 'desc')
    .orderBy('id')
    .execute();
  return complete(db, rows);
}

export async function findCollection(db: Connection, id: string): Promise<StoredCollection | null> {
  const rows = await db.selectFrom('collections').selectAll().where('id', '=', id).execute();
  return (await complete(db, rows))[0] ?? null;
}

async function complete(db: Connection, rows: readonly Row<'collections'>[]): Promise<StoredCollection[]> {
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
  const itemsOf = Map.groupBy(items, ({ collection_id }) => collection_id);
  const readersOf = Map.groupBy(readers, ({ collection_id }) => collection_id);
  const names = new Map(owners.map(({ uid, display_name }) => [uid, display_name]));
  return rows.map((row) => ({
    ...row,
    items: (itemsOf.get(row.id) ?? []).map(({ type, target_id, text, question }) => ({
      type,
      id: target_id,
      text,
      question: question === null ? null : Question.parse(JSON.parse(question)),
    })),
    readerUids: (readersOf.get(row.id) ?? []).map(({ uid }) => uid),
    ownerName: names.get(row.uid) ?? null,
  }));
}

/** Inserts a collection, or replaces it with its items and readers. */
export async function saveCollection(
  tx: Change,
  { items, readerUids, ownerName: _, ...row }: StoredCollection,
): Promise<void> {
  const { id, ...rest } = row;
  await tx
    .insertInto('collections')
    .values(row)
    .onConflict((conflict) => conflict.column('id').doUpdateSet(rest))
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

export async function deleteCollectionRow(tx: Change, id: string): Promise<void> {
  await tx.deleteFrom('collections').where('id', '=', id).execute();
}

/** Stores an answer; a later one of the same person replaces it and counts as a further attempt. */
export async function saveAnswer(
  tx: Change,
  row: Omit<Row<'collection_answers'>, 'attempts'>,
): Promise<void> {
  const { answer, is_correct, answered_at } = row;
  await tx
    .insertInto('collection_answers')
    .values({ ...row, attempts: 1 })
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

/** Lists answers in the order in which they were given. */
export function listAnswerRows(db: Connection, collectionId: string) {
  return db
    .selectFrom('collection_answers')
    .leftJoin('users', 'users.uid', 'collection_answers.uid')
    .selectAll('collection_answers')
    .select(['users.display_name', 'users.email'])
    .where('collection_id', '=', collectionId)
    .orderBy('answered_at')
    .orderBy('item_key')
    .orderBy('person')
    .execute();
}

export type PresentationRow = Row<'presentations'>;

/** Stores what the presenter shows now. @returns its number */
export async function savePresentation(
  tx: Change,
  { collection_id, state, updated_at }: Omit<PresentationRow, 'seq'>,
): Promise<number> {
  const { seq } = await tx
    .insertInto('presentations')
    .values({ collection_id, state, updated_at, seq: 1 })
    .onConflict((conflict) =>
      conflict.column('collection_id').doUpdateSet((eb) => ({
        state,
        updated_at,
        seq: eb('presentations.seq', '+', 1),
      })),
    )
    .returning('seq')
    .executeTakeFirstOrThrow();
  return seq;
}

export async function findPresentations(
  db: Connection,
  collectionIds: readonly string[],
): Promise<PresentationRow[]> {
  return db
    .selectFrom('presentations')
    .selectAll()
    .where(isOneOf(db, 'collection_id', collectionIds))
    .execute();
}
