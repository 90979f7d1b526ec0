/**
 * Saves answers to the questions of a collection, and lists them for the owner of the collection. The answers come from readers
 * (accounts) and visitors (who have a share link, but no account).
 */
import {
  AppError,
  type answerQuestion,
  type BodyOf,
  type CollectionAnswer,
  type ResponseOf,
} from '@lamina/contract';
import type { ImageSession } from '../domain/image-session.ts';
import { isCorrect } from '../domain/questions.ts';
import { csvByteOrderMark, formatCsvLine } from '../platform/csv.ts';
import { findCases } from '../store/cases.ts';
import { listAnswerRows, type StoredItem, saveAnswer } from '../store/collections.ts';
import type { Database } from '../store/database.ts';
import { findSavedViews } from '../store/saved-views.ts';
import type { Collections } from './collections.ts';
import { type Follower, findFollowedCollection } from './followers.ts';
import { itemKeys, positionOf } from './item-keys.ts';

export interface Answers {
  /**
   * Saves an answer. Returns whether it is correct (null for a free text), and the explanation of the question.
   *
   * @throws AppError not_found, also for an item without a question or one that the follower may not view; invalid_request for an answer
   *   that the question does not allow
   */
  give(
    follower: Follower,
    collectionId: string,
    answer: BodyOf<typeof answerQuestion>,
  ): Promise<ResponseOf<typeof answerQuestion>>;
  /** Returns all answers in the order of the items. @throws AppError not_found for a collection of another account */
  list(uid: string, collectionId: string): Promise<CollectionAnswer[]>;
}

interface Dependencies {
  readonly db: Database;
  readonly now: () => Date;
  readonly collections: Collections;
}

export function createAnswers({ db, now, collections }: Dependencies): Answers {
  return {
    async give(follower, collectionId, { item, answer }) {
      const { items } = await findFollowedCollection(db, follower, collectionId);
      const position = positionOf(items, item);
      const askedItem = items[position];
      const question = askedItem?.question;
      const key = itemKeys(items)[position];
      if (askedItem === undefined || !question || key === undefined) throw new AppError('not_found');
      const mayView =
        'user' in follower
          ? (await collections.get(follower.user, collectionId)).items[position]?.access === true
          : await opensForVisitor(db, follower, askedItem);
      if (!mayView) throw new AppError('not_found'); // the explanation may describe the slide
      const correct = isCorrect(question, answer);
      // Undefined: the answer is of another kind than the question (a text for a choice), or names a choice that does not exist.
      if (correct === undefined) throw new AppError('invalid_request', { field: 'answer' });
      const uid = 'user' in follower ? follower.user.uid : null;
      const person = 'user' in follower ? follower.user.uid : follower.hash; // the session hash identifies a visitor
      await db.transaction().execute((tx) =>
        saveAnswer(tx, {
          collection_id: collectionId,
          item_key: key,
          person,
          uid,
          answer: JSON.stringify(answer),
          is_correct: storedFlag(correct),
          answered_at: now().toISOString(),
        }),
      );
      const { explanation } = question;
      return { correct, ...(explanation && { explanation }) };
    },

    async list(uid, collectionId) {
      const { items } = await collections.findOwn(uid, collectionId);
      const keys = itemKeys(items);
      const rows = await listAnswerRows(db, collectionId);
      const names = namesOfPersons(rows);
      const answers = rows.map((row): CollectionAnswer => {
        const position = keys.indexOf(row.item_key);
        return {
          item: position === -1 ? null : position,
          question: items[position]?.question?.text ?? null,
          person: names.get(row.person) ?? '',
          uid: row.uid,
          answer: JSON.parse(row.answer) as CollectionAnswer['answer'],
          correct: row.is_correct === null ? null : row.is_correct === 1,
          attempts: row.attempts,
          answered_at: row.answered_at,
        };
      });
      // Answers to items that were removed from the collection come last.
      const sortPositionOf = ({ item }: CollectionAnswer) => item ?? items.length;
      return answers.sort((a, b) => sortPositionOf(a) - sortPositionOf(b));
    },
  };
}

/** Whether a visitor's share link opens a slide of the item. */
async function opensForVisitor(
  db: Database,
  { visitor, inaccessibleDatasets }: ImageSession,
  { type, id }: Pick<StoredItem, 'type' | 'id'>,
): Promise<boolean> {
  const isOpen = (imageId: string) => visitor?.images.has(imageId) ?? false;
  if (type === 'slide') return isOpen(id);
  if (type === 'view') return (await findSavedViews(db, [id])).some(({ image_id }) => isOpen(image_id));
  // A slide of the case may be open only because another item leads to it, so the dataset of the case is checked, too.
  return (await findCases(db, [id])).some(
    ({ dataset, slides }) =>
      !inaccessibleDatasets.has(dataset) && slides.some(({ image_id }) => isOpen(image_id)),
  );
}

/**
 * Returns the names of all persons who have answered, by `person`. Visitors, and accounts without a display name, are numbered in the order
 * of the rows, that is of their first answers, so that a number does not change. E-mail addresses are not used, because only the account
 * itself and administrators may see them.
 */
function namesOfPersons(rows: Awaited<ReturnType<typeof listAnswerRows>>): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  const counts = { Visitor: 0, Member: 0 };
  for (const { person, uid, display_name } of rows) {
    if (names.has(person)) continue;
    const kind = uid === null ? 'Visitor' : 'Member';
    names.set(person, display_name ?? `${kind} ${++counts[kind]}`);
  }
  return names;
}

const csvColumns = [
  'item',
  'question',
  'person',
  'uid',
  'answer',
  'correct',
  'attempts',
  'answered_at',
] as const;

/**
 * Returns the answers as CSV (RFC 4180, UTF-8 with a byte order mark). Items are numbered from 1 (in the API, from 0); the indexes of
 * chosen choices start at 0.
 */
export function answersCsv(answers: readonly CollectionAnswer[]): string {
  const lines = answers.map((answer) =>
    formatCsvLine([
      answer.item === null ? '' : String(answer.item + 1),
      answer.question,
      answer.person,
      answer.uid,
      typeof answer.answer === 'string' ? answer.answer : answer.answer.join(' '),
      correctnessLabel(answer.correct),
      String(answer.attempts),
      answer.answered_at,
    ]),
  );
  return csvByteOrderMark + formatCsvLine(csvColumns) + lines.join('');
}

/** Returns a boolean as the database stores it. */
function storedFlag(value: boolean | null): 0 | 1 | null {
  if (value === null) return null;
  return value ? 1 : 0;
}

/** Returns the text for the column `correct` of the CSV. @param value null for a free text, which the server does not judge */
function correctnessLabel(value: boolean | null): string {
  if (value === null) return '';
  return value ? 'yes' : 'no';
}
