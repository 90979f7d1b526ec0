import { describe, expect, it } from 'vitest';
import { openStretches, searchTextOf, sortKeyOf } from './catalogue-order.ts';

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

describe('the stretches of the order that are open to somebody', () => {
  const names = ['Breast', 'Colon', 'Ki-67', 'KI-67', 'Liver', 'Set 2', 'Set 10'];
  const held = (closed: readonly string[]) => {
    const stretches = openStretches(names, new Set(closed)) ?? [{ from: '', to: null }];
    const isHeld = (dataset_name: string | null) => {
      const key = sortKeyOf({ dataset_name, file_name: 'a.svs' });
      return stretches.some(({ from, to }) => key >= from && (to === null || key < to));
    };
    return { count: stretches.length, names: [...names, null].filter(isHeld) };
  };

  it.each<[string, string[], number, (string | null)[]]>([
    ['nothing closed', [], 1, [...names, null]],
    ['the first', ['Breast'], 1, ['Colon', 'Ki-67', 'KI-67', 'Liver', 'Set 2', 'Set 10', null]],
    ['one in the middle', ['Liver'], 2, ['Breast', 'Colon', 'Ki-67', 'KI-67', 'Set 2', 'Set 10', null]],
    ['neighbours', ['Colon', 'Ki-67', 'KI-67', 'Liver'], 2, ['Breast', 'Set 2', 'Set 10', null]],
    ['the last', ['Set 10'], 2, ['Breast', 'Colon', 'Ki-67', 'KI-67', 'Liver', 'Set 2', null]],
    ['all', names, 1, [null]],
    ['one that there is not', ['Lung'], 1, [...names, null]],
    ['one of two in the same place, which stays', ['KI-67'], 1, [...names, null]],
  ])('with %s closed', (_, closed, count, open) => {
    expect(held(closed)).toEqual({ count, names: open });
  });

  it('are not told apart where there would be too many', () => {
    const many = Array.from({ length: 200 }, (_, i) => `Set ${i}`);
    expect(openStretches(many, new Set(many.filter((_, i) => i % 2 === 0)))).toBeNull();
  });
});
