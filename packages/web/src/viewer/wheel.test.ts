import { describe, expect, it } from 'vitest';
import { wheelFactor } from './wheel.ts';

const pixels = (deltaY: number, ctrlKey = false) => wheelFactor({ deltaY, deltaMode: 0, ctrlKey });

describe('wheel zoom', () => {
  it('zooms by a fifth per notch, in both directions', () => {
    expect(pixels(100)).toBeCloseTo(1.2);
    expect(pixels(-100)).toBeCloseTo(1.2);
  });

  it('zooms by the same factor for many small events as for one of the same distance', () => {
    expect(pixels(5) ** 20).toBeCloseTo(pixels(100));
  });

  it('supports browsers that report lines', () => {
    expect(wheelFactor({ deltaY: 3, deltaMode: 1, ctrlKey: false })).toBeCloseTo(1.2 ** 1.2);
  });

  it('zooms further for pinch events of a trackpad', () => {
    expect(pixels(4, true)).toBeGreaterThan(pixels(4));
  });

  it('limits the factor of one event', () => {
    expect(pixels(10_000)).toBeCloseTo(1.44);
  });
});
