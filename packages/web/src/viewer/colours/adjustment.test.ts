import { describe, expect, it } from 'vitest';
import {
  adjustPixels,
  asScanned,
  type ColourAdjustment,
  isAsScanned,
  isBackground,
  toneOf,
} from './adjustment.ts';

/** Returns red, green and blue of a pixel (0 to 255) after an adjustment that differs from `asScanned` by these values. */
const adjusted = (change: Partial<ColourAdjustment>, ...pixel: number[]): number[] => {
  const pixels = Uint8ClampedArray.from([...pixel, 255]);
  adjustPixels(pixels, { ...asScanned, ...change });
  return [...pixels.subarray(0, 3)];
};

describe('the colour adjustment of the slide viewer:', () => {
  it('adjustPixels leaves all colours unchanged with the adjustment asScanned', () => {
    expect(isAsScanned(asScanned)).toBe(true);
    expect(adjusted({}, 200, 120, 160)).toEqual([200, 120, 160]);
  });

  it('adjustPixels multiplies colours by the brightness and clips them to 0 and 255', () => {
    expect(adjusted({ brightness: 0.5 }, 200, 120, 160)).toEqual([100, 60, 80]);
    expect(adjusted({ brightness: 1.5 }, 200, 120, 10)).toEqual([255, 180, 15]);
  });

  it('adjustPixels moves colours away from middle grey when the contrast is above 1', () => {
    const [light = 0, middle = 0, dark = 0] = adjusted({ contrast: 2 }, 180, 128, 80);
    expect(light).toBeGreaterThan(220);
    expect(middle).toBeCloseTo(128, -1);
    expect(dark).toBeLessThan(40);
  });

  it('toneOf lightens dark tones and keeps black and white when gamma is above 1', () => {
    expect(toneOf({ ...asScanned, gamma: 2 }, 0.25)).toBe(0.5);
    expect(toneOf({ ...asScanned, gamma: 2 }, 0)).toBe(0);
    expect(toneOf({ ...asScanned, gamma: 2 }, 1)).toBe(1);
  });

  it('adjustPixels turns colours grey when the saturation is 0', () => {
    const [red = 0, green, blue] = adjusted({ saturation: 0 }, 200, 100, 150);
    expect([green, blue]).toEqual([red, red]);
  });

  it('adjustPixels keeps grey unchanged when the saturation is above 1', () => {
    expect(adjusted({ saturation: 2 }, 120, 120, 120)).toEqual([120, 120, 120]);
  });

  it('adjustPixels turns the white point into white and keeps the ratio of other colours to the white point', () => {
    const white = [0.8, 0.9, 1] as const;
    expect(isAsScanned({ ...asScanned, white })).toBe(false);
    expect(adjusted({ white }, 204, 229.5, 255)).toEqual([255, 255, 255]);
    expect(adjusted({ white }, 102, 115, 128)).toEqual([128, 128, 128]);
  });

  it('isBackground accepts only bright colours as a white point', () => {
    expect(isBackground([0.95, 0.9, 0.92])).toBe(true);
    expect(isBackground([0.8, 0.4, 0.7])).toBe(false);
  });
});
