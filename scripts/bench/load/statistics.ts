/** Statistics of the measured times of the benchmarks. */

/**
 * Returns a quantile.
 *
 * @param share 0 for the minimum, 0.5 for the median, 1 for the maximum
 * @returns NaN when there are no numbers
 */
export function quantile(numbers: readonly number[], share: number): number {
  const sorted = Float64Array.from(numbers).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}

/** Returns the median; NaN when there are no numbers. */
export function median(numbers: readonly number[]): number {
  return quantile(numbers, 0.5);
}
