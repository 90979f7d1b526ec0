import { describe, expect, it } from 'vitest';
import { fieldOnTissue, type SmallPicture } from './tissue.ts';

const slide = { width: 10_000, height: 5000 };
const view = { width: 500, height: 500 };
const field = { x: 9000, y: 4500, zoom: 1, rotation: 30, isMirrored: true };
/** Grey values of a slide in transmitted light: bright background, darker tissue. */
const brightfield = { background: 240, tissue: 150 };

/** Returns a thumbnail of 100 × 50 grey pixels, each for 100 × 100 pixels of the slide: background with a square of tissue. */
function pictureWithTissue(
  { background, tissue }: { readonly background: number; readonly tissue: number },
  { left, top, side }: { readonly left: number; readonly top: number; readonly side: number },
): SmallPicture {
  const data = new Uint8ClampedArray(100 * 50 * 4).fill(background);
  for (let y = top; y < top + side; y++)
    for (let x = left; x < left + side; x++) data.fill(tissue, (y * 100 + x) * 4, (y * 100 + x) * 4 + 3);
  return { width: 100, height: 50, data };
}

describe('fieldOnTissue (moves an empty field of view to tissue)', () => {
  it.each([
    ['brightfield', 240, 150],
    ['fluorescence', 0, 120],
  ])(
    'moves a field on blank glass to tissue and keeps its size and rotation (%s)',
    (_, background, tissue) => {
      const picture = pictureWithTissue({ background, tissue }, { left: 10, top: 10, side: 20 });
      const moved = fieldOnTissue(picture, slide, view, field);
      expect(moved).toMatchObject({ zoom: 1, rotation: 30, isMirrored: true });
      // The tissue covers x and y from 1000 to 3000 on the slide.
      expect(moved.x).toBeGreaterThan(1000);
      expect(moved.x).toBeLessThan(3000);
      expect(moved.y).toBeGreaterThan(1000);
      expect(moved.y).toBeLessThan(3000);
    },
  );

  it('returns the same field when it already shows tissue', () => {
    const picture = pictureWithTissue(brightfield, { left: 86, top: 40, side: 5 });
    expect(fieldOnTissue(picture, slide, view, field)).toEqual(field);
  });

  it('returns the same field on a slide without tissue', () => {
    const picture = pictureWithTissue({ background: 240, tissue: 240 }, { left: 0, top: 0, side: 1 });
    expect(fieldOnTissue(picture, slide, view, field)).toEqual(field);
  });

  it('moves the field to tissue nearby rather than to a larger piece of tissue far away', () => {
    const { data, ...size } = pictureWithTissue(brightfield, { left: 5, top: 5, side: 10 });
    // A smaller piece of 6 × 6 pixels, whose left edge is at x = 8000 on the slide.
    for (let y = 30; y < 36; y++)
      for (let x = 80; x < 86; x++) data.fill(150, (y * 100 + x) * 4, (y * 100 + x) * 4 + 3);
    expect(fieldOnTissue({ data, ...size }, slide, view, field).x).toBeGreaterThan(7500);
  });
});
