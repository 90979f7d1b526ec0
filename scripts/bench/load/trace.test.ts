/** Tests the lists of tiles that simulated viewers request. */
import { describe, expect, it } from 'vitest';
import { randomFrom } from './random.ts';
import { fieldsOfViewer, gridOf, maxLevelOf, nativeTrace, viewingTrace } from './trace.ts';

const slide = { width: 5000, height: 3000, tileSize: 240 };
const levelOf = (tile: string) => Number(tile.split('/')[0]);

/** Returns whether the slide has a tile of this name. */
function isTileOfSlide(tile: string): boolean {
  const [, level, column, row] = /^(\d+)\/(\d+)_(\d+)$/.exec(tile) ?? [];
  const { columns, rows } = gridOf(slide, Number(level));
  return Number(level) <= maxLevelOf(slide) && Number(column) < columns && Number(row) < rows;
}

describe('nativeTrace (native tiles, sent without decoding, that the load benchmark requests)', () => {
  it('returns every tile of full resolution once, in random order', () => {
    const tiles = nativeTrace(slide);
    expect(tiles).toHaveLength(21 * 13); // 5000 × 3000 pixels in tiles of 240 × 240
    expect(new Set(tiles).size).toBe(tiles.length);
    expect(tiles.every((tile) => levelOf(tile) === 13 && isTileOfSlide(tile))).toBe(true);
    expect(tiles).not.toEqual([...tiles].sort());
  });
});

describe('viewingTrace (tiles that several simulated viewers request in the load benchmark)', () => {
  it('returns the same tiles for the same seed and different tiles for another seed', () => {
    expect(viewingTrace(slide, 2)).toEqual(viewingTrace(slide, 2));
    expect(viewingTrace(slide, 2, 5)).not.toEqual(viewingTrace(slide, 2, 6));
  });

  it('returns only existing tiles, and some of every level from the whole slide to full resolution', () => {
    const tiles = viewingTrace(slide, 3);
    expect(tiles.filter((tile) => !isTileOfSlide(tile))).toEqual([]);
    expect([...new Set(tiles.map(levelOf))].sort((one, other) => one - other)).toEqual([11, 12, 13]);
  });

  it('alternates between the viewers after every six tiles', () => {
    const tilesOfFirstViewer = [...fieldsOfViewer(slide, randomFrom(1000))].flat();
    expect(viewingTrace(slide, 2).slice(0, 6)).toEqual(tilesOfFirstViewer.slice(0, 6));
    expect(viewingTrace(slide, 2).slice(12, 18)).toEqual(tilesOfFirstViewer.slice(6, 12));
  });
});

describe('fieldsOfViewer (tiles requested by one simulated viewer)', () => {
  it('returns no tile twice, because a browser would have it in its cache', () => {
    const tiles = [...fieldsOfViewer(slide, randomFrom(3))].flat();
    expect(new Set(tiles).size).toBe(tiles.length);
  });

  it('begins with the tiles of the whole slide, ordered from the centre outwards', () => {
    const [first] = fieldsOfViewer(slide, randomFrom(1), { window: { width: 1000, height: 600 } });
    // At a zoom of 1/5 the viewer shows the level with a quarter of the pixels per side: 6 × 4 tiles.
    expect(first?.filter((tile) => levelOf(tile) === 11)).toHaveLength(6 * 4);
    expect(['11/2_1', '11/3_1', '11/2_2', '11/3_2']).toContain(first?.[0]);
  });
});
