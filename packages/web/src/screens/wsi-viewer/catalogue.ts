/** How the catalogue is grouped, ordered and searched. */
import { foldForSearch, naturalCompare, naturalKey } from '@lamina/contract';
import type { CatalogueImage } from '../../api/images.ts';
import { texts } from './texts.ts';

export interface CatalogueEntry {
  readonly image: CatalogueImage;
  /** File name, or the id where there is none. */
  readonly name: string;
  /** File name, id, organ and dataset, folded, a line each. */
  readonly searchText: string;
}

export interface DatasetGroup {
  readonly name: string;
  /** In natural order of their names; never empty. */
  readonly entries: readonly CatalogueEntry[];
}

/** Groups in natural order of their names; images without a dataset come last. */
export function groupByDataset(images: readonly CatalogueImage[]): readonly DatasetGroup[] {
  const ordered = images
    .map((image) => {
      const entry = entryOf(image);
      return { entry, key: naturalKey(entry.name) };
    })
    .sort(
      (a, b) =>
        compare(a.key, b.key) ||
        compare(a.entry.name, b.entry.name) ||
        compare(a.entry.image.id, b.entry.image.id),
    );
  const byDataset = Map.groupBy(ordered, ({ entry }) => entry.image.dataset_name);
  return [...byDataset]
    .sort(([a], [b]) => (a === null ? 1 : b === null ? -1 : naturalCompare(a, b)))
    .map(([dataset, members]) => ({
      name: dataset ?? texts.unknown,
      entries: members.map(({ entry }) => entry),
    }));
}

/** Groups with what matches; groups without a match are left out. */
export function search(groups: readonly DatasetGroup[], query: string): readonly DatasetGroup[] {
  const wanted = foldForSearch(query.trim());
  if (wanted === '') return groups;
  return groups.flatMap(({ name, entries }) => {
    const matches = entries.filter(({ searchText }) => searchText.includes(wanted));
    return matches.length > 0 ? [{ name, entries: matches }] : [];
  });
}

function entryOf(image: CatalogueImage): CatalogueEntry {
  const { id, file_name, organ_type, dataset_name } = image;
  const searched = [file_name, id, organ_type, dataset_name].filter((text) => text !== null);
  return { image, name: file_name ?? id, searchText: foldForSearch(searched.join('\n')) };
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
