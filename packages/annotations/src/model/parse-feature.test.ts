import { describe, expect, it } from 'vitest';
import { encodeFeature } from './encode-feature.ts';
import type { AnnotationFeature } from './feature.ts';
import { annotationLimits } from './limits.ts';
import { parseFeature } from './parse-feature.ts';
import { createUuid, isUuid } from './uuid.ts';

const id = '6423a977-ffff-48db-affc-cd11632010f0';
const parentId = 'a9d3d08f-35cd-46d4-93d6-08d71feefaa6';
const extent = { width: 1000, height: 500 };
const square = (x: number, y: number, size: number) => [
  [x, y],
  [x + size, y],
  [x + size, y + size],
  [x, y + size],
  [x, y],
];

const feature = (members: object = {}) => ({
  type: 'Feature',
  id,
  geometry: { type: 'Polygon', coordinates: [square(0, 0, 100)] },
  properties: { objectType: 'annotation' },
  ...members,
});
const withGeometry = (geometry: unknown) => feature({ geometry });
const withProperties = (properties: object) => feature({ properties });

function parseValid(value: unknown): AnnotationFeature {
  const result = parseFeature(value, { extent });
  if (!result.ok) throw new Error(`rejected: ${JSON.stringify(result.error)}`);
  return result.feature;
}

/** Returns the error code and the path of the problem, or `accepted`. */
function outcomeOf(value: unknown): string {
  const result = parseFeature(value, { extent });
  return result.ok ? 'accepted' : `${result.error.code} ${result.error.path}`;
}

