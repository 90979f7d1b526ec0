/**
 * The search for the words of a query in texts. The browser and the server use the same rules: letter case and diacritics do not
 * matter, and I, ı, İ and i are the same letter.
 */
import { foldCase } from './text-order.ts';

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
  return foldCase(text)
    .normalize('NFD')
    .replace(/\p{Mn}/gu, '')
    .replace(/[ßæœøłđðþ]/g, (letter) => plainLetters[letter] ?? letter);
}

/** All words beyond this number are joined into one more word, so that a search makes a limited number of comparisons. */
const maxWords = 12;

/**
 * Returns the words of a query as `foldDiacritics` folds them; none for a query of white space. Leaves out a word that is part of
 * another one, because a text that contains the longer word contains it too.
 */
export function searchWords(query: string): readonly string[] {
  const allWords = foldDiacritics(query).split(/\s+/).filter(Boolean);
  const words =
    allWords.length > maxWords
      ? [...allWords.slice(0, maxWords), allWords.slice(maxWords).join(' ')]
      : allWords;
  const uniqueWords = [...new Set(words)];
  return uniqueWords.filter((word) => !uniqueWords.some((other) => other !== word && other.includes(word)));
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
