/** Rules for comparing and sorting names. The browser and the server use the same rules. */

/** Converts a text to a form that is equal for texts that differ only in letter case. I, ı, İ and i count as one letter. */
export function foldCase(text: string): string {
  // `toLowerCase` converts İ to i and the combining dot U+0307 (Unicode SpecialCasing.txt).
  return text.normalize('NFC').toLowerCase().replaceAll('\u0307', '').replaceAll('ı', 'i');
}

/**
 * Returns a sort key. Comparing keys by code units sorts names in natural order: slide-2 before slide-10, ignoring letter case, and
 * ç after c and before d.
 */
export function naturalSortKey(text: string): string {
  // A number becomes 0, the count of its digits (three digits) and its digits, without leading zeros ('010' becomes '000210'), so that
  // longer numbers sort after shorter ones. NFD separates accents from letters: ç (c and a cedilla) sorts after c and before d.
  return foldCase(text)
    .normalize('NFD')
    .replace(/0*(\d+)/g, (_, digits: string) => `0${String(digits.length).padStart(3, '0')}${digits}`);
}

/** Compares names in natural order. Names that differ only in case or leading zeros are compared by code units. */
export function naturalCompare(a: string, b: string): number {
  const keyOrder = compareCodeUnits(naturalSortKey(a), naturalSortKey(b));
  return keyOrder === 0 ? compareCodeUnits(a, b) : keyOrder;
}

function compareCodeUnits(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
