/** Search by words, which works the same in the browser and on the server. It ignores case, Turkish letters and diacritics. */
import { foldForSearch } from './text-order.ts';

/** Latin letters that Unicode does not decompose into a letter and a mark. */
const plainLetters: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  þ: 'th',
};

/** Returns the text in lower case without diacritics: 'Şüpheli IŞIK' becomes 'supheli isik'. */
export function foldDiacritics(text: string): string {
  return foldForSearch(text)
    .normalize('NFD')
    .replace(/\p{Mn}/gu, '')
    .replace(/[ßæœøłđðþ]/g, (letter) => plainLetters[letter] ?? letter);
}

/** A query has at most this many words; the rest of it is one more, so that a search costs a bounded number of comparisons. */
const maxWords = 12;

/**
 * Returns the folded words of a query; none for a query of white space. A word that is part of another one is left out: the
 * longer word decides.
 */
export function searchWords(query: string): readonly string[] {
  const all = foldDiacritics(query).split(/\s+/).filter(Boolean);
  const words = all.length > maxWords ? [...all.slice(0, maxWords), all.slice(maxWords).join(' ')] : all;
  const unique = [...new Set(words)];
  return unique.filter((word) => !unique.some((other) => other !== word && other.includes(word)));
}

/**
 * Returns whether every word occurs in the text, in any order.
 *
 * @param folded the text as `foldDiacritics` returns it
 * @param words as `searchWords` returns them
 */
export function matchesWords(folded: string, words: readonly string[]): boolean {
  return words.every((word) => folded.includes(word));
}
