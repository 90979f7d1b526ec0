import { describe, expect, it } from 'vitest';
import { firstTiles } from './first-tiles.ts';
import { type PrefetchSituation, tilesToPrefetch } from './prefetch-tiles.ts';

const descriptor = {
  width: 40_000,
  height: 30_000,
  tileSize: 240,
  overlap: 0,
  format: 'jpeg',
  profile: null,
};
const field = { x: 20_000, y: 15_000, zoom: 1, rotation: 0, isMirrored: false };
const size = { width: 1280, height: 800 };
const situation: PrefetchSituation = { field, size, direction: { x: 0, y: 0 }, pointer: null };
const visibleTiles = firstTiles(descriptor, size, field);
const nameOf = ({ level, column, row }: { level: number; column: number; row: number }) =>
  `${level}/${column}_${row}`;

describe('tilesToPrefetch (tiles that the user may see next)', () => {
  it('returns tiles around the visible field, but not the visible tiles', () => {
    const tiles = tilesToPrefetch(descriptor, situation);
    expect(tiles.length).toBeGreaterThan(10);
    const visibleNames = new Set(visibleTiles.map(nameOf));
    expect(tiles.filter((tile) => visibleNames.has(nameOf(tile)))).toEqual([]);
  });

  it('returns 4 tiles when only one tile is visible', () => {
    const oneTile = { field: { ...field, x: 20_040, y: 15_000 }, size: { width: 100, height: 100 } };
    expect(firstTiles(descriptor, oneTile.size, oneTile.field)).toHaveLength(1);
    expect(tilesToPrefetch(descriptor, { ...situation, ...oneTile })).toHaveLength(4);
  });

  it('returns at most twice as many tiles as are visible, or 4 if that is more', () => {
    for (const zoom of [1, 0.9, 0.3, 0.13, 0.02]) {
      const zoomed = { ...situation, field: { ...field, zoom }, direction: { x: 50, y: 70 } };
      const tilesPerScreen = firstTiles(descriptor, size, { ...field, zoom }).length;
      // At least four tiles are prefetched, even when one tile fills the screen.
      const maxTiles = Math.max(4, 2 * tilesPerScreen);
      expect(tilesToPrefetch(descriptor, zoomed).length).toBeLessThanOrEqual(maxTiles);
    }
  });

  it('returns the tiles of the next field in the direction of the last movement first', () => {
    const [first] = tilesToPrefetch(descriptor, { ...situation, direction: { x: 300, y: 0 } });
    expect(first?.column).toBe(Math.floor((field.x + size.width) / 240));
    const [upwards] = tilesToPrefetch(descriptor, { ...situation, direction: { x: 0, y: -10 } });
    expect(upwards?.row).toBe(Math.floor((field.y - size.height) / 240));
  });

  it('includes the tiles of the next finer level that a zoom step at the pointer would show', () => {
    const zoomedOut = { ...situation, field: { ...field, zoom: 0.4 }, pointer: { x: 0, y: 0 } };
    const finer = tilesToPrefetch(descriptor, zoomedOut).filter(({ level }) => level === 16);
    const leftEdge = field.x - size.width / 2 / 0.4; // the pointer is in the upper left corner, which a zoom step keeps in place
    expect(Math.min(...finer.map(({ column }) => column))).toBe(Math.floor(leftEdge / 240));
    expect(tilesToPrefetch(descriptor, situation).every(({ level }) => level === 16)).toBe(true);
  });

  it.each([
    ['upper left', 0, 0],
    ['lower right', descriptor.width, descriptor.height],
  ])('returns no tiles outside the slide when the field is at its %s corner', (_, x, y) => {
    const tiles = tilesToPrefetch(descriptor, { ...situation, field: { ...field, x, y } });
    expect(tiles.length).toBeGreaterThan(0);
    const [columns, rows] = [Math.ceil(descriptor.width / 240), Math.ceil(descriptor.height / 240)];
    const isOutside = ({ column, row }: { column: number; row: number }) =>
      column < 0 || row < 0 || column >= columns || row >= rows;
    expect(tiles.filter(isOutside)).toEqual([]);
  });
});
