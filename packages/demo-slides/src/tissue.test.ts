import { describe, expect, it } from 'vitest';
import { createColon } from './colon/colon.ts';
import { createLiver } from './liver/liver.ts';
import { emptyStainTile, type StainTile } from './stain/stain.ts';
import type { Tissue } from './structures/palette.ts';

/** Side of the tiles, and displacement of the second of two overlapping tiles, pixels. */
const [size, shift] = [256, 128];

function draw(tissue: Tissue, x: number, y: number): StainTile {
  const tile = emptyStainTile(x, y, size);
  tissue.draw(tile);
  return tile;
}

/** Returns the greatest difference of any stain in the overlap of two tiles. The second tile lies `shift` to the right and below. */
function greatestDifference(first: StainTile, second: StainTile): number {
  let maxDifference = 0;
  for (let y = shift; y < size; y++) {
    for (let x = shift; x < size; x++) {
      const [a, b] = [y * size + x, (y - shift) * size + x - shift];
      for (const stain of ['haematoxylin', 'eosin', 'orange'] as const) {
        maxDifference = Math.max(maxDifference, Math.abs((first[stain][a] ?? 0) - (second[stain][b] ?? 0)));
      }
    }
  }
  return maxDifference;
}

describe.each([
  {
    organ: 'colon',
    tissue: createColon(11),
    places: {
      'surface and crypts': [9_400, 5_700],
      'lymph follicle': [12_900, 8_300],
      'vessels of the submucosa': [10_100, 8_300],
      'fat of the submucosa': [15_600, 8_700],
      'nerve cells between the muscles': [9_700, 11_100],
      'fat outside the muscle': [9_000, 12_500],
      'crypts of a biopsy': [4_300, 2_900],
    },
  },
  {
    organ: 'liver',
    tissue: createLiver(23),
    places: {
      capsule: [9_000, 1_400],
      lobule: [10_000, 6_000],
      'portal tract': [9_500, 5_700],
      'needle core': [7_000, 12_600],
    },
  },
])('the tissue of the $organ demonstration slide', ({ tissue, places }) => {
  it.each(Object.entries(places))(
    'has the same amounts of stain in both tiles where two tiles overlap (place: %s)',
    (_, place) => {
      const [x, y] = place as [number, number];
      const firstTile = draw(tissue, x, y);
      const secondTile = draw(tissue, x + shift, y + shift);
      expect(Math.max(...firstTile.eosin)).toBeGreaterThan(0.3);
      expect(greatestDifference(firstTile, secondTile)).toBeLessThan(0.01);
    },
  );

  it('covers an area that is at least 20,000 pixels wide at full resolution', () => {
    expect(tissue.width).toBeGreaterThanOrEqual(20_000);
  });

  it('is absent from a tile of bare glass, for which the draw function returns false', () => {
    const corner = emptyStainTile(0, 0, size);
    expect(tissue.draw(corner)).toBe(false);
    expect(corner.eosin.every((value) => value === 0)).toBe(true);
  });
});
