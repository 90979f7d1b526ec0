import { describe, expect, it } from 'vitest';
import type { CatalogueImage } from '../../api/images.ts';
import {
  choicesIn,
  type DatasetGroup,
  everything,
  groupByDataset,
  linesOf,
  narrow,
  neighbourOf,
  wishKey,
} from './catalogue.ts';

function image(of: Partial<CatalogueImage>): CatalogueImage {
  const unknown = {
    status: 'ready' as const,
    error: null,
    hidden: false,
    file_name: null,
    dataset_name: null,
    organ_type: null,
    width: null,
    height: null,
    mpp_x: null,
    mpp_y: null,
    size_bytes: null,
    created_at: null,
    format: null,
    objective_power: null,
    mpp_derived: false,
    objective_power_derived: false,
  };
  return { id: of.file_name ?? 'an id', ...unknown, ...of };
}

/** Groups as `name: image, image`. */
function told(groups: ReturnType<typeof groupByDataset>): string[] {
  return groups.map(({ name, entries }) => `${name}: ${entries.map((entry) => entry.name).join(', ')}`);
}

describe('the catalogue', () => {
  it('is grouped by dataset in natural order, images without one last', () => {
    const groups = groupByDataset([
      image({ file_name: 'x.svs' }),
      image({ file_name: 'a.svs', dataset_name: 'Study 10' }),
      image({ file_name: 'b.svs', dataset_name: 'Study 2' }),
      image({ file_name: 'c.svs', dataset_name: 'Study 10' }),
    ]);
    expect(told(groups)).toEqual(['Study 2: b.svs', 'Study 10: a.svs, c.svs', 'Unknown: x.svs']);
  });

  it('is sorted by file name in natural order, by id where there is none', () => {
    const groups = groupByDataset([
      image({ file_name: 'slide-10.svs' }),
      image({ id: 'slide-3' }),
      image({ file_name: 'Slide-2.svs' }),
      image({ file_name: 'same.svs', id: 'b' }),
      image({ file_name: 'same.svs', id: 'a' }),
    ]);
    expect(told(groups)).toEqual(['Unknown: same.svs, same.svs, Slide-2.svs, slide-3, slide-10.svs']);
    expect(groups[0]?.entries.slice(0, 2).map((entry) => entry.image.id)).toEqual(['a', 'b']);
  });

  it('is sorted with the newest first, what has no date last, datasets by their newest image', () => {
    const groups = groupByDataset(
      [
        image({ file_name: 'a', dataset_name: 'Old', created_at: '2025-01-01T00:00:00.000Z' }),
        image({ file_name: 'b', dataset_name: 'Old' }),
        image({ file_name: 'c', created_at: '2026-11-20T09:00:00.000Z' }),
        image({ file_name: 'd', created_at: '2026-11-20T09:00:00.000Z' }),
        image({ file_name: 'e', dataset_name: 'Old', created_at: '2026-11-19T00:00:00.000Z' }),
      ],
      'newest',
    );
    expect(told(groups)).toEqual(['Unknown: c, d', 'Old: e, a, b']);
  });

  it('is sorted with the largest file first, what has no size last', () => {
    const sizes = [2, null, 30, 4];
    const groups = groupByDataset(
      sizes.map((size_bytes) => image({ file_name: `${size_bytes}`, size_bytes })),
      'size',
    );
    expect(told(groups)).toEqual(['Unknown: 30, 4, 2, null']);
  });

  it('keeps a dataset that is called Unknown apart from images without one', () => {
    const groups = groupByDataset([
      image({ file_name: 'a', dataset_name: 'Unknown' }),
      image({ file_name: 'b' }),
    ]);
    expect(told(groups)).toEqual(['Unknown: a', 'Unknown: b']);
    expect(groups[0]?.key).not.toBe(groups[1]?.key);
  });

  it('is empty without images', () => {
    expect(groupByDataset([])).toEqual([]);
  });
});

describe('searching', () => {
  const search = (catalogue: readonly DatasetGroup[], query: string) =>
    narrow(catalogue, { ...everything, query });
  const groups = groupByDataset([
    image({ id: '3f2a-77', file_name: 'IŞIK-1.svs', dataset_name: 'Karaciğer', organ_type: 'Liver' }),
    image({ id: '91bc-02', file_name: 'izmir-2.svs', dataset_name: 'Karaciğer', organ_type: 'KIDNEY' }),
    image({ id: '0d11-55', file_name: 'other.svs', dataset_name: 'TCGA' }),
  ]);

  it.each([
    ['file name', 'OTHER', ['TCGA: other.svs']],
    ['id', '3F2A', ['Karaciğer: IŞIK-1.svs']],
    ['organ', 'kidney', ['Karaciğer: izmir-2.svs']],
    ['dataset', 'tcga', ['TCGA: other.svs']],
    ['Turkish small dotless ı', 'ışık', ['Karaciğer: IŞIK-1.svs']],
    ['Turkish capital dotted İ', 'İZMİR', ['Karaciğer: izmir-2.svs']],
    ['an English capital I', 'IZMIR', ['Karaciğer: izmir-2.svs']],
    ['a Turkish capital Ğ', 'KARACİĞER', ['Karaciğer: IŞIK-1.svs, izmir-2.svs']],
    ['words with spaces around', '  other ', ['TCGA: other.svs']],
  ])('finds by %s, and hides groups without a match', (_, query, found) => {
    expect(told(search(groups, query))).toEqual(found);
  });

  it('finds nothing across two fields', () => {
    expect(search(groups, 'svs3f2a')).toEqual([]);
  });

  it('leaves the catalogue as it is without a query', () => {
    expect(search(groups, '  ')).toBe(groups);
  });
});

