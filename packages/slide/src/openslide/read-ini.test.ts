/** Tests the parser of INI files, also in comparison with the parser of the library GLib, if it is installed. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { loadKoffi } from '../decode/load-koffi.ts';
import { readIni } from './read-ini.ts';

/** Reads the value of a key with GLib; null when GLib rejects the text or finds no such key. */
type ReadWithGlib = (text: string, section: string, key: string) => string | null;

async function loadGlib(): Promise<ReadWithGlib | null> {
  const koffi = await loadKoffi();
  try {
    const glib = koffi.load('libglib-2.0.so.0');
    const create = glib.func('void *g_key_file_new()');
    const load = glib.func(
      'int g_key_file_load_from_data(void *file, const void *data, size_t length, int flags, void *error)',
    );
    const value = glib.func(
      'char *g_key_file_get_value(void *file, const char *section, const char *key, void *error)',
    );
    const free = glib.func('void g_key_file_free(void *file)');
    return (text, section, key) => {
      const file = create() as bigint;
      const bytes = Buffer.from(text);
      try {
        if (load(file, bytes, bytes.length, 0, null) === 0) return null;
        return value(file, section, key, null) as string | null;
      } finally {
        free(file);
      }
    };
  } catch {
    return null;
  }
}

const readWithGlib = await loadGlib();

describe('readIni (parses an INI file of a slide)', () => {
  it('returns the keys and values of each section', () => {
    const text = '\ufeff# a comment\r\n[A]  \r\n key = value \r\n[B]\nkey=\n';
    expect(readIni(text)).toEqual(
      new Map([
        ['A', new Map([['key', 'value ']])],
        ['B', new Map([['key', '']])],
      ]),
    );
  });

  it.each([
    ['a NUL character', '[A]\nkey=1\u0000\n'],
    ['a NUL character in the name of a section', '[A]\u0000]\nkey=1\n'],
    ['a vertical tab', '[A]\n\u000bkey=1\n'],
    ['a carriage return inside a line', '[A]\nkey=1\rkey=2\n'],
    ['a non-ASCII space before a key', '[A]\n\u00a0key=1\n'],
    ['a non-ASCII space after a key', '[A]\nkey\u2003=1\n'],
    ['an invisible character in a key', '[A]\nke\u200by=1\n'],
    ['a byte order mark in a key', '[A]\n\ufeffkey=1\n'],
    ['a key that occurs twice with different values', '[A]\nkey=1\nkey=2\n'],
    [
      'a key that occurs with different values in two sections of the same name',
      '[A]\nkey=1\n[B]\n[A]\nkey=2\n',
    ],
    ['a line before the first section', 'key=1\n[A]\n'],
    ['a line that has no equals sign', '[A]\nkey\n'],
    ['an unterminated section header', '[A\nkey=1\n'],
    ['a comment that begins with a semicolon', '[A]\n; key\n'],
  ])('throws FILE_CORRUPT for an INI file with %s', (_, text) => {
    expect(() => readIni(text)).toThrow(expect.objectContaining({ code: 'FILE_CORRUPT' }));
  });

  it.skipIf(readWithGlib === null)(
    'returns, for random INI files that it accepts, every value that the library GLib returns',
    () => {
      const piece = fc.constantFrom(
        '[',
        ']',
        '=',
        '#',
        ';',
        '\n',
        '\r',
        '\t',
        ' ',
        '\u0000',
        '\u000b',
        '\u000c',
        '\u00a0',
        '\u2003',
        '\u200b',
        '\ufeff',
        'A',
        'B',
        'key',
        '[A]\n',
        '[B]\n',
        'key=',
        'FILE_0=',
      );
      const texts = fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join(''));
      fc.assert(
        fc.property(texts, (text) => {
          let ini: ReturnType<typeof readIni>;
          try {
            ini = readIni(text);
          } catch {
            return;
          }
          // OpenSlide removes the byte order mark before it calls GLib.
          const textForGlib = text.replace(/^\ufeff/, '');
          for (const section of ['A', 'B']) {
            for (const key of ['key', 'FILE_0', 'keykey', 'A']) {
              const value = readWithGlib?.(textForGlib, section, key) ?? null;
              if (value !== null) expect(ini.get(section)?.get(key), JSON.stringify(text)).toBe(value);
            }
          }
        }),
        { numRuns: 3000 },
      );
    },
  );
});

it('readIni reads a key with 100,000 tabs inside in less than a second', () => {
  const startedAt = performance.now();
  expect(() => readIni(`[A]\nkey${'\t'.repeat(100_000)}x=1\n`)).toThrow();
  expect(performance.now() - startedAt).toBeLessThan(1000);
});
