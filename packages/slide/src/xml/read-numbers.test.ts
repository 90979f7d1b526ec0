import { describe, expect, it } from 'vitest';
import { readDecimal, readWholeNumber } from './read-numbers.ts';

describe('numbers in slide metadata (null if a text is no valid number, or a whole number above 2^53 − 1)', () => {
  it.each<[string | null | undefined, number | null]>([
    ['0', 0],
    [' 12\n', 12],
    ['+7', 7],
    ['9007199254740991', 9007199254740991],
    ['9007199254740993', null],
    ['99999999999999999999', null],
    ['-1', null],
    ['1.5', null],
    ['0x10', null],
    ['1e3', null],
    ['12 34', null],
    ['', null],
    [null, null],
    [undefined, null],
  ])('readWholeNumber parses %j as %s', (text, number) => {
    expect(readWholeNumber(text)).toBe(number);
  });

  it.each<[string | null, number | null]>([
    ['0.25', 0.25],
    [' .5 ', 0.5],
    ['-3', -3],
    ['0,2325', 0.2325],
    ['2.5E-1', 0.25],
    ['1e999', null],
    ['NaN', null],
    ['Infinity', null],
    ['1.2.3', null],
    ['0x10', null],
    ['', null],
    [null, null],
  ])('readDecimal parses %j as %s', (text, number) => {
    expect(readDecimal(text)).toBe(number);
  });

  it('readDecimal returns null for 400,000 digits followed by a letter, within the time limit of a test', () => {
    expect(readDecimal(`${'1'.repeat(400_000)}x`)).toBeNull();
  });
});
