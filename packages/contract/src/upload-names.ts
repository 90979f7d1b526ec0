/**
 * Rules for the names of uploaded files and folders, which must be valid on every operating system. The browser checks names before
 * an upload, to report errors early. The server checks them again, because clients may send any name.
 */
import type { ErrorReason } from './error-reasons.ts';
import { isSingleLine } from './text.ts';

/** The reason why a name is rejected. */
export type NameFault = Extract<ErrorReason, `upload_name_${string}`>;

/** Maximum length of a path in bytes of UTF-8. Object stores limit the prefix and the path together to 1024 bytes. */
const maxPathBytes = 900;
/** Maximum length of a name on most file systems, in bytes of UTF-8. */
const maxNameBytes = 255;
/** Maximum number of folder and file names in a path. */
const maxDepth = 16;

/** Characters that Windows rejects in names, and U+FFFD, which decoders write in place of an invalid character. */
const rejectedCharacters = /[\ufffd\\:*?"<>|]/;
/**
 * Names that Windows reserves, alone or with an extension (`nul.svs`). The digits may be superscript (U+00B9, U+00B2, U+00B3).
 * Source: Microsoft, "Naming Files, Paths, and Namespaces".
 */
const reservedNames = /^(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9\u00b9\u00b2\u00b3])( *\..*)?$/i;

/**
 * Checks the path of a file or folder below its dataset.
 *
 * @param path path with forward slashes
 * @returns the names in the path in Unicode NFC, or the reason why the path is rejected
 */
export function checkUploadPath(
  path: string,
): { readonly names: readonly string[] } | { readonly fault: NameFault } {
  const normalised = path.normalize('NFC');
  if (normalised === '') return { fault: 'upload_name_empty' };
  if (bytesOf(normalised) > maxPathBytes) return { fault: 'upload_name_long' };
  // Matches the beginning of /etc, \\server and C:\slides.
  if (/^(\/|\\|[a-z]:)/i.test(normalised)) return { fault: 'upload_name_absolute' };
  const names = normalised.split('/');
  if (names.length > maxDepth) return { fault: 'upload_name_deep' };
  for (const name of names) {
    const fault = faultOfName(name);
    if (fault !== null) return { fault };
  }
  return { names };
}

function faultOfName(name: string): NameFault | null {
  if (name === '') return 'upload_name_empty';
  if (bytesOf(name) > maxNameBytes) return 'upload_name_long';
  if (name.startsWith('.')) return 'upload_name_hidden'; // includes the names . and ..
  if (rejectedCharacters.test(name) || !isSingleLine(name)) return 'upload_name_character';
  // Leading white space is easily overlooked, and Windows removes spaces and dots at the end of a name.
  if (/^\s|[\s.]$/u.test(name)) return 'upload_name_edge';
  return reservedNames.test(name) ? 'upload_name_reserved' : null;
}

/** Returns the length of the text in UTF-8, in bytes. */
function bytesOf(text: string): number {
  let bytes = 0;
  for (const character of text) {
    bytes += utf8LengthOf(character.codePointAt(0) ?? 0);
  }
  return bytes;
}

function utf8LengthOf(codePoint: number): number {
  if (codePoint < 0x80) return 1;
  if (codePoint < 0x800) return 2;
  return codePoint < 0x1_0000 ? 3 : 4;
}
