/**
 * The draft of a collection (a sequence of slides, cases and saved views with texts and questions) in the editor, and its conversion from
 * and to the types of the API.
 */
import type { Collection, CollectionItem, Question, QuestionInResponse } from '@lamina/contract';
import type { CollectionChanges } from '../../api/collections.ts';

/** Smallest number of choices of a question. A new question starts with as many empty choices. */
export const minChoices = 2;
/** The corners of the smallest region, a triangle. */
export const minCorners = 3;

/**
 * An item of the collection. `images` are the ids of its slides. `access` is whether the owner may view these slides; without access,
 * `title` is null. `field` is the part of the slide that a saved view shows; it is null for slides and cases.
 */
export interface DraftItem
  extends Pick<CollectionItem, 'type' | 'id' | 'access' | 'title' | 'images' | 'field'> {
  /** Key for React, unique in this browser tab: two items may have the same `id`. */
  readonly key: string;
  readonly text: string;
  readonly question: DraftQuestion | null;
}

/** A question that may be incomplete. It has the fields of all kinds, so that its values survive a change of the kind. */
export interface DraftQuestion {
  readonly kind: Question['kind'];
  readonly text: string;
  readonly choices: readonly string[];
  /** Indexes of the correct choices. */
  readonly correct: readonly number[];
  /** Corners in level-0 pixels; unlike in GeoJSON, the first corner is not repeated at the end. */
  readonly region: readonly { readonly x: number; readonly y: number }[];
  /** Inner rings of a region that was created with the API, as in GeoJSON. The dialog for drawing a region makes none. */
  readonly holes: readonly number[][][];
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

let lastKey = 0;

/** Returns the draft of an item from the API, or of a view, slide or case that the owner adds (`access` then defaults to true). */
export function draftItemOf(
  item: Pick<CollectionItem, 'type' | 'id' | 'title' | 'images'> & Partial<CollectionItem>,
): DraftItem {
  lastKey += 1;
  const { type, id, title, images, access = true, field = null, text = null, question = null } = item;
  return {
    key: `${lastKey}`,
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
  return { kind, text: '', choices: ['', ''], correct: [], region: [], holes: [], explanation: '' };
}

function draftQuestionOf({
  kind,
  text,
  choices,
  correct,
  region,
  explanation,
}: QuestionInResponse): DraftQuestion {
  const [outerRing = [], ...holes] = region?.coordinates ?? [];
  const corners = outerRing.slice(0, -1); // the last corner repeats the first
  return {
    kind,
    text,
    choices: choices ?? ['', ''],
    correct: correct ?? [],
    region: corners.map(([x = 0, y = 0]) => ({ x, y })),
    holes,
    explanation: explanation ?? '',
  };
}

/** A part that a question needs before it can be saved. `correct` means that no choice is marked as correct. */
export type MissingPart = 'text' | 'choices' | 'correct' | 'region';

/** Returns the first missing part of a question; null when it is complete. */
export function missingPartOf(question: DraftQuestion): MissingPart | null {
  if (question.text.trim() === '') return 'text';
  if (question.kind === 'choice') {
    const nonEmptyChoices = nonEmptyChoicesOf(question);
    if (nonEmptyChoices.length < minChoices) return 'choices';
    if (!nonEmptyChoices.some(({ index }) => question.correct.includes(index))) return 'correct';
  }
  if (question.kind === 'region' && question.region.length < minCorners) return 'region';
  return null;
}

/** Returns the choices that have a text, with their indexes in the draft. */
function nonEmptyChoicesOf({ choices }: DraftQuestion) {
  return choices.map((text, index) => ({ text: text.trim(), index })).filter(({ text }) => text !== '');
}

/** Returns the question for the API, without empty choices. The indexes in `correct` refer to the remaining choices. */
function questionOf(draft: DraftQuestion): Question {
  const text = draft.text.trim();
  const explanation = draft.explanation.trim();
  const common = { text, ...(explanation !== '' && { explanation }) };
  if (draft.kind === 'text') return { kind: 'text', ...common };
  if (draft.kind === 'choice') {
    const nonEmptyChoices = nonEmptyChoicesOf(draft);
    return {
      kind: 'choice',
      ...common,
      choices: nonEmptyChoices.map((choice) => choice.text),
      correct: nonEmptyChoices.flatMap(({ index }, remainingIndex) =>
        draft.correct.includes(index) ? [remainingIndex] : [],
      ),
    };
  }
  const corners = draft.region.map(({ x, y }) => [x, y]);
  const closedRing = [...corners, ...corners.slice(0, 1)];
  return {
    kind: 'region',
    ...common,
    region: { type: 'Polygon', coordinates: [closedRing, ...draft.holes] },
  };
}

/** Returns the changes for the API. The caller must have checked with `missingPartOf` that all questions are complete. */
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

/** Returns a copy of the list in which an entry has moved to another index, or the same list when an index is out of range. */
export function moveEntry<T>(list: readonly T[], fromIndex: number, toIndex: number): readonly T[] {
  const entry = list[fromIndex];
  if (entry === undefined || toIndex < 0 || toIndex >= list.length) return list;
  return list.toSpliced(fromIndex, 1).toSpliced(toIndex, 0, entry);
}
