import { describe, expect, it } from 'vitest';
import {
  adjustPixels,
  asScanned,
  type ColourAdjustment,
  isAsScanned,
  isBackground,
  toneOf,
} from './adjustment.ts';

const adjusted = (change: Partial<ColourAdjustment>, ...pixel: number[]): number[] => {
  const pixels = Uint8ClampedArray.from([...pixel, 255]);
  adjustPixels(pixels, { ...asScanned, ...change });
  return [...pixels.subarray(0, 3)];
};

describe('colour adjustment', () => {
  it('keeps the colours of the scan by default', () => {
    expect(isAsScanned(asScanned)).toBe(true);
    expect(adjusted({}, 200, 120, 160)).toEqual([200, 120, 160]);
  });

  it('scales colours with brightness and clips at black and white', () => {
    expect(adjusted({ brightness: 0.5 }, 200, 120, 160)).toEqual([100, 60, 80]);
    expect(adjusted({ brightness: 1.5 }, 200, 120, 10)).toEqual([255, 180, 15]);
  });

  it('moves colours away from middle grey with contrast', () => {
    const [light = 0, middle = 0, dark = 0] = adjusted({ contrast: 2 }, 180, 128, 80);
    expect(light).toBeGreaterThan(220);
    expect(middle).toBeCloseTo(128, -1);
    expect(dark).toBeLessThan(40);
  });

  it('lightens dark tones with gamma and keeps black and white', () => {
    expect(toneOf({ ...asScanned, gamma: 2 }, 0.25)).toBe(0.5);
    expect(toneOf({ ...asScanned, gamma: 2 }, 0)).toBe(0);
    expect(toneOf({ ...asScanned, gamma: 2 }, 1)).toBe(1);
  });

  it('turns colours grey without saturation', () => {
    const [red = 0, green, blue] = adjusted({ saturation: 0 }, 200, 100, 150);
    expect([green, blue]).toEqual([red, red]);
  });

  it('keeps grey unchanged at every saturation', () => {
    expect(adjusted({ saturation: 2 }, 120, 120, 120)).toEqual([120, 120, 120]);
  });

  it('shows the white point as white and keeps the ratio of other colours to it', () => {
    const white = [0.8, 0.9, 1] as const;
    expect(isAsScanned({ ...asScanned, white })).toBe(false);
    expect(adjusted({ white }, 204, 229.5, 255)).toEqual([255, 255, 255]);
    expect(adjusted({ white }, 102, 115, 128)).toEqual([128, 128, 128]);
  });

  it('accepts only bright colours as a white point', () => {
    expect(isBackground([0.95, 0.9, 0.92])).toBe(true);
    expect(isBackground([0.8, 0.4, 0.7])).toBe(false);
  });
});
