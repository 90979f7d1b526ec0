/**
 * Parser of the INI files ("key files") that list the files of MIRAX, VMS and VMU slides. OpenSlide parses the same files with
 * the library GLib; this parser reads a file exactly as GLib does, or rejects it.
 */
import { SlideError } from '../model/slide.ts';

/** Sections of a key file with their keys and values. */
export type Ini = ReadonlyMap<string, ReadonlyMap<string, string>>;

/** Limits of a key file. Even for slides of many gigabytes, a key file has only a few hundred kilobytes. */
const MAX_CHARACTERS = 4 * 2 ** 20;
const MAX_LINES = 2 ** 17;

/** Matches control characters except tab. GLib ends a text at NUL, and real files have no other control characters. */
const CONTROL = /[^\P{Cc}\t]/u;
/** Matches invisible characters and white space except the space character; GLib treats all of these as part of a name. */
const INVISIBLE = /[^\P{Z} ]|\p{C}/u;
const LEADING_BLANKS = /^[ \t]+/;
/** The lookbehind lets a match begin only at the first of several blanks: otherwise blanks inside a line would take quadratic time. */
const TRAILING_BLANKS = /(?<![ \t])[ \t]+$/;

/**
 * Parses `[section]` and `key = value`; lines that begin with # are comments.
 *
 * Rejects files that another parser could read differently. Such a file has control characters, two different values of a key,
 * or a name (of a section or key) with invisible characters or white space beyond ASCII.
 *
 * Source: GLib 2.74, gkeyfile.c (g_key_file_parse_line and the functions that it calls).
 *
 * @throws SlideError FILE_CORRUPT, LIMIT_EXCEEDED
 */
export function readIni(text: string): Ini {
  if (text.length > MAX_CHARACTERS) throw limitExceededError(`${text.length} characters`);
  const sections = new Map<string, Map<string, string>>();
  let section: Map<string, string> | null = null;
  const lines = text.replace(/^\ufeff/, '').split('\n');
  if (lines.length > MAX_LINES) throw limitExceededError(`${lines.length} lines`);
  for (const [index, line] of lines.entries()) {
    // GLib treats a carriage return before a line feed as part of the line end.
    const isLastLine = index === lines.length - 1;
    const content = (isLastLine ? line : line.replace(/\r$/, '')).replace(LEADING_BLANKS, '');
    if (CONTROL.test(content)) throw corruptError('a control character');
    if (content === '' || content.startsWith('#')) continue;
    if (content.startsWith('[')) {
      const name = parseSectionName(content);
      section = sections.get(name) ?? new Map<string, string>();
      sections.set(name, section);
      continue;
    }
    if (!section) throw corruptError('a line before its first section');
    const [key, value] = parseKeyAndValue(content);
    if ((section.get(key) ?? value) !== value) throw corruptError('a key with two different values');
    section.set(key, value);
  }
  return sections;
}

function parseSectionName(content: string): string {
  const [, name] = /^\[([^[\]]+)\][ \t]*$/.exec(content) ?? [];
  if (name === undefined) throw corruptError('a malformed section line');
  return checkName(name);
}

function parseKeyAndValue(content: string): readonly [key: string, value: string] {
  const separator = content.indexOf('=');
  const beforeSeparator = content.slice(0, Math.max(0, separator)); // '' if there is no separator (-1)
  const key = beforeSeparator.replace(TRAILING_BLANKS, '');
  if (key === '' || /[[\]]/.test(key)) throw corruptError('a line without a key and value');
  return [checkName(key), content.slice(separator + 1).replace(LEADING_BLANKS, '')];
}

function checkName(name: string): string {
  if (INVISIBLE.test(name)) throw corruptError('a name with an invisible character');
  return name;
}

function corruptError(reason: string): SlideError {
  return new SlideError('FILE_CORRUPT', `The description of the slide has ${reason}`);
}

function limitExceededError(what: string): SlideError {
  return new SlideError('LIMIT_EXCEEDED', `The description of the slide has ${what}`);
}
