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
    null,
    'text',
    {},
    { adjustment: null },
    { adjustment: { ...adjustment, gamma: '1' } },
    { adjustment: { ...adjustment, white: 1 } },
    { adjustment: { ...adjustment, white: [0.9, 0.8] } },
    { adjustment: { ...adjustment, white: [0.9, '0.8', 0.9] } },
    { adjustment: { ...adjustment, white: [0.1, 0.1, 0.1] } },
  ])('returns the colours as scanned, corrected by the profile, for the invalid value %j', (stored) => {
    expect(coloursOf(stored)).toEqual({ profile: 'corrected', adjustment: asScanned });
  });
});
