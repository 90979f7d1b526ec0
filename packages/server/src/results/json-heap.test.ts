/** Tests which objects of a result file are too complex for JSON.parse in a thread with limited memory. */
import { describe, expect, it } from 'vitest';
import { maxHeapBytes, mayExceedHeap } from './json-heap.ts';

const listOf = (count: number, value: string) => [Buffer.from(`[${`${value},`.repeat(count)}0]`)];

describe('mayExceedHeap (whether JSON.parse may need more than 112 MiB of memory)', () => {
  it.each([
    ['900,000 vertices in a file of 16 MB', false, listOf(900_000, '[12345.5,23456.5]')],
    ['1,000,000 vertices', true, listOf(1_000_000, '[1,2]')],
    ['3,000,000 numbers', false, listOf(3_000_000, '1.5')],
    ['4,000,000 numbers', true, listOf(4_000_000, '1.5')],
    ['600,000 objects with a key', true, listOf(600_000, '{"1023":1}')],
    ['a string of 20 MB', false, listOf(1, `"${'x'.repeat(20_000_000)}"`)],
  ])('for a list with %s returns %s', (_, expected, parts) => {
    expect(mayExceedHeap(parts)).toBe(expected);
  });

  it('for a list with 2,000,000 numbers returns true when the rest of the object already needs 56 MiB', () => {
    const parts = listOf(2_000_000, '1.5');
    expect(mayExceedHeap(parts, maxHeapBytes / 2)).toBe(true);
    expect(mayExceedHeap(parts, maxHeapBytes / 4)).toBe(false);
  });
});
