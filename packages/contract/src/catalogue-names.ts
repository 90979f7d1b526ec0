/**
 * Rules for comparing names of datasets and organs. Spellings that differ only in Unicode form, case, white space or invisible characters
 * are one name: the catalogue stores one spelling of each name, and every comparison uses the key of the name (`nameKey`).
 */

/** Returns the form in which a name is stored: Unicode NFC, without surrounding white space. */
export function toStoredName(text: string): string {
  return text.normalize('NFC').trim() || text; // a name that consists only of white space stays unchanged
}

/**
 * Returns the same key for all spellings of a name.
 *
 * Ignores letter case by converting to upper case and back, so that ß equals ss and ς equals σ. I, ı, İ and i count as one letter.
 * Invisible characters and the number of spaces are ignored. Diacritics are not.
 */
export function nameKey(text: string): string {
  const cachedKey = cachedKeys.get(text);
  if (cachedKey !== undefined) return cachedKey;
  const folded = text
    .normalize('NFC')
    .toUpperCase()
    .toLowerCase()
    .replaceAll('\u0307', '') // `toLowerCase` converts İ to i and this combining dot (Unicode SpecialCasing.txt)
    .replaceAll(/[\p{Default_Ignorable_Code_Point}\p{Cc}]/gu, (character) =>
      /[\t\n\v\f\r]/.test(character) ? ' ' : '',
    )
    .replaceAll(/\s+/gu, ' ')
    .trim()
    .normalize('NFC');
  const key = folded || text; // a name that consists of ignored characters only is its own key
  if (cachedKeys.size >= maxCachedKeys) cachedKeys.clear();
  cachedKeys.set(text, key);
  return key;
}

/** Caches keys by name, because a scan of the slide folder compares the same few names many times. */
const cachedKeys = new Map<string, string>();
const maxCachedKeys = 1000;

/** Returns whether both texts are spellings of the same name. Null means no name, and equals only null. */
export function isSameName(a: string | null, b: string | null): boolean {
  if (a === b) return true;
  return a !== null && b !== null && nameKey(a) === nameKey(b);
}
