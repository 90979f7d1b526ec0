import { describe, expect, it } from 'vitest';
import { seededNumbers } from '../testing/seeded-numbers.ts';
import { applyPatches, KeptRanges, mergePatches } from './patches.ts';

describe('KeptRanges (the parts of a file that a de-identified copy keeps)', () => {
  it('returns as gaps exactly the bytes that are in no kept part, for parts in any order that overlap or touch', () => {
    const next = seededNumbers(7);
    for (let round = 0; round < 200; round++) {
      const size = 1 + next(300);
      const isKept = new Uint8Array(size);
      const ranges = new KeptRanges();
      for (let i = next(20); i > 0; i--) {
        const offset = next(size);
        const length = Math.min(next(40), size - offset);
        ranges.keep(offset, length);
        isKept.fill(1, offset, offset + length);
      }
      const fromGaps = new Uint8Array(size).fill(1);
      const gaps = ranges.gaps(size);
      for (const { offset, length } of gaps) fromGaps.fill(0, offset, offset + length);
      expect(fromGaps).toEqual(isKept);
      expect(gaps).toEqual(gaps.toSorted((a, b) => a.offset - b.offset));
    }
  });
});

describe('mergePatches (joins the patches, which replace bytes in a de-identified copy)', () => {
  const text = (offset: number, value: string) => ({
    offset,
    length: value.length,
    bytes: Buffer.from(value),
  });

  it('throws an error when a text overlaps another text or a range of zeros', () => {
    expect(() => mergePatches([text(0, '          '), text(4, '  ')], [])).toThrow('overlap');
    expect(() => mergePatches([{ offset: 0, length: 8 }, text(4, '  ')], [])).toThrow('overlap');
  });

  it('returns one patch for two identical texts at the same position, and one for ranges of zeros that overlap', () => {
    const merged = mergePatches(
      [
        { offset: 4, length: 4 },
        text(0, ' x '),
        { offset: 6, length: 4 },
        { offset: 5, length: 1 },
        text(0, ' x '),
      ],
      [],
    );
    expect(merged).toEqual([text(0, ' x '), { offset: 4, length: 6 }]);
    const part = Buffer.from('JaneJaneJane');
    applyPatches(merged, part, 0);
    expect(part.toString()).toBe(' x e\0\0\0\0\0\0ne');
  });
});
