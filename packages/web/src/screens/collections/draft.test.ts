import { describe, expect, it } from 'vitest';
import {
  changesOf,
  type DraftQuestion,
  draftItemOf,
  emptyQuestion,
  missingPartOf,
  moveEntry,
} from './draft.ts';

const slide: Parameters<typeof draftItemOf>[0] = { type: 'slide', id: 'a', title: 'A', images: ['a'] };
const choiceQuestion: DraftQuestion = {
  ...emptyQuestion('choice'),
  text: 'Hangisi?',
  choices: ['Bir', '', 'İki'],
  correct: [2],
};

/** Returns the question that the API receives. */
function savedQuestionOf(question: DraftQuestion) {
  const item = { ...draftItemOf(slide), question };
  return changesOf({ title: ' T ', description: '', readers: [], items: [item] }).items?.[0]?.question;
}

describe('the draft of a collection in its editor', () => {
  it('is saved without the empty choices of a question, and the index of the correct choice does not count them', () => {
    expect(savedQuestionOf(choiceQuestion)).toEqual({
      kind: 'choice',
      text: 'Hangisi?',
      choices: ['Bir', 'İki'],
      correct: [1],
    });
  });

  it('saves the region of a question as a closed polygon, and loads it without the repeated first corner', () => {
    const corners = [
      { x: 0, y: 0 },
      { x: 9, y: 0 },
      { x: 9, y: 9 },
    ];
    const question = { ...emptyQuestion('region'), text: 'Nerede?', region: corners, explanation: 'Orada.' };
    const region = {
      type: 'Polygon' as const,
      coordinates: [
        [
          [0, 0],
          [9, 0],
          [9, 9],
          [0, 0],
        ],
      ],
    };
    expect(savedQuestionOf(question)).toEqual({
      kind: 'region',
      text: 'Nerede?',
      explanation: 'Orada.',
      region,
    });
    expect(
      draftItemOf({ ...slide, question: { kind: 'region', text: '', region } }).question?.region,
    ).toEqual(corners);
  });

  it('is saved with the holes of a region that was created with the API', () => {
    const outline = [
      [0, 0],
      [9, 0],
      [9, 9],
      [0, 0],
    ];
    const hole = outline.map((corner) => corner.map((coordinate) => 1 + coordinate / 9));
    const region = { type: 'Polygon' as const, coordinates: [outline, hole] };
    const { question } = draftItemOf({ ...slide, question: { kind: 'region', text: 'Nerede?', region } });
    if (question === null) throw new Error('the draft has no question');
    expect(savedQuestionOf(question)).toEqual({ kind: 'region', text: 'Nerede?', region });
  });

  it.each([
    ['text', { ...choiceQuestion, text: ' ' }, 'has a blank text'],
    ['choices', { ...choiceQuestion, choices: ['Bir', ''] }, 'has only one choice with a text'],
    ['correct', { ...choiceQuestion, correct: [1] }, 'has a correct choice without a text'],
    ['region', { ...emptyQuestion('region'), text: 'Nerede?' }, 'asks for a region but has none'],
  ])('reports the missing part "$0" of a question that $2', (missingPart, question) => {
    expect(missingPartOf(question)).toBe(missingPart);
  });

  it.each([
    ['choice', choiceQuestion],
    ['free-text', { ...emptyQuestion('text'), text: 'Anlatın.' }],
  ])('reports no missing part of a complete %s question', (_, question) => {
    expect(missingPartOf(question)).toBeNull();
  });
});

describe('moveEntry (reorders a list in the editor of a collection)', () => {
  it('moves an entry to another index, and changes nothing when the index is out of range', () => {
    expect(moveEntry(['a', 'b', 'c'], 0, 2)).toEqual(['b', 'c', 'a']);
    expect(moveEntry(['a', 'b'], 0, -1)).toEqual(['a', 'b']);
  });
});
