import { describe, expect, it } from 'vitest';
import { randomFrom } from './random.mjs';
import { fieldsOfPerson, gridOf, maxLevelOf, nativeTrace, viewingTrace } from './trace.mjs';

const slide = { width: 5000, height: 3000, tileSize: 240 };
const levelOf = (tile) => Number(tile.split('/')[0]);

/** Whether the slide has it. */
function exists(tile) {
  const [, level, column, row] = /^(\d+)\/(\d+)_(\d+)$/.exec(tile) ?? [];
  const { columns, rows } = gridOf(slide, Number(level));
  return Number(level) <= maxLevelOf(slide) && Number(column) < columns && Number(row) < rows;
}

describe('every tile of full resolution', () => {
  it('comes once, in no order', () => {
    const tiles = nativeTrace(slide);
    expect(tiles).toHaveLength(21 * 13);
    expect(new Set(tiles).size).toBe(tiles.length);
    expect(tiles.every((tile) => levelOf(tile) === 13 && exists(tile))).toBe(true);
    expect(tiles).not.toEqual([...tiles].sort());
  });
});

describe('people who look about', () => {
  it('ask for the same tiles at every run, and for others with another seed', () => {
    expect(viewingTrace(slide, 2)).toEqual(viewingTrace(slide, 2));
    expect(viewingTrace(slide, 2, 5)).not.toEqual(viewingTrace(slide, 2, 6));
  });

  it('ask for tiles that the slide has, of every level between the whole and the closest', () => {
    const tiles = viewingTrace(slide, 3);
    expect(tiles.filter((tile) => !exists(tile))).toEqual([]);
    expect([...new Set(tiles.map(levelOf))].sort()).toEqual([11, 12, 13]);
  });

  it('take turns in bursts of six', () => {
    const alone = [...fieldsOfPerson(slide, randomFrom(1000))].flat();
    expect(viewingTrace(slide, 2).slice(0, 6)).toEqual(alone.slice(0, 6));
    expect(viewingTrace(slide, 2).slice(12, 18)).toEqual(alone.slice(6, 12));
  });

  it('ask for nothing twice: their browser has kept it', () => {
    const tiles = [...fieldsOfPerson(slide, randomFrom(3))].flat();
    expect(new Set(tiles).size).toBe(tiles.length);
  });

  it('begin with the whole slide, its middle first', () => {
    const [first] = fieldsOfPerson(slide, randomFrom(1), { window: { width: 1000, height: 600 } });
    // 1/5 of full resolution: the level with a quarter of its pixels a side shows it.
    expect(first.filter((tile) => levelOf(tile) === 11)).toHaveLength(6 * 4);
    expect(['11/2_1', '11/3_1', '11/2_2', '11/3_2']).toContain(first[0]);
  });
});
