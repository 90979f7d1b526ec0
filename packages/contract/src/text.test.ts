import { describe, expect, it } from 'vitest';
import { Id, isPathParameter, isSingleLine, MultiLine, SingleLine, toSingleLine } from './text.ts';

describe('the text schema SingleLine (one line of visible characters)', () => {
  it.each([
    'Işıl Yılmaz',
    "O'Brien-Şahin",
    '张伟',
    'می\u200cخواهم', // Persian, ZERO WIDTH NON-JOINER between letters
    'क्\u200dष', // Devanagari, ZERO WIDTH JOINER
    '👩\u200d🔬 Lab', // emoji sequence
    '👩🏽\u200d⚕\ufe0f',
    '=1+1',
    '',
  ])('accepts the text %j', (text) => {
    expect(SingleLine.safeParse(text).success).toBe(true);
  });

  it.each([
    ['NUL', 'a\0b'],
    ['ESC', 'a\x1b[31mb'],
    ['a tab', 'a\tb'],
    ['a tab at the end', 'a\t'],
    ['a line feed', 'a\nb'],
    ['the C1 control character U+0085', 'a\x85b'],
    ['LINE SEPARATOR', 'a\u2028b'],
    ['RIGHT-TO-LEFT OVERRIDE', 'a\u202eb'],
    ['RIGHT-TO-LEFT ISOLATE', 'a\u2067b'],
    ['RIGHT-TO-LEFT MARK', 'a\u200fb'],
    ['ZERO WIDTH SPACE', 'ad\u200bmin'],
    ['ZERO WIDTH JOINER between Latin letters', 'ad\u200dmin'],
    ['ZERO WIDTH JOINER at the start', '\u200dad'],
    ['WORD JOINER', 'ad\u2060min'],
    ['a byte order mark', '\ufeffadmin'],
    ['SOFT HYPHEN', 'ad\u00admin'],
    ['HANGUL FILLER', '\u3164'],
    ['BRAILLE PATTERN BLANK', '\u2800'],
    ['the tag character U+E0041', 'a\u{e0041}b'],
    ['a lone high surrogate', 'a\ud800b'],
    ['a lone low surrogate', 'a\udc00b'],
    ['the noncharacter U+FFFF', 'a\uffffb'],
  ])('rejects a text with %s, and toSingleLine makes it valid', (_, text) => {
    expect(SingleLine.safeParse(text).success).toBe(false);
    expect(isSingleLine(toSingleLine(text))).toBe(true);
  });

  it('removes white space at both ends of a text and normalises it to NFC', () => {
    expect(SingleLine.parse('  Is\u0327\u0131l  ')).toBe('I\u015f\u0131l');
  });
});

describe('toSingleLine (makes a text valid for SingleLine)', () => {
  it('replaces each run of white space by one space, and removes invisible characters', () => {
    expect(toSingleLine(' Ada\r\n\tLove\u200blace\u202e\0 ')).toBe('Ada Lovelace');
  });
});

describe('the text schema MultiLine (text of several lines)', () => {
  it('accepts line breaks and tabs, and rejects all other characters that SingleLine rejects', () => {
    expect(MultiLine.parse('one\r\n\ttwo ')).toBe('one\r\n\ttwo');
    for (const text of ['a\0b', 'a\x1bb', 'a\u202eb', 'a\ud800b', 'a\u200bb', 'a\u2028b']) {
      expect(MultiLine.safeParse(text).success).toBe(false);
    }
  });
});

describe('the schema Id (the id of an account, image, upload or session)', () => {
  it('accepts UUIDs and base64url strings of up to 128 characters, and rejects all other strings', () => {
    expect(Id.safeParse('00000000-0000-4000-8000-000000000000').success).toBe(true);
    expect(Id.safeParse('A_b-9'.repeat(8)).success).toBe(true);
    for (const id of ['', 'a b', 'a\0', '../x', 'a.b', 'ı', 'a'.repeat(129), 'a\n']) {
      expect(Id.safeParse(id).success).toBe(false);
    }
  });
});

describe('isPathParameter (whether a string is a valid path parameter of the API)', () => {
  it('returns true for "0_12.jpeg" as the parameter tile, and false for the same string as the parameter imageId', () => {
    expect(isPathParameter('tile', '0_12.jpeg')).toBe(true);
    expect(isPathParameter('imageId', '0_12.jpeg')).toBe(false);
    expect(isPathParameter('tile', '0_0.jpeg\0')).toBe(false);
  });
});
