import { describe, expect, it } from 'vitest';
import { type Coordinates, packCoordinates, unpackCoordinates } from './packed-coordinates.ts';

const ring = [
  [0, 0],
  [10.25, 0],
  [10.25, -3.01],
  [0, 0],
];

const shapes: Readonly<Record<string, Coordinates>> = {
  'a line': ring.slice(0, 3),
  'a line without positions': [],
  'several lines': [ring.slice(0, 2), ring],
  'an area with a hole': [ring, ring.toReversed()],
  'several areas': [[ring], [ring, ring.toReversed()]],
};

describe('packCoordinates (annotations stored in the browser)', () => {
  it.each(Object.entries(shapes))(
    'packs the coordinates of %s so that unpackCoordinates restores them',
    (_, coordinates) => {
      const packed = packCoordinates(coordinates);
      const stored = structuredClone(packed); // as IndexedDB copies it
      expect(stored && unpackCoordinates(stored)).toEqual(coordinates);
    },
  );

  it('returns null for a single position, which needs no packing', () => {
    expect(packCoordinates([1, 2])).toBeNull();
  });
});
