import { describe, expect, it } from 'vitest';
import { firstTiles } from './first-tiles.ts';

const descriptor = {
  width: 40_000,
  height: 30_000,
  tileSize: 240,
  overlap: 0,
  format: 'jpeg',
  profile: null,
};
const viewport = { width: 1280, height: 800 };
const fieldAt = (x: number, y: number, zoom: number, rotation = 0) => ({
  x,
  y,
  zoom,
  rotation,
  isMirrored: false,
});
/** Returns each tile as `level/column_row`. */
const namesOf = (tiles: ReturnType<typeof firstTiles>) =>
  tiles.map(({ level, column, row }) => `${level}/${column}_${row}`);

describe('firstTiles (tiles requested first when a slide opens)', () => {
  it('returns, for a whole slide, the tiles of the level that matches the screen, those in the middle first', () => {
    const tiles = firstTiles(descriptor, viewport, null);
    // Level 11 has 1/32 of 40,000 × 30,000 pixels: 1250 × 938 pixels, shown on 1067 × 800, in 6 × 4 tiles of 240 pixels.
    expect(tiles).toHaveLength(6 * 4);
    expect(new Set(tiles.map(({ level }) => level))).toEqual(new Set([11]));
    expect(tiles[0]).toEqual({ level: 11, column: 2, row: 1, format: 'jpeg' });
  });

  it('returns the tiles around the centre for a field of view at full resolution', () => {
    // x from 960 to 1440 touches columns 4 to 6, y from 1200 to 1440 touches rows 5 and 6.
    const names = namesOf(firstTiles(descriptor, { width: 480, height: 240 }, fieldAt(1200, 1320, 1)));
    expect(names).toHaveLength(3 * 2);
    expect(names.slice(0, 2).sort()).toEqual(['16/4_5', '16/5_5']);
  });

  it('returns no tiles beyond the edges of the slide', () => {
    const names = namesOf(firstTiles(descriptor, { width: 480, height: 480 }, fieldAt(0, 0, 1)));
    expect(names.sort()).toEqual(['16/0_0', '16/0_1', '16/1_0', '16/1_1']);
  });

  it('returns one tile for a slide smaller than a tile', () => {
    const small = { ...descriptor, width: 200, height: 100 };
    expect(namesOf(firstTiles(small, viewport, null))).toEqual(['8/0_0']);
  });

  it('returns no tiles for a rotated view or a viewer without a size', () => {
    expect(firstTiles(descriptor, viewport, fieldAt(1200, 1320, 1, 30))).toEqual([]);
    expect(firstTiles(descriptor, { width: 0, height: 800 }, null)).toEqual([]);
  });
});
