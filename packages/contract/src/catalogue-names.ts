/**
 * Names of datasets and organs. Two spellings that differ only in Unicode form, case or invisible characters are the same
 * name: the catalogue stores one spelling for each name, and every comparison uses its key.
 */

/** Returns the form in which a name is stored: Unicode NFC, without surrounding white space. */
export function spellName(text: string): string {
  return text.normalize('NFC').trim() || text;
}

/**
 * Returns the same key for all spellings of a name.
 *
 * Folds case by way of the capital letters, so that ß equals ss and ς equals σ; I, ı, İ and i are one letter, as Turkish and
 * English readers type them. Characters that are not visible, and the number of spaces, do not make another name.
 */
export function nameKey(text: string): string {
  const known = keys.get(text);
  if (known !== undefined) return known;
  const folded = text
    .normalize('NFC')
    .toUpperCase()
    .toLowerCase()
    .replaceAll('\u0307', '') // the lower case of İ is i followed by a combining dot (Unicode SpecialCasing.txt)
    .replaceAll(/[\p{Default_Ignorable_Code_Point}\p{Cc}]/gu, (character) =>
      /[\t\n\v\f\r]/.test(character) ? ' ' : '',
    )
    .replaceAll(/\s+/gu, ' ')
    .trim()
    .normalize('NFC');
  const key = folded || text;
  if (keys.size >= mostKeys) keys.clear();
  keys.set(text, key);
  return key;
}

/** Cache of keys, because a scan compares the same few names for every slide. */
const keys = new Map<string, string>();
const mostKeys = 1000;

/** Returns whether both are spellings of the same name; null means no name. */
export function isSameName(one: string | null, other: string | null): boolean {
  if (one === other) return true;
  return one !== null && other !== null && nameKey(one) === nameKey(other);
}