describe('narrowing', () => {
  const groups = groupByDataset([
    image({ file_name: 'a1', dataset_name: 'A', organ_type: 'Liver' }),
    image({ file_name: 'a2', dataset_name: 'A', organ_type: 'Colon' }),
    image({ file_name: 'a3', dataset_name: 'A' }),
    image({ file_name: 'b1', dataset_name: 'B', organ_type: 'Liver' }),
    image({ file_name: 'c1', organ_type: 'Colon' }),
  ]);
  const named = (choices: ReturnType<typeof choicesIn>) => ({
    datasets: choices.datasets.map(({ name, count }) => `${name} ${count}`),
    organs: choices.organs.map(({ name, count }) => `${name} ${count}`),
  });
  const keyOf = (kind: 'datasets' | 'organs', wanted: string) =>
    choicesIn(groups, everything)[kind].find(({ name }) => name === wanted)?.key ?? '';

  it('offers every dataset and organ with its number of images', () => {
    expect(named(choicesIn(groups, everything))).toEqual({
      datasets: ['A 3', 'B 1', 'Unknown 1'],
      organs: ['Colon 2', 'Liver 2', 'Unknown 1'],
    });
  });

  it('counts what would be shown, the rest of the wish staying as it is', () => {
    const wish = { ...everything, organ: keyOf('organs', 'Liver') };
    expect(named(choicesIn(groups, wish))).toEqual({
      datasets: ['A 1', 'B 1', 'Unknown 0'],
      organs: ['Colon 2', 'Liver 2', 'Unknown 1'],
    });
    expect(named(choicesIn(groups, { ...wish, dataset: keyOf('datasets', 'A'), query: 'A2' }))).toEqual({
      datasets: ['A 0', 'B 0', 'Unknown 0'],
      organs: ['Colon 1', 'Liver 0', 'Unknown 0'],
    });
  });

  it('leaves what is of the dataset, of the organ and found by the query', () => {
    const wish = { ...everything, dataset: keyOf('datasets', 'A') };
    expect(told(narrow(groups, wish))).toEqual(['A: a1, a2, a3']);
    expect(told(narrow(groups, { ...wish, organ: keyOf('organs', 'Unknown') }))).toEqual(['A: a3']);
    expect(told(narrow(groups, { ...wish, query: 'B1' }))).toEqual([]);
    expect(told(narrow(groups, { ...everything, dataset: keyOf('datasets', 'Unknown') }))).toEqual([
      'Unknown: c1',
    ]);
  });

  it('is the same wish with other blanks or another case', () => {
    expect(wishKey({ ...everything, query: '  ' })).toBe('');
    expect(wishKey({ ...everything, query: ' IŞIK' })).toBe(wishKey({ ...everything, query: 'ışık' }));
  });
});

describe('the next and the previous image', () => {
  const groups = groupByDataset([
    image({ id: 'a1', dataset_name: 'A' }),
    image({ id: 'a2', dataset_name: 'A', status: 'pending' }),
    image({ id: 'b1', dataset_name: 'B', status: 'failed' }),
    image({ id: 'b2', dataset_name: 'B' }),
    image({ id: 'c1', status: 'failed' }),
  ]);

  it.each([
    ['skips what cannot be looked at', 'a1', 1, 'b2'],
    ['and does so backwards', 'b2', -1, 'a1'],
    ['leads on from an image that cannot be looked at itself', 'a2', 1, 'b2'],
    ['ends with the last one', 'b2', 1, undefined],
    ['ends with the first one', 'a1', -1, undefined],
    ['begins with the first one', null, 1, 'a1'],
    ['begins backwards with the last one', null, -1, 'b2'],
    ['begins anew where the image is not shown', 'elsewhere', 1, 'a1'],
  ] as const)('%s', (_, from, by, to) => {
    expect(neighbourOf(groups, from, by)?.image.id).toBe(to);
  });
});

describe('the lines of the list', () => {
  it('are the groups and the images of those that are open, each where the ones above end', () => {
    const groups = groupByDataset([
      image({ id: 'a1', dataset_name: 'A' }),
      image({ id: 'b1', dataset_name: 'B' }),
      image({ id: 'b2', dataset_name: 'B' }),
      image({ id: 'c1' }),
    ]);
    const lines = linesOf(groups, ({ name }) => name === 'B', { group: 40, image: 60 });
    expect(lines.map(({ kind, group, title, top }) => [kind, group.name, title, top])).toEqual([
      ['group', 'A', 0, 0],
      ['group', 'B', 1, 40],
      ['image', 'B', 1, 80],
      ['image', 'B', 1, 140],
      ['group', 'Unknown', 4, 200],
    ]);
  });
});
