import { describe, expect, it } from 'vitest';
import { parseRange } from './byte-range.ts';

describe('parseRange (parser of the HTTP Range header; "whole" means that the header is ignored)', () => {
  it.each([
    [undefined, 'whole'],
    ['', 'whole'],
    ['items=0-1', 'whole'],
    ['bytes=', 'whole'],
    ['bytes=-', 'whole'],
    ['bytes=a-b', 'whole'],
    ['bytes=5-4', 'whole'],
    ['bytes=1-2-3', 'whole'],
    ['bytes=--1', 'whole'],
    ['bytes=1 2-3', 'whole'],
    ['bytes=0-0', { start: 0, end: 0 }],
    ['Bytes= 2 - 5 ', { start: 2, end: 5 }],
    ['bytes=2-', { start: 2, end: 9 }],
    ['bytes=2-99999999999999999999', { start: 2, end: 9 }],
    ['bytes=-3', { start: 7, end: 9 }],
    ['bytes=-99', { start: 0, end: 9 }],
    ['bytes=-0', 'unsatisfiable'],
    ['bytes=10-', 'unsatisfiable'],
    ['bytes=0-1,3-4', 'unsatisfiable'],
  ])('for the Range header %j and a file of 10 bytes returns %j', (header, expected) => {
    expect(parseRange(header, 10)).toEqual(expected);
  });

  it('ignores in less than a second a header of 16,000 tabs around a hyphen', () => {
    const tabs = '\t'.repeat(8000);
    const startedAt = performance.now();
    expect(parseRange(`bytes=${tabs}-${tabs}x`, 10)).toBe('whole');
    expect(performance.now() - startedAt).toBeLessThan(1000);
  });

  it('returns unsatisfiable for every range of an empty file', () => {
    expect(parseRange('bytes=0-0', 0)).toBe('unsatisfiable');
    expect(parseRange('bytes=-1', 0)).toBe('unsatisfiable');
  });
});
