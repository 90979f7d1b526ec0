/** Parses key files exactly as GLib does, or rejects them. */
import { SlideError } from '../model/slide.ts';

/** Sections of a key file with their keys and values. */
export type Ini = ReadonlyMap<string, ReadonlyMap<string, string>>;

/** The key file has only a few hundred kilobytes, also for slides of many gigabytes. */
const MAX_CHARACTERS = 4 * 2 ** 20;
const MAX_LINES = 2 ** 17;

/** All control characters except tab: GLib ends a text at NUL, and real descriptions have no others. */
const CONTROL = /[^\P{Cc}\t]/u;
/** Blanks other than the space, and invisible characters: GLib takes them as part of a name. */
const INVISIBLE = /[^\P{Z} ]|\p{C}/u;
const BLANKS_BEFORE = /^[ \t]+/;
const BLANKS_AFTER = /[ \t]+$/;

/**
 * Parses a key file: `[section]`, `key = value`; lines that begin with # are comments.
 *
 * OpenSlide parses the same file again with GLib, so a text is either read exactly as GLib reads it, or rejected as
 * ambiguous: control characters, names with blanks or invisible characters beyond ASCII, and a key with two values.
 *
 * Source: GLib 2.74, gkeyfile.c (g_key_file_parse_line and the functions that it calls).
 *
 * @throws SlideError FILE_CORRUPT, LIMIT_EXCEEDED
 */
export function readIni(text: string): Ini {
  if (text.length > MAX_CHARACTERS) throw limitExceeded(`${text.length} characters`);
  const sections = new Map<string, Map<string, string>>();
  let section: Map<string, string> | null = null;
  const lines = text.replace(/^\ufeff/, '').split('\n');
  if (lines.length > MAX_LINES) throw limitExceeded(`${lines.length} lines`);
  for (const [number, line] of lines.entries()) {
    // GLib treats a carriage return as part of the line end.
    const ended = number < lines.length - 1 ? line.replace(/\r$/, '') : line;
    const content = ended.replace(BLANKS_BEFORE, '');
    if (CONTROL.test(content)) throw corrupt('a control character');
    if (content === '' || content.startsWith('#')) continue;
    if (content.startsWith('[')) {
      const name = sectionOf(content);
      section = sections.get(name) ?? new Map<string, string>();
      sections.set(name, section);
      continue;
    }
    if (!section) throw corrupt('a line before its first section');
    const [key, value] = pairOf(content);
    if ((section.get(key) ?? value) !== value) throw corrupt('a key with two different values');
    section.set(key, value);
  }
  return sections;
}

function sectionOf(content: string): string {
  const [, name] = /^\[([^[\]]+)\][ \t]*$/.exec(content) ?? [];
  if (name === undefined) throw corrupt('a malformed section line');
  return checkedName(name);
}

function pairOf(content: string): readonly [key: string, value: string] {
  const equals = content.indexOf('=');
  const key = content.slice(0, Math.max(0, equals)).replace(BLANKS_AFTER, '');
  if (key === '' || /[[\]]/.test(key)) throw corrupt('a line without a key and value');
  return [checkedName(key), content.slice(equals + 1).replace(BLANKS_BEFORE, '')];
}

function checkedName(name: string): string {
  if (INVISIBLE.test(name)) throw corrupt('a name with an invisible character');
  return name;
}

function corrupt(reason: string): SlideError {
  return new SlideError('FILE_CORRUPT', `The description of the slide has ${reason}`);
}

function limitExceeded(what: string): SlideError {
  return new SlideError('LIMIT_EXCEEDED', `The description of the slide has ${what}`);
}
