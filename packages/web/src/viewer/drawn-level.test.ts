import { describe, expect, it } from 'vitest';
import { drawnLevelAt, minPixelRatioOf } from './drawn-level.ts';

describe('the drawn level of a slide', () => {
  it('has one to two pixels per device pixel on screens with one or two device pixels per CSS pixel', () => {
    expect(drawnLevelAt(1, 16, 1)).toBe(16);
    expect(drawnLevelAt(0.5, 16, 1)).toBe(16);
    expect(drawnLevelAt(0.49, 16, 1)).toBe(15);
    expect(drawnLevelAt(0.25, 16, 2)).toBe(16);
    expect(drawnLevelAt(0.24, 16, 2)).toBe(15);
    expect(drawnLevelAt(0.05, 16, 2)).toBe(drawnLevelAt(0.1, 16, 1));
  });

  it('has no more detail on a phone with three device pixels per CSS pixel than on a screen with two', () => {
    expect(minPixelRatioOf(3)).toBe(0.75);
    for (const zoom of [0.01, 0.07, 0.25, 0.4]) {
      expect(drawnLevelAt(zoom, 16, 3)).toBe(drawnLevelAt(zoom, 16, 2));
    }
  });

  it('is at most the level of full resolution', () => {
    expect(drawnLevelAt(4, 16, 3)).toBe(16);
  });
});
