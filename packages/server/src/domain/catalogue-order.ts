/**
 * Computes the columns by which the database sorts and searches catalogue entries. A sort key orders entries by dataset and then by
 * file name, so each dataset is a contiguous range of keys, which queries read or skip.
 */
import { foldDiacritics, naturalSortKey } from '@lamina/contract';

/** First character of the sort keys of entries without a dataset. The keys of all other entries start with 0. */
const keyWithoutDataset = '1';

interface NamedEntry {
  readonly file_name: string;
  readonly dataset_name: string | null;
}

/**
 * Returns the sort key of an entry. Keys sort datasets in natural order (`Set 2` before `Set 10`), entries without a dataset
 * last, and the file names within a dataset in natural order. A key consists of the characters 0-9 and a-f, which every
 * database sorts the same way in every collation.
 */
export function sortKeyOf({ file_name, dataset_name }: NamedEntry): string {
  const datasetKey = dataset_name === null ? keyWithoutDataset : `0${hexOf(naturalSortKey(dataset_name))}`;
  // 00 ends the name of the dataset. It sorts before every character, so that `Set` comes before `Set A`.
  return `${datasetKey}00${hexOf(naturalSortKey(file_name))}`;
}

/** Returns the range of sort keys of a dataset: `from` is inclusive, `to` exclusive. */
export function rangeOfNamedDataset(dataset: string): { readonly from: string; readonly to: string } {
  const key = `0${hexOf(naturalSortKey(dataset))}`;
  return { from: `${key}00`, to: `${key}01` }; // 00 ends the name
}

/** Returns the range of sort keys of a dataset, or of the entries without a dataset (null). */
export function rangeOfDataset(dataset: string | null): SortKeyRange {
  return dataset === null ? { from: keyWithoutDataset, to: null } : rangeOfNamedDataset(dataset);
}

/** A contiguous part of the catalogue. */
export interface SortKeyRange {
  /** First sort key of the range. */
  readonly from: string;
  /** First sort key after the range; null: the range reaches to the end of the catalogue. */
  readonly to: string | null;
}

/** A query with more ranges is slower than one that reads the whole catalogue and filters the result. */
const maxRanges = 64;

/**
 * Returns the ranges that contain all entries outside the restricted datasets, in the order of the catalogue.
 *
 * @param datasets names of all datasets that have entries
 * @param restricted names of the datasets that the account may not see
 * @returns null when the query should read the whole catalogue: nothing is restricted, or there are more than
 *   `maxRanges`
 */
export function unrestrictedRanges(
  datasets: readonly string[],
  restricted: ReadonlySet<string>,
): readonly SortKeyRange[] | null {
  if (restricted.size === 0) return null;
  // Names that differ only in case or in leading zeros share one range of keys. The result contains this range if at least one of the
  // names is not restricted, so the query must still filter the entries.
  const namesByKey = Map.groupBy(datasets, (name) => rangeOfNamedDataset(name).from);
  const ranges: { from: string; to: string | null }[] = [];
  let isInRange = false;
  for (const [from, names] of [...namesByKey].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const wasInRange = isInRange;
    isInRange = names.some((name) => !restricted.has(name));
    const lastRange = ranges.at(-1);
    // Consecutive datasets that are not restricted become one range, which ends at the next restricted dataset.
    if (isInRange && !wasInRange) ranges.push({ from, to: null });
    else if (!isInRange && wasInRange && lastRange !== undefined) lastRange.to = from;
  }
  // Entries without a dataset come last; a range that is still open includes them.
  if (!isInRange) ranges.push({ from: keyWithoutDataset, to: null });
  return ranges.length > maxRanges ? null : ranges;
}

function hexOf(text: string): string {
  return Buffer.from(text, 'utf8').toString('hex');
}

/** Returns the text that a search matches: file name, id, organ and dataset in lower case, without diacritics. */
export function searchTextOf(
  entry: NamedEntry & { readonly id: string; readonly organ_type: string | null },
): string {
  // `foldDiacritics` also folds the case. No word of a query contains a line break, so no match spans two fields.
  return foldDiacritics(
    [entry.file_name, entry.id, entry.organ_type ?? '', entry.dataset_name ?? ''].join('\n'),
  );
}
