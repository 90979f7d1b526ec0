/**
 * Measurements in JSON. JSON has neither NaN nor infinities, so they become strings: QuPath writes `"NaN"`, `"Infinity"` and
 * `"-Infinity"`, and also reads `"inf"` and `"-inf"`.
 */
const wordByNumber: ReadonlyMap<number, string> = new Map([
  [Number.NaN, 'NaN'],
  [Number.POSITIVE_INFINITY, 'Infinity'],
  [Number.NEGATIVE_INFINITY, '-Infinity'],
]);

/** Words in lowercase; they are compared without regard to case. */
const numberByWord: ReadonlyMap<string, number> = new Map([
  ['nan', Number.NaN],
  ['infinity', Number.POSITIVE_INFINITY],
  ['+infinity', Number.POSITIVE_INFINITY],
  ['-infinity', Number.NEGATIVE_INFINITY],
  ['inf', Number.POSITIVE_INFINITY],
  ['+inf', Number.POSITIVE_INFINITY],
  ['-inf', Number.NEGATIVE_INFINITY],
]);

/** Returns the number, or its word when it is NaN or infinite. A Map, unlike `===`, finds the key NaN. */
export function encodeMeasurement(value: number): number | string {
  return wordByNumber.get(value) ?? value;
}

/** Returns the number; null when the value is neither a number nor a word of `numberByWord`. */
export function decodeMeasurement(value: unknown): number | null {
  if (typeof value === 'number') return value;
  if (typeof value === 'string') return numberByWord.get(value.toLowerCase()) ?? null;
  return null;
}
