import { describe, expect, it } from 'vitest';
import { adjustPixels, asScanned, type ColourAdjustment, isAsScanned, toneOf } from './adjustment.ts';

const adjusted = (change: Partial<ColourAdjustment>, ...pixel: number[]): number[] => {
  const pixels = Uint8ClampedArray.from([...pixel, 255]);
  adjustPixels(pixels, { ...asScanned, ...change });
  return [...pixels.subarray(0, 3)];
};

describe('the colours of a slide', () => {
  it('are those of the scan when nothing is adjusted', () => {
    expect(isAsScanned(asScanned)).toBe(true);
    expect(adjusted({}, 200, 120, 160)).toEqual([200, 120, 160]);
  });

  it('become brighter and darker in proportion, and end at white and black', () => {
    expect(adjusted({ brightness: 0.5 }, 200, 120, 160)).toEqual([100, 60, 80]);
    expect(adjusted({ brightness: 1.5 }, 200, 120, 10)).toEqual([255, 180, 15]);
  });

  it('part about the middle with more contrast', () => {
    const [light = 0, middle = 0, dark = 0] = adjusted({ contrast: 2 }, 180, 128, 80);
    expect(light).toBeGreaterThan(220);
    expect(middle).toBeCloseTo(128, -1);
    expect(dark).toBeLessThan(40);
  });

  it('become lighter in the dark with gamma, black and white staying', () => {
    expect(toneOf({ ...asScanned, gamma: 2 }, 0.25)).toBe(0.5);
    expect(toneOf({ ...asScanned, gamma: 2 }, 0)).toBe(0);
    expect(toneOf({ ...asScanned, gamma: 2 }, 1)).toBe(1);
  });

  it('become grey without saturation', () => {
    const [red = 0, green, blue] = adjusted({ saturation: 0 }, 200, 100, 150);
    expect([green, blue]).toEqual([red, red]);
  });

  it('leave grey grey, whatever the saturation', () => {
    expect(adjusted({ saturation: 2 }, 120, 120, 120)).toEqual([120, 120, 120]);
  });
});
