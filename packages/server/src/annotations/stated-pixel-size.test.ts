import { describe, expect, it } from 'vitest';
import { statedPixelSizeOf } from './stated-pixel-size.ts';

describe('statedPixelSizeOf (pixel size for exports in micrometres)', () => {
  it('returns the pixel size that the slide file states, even when the magnification was derived from it', () => {
    for (const derived_scale of [null, 'objective_power'] as const) {
      expect(statedPixelSizeOf({ mpp_x: 0.25, mpp_y: 0.26, derived_scale })).toEqual({ x: 0.25, y: 0.26 });
    }
  });

  it('returns null when the pixel size was derived from the magnification, and when it is unknown', () => {
    expect(statedPixelSizeOf({ mpp_x: 0.25, mpp_y: 0.25, derived_scale: 'mpp' })).toBeNull();
    expect(statedPixelSizeOf({ mpp_x: null, mpp_y: null, derived_scale: null })).toBeNull();
    expect(statedPixelSizeOf({ mpp_x: 0.25, mpp_y: null, derived_scale: null })).toBeNull();
  });
});
