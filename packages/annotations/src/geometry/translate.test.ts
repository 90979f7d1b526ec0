import { describe, expect, it } from 'vitest';
import type { Geometry, Position } from '../model/geometry.ts';
import { mapPositions, roundCoordinate, roundGeometry, translateGeometry } from './translate.ts';

/** Returns the ring of a square of 4 × 4 pixels. */
const square = (x: number, y: number): Position[] => [
  [x, y],
  [x + 4, y],
  [x + 4, y + 4],
  [x, y + 4],
  [x, y],
];

describe('translateGeometry, roundGeometry and mapPositions (change all positions of a geometry)', () => {
  it.each<[Geometry, Geometry]>([
    [
      { type: 'Point', coordinates: [1, 2] },
      { type: 'Point', coordinates: [11, -3] },
    ],
    [
      { type: 'MultiPoint', coordinates: [[1, 2]] },
      { type: 'MultiPoint', coordinates: [[11, -3]] },
    ],
    [
      {
        type: 'LineString',
        coordinates: [
          [1, 2],
          [3, 4],
        ],
      },
      {
        type: 'LineString',
        coordinates: [
          [11, -3],
          [13, -1],
        ],
      },
    ],
    [
      {
        type: 'MultiLineString',
        coordinates: [
          [
            [1, 2],
            [3, 4],
          ],
        ],
      },
      {
        type: 'MultiLineString',
        coordinates: [
          [
            [11, -3],
            [13, -1],
          ],
        ],
      },
    ],
    [
      { type: 'Polygon', coordinates: [square(0, 0)], plane: { c: 0, z: 1, t: 0 } },
      { type: 'Polygon', coordinates: [square(10, -5)], plane: { c: 0, z: 1, t: 0 } },
    ],
    [
      { type: 'MultiPolygon', coordinates: [[square(0, 0), square(1, 1)]] },
      { type: 'MultiPolygon', coordinates: [[square(10, -5), square(11, -4)]] },
    ],
  ])('translateGeometry moves $type by 10 to the right and 5 up', (geometry, moved) => {
    expect(translateGeometry(geometry, 10, -5)).toEqual(moved);
    expect(mapPositions(geometry, (position) => position)).toEqual(geometry);
  });

  it.each([
    [1.234, 1.23],
    [1.235, 1.24],
    [-1.236, -1.24],
    [7, 7],
  ])('roundCoordinate rounds %d to %d', (value, rounded) => {
    expect(roundCoordinate(value)).toBe(rounded);
  });

  it('roundGeometry rounds both coordinates, and never to -0', () => {
    const rounded = roundGeometry({ type: 'Point', coordinates: [-0.001, 1.236] });
    expect(rounded).toStrictEqual({ type: 'Point', coordinates: [0, 1.24] });
  });
});
