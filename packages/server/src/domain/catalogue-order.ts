/** Where an entry stands in the catalogue, and what a search finds it by. */
import { foldForSearch, naturalKey } from '@lamina/contract';

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
  const dataset = dataset_name === null ? '1' : `0${hexOf(naturalKey(dataset_name))}`;
  return `${dataset}00${hexOf(naturalKey(file_name))}`; // 00 comes before every character of a longer name
}

/** Between these two, the first included, lie all entries of a dataset. */
export function sortKeysOfDataset(dataset: string): { readonly from: string; readonly to: string } {
  const key = `0${hexOf(naturalKey(dataset))}`;
  return { from: `${key}00`, to: `${key}01` };
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
