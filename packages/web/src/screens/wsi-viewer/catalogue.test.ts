import { describe, expect, it } from 'vitest';
import type { CatalogueImage } from '../../api/images.ts';
import { groupByDataset, search } from './catalogue.ts';

function image(of: Partial<CatalogueImage>): CatalogueImage {
  const unknown = {
    status: 'ready' as const,
    error: null,
    file_name: null,
    dataset_name: null,
    organ_type: null,
    width: null,
    height: null,
    mpp_x: null,
    mpp_y: null,
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

  it('is empty without images', () => {
    expect(groupByDataset([])).toEqual([]);
  });
});

describe('searching', () => {
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
