/**
 * What a file or a folder that is sent to us may be called, so that it means the same on every machine: the browser
 * tells before anything is sent, the server decides.
 */
import type { ErrorReason } from './error-reasons.ts';
import { isSingleLine } from './text.ts';

/** Reason why a name is rejected. */
export type NameFault = Extract<ErrorReason, `upload_name_${string}`>;

/** Maximum length of a path; an object store allows keys of at most 1024 bytes. */
const maxPathBytes = 900;
/** Maximum length of a name on most file systems, in bytes of UTF-8. */
const maxNameBytes = 255;
const maxDepth = 16;

/** Characters that Windows rejects in names, and U+FFFD, which decoders write instead of an unreadable character. */
const refusedCharacters = /[\ufffd\\:*?"<>|]/;
/** Names that Windows reserves, with any extension. Source: Microsoft, "Naming Files, Paths, and Namespaces". */
const reservedNames = /^(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9\u00b9\u00b2\u00b3])( *\..*)?$/i;

/**
 * @param path with forward slashes
 * @returns the names in the path, as Unicode NFC, or the reason why it is rejected
 */
export function checkUploadPath(
  path: string,
): { readonly names: readonly string[] } | { readonly fault: NameFault } {
  const normal = path.normalize('NFC');
  if (normal === '') return { fault: 'upload_name_empty' };
  if (bytesOf(normal) > maxPathBytes) return { fault: 'upload_name_long' };
  if (/^(\/|\\|[a-z]:)/i.test(normal)) return { fault: 'upload_name_absolute' };
  const names = normal.split('/');
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
  if (name.startsWith('.')) return 'upload_name_hidden';
  if (refusedCharacters.test(name) || !isSingleLine(name)) return 'upload_name_character';
  if (/^\s|[\s.]$/u.test(name)) return 'upload_name_edge';
  return reservedNames.test(name) ? 'upload_name_reserved' : null;
}

/** Returns the length of the text in UTF-8, in bytes. */
function bytesOf(text: string): number {
  let bytes = 0;
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x1_0000 ? 3 : 4;
  }
  return bytes;
}
