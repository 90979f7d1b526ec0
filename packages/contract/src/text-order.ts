/** Rules for searching and sorting names, which are the same in the browser and in the catalogue. */

/** Returns the same result for texts that differ only in case; I, ı, İ and i count as one letter. */
export function foldForSearch(text: string): string {
  // The lower case of İ is i followed by a combining dot (Unicode SpecialCasing.txt).
  return text.normalize('NFC').toLowerCase().replaceAll('\u0307', '').replaceAll('ı', 'i');
}

/**
 * Returns a key whose code unit order is the natural order of names: slide-2 before slide-10, case ignored,
 * ç after c and before d.
 */
export function naturalKey(text: string): string {
  // A number is written as its length and its digits, so that the longer one is the greater one;
  // taken apart, an accent follows every plain letter.
  return foldForSearch(text)
    .normalize('NFD')
    .replace(/0*(\d+)/g, (_, digits: string) => `0${String(digits.length).padStart(3, '0')}${digits}`);
}

/** Compares names in natural order; names that differ only in case or leading zeros are compared by code units. */
export function naturalCompare(a: string, b: string): number {
  const keys = compare(naturalKey(a), naturalKey(b));
  return keys === 0 ? compare(a, b) : keys;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
