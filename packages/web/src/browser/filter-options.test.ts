import { describe, expect, it } from 'vitest';
import { filterOptions } from './filter-options.ts';

const option = (label: string) => ({ value: label, label, disabled: false });
const names = ['İrem Işık (irem@example.org)', 'Ilgaz Çınar', 'Şule Öz'].map(option);
const find = (search: string, limit = Number.POSITIVE_INFINITY) =>
  filterOptions({ options: names, search, limit }).map((found) => ('label' in found ? found.label : ''));

describe('filterOptions (search in fields with options; ignores case, diacritics and the dot of I and i)', () => {
  it.each([
    ['irem', 'İrem Işık (irem@example.org)'],
    ['IŞIK', 'İrem Işık (irem@example.org)'],
    ['ışık', 'İrem Işık (irem@example.org)'],
    ['ilgaz', 'Ilgaz Çınar'],
    ['çınar ilgaz', 'Ilgaz Çınar'],
    ['sule', 'Şule Öz'],
  ])('finds for "%s" only %s', (search, label) => {
    expect(find(search)).toEqual([label]);
  });

  it('returns at most as many options as the limit', () => {
    expect(find('', 2)).toEqual(names.slice(0, 2).map(({ label }) => label));
  });

  it('searches inside groups of options, and limits the total number of options of all groups', () => {
    const options = [
      { group: 'Bir', items: names.slice(0, 2) },
      { group: 'İki', items: names.slice(2) },
    ];
    expect(filterOptions({ options, search: 'sule', limit: 50 })).toEqual([
      { group: 'Bir', items: [] },
      { group: 'İki', items: names.slice(2) },
    ]);
    expect(filterOptions({ options, search: '', limit: 1 })).toEqual([
      { group: 'Bir', items: names.slice(0, 1) },
      { group: 'İki', items: [] },
    ]);
  });
});
