import { describe, expect, it } from 'vitest';
import { wheelFactor } from './wheel.ts';

const pixels = (deltaY: number, ctrlKey = false) => wheelFactor({ deltaY, deltaMode: 0, ctrlKey });

describe('wheelFactor', () => {
  it('returns 1.2 per notch, in both directions', () => {
    expect(pixels(100)).toBeCloseTo(1.2);
    expect(pixels(-100)).toBeCloseTo(1.2);
  });

  it('returns the same total factor for many small events as for one event of the same distance', () => {
    expect(pixels(5) ** 20).toBeCloseTo(pixels(100));
  });

  it('converts distances that the browser reports in lines', () => {
    expect(wheelFactor({ deltaY: 3, deltaMode: 1, ctrlKey: false })).toBeCloseTo(1.2 ** 1.2);
  });

  it('returns a larger factor for pinch events of a trackpad', () => {
    expect(pixels(4, true)).toBeGreaterThan(pixels(4));
  });

  it('limits the factor of a single event to two notches', () => {
    expect(pixels(10_000)).toBeCloseTo(1.44);
  });
});
