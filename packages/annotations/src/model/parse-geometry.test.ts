import { describe, expect, it } from 'vitest';
import { FeatureError } from './feature-error.ts';
import type { Geometry } from './geometry.ts';
import { createBudget, parseGeometry } from './parse-geometry.ts';

/** Coordinates may be ten times as large: up to 100 for x and up to 50 for y. */
const extent = { width: 10, height: 5 };
const square = [
  [0, 0],
  [1, 0],
  [1, 1],
  [0, 0],
];

const parse = (geometry: unknown): Geometry => parseGeometry(geometry, 'g', createBudget(extent));

/** Returns the code of the error and the path of the wrong member, or `accepted`. */
function outcomeOf(geometry: unknown, budget = createBudget(extent)): string {
  try {
    parseGeometry(geometry, 'g', budget);
    return 'accepted';
  } catch (error) {
    if (!(error instanceof FeatureError)) throw error;
    return `${error.code} ${error.path}`;
  }
}

const point = (...coordinates: unknown[]) => ({ type: 'Point', coordinates });
const onPlane = (plane: unknown) => ({ ...point(1, 2), plane });

describe('parseGeometry (validates a GeoJSON geometry)', () => {
  it.each([
    ['ten times the width', 100, 0],
    ['minus ten times the width', -100, 0],
    ['ten times the height', 0, 50],
    ['minus ten times the height', 0, -50],
  ])('accepts a coordinate of exactly %s of the slide', (_, x, y) => {
    expect(parse(point(x, y))).toEqual(point(x, y));
  });

  it.each([
    ['x = 100.5', 100.5, 0],
    ['x = -100.5', -100.5, 0],
    ['y = 50.5', 0, 50.5],
    ['y = -50.5', 0, -50.5],
  ])('rejects %s on a slide of 10 × 5 pixels as outside_extent', (_, x, y) => {
    expect(outcomeOf(point(x, y))).toBe('outside_extent g.coordinates');
  });

  it.each([
    ['x is NaN', Number.NaN, 0],
    ['x is Infinity', Number.POSITIVE_INFINITY, 0],
    ['y is NaN', 0, Number.NaN],
    ['y is -Infinity', 0, Number.NEGATIVE_INFINITY],
  ])('rejects a position whose %s as not_finite', (_, x, y) => {
    expect(outcomeOf(point(x, y))).toBe('not_finite g.coordinates');
  });

  it('drops the third and the fourth coordinate of a position, and rejects five', () => {
    expect(parse(point(1, 2, 3, 4))).toEqual(point(1, 2));
    expect(outcomeOf(point(1, 2, 3, 4, 5))).toBe('not_a_position g.coordinates');
  });

  it.each<[string, unknown, string]>([
    ['an x that is a text', point('1', 2), 'not_a_position g.coordinates'],
    ['a y that is null', point(1, null), 'not_a_position g.coordinates'],
    ['a text as position', { type: 'Point', coordinates: '12' }, 'not_a_position g.coordinates'],
    ['no position', { type: 'MultiPoint', coordinates: [] }, 'too_few_positions g.coordinates'],
    [
      'a line of one position',
      { type: 'LineString', coordinates: [[1, 2]] },
      'too_few_positions g.coordinates',
    ],
    [
      'a second line of one position',
      {
        type: 'MultiLineString',
        coordinates: [
          [
            [1, 2],
            [3, 4],
          ],
          [[1, 2]],
        ],
      },
      'too_few_positions g.coordinates[1]',
    ],
    ['a line that is an object', { type: 'LineString', coordinates: {} }, 'wrong_type g.coordinates'],
    ['rings that are an object', { type: 'Polygon', coordinates: {} }, 'wrong_type g.coordinates'],
    ['a ring that is an object', { type: 'Polygon', coordinates: [{}] }, 'wrong_type g.coordinates[0]'],
    ['no polygon', { type: 'MultiPolygon', coordinates: [] }, 'too_few_positions g.coordinates'],
    [
      'a polygon without rings',
      { type: 'MultiPolygon', coordinates: [[]] },
      'too_few_positions g.coordinates[0]',
    ],
    [
      'a ring whose ends differ only in x',
      { type: 'Polygon', coordinates: [[...square.slice(0, 3), [0.5, 0]]] },
      'ring_not_closed g.coordinates[0]',
    ],
    [
      'a ring whose ends differ only in y',
      { type: 'Polygon', coordinates: [[...square.slice(0, 3), [0, 0.5]]] },
      'ring_not_closed g.coordinates[0]',
    ],
    [
      'a closed ring of three positions',
      { type: 'Polygon', coordinates: [[square[0], square[1], square[0]]] },
      'ring_too_short g.coordinates[0]',
    ],
    ['a text as isEllipse', { ...point(1, 2), isEllipse: 'true' }, 'wrong_type g.isEllipse'],
  ])('rejects %s', (_, geometry, outcome) => {
    expect(outcomeOf(geometry)).toBe(outcome);
  });

  it('accepts a ring of four positions, and keeps isEllipse of a polygon', () => {
    const polygon = { type: 'Polygon', coordinates: [square], isEllipse: true };
    expect(parse(polygon)).toEqual(polygon);
    expect(parse({ ...polygon, isEllipse: null })).toEqual({ type: 'Polygon', coordinates: [square] });
  });

  it.each([
    ['only its channel 0', { c: 0 }, { c: 0, z: 0, t: 0 }],
    ['only its focal plane 1', { z: 1 }, { c: -1, z: 1, t: 0 }],
    ['only its time point 1', { t: 1 }, { c: -1, z: 0, t: 1 }],
    ['the largest indexes', { c: 1e6, z: 1e6, t: 1e6 }, { c: 1e6, z: 1e6, t: 1e6 }],
  ])('completes a plane with %s', (_, given, plane) => {
    expect(parse(onPlane(given))).toEqual(onPlane(plane));
  });

  it.each([
    ['an empty object', {}],
    ['null', null],
    ['the default plane', { c: -1, z: 0, t: 0 }],
  ])('omits the plane %s', (_, plane) => {
    expect(parse(onPlane(plane))).toEqual(point(1, 2));
  });

  it.each<[string, unknown, string]>([
    ['channel -2', { c: -2 }, 'out_of_range g.plane.c'],
    ['focal plane -1', { z: -1 }, 'out_of_range g.plane.z'],
    ['channel 1,000,001', { c: 1_000_001 }, 'out_of_range g.plane.c'],
    ['focal plane 1,000,001', { z: 1_000_001 }, 'out_of_range g.plane.z'],
    ['time point 1,000,001', { t: 1_000_001 }, 'out_of_range g.plane.t'],
    ['time point "1"', { t: '1' }, 'wrong_type g.plane.t'],
    ['channel 0.5', { c: 0.5 }, 'wrong_type g.plane.c'],
    ['plane [1]', [1], 'not_an_object g.plane'],
  ])('rejects the %s', (_, plane, outcome) => {
    expect(outcomeOf(onPlane(plane))).toBe(outcome);
  });
});

