/**
 * Measurements in JSON, which has no NaN and no infinities.
 *
 * Source: QuPath writes `"NaN"`, `"Infinity"` and `"-Infinity"`, and also reads `"inf"` and `"-inf"`.
 */
const written: ReadonlyMap<number, string> = new Map([
  [Number.NaN, 'NaN'],
  [Number.POSITIVE_INFINITY, 'Infinity'],
  [Number.NEGATIVE_INFINITY, '-Infinity'],
]);

const read: ReadonlyMap<string, number> = new Map([
  ['nan', Number.NaN],
  ['infinity', Number.POSITIVE_INFINITY],
  ['+infinity', Number.POSITIVE_INFINITY],
  ['-infinity', Number.NEGATIVE_INFINITY],
  ['inf', Number.POSITIVE_INFINITY],
  ['+inf', Number.POSITIVE_INFINITY],
  ['-inf', Number.NEGATIVE_INFINITY],
]);

/** Returns a value that JSON can hold. */
export function encodeMeasurement(value: number): number | string {
  return written.get(value) ?? value;
}

/** Returns the number, or null when the value is neither a number nor one of the words for NaN and infinity. */
export function decodeMeasurement(value: unknown): number | null {
  if (typeof value === 'number') return value;
  if (typeof value === 'string') return read.get(value.toLowerCase()) ?? null;
  return null;
}
