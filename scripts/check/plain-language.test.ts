import { describe, expect, it } from 'vitest';
import { rejectedWordsIn } from './plain-language.ts';

const rejected = (text: string, file = 'docs/x.md') =>
  rejectedWordsIn(text, file).map((line) => line.replace(/^.*?: "(.*?)".*$/, '$1'));

describe('rejectedWordsIn', () => {
  it.each([
    ['a word', 'nobody reads it', ['nobody']],
    ['a word at the start of a sentence', 'Somebody asks.', ['somebody']],
    ['the plural of a phrase', 'keeps made tiles', ['made tile']],
    ['the first part of an identifier', 'const laneTiles = 1;', ['lane']],
    ['the last part of an identifier', 'inLane();', ['lane']],
  ])('finds %s', (_, text, words) => {
    expect(rejected(text)).toEqual(words);
  });

  it.each([
    ['a longer word', 'the plane, a planet, trailing'],
    ['a name in backticks', 'runs as the user `nobody`'],
  ])('accepts %s', (_, text) => {
    expect(rejected(text)).toEqual([]);
  });

  it('returns file, line, word and replacement', () => {
    expect(rejectedWordsIn('first\nthe audit trail', 'docs/x.md')).toEqual([
      'docs/x.md:2: "trail": write audit log, audit event',
    ]);
  });

  it('accepts a word in a file for which it is an exception', () => {
    expect(rejected('viewer.drawer', 'packages/web/src/viewer/osd.ts')).toEqual([]);
  });
});
