/** Tests the check for words that the glossary replaces by standard terms. */
import { describe, expect, it } from 'vitest';
import { rejectedWordsIn } from './plain-language.ts';

/** Returns the rejected words in a text. */
const findWords = (text: string, file = 'docs/x.md') =>
  rejectedWordsIn(text, file).map((line) => line.replace(/^.*?: "(.*?)".*$/, '$1'));

describe('the plain-language check of code and docs', () => {
  it.each([
    ['a sentence', 'nobody reads it', ['nobody']],
    ['the first word of a sentence', 'Somebody asks.', ['somebody']],
    ['the plural form', 'keeps made tiles', ['made tile']],
    ['the first part of an identifier', 'const laneTiles = 1;', ['lane']],
    ['the last part of an identifier', 'inLane();', ['lane']],
  ])('finds a rejected word in %s', (_, text, words) => {
    expect(findWords(text)).toEqual(words);
  });

  it.each([
    ['longer words that contain a rejected word', 'the plane, a planet, trailing'],
    ['a rejected word that is a name in backticks', 'runs as the user `nobody`'],
  ])('accepts text with %s', (_, text) => {
    expect(findWords(text)).toEqual([]);
  });

  it('reports file, line, word and replacement of each rejected word', () => {
    expect(rejectedWordsIn('first\nthe audit trail', 'docs/x.md')).toEqual([
      'docs/x.md:2: "trail": write audit log, audit event',
    ]);
  });

  it('accepts a rejected word in a file with an exception for it', () => {
    expect(findWords('viewer.drawer', 'packages/web/src/viewer/osd.ts')).toEqual([]);
  });
});
