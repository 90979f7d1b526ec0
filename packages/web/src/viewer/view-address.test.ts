import { describe, expect, it } from 'vitest';
import { formatField, parseField } from './view-address.ts';

const upright = { rotation: 0, isMirrored: false };

describe('formatField and parseField (visible part of a slide in the URL):', () => {
  it.each([
    ['upright', { x: 1234.56, y: 10, zoom: 0.5, ...upright }, 'x=1234.6&y=10&zoom=0.5'],
    ['rotated by 90°', { x: 1, y: 2, zoom: 1, ...upright, rotation: 90 }, 'x=1&y=2&zoom=1&rotation=90'],
    ['rotated by nearly 360°', { x: 1, y: 2, zoom: 1, ...upright, rotation: 359.99 }, 'x=1&y=2&zoom=1'],
    ['mirrored', { x: 1, y: 2, zoom: 1, ...upright, isMirrored: true }, 'x=1&y=2&zoom=1&mirror=1'],
    ['zoomed out', { x: -3.04, y: 2, zoom: 0.012345678, ...upright }, 'x=-3&y=2&zoom=0.0123457'],
  ])('formatField returns "$2" for a field that is $0', (_, field, query) => {
    expect(new URLSearchParams(formatField(field)).toString()).toBe(query);
  });

  it('parseField returns the field that formatField has formatted', () => {
    const field = { x: 46000.5, y: 0.1, zoom: 0.0000012, rotation: 12.5, isMirrored: true };
    expect(parseField(new URLSearchParams(formatField(field)))).toEqual(field);
  });

  it('formatField rounds the zoom so little that the edge of a screen of 4096 pixels moves by less than one image pixel', () => {
    const zoom = 0.0234567891;
    const formattedZoom = Number(formatField({ x: 0, y: 0, zoom, ...upright }).zoom);
    expect(Math.abs(2048 / formattedZoom - 2048 / zoom)).toBeLessThan(1);
  });

  it.each([
    '',
    'x=1&y=2',
    'x=1&zoom=1',
    'x=a&y=2&zoom=1',
    'x=1&y=2&zoom=0',
    'x=1&y=Infinity&zoom=1',
    'x=&y=2&zoom=1',
  ])('parseField returns null for the invalid query "%s"', (query) => {
    expect(parseField(new URLSearchParams(query))).toBeNull();
  });

  it('parseField returns a rotation of 270° for the equivalent angle of -90°', () => {
    expect(parseField(new URLSearchParams('x=1&y=2&zoom=1&rotation=-90'))?.rotation).toBe(270);
  });
});

it('formatField and parseField distinguish the visible parts of two slides in one URL by a prefix of the parameters', () => {
  const [first, second] = [
    { x: 1, y: 2, zoom: 1, rotation: 90, isMirrored: true },
    { x: 3, y: 4, zoom: 0.5, ...upright },
  ];
  const parameters = new URLSearchParams({ ...formatField(first), ...formatField(second, 'b') });
  expect(parseField(parameters)).toEqual(first);
  expect(parseField(parameters, 'b')).toEqual(second);
});
