import { describe, expect, it } from 'vitest';
import { foldForSearch, naturalCompare, naturalKey } from './text-order.ts';

describe('searching', () => {
  it.each([
    ['IŞIK', 'ışık'],
    ['İZMİR', 'izmir'],
    ['izmir', 'IZMIR'],
    ['KARACİĞER', 'karaciğer'],
    ['I\u0307zmir', 'İZMİR'],
    ['Ş', 's\u0327'],
  ])('takes %s and %s for the same', (a, b) => {
    expect(foldForSearch(a)).toBe(foldForSearch(b));
  });

  it.each([
    ['sol', 'şol'],
    ['ovary', 'övary'],
  ])('keeps %s and %s apart', (a, b) => {
    expect(foldForSearch(a)).not.toBe(foldForSearch(b));
  });
});

describe('the natural order', () => {
  it('counts numbers by their value, and knows the Turkish letters', () => {
    const names = [
      'slide-10.svs',
      'Slide-2.svs',
      'slide-002b.svs',
      'slide-2.svs',
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
  ])('takes leading zeros for nothing: %s, %s, %s', (a, b, c) => {
    expect(naturalKey(a)).toBe(naturalKey(b));
    expect(naturalKey(b) < naturalKey(c)).toBe(true);
  });
});
