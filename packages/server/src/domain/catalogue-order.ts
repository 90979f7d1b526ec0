/** Where an entry stands in the catalogue, and what a search finds it by. */
import { foldForSearch, naturalKey } from '@lamina/contract';

/** What the sort keys of those begin with. */
const withoutDataset = '1';

interface Named {
  readonly file_name: string;
  readonly dataset_name: string | null;
}

/**
 * Datasets in natural order, those without one last, in each the file names in natural order.
 *
 * Digits and a…f alone, which every database puts in the same order whatever its collation.
 */
export function sortKeyOf({ file_name, dataset_name }: Named): string {
  const dataset = dataset_name === null ? withoutDataset : `0${hexOf(naturalKey(dataset_name))}`;
  return `${dataset}00${hexOf(naturalKey(file_name))}`; // 00 comes before every character of a longer name
}

/** Between these two, the first included, lie all entries of a dataset. */
export function sortKeysOfDataset(dataset: string): { readonly from: string; readonly to: string } {
  const key = `0${hexOf(naturalKey(dataset))}`;
  return { from: `${key}00`, to: `${key}01` };
}

/** A part of the catalogue's order, from its first sort key to the first one behind it; null: to the end. */
export interface Stretch {
  readonly from: string;
  readonly to: string | null;
}

/** More of them are not worth the trouble. */
const mostStretches = 64;

/**
 * Where entries stand that are in none of the closed datasets: between these, nothing else does.
 *
 * @param datasets names of all there are
 * @returns in order; null when it is simpler to walk through everything
 */
export function openStretches(
  datasets: readonly string[],
  closed: ReadonlySet<string>,
): readonly Stretch[] | null {
  if (closed.size === 0) return null;
  // Names that differ in case alone share their place: it is closed when all of them are.
  const places = Map.groupBy(datasets, (name) => sortKeysOfDataset(name).from);
  const stretches: { from: string; to: string | null }[] = [];
  let isOpen = false;
  for (const [from, names] of [...places].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const wasOpen = isOpen;
    isOpen = names.some((name) => !closed.has(name));
    const last = stretches.at(-1);
    if (isOpen && !wasOpen) stretches.push({ from, to: null });
    else if (!isOpen && wasOpen && last !== undefined) last.to = from;
  }
  // Those without a dataset come last.
  if (!isOpen) stretches.push({ from: withoutDataset, to: null });
  return stretches.length > mostStretches ? null : stretches;
}

function hexOf(text: string): string {
  return Buffer.from(text, 'utf8').toString('hex');
}

/** File name, id, organ and dataset, as `foldForSearch` folds them. */
export function searchTextOf(
  entry: Named & { readonly id: string; readonly organ_type: string | null },
): string {
  // Kept apart by a line break, which nobody types into a search box.
  return foldForSearch(
    [entry.file_name, entry.id, entry.organ_type ?? '', entry.dataset_name ?? ''].join('\n'),
  );
}
