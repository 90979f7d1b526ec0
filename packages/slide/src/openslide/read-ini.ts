import { SlideError } from '../slide.ts';

/** What stands in a file of sections and keys, by their names. */
export type Ini = ReadonlyMap<string, ReadonlyMap<string, string>>;

/** Slides of many gigabytes have some hundred kilobytes. */
const MOST_CHARACTERS = 4 * 2 ** 20;
const MOST_LINES = 2 ** 17;

/**
 * Read a key file: `[section]`, `key = value`; lines that begin with # or ; are comments. Of a key that stands
 * there twice the last counts.
 *
 * Source: GLib, "Key-value file parser", which is what OpenSlide reads with.
 *
 * @throws SlideError FILE_CORRUPT for any other line, LIMIT_EXCEEDED
 */
export function readIni(text: string): Ini {
  if (text.length > MOST_CHARACTERS) throw tooMuch(`${text.length} characters`);
  const sections = new Map<string, Map<string, string>>();
  let section: Map<string, string> | null = null;
  const lines = text.replace(/^\ufeff/, '').split(/\r?\n/);
  if (lines.length > MOST_LINES) throw tooMuch(`${lines.length} lines`);
  for (const line of lines) {
    const content = line.trim();
    if (content === '' || content.startsWith('#') || content.startsWith(';')) continue;
    if (content.startsWith('[') && content.endsWith(']')) {
      const name = content.slice(1, -1);
      section = sections.get(name) ?? new Map();
      sections.set(name, section);
      continue;
    }
    const equals = content.indexOf('=');
    if (equals < 1 || !section) {
      throw new SlideError('FILE_CORRUPT', 'The description of the slide has a line that says nothing');
    }
    section.set(content.slice(0, equals).trimEnd(), content.slice(equals + 1).trimStart());
  }
  return sections;
}

function tooMuch(what: string): SlideError {
  return new SlideError('LIMIT_EXCEEDED', `The description of the slide has ${what}`);
}
