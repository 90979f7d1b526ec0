import { describe, expect, it } from 'vitest';
import { fieldOnTissue, type SmallPicture } from './tissue.ts';

const slide = { width: 10_000, height: 5000 };
const view = { width: 500, height: 500 };
const field = { x: 9000, y: 4500, zoom: 1, rotation: 30, isMirrored: true };

/** 100 × 50 pixels of background with a rectangle of tissue. */
function picture(background: number, tissue: number, left: number, top: number, side: number): SmallPicture {
  const data = new Uint8ClampedArray(100 * 50 * 4).fill(background);
  for (let y = top; y < top + side; y++)
    for (let x = left; x < left + side; x++) data.fill(tissue, (y * 100 + x) * 4, (y * 100 + x) * 4 + 3);
  return { width: 100, height: 50, data };
}

describe('fieldOnTissue', () => {
  it.each([
    ['brightfield', 240, 150],
    ['fluorescence', 0, 120],
  ])(
    'moves a field on blank glass to tissue, with the same size and direction (%s)',
    (_, background, tissue) => {
      const moved = fieldOnTissue(picture(background, tissue, 10, 10, 20), slide, view, field);
      expect(moved).toMatchObject({ zoom: 1, rotation: 30, isMirrored: true });
      expect(moved.x).toBeGreaterThan(1000);
      expect(moved.x).toBeLessThan(3000);
      expect(moved.y).toBeGreaterThan(1000);
      expect(moved.y).toBeLessThan(3000);
    },
  );

  it('returns the same field when it already shows tissue', () => {
    expect(fieldOnTissue(picture(240, 150, 86, 40, 5), slide, view, field)).toEqual(field);
  });

  it('returns the same field on a slide without tissue', () => {
    expect(fieldOnTissue(picture(240, 240, 0, 0, 1), slide, view, field)).toEqual(field);
  });

  it('moves the field to near tissue rather than to a larger piece of tissue far away', () => {
    const { data, ...size } = picture(240, 150, 5, 5, 10);
    for (let y = 30; y < 36; y++)
      for (let x = 80; x < 86; x++) data.fill(150, (y * 100 + x) * 4, (y * 100 + x) * 4 + 3);
    expect(fieldOnTissue({ data, ...size }, slide, view, field).x).toBeGreaterThan(7500);
  });
});
