/** Tests that the fast parser of polygons returns the same numbers as JSON.parse, or null, after which the caller uses JSON.parse. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FlatRings, parseFlatFeature } from './flat-rings.ts';

const parse = (text: string) => parseFlatFeature(Buffer.from(text));
const polygon = (coordinates: string, otherMembers = '') =>
  `{"type":"Feature","geometry":{"type":"Polygon","coordinates":${coordinates}}${otherMembers}}`;

/** Returns the coordinates that JSON.parse reads, in the form in which the parser returns them. */
function expectedRings(text: string): FlatRings {
  const { geometry } = JSON.parse(text) as { geometry: { coordinates: number[][][] } };
  return new FlatRings(geometry.coordinates.map((ring) => ring.flat()));
}

describe('parseFlatFeature (the fast parser of GeoJSON polygons)', () => {
  it('returns the same coordinates as JSON.parse for a polygon, or null for numbers with an exponent', () => {
    const number = fc.oneof(
      fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e8, max: 1e8 }),
      fc.integer(),
      fc.integer({ min: -1e8, max: 1e8 }).map((n) => n / 100),
    );
    const rings = fc.array(fc.array(fc.tuple(number, number), { minLength: 1 }), { minLength: 1 });
    fc.assert(
      fc.property(rings, fc.boolean(), (coordinates, isSpaced) => {
        const text = polygon(JSON.stringify(coordinates).replaceAll(',', isSpaced ? ', ' : ','));
        const feature = parse(text) as { geometry: { coordinates: unknown } } | null;
        if (feature === null) expect(text).toMatch(/e[-+]/);
        else expect(feature.geometry.coordinates).toEqual(expectedRings(text));
      }),
    );
  });

  it('returns the properties of the feature unchanged', () => {
    const properties = ',"properties":{"name":"Ğ \\"coordinates\\":"}';
    expect(parse(polygon('[[[0,1],[2.5,-3]]]', properties))).toMatchObject({
      geometry: { type: 'Polygon', coordinates: { rings: [[0, 1, 2.5, -3]] } },
      properties: { name: 'Ğ "coordinates":' },
    });
  });

  it.each([
    ['a second key named coordinates', polygon('[[[0,0]]]', ',"nucleusGeometry":{"coordinates":[]}')],
    [
      'a key that ends with coordinates but has characters before it',
      '{"geometry":{"type":"Polygon","a\\"coordinates":[[[0,0]]]}}',
    ],
    [
      'a key coordinates outside the object geometry',
      '{"geometry":{"type":"Polygon"},"coordinates":[[[0,0]]]}',
    ],
    ['a MultiLineString', '{"geometry":{"type":"MultiLineString","coordinates":[[[0,0],[1,1]]]}}'],
    ['a number with an exponent', polygon('[[[1e3,0]]]')],
    ['a number with a leading zero', polygon('[[[01,0]]]')],
    ['a number that starts with the decimal point', polygon('[[[.5,0]]]')],
    ['a number that ends with the decimal point', polygon('[[[5.,0]]]')],
    ['a position with a third coordinate', polygon('[[[1,2,3]]]')],
    ['a position [,] without numbers', polygon('[[[,]]]')],
    ['a list of positions that does not end', polygon('[[[1,2],[3,4]')],
    ['a letter after a number', polygon('[[[1,2x]]]')],
    ['a number of 41 digits', polygon(`[[[${'1'.repeat(41)},0]]]`)],
    ['550,000 rings, which need too much memory', polygon(`[${'[[1,2]],'.repeat(550_000)}[[1,2]]]`)],
    ['3,000,000 vertices, which need too much memory', polygon(`[[${'[1,2],'.repeat(3_000_000)}[1,2]]]`)],
    ['a text that is not valid JSON', '{"geometry":{"type":Polygon,"coordinates":[[[0,0]]]}}'],
  ])('returns null, so that the caller uses JSON.parse, for %s', (_, text) => {
    expect(parse(text)).toBeNull();
  });
});
