import { describe, expect, it } from 'vitest';
import { asScanned } from '../colours/adjustment.ts';
import { coloursOf } from './steps.ts';

describe('coloursOf (parses the stored colours of a saved view)', () => {
  const adjustment = { brightness: 1.1, contrast: 1.2, gamma: 0.9, saturation: 0, white: [0.9, 0.8, 0.95] };

  it('returns the stored adjustment and choice of the colour profile', () => {
    expect(coloursOf({ profile: 'scanned', adjustment })).toEqual({ profile: 'scanned', adjustment });
  });

  it('returns no white point when an earlier version stored the adjustment without one', () => {
    const { white: _white, ...earlier } = adjustment;
    expect(coloursOf({ adjustment: earlier }).adjustment).toEqual({ ...earlier, white: null });
  });

  it.each([
    ['null', null],
    ['a text', 'text'],
    ['an object without an adjustment', {}],
    ['an adjustment that is null', { adjustment: null }],
    ['a gamma that is a text', { adjustment: { ...adjustment, gamma: '1' } }],
    ['a white point that is a number', { adjustment: { ...adjustment, white: 1 } }],
    ['a white point without blue', { adjustment: { ...adjustment, white: [0.9, 0.8] } }],
    ['a white point with a text', { adjustment: { ...adjustment, white: [0.9, '0.8', 0.9] } }],
    ['a dark white point', { adjustment: { ...adjustment, white: [0.1, 0.1, 0.1] } }],
  ])('returns unadjusted colours, corrected by the profile, for %s', (_, stored) => {
    expect(coloursOf(stored)).toEqual({ profile: 'corrected', adjustment: asScanned });
  });
});
