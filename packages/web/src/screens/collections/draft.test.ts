import { describe, expect, it } from 'vitest';
import { changesOf, type DraftQuestion, draftItemOf, emptyQuestion, missingOf, moved } from './draft.ts';

const slide: Parameters<typeof draftItemOf>[0] = { type: 'slide', id: 'a', title: 'A', images: ['a'] };
const choice: DraftQuestion = {
  ...emptyQuestion('choice'),
  text: 'Hangisi?',
  choices: ['Bir', '', 'İki'],
  correct: [2],
};

function sent(question: DraftQuestion) {
  const item = { ...draftItemOf(slide), question };
  return changesOf({ title: ' T ', description: '', readers: [], items: [item] }).items?.[0]?.question;
}

describe('the draft of a collection', () => {
  it('leaves empty choices out and keeps the correct one correct', () => {
    expect(sent(choice)).toEqual({ kind: 'choice', text: 'Hangisi?', choices: ['Bir', 'İki'], correct: [1] });
  });

  it('closes the polygon of a region', () => {
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
    expect(sent(question)).toEqual({ kind: 'region', text: 'Nerede?', explanation: 'Orada.', region });
    expect(
      draftItemOf({ ...slide, question: { kind: 'region', text: '', region } }).question?.region,
    ).toEqual(corners);
  });

  it.each([
    ['text', { ...choice, text: ' ' }],
    ['choices', { ...choice, choices: ['Bir', ''] }],
    ['correct', { ...choice, correct: [1] }],
    ['region', { ...emptyQuestion('region'), text: 'Nerede?' }],
    [null, choice],
    [null, { ...emptyQuestion('text'), text: 'Anlatın.' }],
  ])('says that %s is missing of a question', (missing, question) => {
    expect(missingOf(question)).toBe(missing);
  });

  it('moves an item up and down, but not beyond the ends', () => {
    expect(moved(['a', 'b', 'c'], 0, 2)).toEqual(['b', 'c', 'a']);
    expect(moved(['a', 'b'], 0, -1)).toEqual(['a', 'b']);
  });
});
