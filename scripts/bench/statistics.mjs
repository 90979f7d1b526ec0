/** @param share 0 the least, 0.5 the median, 1 the most. NaN of nothing. */
export function quantile(numbers, share) {
  const sorted = Float64Array.from(numbers).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}

export function median(numbers) {
  return quantile(numbers, 0.5);
}
