import { describe, expect, it } from 'vitest';
import { searchTextOf, sortKeyOf } from './catalogue-order.ts';

describe('the order of the catalogue', () => {
  it('is by dataset, then by file name, both natural; no dataset comes last', () => {
    const inOrder = [
      { dataset_name: 'Böbrek', file_name: 'a.svs' },
      { dataset_name: 'Çene', file_name: 'a.svs' },
      { dataset_name: 'Set 2', file_name: 'slide-2.svs' },
      { dataset_name: 'Set 2', file_name: 'slide-10.svs' },
      { dataset_name: 'Set 2b', file_name: 'slide-1.svs' },
      { dataset_name: 'Set 10', file_name: 'slide-1.svs' },
      { dataset_name: null, file_name: '1.svs' },
      { dataset_name: null, file_name: 'a.svs' },
    ];
    const byKey = inOrder.toReversed().toSorted((a, b) => (sortKeyOf(a) < sortKeyOf(b) ? -1 : 1));
    expect(byKey).toEqual(inOrder);
  });

  it('does not depend on how a database orders letters', () => {
    expect(sortKeyOf({ dataset_name: 'Şant ı', file_name: 'É_1 (2).SVS' })).toMatch(/^[0-9a-f]+$/);
  });
});

describe('a search', () => {
  it('looks through name, id, organ and dataset, folded', () => {
    expect(
      searchTextOf({ file_name: 'A-İ.svs', id: '12ab', organ_type: 'KARACİĞER', dataset_name: null }),
    ).toBe('a-i.svs\n12ab\nkaraciğer\n');
  });
});
