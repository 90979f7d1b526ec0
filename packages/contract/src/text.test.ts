import { describe, expect, it } from 'vitest';
import {
  ComparedName,
  Cursor,
  Id,
  isControlFree,
  isPathParameter,
  isSingleLine,
  MultiLine,
  SearchText,
  SingleLine,
  toSingleLine,
} from './text.ts';
import { NewPassword } from './users.ts';

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

  it('keeps a joiner that its script needs', () => {
    expect(toSingleLine('می\u200cخواهم')).toBe('می\u200cخواهم');
  });

  it('normalises the text to NFC', () => {
    expect(toSingleLine('Is\u0327\u0131l')).toBe('I\u015f\u0131l');
  });
});

describe('the text schema MultiLine (text of several lines)', () => {
  it('accepts line breaks and tabs, and rejects all other characters that SingleLine rejects', () => {
    expect(MultiLine.parse('one\r\n\ttwo ')).toBe('one\r\n\ttwo');
    for (const text of ['a\0b', 'a\x1bb', 'a\u202eb', 'a\ud800b', 'a\u200bb', 'a\u2028b', 'ad\u200dmin']) {
      expect(MultiLine.safeParse(text).success).toBe(false);
    }
  });

  it('normalises the text to NFC', () => {
    expect(MultiLine.parse('Is\u0327\n\u0131l')).toBe('I\u015f\n\u0131l');
  });
});

describe('isControlFree (whether a text has neither control characters nor lone surrogates)', () => {
  it('returns true for a name with an invisible character, and false for a control character or a lone surrogate', () => {
    expect(isControlFree('ad\u200bmin')).toBe(true);
    for (const text of ['a\0b', 'a\nb', 'a\x85b', 'a\ud800b']) expect(isControlFree(text)).toBe(false);
  });
});

describe('the schemas ComparedName and SearchText (names that the server only compares)', () => {
  it('accept names that SingleLine rejects or changes, unchanged', () => {
    for (const name of ['ad\u200bmin', ' Is\u0327\u0131l ', '']) {
      expect(ComparedName.parse(name)).toBe(name);
      expect(SearchText.parse(name)).toBe(name);
    }
  });

  it('reject control characters, lone surrogates and bidirectional controls', () => {
    for (const name of ['a\0b', 'a\nb', 'a\ud800b', 'a\u202eb']) {
      expect(ComparedName.safeParse(name).success).toBe(false);
      expect(SearchText.safeParse(name).success).toBe(false);
    }
  });

  it('SearchText accepts 200 characters and rejects 201', () => {
    expect(SearchText.safeParse('a'.repeat(200)).success).toBe(true);
    expect(SearchText.safeParse('a'.repeat(201)).success).toBe(false);
  });
});

describe('the schema Cursor (a position in a list)', () => {
  it('accepts 4,000 characters of base64url, and rejects 4,001 characters and other characters', () => {
    expect(Cursor.safeParse('A_-9'.repeat(1000)).success).toBe(true);
    for (const cursor of ['a'.repeat(4001), 'a.b', 'a b', 'a\n']) {
      expect(Cursor.safeParse(cursor).success).toBe(false);
    }
  });
});

describe('the schema Id (the id of an account, image, upload or session)', () => {
  it('accepts UUIDs and base64url strings of up to 128 characters, and rejects all other strings', () => {
    expect(Id.safeParse('00000000-0000-4000-8000-000000000000').success).toBe(true);
    expect(Id.safeParse('A_b-'.repeat(32)).success).toBe(true);
    for (const id of ['', 'a b', 'a\0', '../x', 'a.b', 'ı', 'a'.repeat(129), 'a\n']) {
      expect(Id.safeParse(id).success).toBe(false);
    }
  });
});

it.each(['\u0483', 'a\u0301', '\u0301\u0323', '\u200d', 'a\u200d', '\u0915\u200d'])(
  'SingleLine, MultiLine and toSingleLine read a text of 40,000 characters that repeats %j in less than a second',
  (repeated) => {
    const text = repeated.repeat(40_000 / repeated.length);
    const startedAt = performance.now();
    SingleLine.safeParse(text);
    MultiLine.safeParse(text);
    toSingleLine(text);
    expect(performance.now() - startedAt).toBeLessThan(1000);
  },
);

it('NewPassword rejects a text of 40,000 combining marks in less than a second', () => {
  const startedAt = performance.now();
  expect(NewPassword.safeParse('\u0301\u0323'.repeat(20_000)).success).toBe(false);
  expect(performance.now() - startedAt).toBeLessThan(1000);
});

it('SingleLine accepts 30 combining marks in a row and rejects 31; toSingleLine shortens them to 30', () => {
  const accepted = `a${'\u0301'.repeat(30)}`;
  expect(SingleLine.safeParse(accepted).success).toBe(true);
  expect(SingleLine.safeParse(`${accepted}\u0301`).success).toBe(false);
  expect(toSingleLine(`${accepted}\u0301b`)).toBe(`${accepted}b`.normalize('NFC'));
});

describe('isPathParameter (whether a string is a valid path parameter of the API)', () => {
  it('returns true for "0_12.jpeg" as the parameter tile, and false for the same string as the parameter imageId', () => {
    expect(isPathParameter('tile', '0_12.jpeg')).toBe(true);
    expect(isPathParameter('imageId', '0_12.jpeg')).toBe(false);
    expect(isPathParameter('tile', '0_0.jpeg\0')).toBe(false);
  });

  it.each([
    ['study', '1.2.840.10008', '1.2.a'],
    ['series', '1'.repeat(64), '1'.repeat(65)],
    ['instance', '2.25.1', ''],
    ['*', 'Seri 7/IM 0001.dcm', 'a\nb'],
    ['*', 'a'.repeat(1000), 'a'.repeat(1001)],
    ['datasetId', 'Böbrek çalışması', 'a\0b'],
    ['datasetId', 'a'.repeat(255), 'a'.repeat(256)],
    ['datasetId', 'ad\u200bmin', 'a\u202eb'],
    ['imageId', 'a'.repeat(128), 'a'.repeat(129)],
  ])('accepts as the parameter %s the string %j, and rejects %j', (name, valid, invalid) => {
    expect(isPathParameter(name, valid)).toBe(true);
    expect(isPathParameter(name, invalid)).toBe(false);
  });

  it.each(['region', 'size', 'rotation', 'quality', 'frames'])(
    'returns true for any string as the parameter %s, whose handler responds to an invalid one with 400',
    (name) => {
      expect(isPathParameter(name, '!0,0 %')).toBe(true);
    },
  );
});
