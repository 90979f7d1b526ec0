import { describe, expect, it } from 'vitest';
import { drawnLevelAt, minPixelRatioOf } from './drawn-level.ts';

describe('drawnLevelAt (level of the image pyramid that is drawn)', () => {
  it('returns the level whose pixels are 0.5 to 1 device pixel wide on screens with 1 or 2 device pixels per CSS pixel', () => {
    expect(drawnLevelAt(1, 16, 1)).toBe(16);
    expect(drawnLevelAt(0.5, 16, 1)).toBe(16);
    expect(drawnLevelAt(0.49, 16, 1)).toBe(15);
    expect(drawnLevelAt(0.25, 16, 2)).toBe(16);
    expect(drawnLevelAt(0.24, 16, 2)).toBe(15);
    expect(drawnLevelAt(0.05, 16, 2)).toBe(drawnLevelAt(0.1, 16, 1));
  });

  it('returns the same level for 3 device pixels per CSS pixel as for 2, because the finer one would not be visible', () => {
    expect(minPixelRatioOf(3)).toBe(0.75);
    for (const zoom of [0.01, 0.07, 0.25, 0.4]) {
      expect(drawnLevelAt(zoom, 16, 3)).toBe(drawnLevelAt(zoom, 16, 2));
    }
  });

  it('returns at most the level of full resolution', () => {
    expect(drawnLevelAt(4, 16, 3)).toBe(16);
  });
});
