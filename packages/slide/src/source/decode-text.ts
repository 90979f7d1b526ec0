const utf8 = new TextDecoder('utf-8', { fatal: true });
const latin1 = new TextDecoder('latin1');

/** Decodes text of an unknown character set: as UTF-8 if it is valid UTF-8, otherwise as Latin-1. Never throws. */
export function decodeUtf8OrLatin1(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    return latin1.decode(bytes);
  }
}
