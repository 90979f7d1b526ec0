/** A collection while its owner edits it. */
import type { Collection, CollectionItem, Question, ShownQuestion } from '@lamina/contract';
import type { CollectionChanges } from '../../api/collections.ts';

export interface DraftItem
  extends Pick<CollectionItem, 'type' | 'id' | 'access' | 'title' | 'images' | 'field'> {
  /** Stays the same while the order changes. */
  readonly key: string;
  readonly text: string;
  readonly question: DraftQuestion | null;
}

/** A question that may still be incomplete. */
export interface DraftQuestion {
  readonly kind: Question['kind'];
  readonly text: string;
  readonly choices: readonly string[];
  /** Indexes of the correct choices. */
  readonly correct: readonly number[];
  /** Corners in image pixels, without the repeated first one. */
  readonly region: readonly { readonly x: number; readonly y: number }[];
  readonly explanation: string;
}

export interface Draft {
  readonly title: string;
  readonly description: string;
  readonly readers: Collection['readers'];
  readonly items: readonly DraftItem[];
}

export function draftOf({ title, description, readers, items }: Collection): Draft {
  return { title, description: description ?? '', readers, items: items.map(draftItemOf) };
}

let keyCount = 0;

export function draftItemOf(
  item: Pick<CollectionItem, 'type' | 'id' | 'title' | 'images'> & Partial<CollectionItem>,
): DraftItem {
  keyCount += 1;
  const { type, id, title, images, access = true, field = null, text = null, question = null } = item;
  return {
    key: `${keyCount}`,
    type,
    id,
    title,
    images,
    access,
    field,
    text: text ?? '',
    question: question === null ? null : draftQuestionOf(question),
  };
}

export function emptyQuestion(kind: Question['kind']): DraftQuestion {
  return { kind, text: '', choices: ['', ''], correct: [], region: [], explanation: '' };
}

function draftQuestionOf({
  kind,
  text,
  choices,
  correct,
  region,
  explanation,
}: ShownQuestion): DraftQuestion {
  const corners = (region?.coordinates[0] ?? []).slice(0, -1);
  return {
    kind,
    text,
    choices: choices ?? ['', ''],
    correct: correct ?? [],
    region: corners.map(([x = 0, y = 0]) => ({ x, y })),
    explanation: explanation ?? '',
  };
}

/** What is still missing of a question. */
export type Missing = 'text' | 'choices' | 'correct' | 'region';

export function missingOf(question: DraftQuestion): Missing | null {
  if (question.text.trim() === '') return 'text';
  if (question.kind === 'choice') {
    if (filledChoices(question).length < 2) return 'choices';
    if (filledChoices(question).every(({ index }) => !question.correct.includes(index))) return 'correct';
  }
  if (question.kind === 'region' && question.region.length < 3) return 'region';
  return null;
}

function filledChoices({ choices }: DraftQuestion) {
  return choices.map((text, index) => ({ text: text.trim(), index })).filter(({ text }) => text !== '');
}

/** @returns the question as the API takes it; choices without a text are left out */
function questionOf(draft: DraftQuestion): Question {
  const text = draft.text.trim();
  const explanation = draft.explanation.trim();
  const common = { text, ...(explanation !== '' && { explanation }) };
  if (draft.kind === 'text') return { kind: 'text', ...common };
  if (draft.kind === 'choice') {
    const filled = filledChoices(draft);
    return {
      kind: 'choice',
      ...common,
      choices: filled.map((choice) => choice.text),
      correct: filled.flatMap(({ index }, place) => (draft.correct.includes(index) ? [place] : [])),
    };
  }
  const ring = draft.region.map(({ x, y }) => [x, y]);
  return {
    kind: 'region',
    ...common,
    region: { type: 'Polygon', coordinates: [[...ring, ...ring.slice(0, 1)]] },
  };
}

/** @returns the changes of a draft without missing parts, as the API takes them */
export function changesOf({ title, description, readers, items }: Draft): CollectionChanges {
  return {
    title: title.trim(),
    description: description.trim() || null,
    readers,
    items: items.map(({ type, id, text, question }) => ({
      type,
      id,
      text: text.trim() || null,
      question: question === null ? null : questionOf(question),
    })),
  };
}

/** Returns the list with the entry at `from` at `to` instead. */
export function moved<T>(list: readonly T[], from: number, to: number): readonly T[] {
  const entry = list[from];
  if (entry === undefined || to < 0 || to >= list.length) return list;
  const rest = list.toSpliced(from, 1);
  return rest.toSpliced(to, 0, entry);
}
