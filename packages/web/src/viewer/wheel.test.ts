import { describe, expect, it } from 'vitest';
import { wheelFactor } from './wheel.ts';

const pixels = (deltaY: number, ctrlKey = false) => wheelFactor({ deltaY, deltaMode: 0, ctrlKey });

describe('a wheel', () => {
  it('zooms by a fifth with each notch, either way', () => {
    expect(pixels(100)).toBeCloseTo(1.2);
    expect(pixels(-100)).toBeCloseTo(1.2);
  });

  it('zooms as far with many small strokes of a trackpad as with one of the same length', () => {
    expect(pixels(5) ** 20).toBeCloseTo(pixels(100));
  });

  it('zooms by lines where the browser tells lines', () => {
    expect(wheelFactor({ deltaY: 3, deltaMode: 1, ctrlKey: false })).toBeCloseTo(1.2 ** 1.2);
  });

  it('zooms further with the small steps of two fingers that part', () => {
    expect(pixels(4, true)).toBeGreaterThan(pixels(4));
  });

  it('never jumps', () => {
    expect(pixels(10_000)).toBeCloseTo(1.44);
  });
});
