/**
 * What a file or a folder that is sent to us may be called, so that it means the same on every machine: the browser
 * tells before anything is sent, the server decides.
 */
import type { InBothLanguages } from './errors.ts';

export const nameFaults = {
  empty: { tr: 'Ad boş olamaz.', en: 'The name is empty.' },
  long: { tr: 'Ad çok uzun.', en: 'The name is too long.' },
  deep: { tr: 'Klasörler çok derin.', en: 'The folders are too deep.' },
  hidden: {
    tr: 'Noktayla başlayan adlar kabul edilmez.',
    en: 'Names that begin with a dot are not accepted.',
  },
  absolute: {
    tr: 'Ad eğik çizgiyle veya sürücü harfiyle başlayamaz.',
    en: 'The name may not begin with a slash or a drive letter.',
  },
  character: {
    tr: 'Ad kabul edilmeyen bir karakter içeriyor (denetim karakterleri ve \\ : * ? " < > |).',
    en: 'The name has a character that is not accepted (control characters and \\ : * ? " < > |).',
  },
  edge: {
    tr: 'Ad boşlukla başlayamaz, boşlukla veya noktayla bitemez.',
    en: 'The name may not begin with a space, nor end with a space or a dot.',
  },
  reserved: {
    tr: 'Bu ad Windows tarafından ayrılmıştır (CON, PRN, AUX, NUL, COM1, LPT1 gibi).',
    en: 'This name is reserved by Windows (such as CON, PRN, AUX, NUL, COM1, LPT1).',
  },
} as const satisfies Readonly<Record<string, InBothLanguages>>;
export type NameFault = keyof typeof nameFaults;

/** A path is one text in databases and, as an object, one key of at most 1024 bytes in a store. */
const maxPathBytes = 900;
/** What most file systems have room for, in bytes of UTF-8. */
const maxNameBytes = 255;
const maxDepth = 16;

/** Control characters and line ends, halves of characters, what turns the direction of writing, and what Windows refuses. */
const refusedCharacters =
  /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\ufffd\\:*?"<>|]/u;
/** Whatever ending follows. Source: Microsoft, "Naming Files, Paths, and Namespaces". */
const reservedNames = /^(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9\u00b9\u00b2\u00b3])( *\..*)?$/i;

/**
 * @param path with forward slashes
 * @returns the names along it, as Unicode NFC, or the first thing that is wrong with it
 */
export function checkUploadPath(
  path: string,
): { readonly names: readonly string[] } | { readonly fault: NameFault } {
  const normal = path.normalize('NFC');
  if (normal === '') return { fault: 'empty' };
  if (bytesOf(normal) > maxPathBytes) return { fault: 'long' };
  if (/^(\/|\\|[a-z]:)/i.test(normal)) return { fault: 'absolute' };
  const names = normal.split('/');
  if (names.length > maxDepth) return { fault: 'deep' };
  for (const name of names) {
    const fault = faultOfName(name);
    if (fault !== null) return { fault };
  }
  return { names };
}

function faultOfName(name: string): NameFault | null {
  if (name === '') return 'empty';
  if (bytesOf(name) > maxNameBytes) return 'long';
  if (name.startsWith('.')) return 'hidden';
  if (refusedCharacters.test(name)) return 'character';
  if (/^\s|[\s.]$/u.test(name)) return 'edge';
  return reservedNames.test(name) ? 'reserved' : null;
}

/** Of the text in UTF-8. */
function bytesOf(text: string): number {
  let bytes = 0;
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x1_0000 ? 3 : 4;
  }
  return bytes;
}