describe('parseFeature (reads one GeoJSON annotation)', () => {
  it('returns every field of a cell with nucleus, class, measurements, metadata and parent', () => {
    const cell = {
      type: 'Feature',
      id: id.toUpperCase(),
      geometry: {
        type: 'Polygon',
        coordinates: [square(0, 0, 100), square(10, 10, 20)],
        plane: { c: 1, z: 2, t: 3 },
      },
      nucleusGeometry: { type: 'Polygon', coordinates: [square(40, 40, 10)], isEllipse: true },
      properties: {
        objectType: 'cell',
        name: 'Hücre µ',
        color: [1, 2, 3],
        description: 'one\ntwo',
        classification: { names: ['Tumor', 'Positive'], color: [200, 0, 0] },
        measurements: { 'Area µm^2': 1.5, a: 'NaN', b: 'Infinity', c: '-Infinity', d: '-inf', __proto__x: 1 },
        metadata: { key: 'value' },
        parentId,
        isLocked: true,
        revision: 7,
      },
    };
    expect(parseValid(cell)).toEqual({
      ...cell,
      id,
      properties: {
        objectType: 'cell',
        name: 'Hücre µ',
        color: [1, 2, 3],
        description: 'one\ntwo',
        classification: { names: ['Tumor', 'Positive'], color: [200, 0, 0] },
        measurements: {
          'Area µm^2': 1.5,
          a: Number.NaN,
          b: Number.POSITIVE_INFINITY,
          c: Number.NEGATIVE_INFINITY,
          d: Number.NEGATIVE_INFINITY,
          __proto__x: 1,
        },
        metadata: { key: 'value' },
        parentId,
        isLocked: true,
      },
    });
  });

  it.each([
    { type: 'Point', coordinates: [1, 2] },
    { type: 'MultiPoint', coordinates: [[1, 2]] },
    {
      type: 'LineString',
      coordinates: [
        [1, 2],
        [3, 4.25],
      ],
    },
    {
      type: 'MultiLineString',
      coordinates: [
        [
          [1, 2],
          [3, 4],
        ],
      ],
    },
    { type: 'MultiPolygon', coordinates: [[square(0, 0, 10)], [square(50, 50, 10), square(52, 52, 2)]] },
  ])('accepts a geometry of the type $type', (geometry) => {
    expect(parseValid(withGeometry(geometry)).geometry).toEqual(geometry);
  });

  it('omits a third coordinate, the default image plane, null values and flags that are false from its result', () => {
    const given = feature({
      geometry: { type: 'Point', coordinates: [1, 2, 3], plane: { c: -1, z: 0, t: 0 }, isEllipse: false },
      properties: { isLocked: false, name: null, measurements: {} },
    });
    expect(parseValid(given)).toEqual({
      type: 'Feature',
      id,
      geometry: { type: 'Point', coordinates: [1, 2] },
      properties: { objectType: 'annotation' },
    });
  });

  it('returns an equal feature for the JSON of encodeFeature, also with the measurements NaN, Infinity and "__proto__"', () => {
    const given = parseValid(
      withProperties({
        objectType: 'detection',
        classification: { name: 'Tumor', color: [1, 2, 3] },
        measurements: JSON.parse('{"__proto__": 3, "x": "NaN", "y": "Infinity"}') as unknown,
      }),
    );
    const written = JSON.stringify(encodeFeature(given));
    expect(parseValid(JSON.parse(written))).toEqual(given);
    expect(JSON.parse(written)).toMatchObject({
      properties: {
        classification: { name: 'Tumor', color: [1, 2, 3] },
        measurements: { x: 'NaN', y: 'Infinity' },
      },
    });
    expect(Object.keys(given.properties.measurements ?? {})).toContain('__proto__');
  });

  it('accepts a polygon whose ring intersects itself', () => {
    const bowTie = [
      [0, 0],
      [10, 10],
      [10, 0],
      [0, 10],
      [0, 0],
    ];
    expect(outcomeOf(withGeometry({ type: 'Polygon', coordinates: [bowTie] }))).toBe('accepted');
  });

  it.each<[string, string, unknown]>([
    ['null in place of the whole feature', 'not_an_object ', null],
    ['a list in place of the whole feature', 'not_an_object ', [feature()]],
    ['a type other than Feature', 'unknown_value type', feature({ type: 'Polygon' })],
    ['an id that is not a UUID', 'id_not_uuid id', feature({ id: 'PathCellObject' })],
    ['a missing id', 'id_not_uuid id', feature({ id: undefined })],
    ['a missing geometry', 'missing geometry', feature({ geometry: null })],
    [
      'a geometry collection',
      'geometry_type geometry.type',
      withGeometry({ type: 'GeometryCollection', geometries: [] }),
    ],
    [
      'the geometry type toString, a name that every JavaScript object has',
      'geometry_type geometry.type',
      withGeometry({ type: 'toString', coordinates: [] }),
    ],
    ['missing coordinates', 'wrong_type geometry.coordinates', withGeometry({ type: 'Polygon' })],
    [
      'a polygon without rings',
      'too_few_positions geometry.coordinates',
      withGeometry({ type: 'Polygon', coordinates: [] }),
    ],
    [
      'a line of one position',
      'too_few_positions geometry.coordinates',
      withGeometry({ type: 'LineString', coordinates: [[1, 2]] }),
    ],
    [
      'a position of one number',
      'not_a_position geometry.coordinates',
      withGeometry({ type: 'Point', coordinates: [1] }),
    ],
    [
      'a coordinate that is a string',
      'not_a_position geometry.coordinates[0]',
      withGeometry({ type: 'MultiPoint', coordinates: [['1', 2]] }),
    ],
    [
      'a coordinate that is NaN',
      'not_finite geometry.coordinates[0]',
      withGeometry({ type: 'MultiPoint', coordinates: [[Number.NaN, 2]] }),
    ],
    [
      'a coordinate of more than ten times the slide height',
      'outside_extent geometry.coordinates',
      withGeometry({ type: 'Point', coordinates: [0, 5001] }),
    ],
    [
      'a negative coordinate of more than ten times the slide width',
      'outside_extent geometry.coordinates',
      withGeometry({ type: 'Point', coordinates: [-10_001, 0] }),
    ],
    [
      'a ring of three positions',
      'ring_too_short geometry.coordinates[0]',
      withGeometry({ type: 'Polygon', coordinates: [square(0, 0, 1).slice(0, 3)] }),
    ],
    [
      'an outline that is not closed',
      'ring_not_closed geometry.coordinates[0]',
      withGeometry({ type: 'Polygon', coordinates: [square(0, 0, 1).slice(0, 4)] }),
    ],
    [
      'a hole that is not closed',
      'ring_not_closed geometry.coordinates[1][1]',
      withGeometry({
        type: 'MultiPolygon',
        coordinates: [[square(0, 0, 1)], [square(5, 5, 5), square(6, 6, 1).slice(0, 4)]],
      }),
    ],
    [
      'isEllipse set for a point',
      'ellipse_not_polygon geometry.isEllipse',
      withGeometry({ type: 'Point', coordinates: [1, 2], isEllipse: true }),
    ],
    [
      'the focal plane 0.5',
      'wrong_type geometry.plane.z',
      withGeometry({ type: 'Point', coordinates: [1, 2], plane: { c: 0, z: 0.5, t: 0 } }),
    ],
    [
      'a negative time point',
      'out_of_range geometry.plane.t',
      withGeometry({ type: 'Point', coordinates: [1, 2], plane: { c: 0, z: 0, t: -1 } }),
    ],
    [
      'the object type root, which annotations cannot have',
      'unknown_value properties.objectType',
      withProperties({ objectType: 'root' }),
    ],
    ['a name that is a number', 'wrong_type properties.name', withProperties({ name: 5 })],
    ['a NUL character in a name', 'text_characters properties.name', withProperties({ name: 'a\u0000' })],
    [
      'a lone surrogate in a description',
      'text_characters properties.description',
      withProperties({ description: 'a\ud800' }),
    ],
    [
      'a description of 10,001 characters',
      'text_too_long properties.description',
      withProperties({ description: 'x'.repeat(10_001) }),
    ],
    ['a red value of 256', 'not_a_color properties.color', withProperties({ color: [256, 0, 0] })],
    ['a colour packed in an integer', 'not_a_color properties.color', withProperties({ color: -16744320 })],
    [
      'a class without a colour',
      'missing properties.classification.color',
      withProperties({ classification: { name: 'Tumor' } }),
    ],
    [
      'a class without a name',
      'missing properties.classification.name',
      withProperties({ classification: { color: [1, 2, 3] } }),
    ],
    [
      'a class with an empty list of names',
      'missing properties.classification.names',
      withProperties({ classification: { names: [], color: [1, 2, 3] } }),
    ],
    [
      'the measurement "many"',
      'wrong_type properties.measurements["a"]',
      withProperties({ measurements: { a: 'many' } }),
    ],
    [
      'a metadata value that is a number',
      'wrong_type properties.metadata["a"]',
      withProperties({ metadata: { a: 1 } }),
    ],
    ['a parent id that is not a UUID', 'id_not_uuid properties.parentId', withProperties({ parentId: 'x' })],
    ['itself as its parent', 'parent_is_self properties.parentId', withProperties({ parentId: id })],
    [
      'isLocked set to the string "yes"',
      'wrong_type properties.isLocked',
      withProperties({ isLocked: 'yes' }),
    ],
  ])('rejects a feature with %s (expected error code and path: "%s")', (_, error, value) => {
    expect(outcomeOf(value)).toBe(error);
  });

  it('rejects a feature as too_many_vertices when only its geometry and nucleus together exceed the vertex limit', () => {
    const line = Array.from({ length: annotationLimits.vertices / 2 + 1 }, () => [1, 1]);
    const geometry = { type: 'LineString', coordinates: line };
    expect(outcomeOf(feature({ geometry }))).toBe('accepted');
    expect(outcomeOf(feature({ geometry, nucleusGeometry: geometry }))).toBe(
      'too_many_vertices nucleusGeometry.coordinates',
    );
  });

  it('rejects a feature with more rings or more measurements than the limit, as too_many_parts or too_many_entries', () => {
    const rings = Array.from({ length: annotationLimits.parts + 1 }, () => square(0, 0, 1));
    expect(outcomeOf(withGeometry({ type: 'Polygon', coordinates: rings }))).toBe(
      'too_many_parts geometry.coordinates',
    );
    const measurements = Object.fromEntries(
      Array.from({ length: annotationLimits.measurements + 1 }, (_, index) => [`m${index}`, index]),
    );
    expect(outcomeOf(withProperties({ measurements }))).toBe('too_many_entries properties.measurements');
  });

  it('accepts the coordinate 1e9 and rejects 1.1e9 when the size of the slide is unknown', () => {
    const isAccepted = (x: number) =>
      parseFeature(withGeometry({ type: 'Point', coordinates: [x, 0] }), { extent: null }).ok;
    expect(isAccepted(1e9)).toBe(true);
    expect(isAccepted(1.1e9)).toBe(false);
  });
});

describe('createUuid (id of a new annotation)', () => {
  it('returns 1,000 different UUIDs of version 4', () => {
    const ids = Array.from({ length: 1000 }, createUuid);
    expect(ids.every((uuid) => isUuid(uuid) && uuid[14] === '4')).toBe(true);
    expect(new Set(ids).size).toBe(1000);
  });
});
