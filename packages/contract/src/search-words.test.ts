import { describe, expect, it } from 'vitest';
import { foldDiacritics, matchesWords, searchWords } from './search-words.ts';

describe('foldDiacritics (lower-case form without diacritics, for the search)', () => {
  it.each([
    ['Şüpheli IŞIK', 'supheli isik'],
    ['İpek Öztürk-Çağlı', 'ipek ozturk-cagli'],
    ['ıIiİ', 'iiii'],
    ['Ø ł đ ß é', 'o l d ss e'],
    ['s\u0327u\u0308t', 'sut'],
  ])('converts "%s" to "%s"', (text, folded) => {
    expect(foldDiacritics(text)).toBe(folded);
  });
});

describe('searchWords (words of a search query)', () => {
  it('splits a query at white space, and returns its words in lower case without diacritics', () => {
    expect(searchWords('  Kolon\tH&E ')).toEqual(['kolon', 'h&e']);
  });

  it('returns an empty list for a query of white space', () => {
    expect(searchWords(' \t ')).toEqual([]);
  });

  it('omits words that are repeated in the query or contained in another word of the query', () => {
    expect(searchWords('kolon kol KOLON lon h')).toEqual(['kolon', 'h']);
  });

  it('returns 13 words for a query of 100: the first twelve, and all others joined into one', () => {
    expect(searchWords(Array.from({ length: 100 }, (_, i) => `w${i + 100}`).join(' '))).toHaveLength(13); // 12 words and the joined one
  });
});

describe('matchesWords (whether a text matches a search query)', () => {
  it.each([
    ['isik ipek', true],
    ['İPEK', true],
    ['ege ipek', true],
    ['ipek ankara', false],
    ['  ', true],
  ])('for the query "%s" and the text "İpek Işık Ege Üniversitesi", returns %s', (query, expected) => {
    expect(matchesWords(foldDiacritics('İpek Işık Ege Üniversitesi'), searchWords(query))).toBe(expected);
  });
});