describe('the budget of parseGeometry (positions and parts that a feature may still have)', () => {
  const line = [
    [1, 1],
    [2, 2],
  ];

  it.each<[string, object, number, string]>([
    ['a point', point(1, 2), 1, 'g.coordinates'],
    ['three points', { type: 'MultiPoint', coordinates: [...line, [3, 3]] }, 3, 'g.coordinates'],
    [
      'two lines of two positions',
      { type: 'MultiLineString', coordinates: [line, line] },
      4,
      'g.coordinates[1]',
    ],
    ['a ring of four positions', { type: 'Polygon', coordinates: [square] }, 4, 'g.coordinates[0]'],
  ])('suffices for %s with as many positions, and not with one less', (_, geometry, vertices, path) => {
    const budget = { ...createBudget(extent), vertices };
    expect(outcomeOf(geometry, budget)).toBe('accepted');
    expect(budget.vertices).toBe(0);
    expect(outcomeOf(geometry, { ...budget, vertices: vertices - 1 })).toBe(`too_many_vertices ${path}`);
  });

  it.each<[string, object, number, string]>([
    ['two lines', { type: 'MultiLineString', coordinates: [line, line] }, 2, 'g.coordinates'],
    ['two rings', { type: 'Polygon', coordinates: [square, square] }, 2, 'g.coordinates'],
    [
      'a polygon of two rings',
      { type: 'MultiPolygon', coordinates: [[square, square]] },
      3,
      'g.coordinates[0]',
    ],
  ])('suffices for %s with as many parts, and not with one less', (_, geometry, parts, path) => {
    const budget = { ...createBudget(extent), parts };
    expect(outcomeOf(geometry, budget)).toBe('accepted');
    expect(budget.parts).toBe(0);
    expect(outcomeOf(geometry, { ...budget, parts: parts - 1 })).toBe(`too_many_parts ${path}`);
  });

  it('is 1,000,000 positions and 100,000 parts, and coordinates up to 1e9 without a slide size', () => {
    expect(createBudget(null)).toEqual({ vertices: 1e6, parts: 1e5, maximumX: 1e9, maximumY: 1e9 });
    expect(createBudget(extent)).toEqual({ vertices: 1e6, parts: 1e5, maximumX: 100, maximumY: 50 });
  });
});
