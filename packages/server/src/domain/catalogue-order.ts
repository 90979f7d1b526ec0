/** Order of the catalogue as sort keys, and the text that a search matches. */
import { foldDiacritics, naturalKey } from '@lamina/contract';

/** First character of the sort keys of entries without a dataset. */
const withoutDataset = '1';

interface Named {
  readonly file_name: string;
  readonly dataset_name: string | null;
}

/**
 * Returns the sort key of an entry: datasets in natural order, entries without one last, file names of a dataset in natural
 * order. It consists of digits and a…f, which every database sorts the same way whatever its collation.
 */
export function sortKeyOf({ file_name, dataset_name }: Named): string {
  const dataset = dataset_name === null ? withoutDataset : `0${hexOf(naturalKey(dataset_name))}`;
  return `${dataset}00${hexOf(naturalKey(file_name))}`; // 00 comes before every character of a longer name
}

/** Returns the range of sort keys that contains all entries of a dataset. */
export function sortKeysOfDataset(dataset: string): { readonly from: string; readonly to: string } {
  const key = `0${hexOf(naturalKey(dataset))}`;
  return { from: `${key}00`, to: `${key}01` };
}

/** Returns the range of a dataset, or that of the entries without one. */
export function rangeOfDataset(dataset: string | null): SortKeyRange {
  return dataset === null ? { from: withoutDataset, to: null } : sortKeysOfDataset(dataset);
}

/** A part of the catalogue's order, from its first sort key to the first one behind it; null: to the end. */
export interface SortKeyRange {
  readonly from: string;
  readonly to: string | null;
}

/** More ranges cost the database more than reading everything. */
const maxRanges = 64;

/**
 * Returns the ranges of the entries outside restricted datasets, in order.
 *
 * @param datasets names of all datasets that have entries
 * @returns null when reading everything is simpler
 */
export function unrestrictedRanges(
  datasets: readonly string[],
  restricted: ReadonlySet<string>,
): readonly SortKeyRange[] | null {
  if (restricted.size === 0) return null;
  // Names that differ in leading zeros alone share their place: it is restricted when all of them are.
  const places = Map.groupBy(datasets, (name) => sortKeysOfDataset(name).from);
  const ranges: { from: string; to: string | null }[] = [];
  let isOpen = false;
  for (const [from, names] of [...places].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const wasOpen = isOpen;
    isOpen = names.some((name) => !restricted.has(name));
    const last = ranges.at(-1);
    if (isOpen && !wasOpen) ranges.push({ from, to: null });
    else if (!isOpen && wasOpen && last !== undefined) last.to = from;
  }
  // Entries without a dataset come last.
  if (!isOpen) ranges.push({ from: withoutDataset, to: null });
  return ranges.length > maxRanges ? null : ranges;
}

function hexOf(text: string): string {
  return Buffer.from(text, 'utf8').toString('hex');
}

/** Returns the text that a search matches: file name, id, organ and dataset, folded, without diacritics. */
export function searchTextOf(
  entry: Named & { readonly id: string; readonly organ_type: string | null },
): string {
  // Separated by line breaks: no word of a query contains one.
  return foldDiacritics(
    [entry.file_name, entry.id, entry.organ_type ?? '', entry.dataset_name ?? ''].join('\n'),
  );
}
