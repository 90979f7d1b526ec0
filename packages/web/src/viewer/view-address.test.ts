import { describe, expect, it } from 'vitest';
import { formatField, parseField } from './view-address.ts';

const upright = { rotation: 0, isMirrored: false };

describe('the visible field in the URL of the page', () => {
  it.each([
    ['plain', { x: 1234.56, y: 10, zoom: 0.5, ...upright }, 'x=1234.6&y=10&zoom=0.5'],
    ['turned', { x: 1, y: 2, zoom: 1, ...upright, rotation: 90 }, 'x=1&y=2&zoom=1&rotation=90'],
    ['turned to nearly 360°', { x: 1, y: 2, zoom: 1, ...upright, rotation: 359.99 }, 'x=1&y=2&zoom=1'],
    ['mirrored', { x: 1, y: 2, zoom: 1, ...upright, isMirrored: true }, 'x=1&y=2&zoom=1&mirror=1'],
    ['far away', { x: -3.04, y: 2, zoom: 0.012345678, ...upright }, 'x=-3&y=2&zoom=0.0123457'],
  ])('is formatted for a view that is %s', (_, field, address) => {
    expect(new URLSearchParams(formatField(field)).toString()).toBe(address);
  });

  it('is parsed to the field that was formatted', () => {
    const field = { x: 46000.5, y: 0.1, zoom: 0.0000012, rotation: 12.5, isMirrored: true };
    expect(parseField(new URLSearchParams(formatField(field)))).toEqual(field);
  });

  it('is accurate to one pixel at the edge of a screen of 4096 pixels', () => {
    const zoom = 0.0234567891;
    const read = Number(formatField({ x: 0, y: 0, zoom, ...upright }).zoom);
    expect(Math.abs(2048 / read - 2048 / zoom)).toBeLessThan(1);
  });

  it.each([
    '',
    'x=1&y=2',
    'x=1&zoom=1',
    'x=a&y=2&zoom=1',
    'x=1&y=2&zoom=0',
    'x=1&y=Infinity&zoom=1',
    'x=&y=2&zoom=1',
  ])('is parsed to null for %s', (address) => {
    expect(parseField(new URLSearchParams(address))).toBeNull();
  });

  it('is parsed to the same rotation for an equivalent negative angle', () => {
    expect(parseField(new URLSearchParams('x=1&y=2&zoom=1&rotation=-90'))?.rotation).toBe(270);
  });
});

it('the visible field of a second slide in the URL is distinguished by a prefix', () => {
  const [one, other] = [
    { x: 1, y: 2, zoom: 1, rotation: 90, isMirrored: true },
    { x: 3, y: 4, zoom: 0.5, ...upright },
  ];
  const address = new URLSearchParams({ ...formatField(one), ...formatField(other, 'b') });
  expect(parseField(address)).toEqual(one);
  expect(parseField(address, 'b')).toEqual(other);
});
