import { describe, expect, it } from 'vitest';
import { wheelFactor } from './wheel.ts';

/** Returns the zoom factor of an event whose distance is in pixels; browsers set Ctrl for a pinch on a trackpad. */
const factorOf = (deltaY: number, { ctrlKey = false } = {}) => wheelFactor({ deltaY, deltaMode: 0, ctrlKey });

describe('wheelFactor (zoom factor of a mouse wheel event)', () => {
  it('returns the factor 1.2 for one notch (100 pixels), for both directions of the wheel', () => {
    expect(factorOf(100)).toBeCloseTo(1.2);
    expect(factorOf(-100)).toBeCloseTo(1.2);
  });

  it('returns the same total factor for many small events as for one event of the same distance', () => {
    expect(factorOf(5) ** 20).toBeCloseTo(factorOf(100));
  });

  it('returns the factor of 1.2 notches (120 pixels) for a distance of 3 lines, each counted as 40 pixels', () => {
    // 3 lines of 40 pixels are 1.2 notches.
    expect(wheelFactor({ deltaY: 3, deltaMode: 1, ctrlKey: false })).toBeCloseTo(1.2 ** 1.2);
  });

  it('returns a larger factor for a pinch on a trackpad than for scrolling by the same distance', () => {
    expect(factorOf(4, { ctrlKey: true })).toBeGreaterThan(factorOf(4));
  });

  it('returns at most the factor of two notches for a single event', () => {
    expect(factorOf(10_000)).toBeCloseTo(1.44); // 1.2²
  });
});
