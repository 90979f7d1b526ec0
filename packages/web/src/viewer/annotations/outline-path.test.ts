import type { Geometry } from '@lamina/annotations';
import { describe, expect, it } from 'vitest';
import { addOutline, levelOf } from './outline-path.ts';

function drawn(geometry: Geometry, level: number): string {
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

const square: Geometry = {
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

describe('outlines of annotations', () => {
  it('contain every position at full resolution', () => {
    expect(drawn(square, levelOf(1))).toBe('M0,0 L10,0 L10,1 L10,10 Z');
  });

  it('omit positions nearer than half a screen pixel', () => {
    expect(drawn(square, levelOf(1 / 8))).toBe('M0,0 L10,0 L10,10 Z');
  });

  it('stay visible as a dot when the shape is smaller than a screen pixel', () => {
    expect(drawn(square, levelOf(1 / 1024))).toBe('M0,0 L0.05,0 Z');
  });

  it('contain a dot for each point', () => {
    expect(
      drawn(
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

  it('contain the last position of a line', () => {
    expect(
      drawn(
        {
          type: 'LineString',
          coordinates: [
            [0, 0],
            [9, 0],
            [10, 0],
          ],
        },
        levelOf(1 / 8),
      ),
    ).toBe('M0,0 L9,0 L10,0');
  });
});
