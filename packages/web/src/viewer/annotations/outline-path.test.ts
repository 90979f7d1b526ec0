import type { Geometry } from '@lamina/annotations';
import { describe, expect, it } from 'vitest';
import { addOutline, simplificationLevelOf } from './outline-path.ts';

/** Returns the path commands for an outline, such as `M0,0 L10,0 Z` (move, line, close). */
function outlineOf(geometry: Geometry, level: number): string {
  const calls: string[] = [];
  addOutline(
    {
      moveTo: (x, y) => calls.push(`M${x},${y}`),
      lineTo: (x, y) => calls.push(`L${x},${y}`),
      closePath: () => calls.push('Z'),
    },
    geometry,
    level,
  );
  return calls.join(' ');
}

const triangle: Geometry = {
  type: 'Polygon',
  coordinates: [
    [
      [0, 0],
      [10, 0],
      [10, 1],
      [10, 10],
      [0, 0],
    ],
  ],
};

describe('addOutline (outline of an annotation on the canvas)', () => {
  it('draws every vertex of a polygon at full resolution', () => {
    expect(outlineOf(triangle, simplificationLevelOf(1))).toBe('M0,0 L10,0 L10,1 L10,10 Z');
  });

  it('omits vertices that are nearer than half a screen pixel to the last drawn vertex', () => {
    // At a zoom of 1/8, half a screen pixel is 4 image pixels: (10, 1) is omitted.
    expect(outlineOf(triangle, simplificationLevelOf(1 / 8))).toBe('M0,0 L10,0 L10,10 Z');
  });

  it('draws a dot for a shape that is smaller than a screen pixel', () => {
    expect(outlineOf(triangle, simplificationLevelOf(1 / 1024))).toBe('M0,0 L0.05,0 Z');
  });

  it('draws a dot for each point of a MultiPoint geometry', () => {
    expect(
      outlineOf(
        {
          type: 'MultiPoint',
          coordinates: [
            [1, 2],
            [3, 4],
          ],
        },
        0,
      ),
    ).toBe('M1,2 L1.05,2 M3,4 L3.05,4');
  });

  it('draws the last vertex of a line even when it is nearer than half a screen pixel to the previous vertex', () => {
    expect(
      outlineOf(
        {
          type: 'LineString',
          coordinates: [
            [0, 0],
            [9, 0],
            [10, 0],
          ],
        },
        simplificationLevelOf(1 / 8),
      ),
    ).toBe('M0,0 L9,0 L10,0');
  });
});
