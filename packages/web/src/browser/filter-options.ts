import { foldDiacritics, matchesWords, searchWords } from '@lamina/contract';
import type { ComboboxItem, ComboboxParsedItem, OptionsFilter } from '@mantine/core';

/**
 * Returns the first `limit` options whose labels contain all words of the search. As in every search of the app, letter case and
 * diacritics do not matter, and I, ı, İ and i are the same letter. Groups stay, with their matching options.
 */
export const filterOptions: OptionsFilter = ({ options, search, limit }) => {
  const words = searchWords(search);
  let remainingCount = limit;
  const takeMatching = (candidates: readonly ComboboxItem[]): ComboboxItem[] => {
    const matching = candidates
      .filter(({ label }) => matchesWords(foldDiacritics(label), words))
      .slice(0, remainingCount);
    remainingCount -= matching.length;
    return matching;
  };
  return options.flatMap((option): ComboboxParsedItem[] =>
    'group' in option ? [{ ...option, items: takeMatching(option.items) }] : takeMatching([option]),
  );
};
