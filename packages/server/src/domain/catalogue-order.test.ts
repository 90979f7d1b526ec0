import { describe, expect, it } from 'vitest';
import { searchTextOf, sortKeyOf, unrestrictedRanges } from './catalogue-order.ts';

describe('sortKeyOf (sort key of a catalogue entry)', () => {
  it('returns keys that sort entries by dataset and then by file name in natural order, and entries without a dataset last', () => {
    const expectedOrder = [
      { dataset_name: 'Böbrek', file_name: 'a.svs' },
      { dataset_name: 'Çene', file_name: 'a.svs' },
      { dataset_name: 'Set 2', file_name: 'slide-2.svs' },
      { dataset_name: 'Set 2', file_name: 'slide-10.svs' },
      { dataset_name: 'Set 2b', file_name: 'slide-1.svs' },
      { dataset_name: 'Set 10', file_name: 'slide-1.svs' },
      { dataset_name: null, file_name: '1.svs' },
      { dataset_name: null, file_name: 'a.svs' },
    ];
    const sortedByKey = expectedOrder.toReversed().toSorted((a, b) => (sortKeyOf(a) < sortKeyOf(b) ? -1 : 1));
    expect(sortedByKey).toEqual(expectedOrder);
  });

  it('returns a key of the characters 0-9 and a-f, which every database sorts the same way', () => {
    expect(sortKeyOf({ dataset_name: 'Şant ı', file_name: 'É_1 (2).SVS' })).toMatch(/^[0-9a-f]+$/);
  });
});

describe('searchTextOf (text that the catalogue search matches)', () => {
  it('returns file name, id, organ and dataset of an entry in lower case, without diacritics', () => {
    expect(
      searchTextOf({ file_name: 'A-İ.svs', id: '12ab', organ_type: 'KARACİĞER', dataset_name: null }),
    ).toBe('a-i.svs\n12ab\nkaraciger\n');
  });
});

describe('unrestrictedRanges (ranges of sort keys that an account may see)', () => {
  const names = ['Breast', 'Colon', 'Ki-67', 'KI-67', 'Liver', 'Set 2', 'Set 10'];
  /** Returns the number of ranges, and the datasets whose entries they contain; null stands for no dataset. */
  const coverageOf = (restricted: readonly string[]) => {
    const ranges = unrestrictedRanges(names, new Set(restricted)) ?? [{ from: '', to: null }];
    const isCovered = (dataset_name: string | null) => {
      const key = sortKeyOf({ dataset_name, file_name: 'a.svs' });
      return ranges.some(({ from, to }) => key >= from && (to === null || key < to));
    };
    return { count: ranges.length, names: [...names, null].filter(isCovered) };
  };

  it.each<[text: string, restricted: string[], rangeCount: number, others: (string | null)[]]>([
    ['none', [], 1, [...names, null]],
    ['the first dataset', ['Breast'], 1, ['Colon', 'Ki-67', 'KI-67', 'Liver', 'Set 2', 'Set 10', null]],
    [
      'one dataset in the middle',
      ['Liver'],
      2,
      ['Breast', 'Colon', 'Ki-67', 'KI-67', 'Set 2', 'Set 10', null],
    ],
    [
      'several neighbouring datasets',
      ['Colon', 'Ki-67', 'KI-67', 'Liver'],
      2,
      ['Breast', 'Set 2', 'Set 10', null],
    ],
    ['the last dataset', ['Set 10'], 2, ['Breast', 'Colon', 'Ki-67', 'KI-67', 'Liver', 'Set 2', null]],
    ['all datasets', names, 1, [null]],
    ['a dataset that does not exist', ['Lung'], 1, [...names, null]],
    [
      'one of two datasets with the same sort key, which ranges cannot leave out',
      ['KI-67'],
      1,
      [...names, null],
    ],
  ])(
    'returns ranges that contain all datasets except those hidden from the account (hidden: %s)',
    (_, restricted, count, others) => {
      expect(coverageOf(restricted)).toEqual({ count, names: others });
    },
  );

  it('returns null when the unrestricted datasets would need more than 64 ranges', () => {
    const manyDatasets = Array.from({ length: 200 }, (_, i) => `Set ${i}`);
    expect(unrestrictedRanges(manyDatasets, new Set(manyDatasets.filter((_, i) => i % 2 === 0)))).toBeNull();
  });
});
