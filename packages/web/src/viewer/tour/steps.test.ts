import { describe, expect, it } from 'vitest';
import { asScanned } from '../colours/adjustment.ts';
import { coloursOf, itemOfStep, stepOfItem, type TourStep } from './steps.ts';

describe('coloursOf (parses the stored colours of a saved view)', () => {
  const adjustment = { brightness: 1.1, contrast: 1.2, gamma: 0.9, saturation: 0, white: [0.9, 0.8, 0.95] };

  it('returns the stored adjustment and choice of the colour profile', () => {
    expect(coloursOf({ profile: 'scanned', adjustment })).toEqual({ profile: 'scanned', adjustment });
  });

  it('returns null as the white point when an earlier version of the program has stored none', () => {
    const { white: _white, ...earlier } = adjustment;
    expect(coloursOf({ adjustment: earlier }).adjustment).toEqual({ ...earlier, white: null });
  });

  it.each([
    ['null', null],
    ['a text instead of an object', 'text'],
    ['an object without an adjustment', {}],
    ['an adjustment that is null', { adjustment: null }],
    ['a gamma that is the text "1"', { adjustment: { ...adjustment, gamma: '1' } }],
    ['a white point that is one number instead of three', { adjustment: { ...adjustment, white: 1 } }],
    ['a white point of two numbers instead of three', { adjustment: { ...adjustment, white: [0.9, 0.8] } }],
    ['a white point that contains a text', { adjustment: { ...adjustment, white: [0.9, '0.8', 0.9] } }],
    ['a dark white point (0.1, 0.1, 0.1)', { adjustment: { ...adjustment, white: [0.1, 0.1, 0.1] } }],
  ])('returns the defaults (no adjustment, corrected by the profile) for %s', (_, stored) => {
    expect(coloursOf(stored)).toEqual({ profile: 'corrected', adjustment: asScanned });
  });
});

describe('stepOfItem (finds the step of a tour that a presenter shows)', () => {
  const stepOf = (item: number, imageId: string): TourStep => ({
    item,
    imageId,
    title: imageId,
    text: null,
    field: null,
    colours: null,
    question: null,
  });
  /** A slide, then a case of two slides, the second of which is the slide of the first item. */
  const steps = [stepOf(0, 'a'), stepOf(1, 'b'), stepOf(1, 'a')];

  it('returns the index of each step for the value of itemOfStep, although two steps show the same slide', () => {
    expect(steps.map((_, index) => itemOfStep(steps, index))).toEqual([0, 1, 'a']);
    expect(steps.map((_, index) => stepOfItem(steps, itemOfStep(steps, index) ?? ''))).toEqual([0, 1, 2]);
  });

  it('finds the second slide of a case for a viewer who may not see the first slide of the case', () => {
    expect(stepOfItem([stepOf(1, 'c')], 'c')).toBe(0);
  });

  it('returns -1 for a slide that the tour does not contain', () => {
    expect(stepOfItem(steps, 'x')).toBe(-1);
    expect(stepOfItem(steps, 7)).toBe(-1);
  });
});
