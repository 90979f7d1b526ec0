import { describe, expect, it } from 'vitest';
import { foldCase, naturalCompare, naturalSortKey } from './text-order.ts';

describe('foldCase (form of a text without upper case, for the search)', () => {
  it.each([
    ['IŞIK', 'ışık'],
    ['İZMİR', 'izmir'],
    ['izmir', 'IZMIR'],
    ['KARACİĞER', 'karaciğer'],
    ['I\u0307zmir', 'İZMİR'],
    ['Ş', 's\u0327'],
  ])('returns the same string for %s and %s', (a, b) => {
    expect(foldCase(a)).toBe(foldCase(b));
  });

  it.each([
    ['sol', 'şol'],
    ['ovary', 'övary'],
  ])('returns different strings for %s and %s', (a, b) => {
    expect(foldCase(a)).not.toBe(foldCase(b));
  });
});

describe('natural order of names (naturalCompare, naturalSortKey)', () => {
  it('sorts slide-2 before slide-10 (by the value of numbers), and letters in Turkish order', () => {
    const names = [
      'slide-10.svs',
      'slide-2.svs',
      'slide-002b.svs',
      'Slide-2.svs',
      'slide-1.svs',
      'slide.svs',
    ];
    expect(names.toSorted(naturalCompare)).toEqual([
      'slide-1.svs',
      'Slide-2.svs',
      'slide-2.svs',
      'slide-002b.svs',
      'slide-10.svs',
      'slide.svs',
    ]);
    expect(
      ['dalak', 'çene', 'cilt', 'Ovary', 'über', 'şant', 'safra', 'tiroit'].toSorted(naturalCompare),
    ).toEqual(['cilt', 'çene', 'dalak', 'Ovary', 'safra', 'şant', 'tiroit', 'über']);
  });

  it.each([
    ['0', '00', '1'],
    ['a0b', 'a00b', 'a1'],
  ])(
    'ignores leading zeros: the sort keys of %s and %s are equal, and less than the key of %s',
    (a, b, c) => {
      expect(naturalSortKey(a)).toBe(naturalSortKey(b));
      expect(naturalSortKey(b) < naturalSortKey(c)).toBe(true);
    },
  );
});
