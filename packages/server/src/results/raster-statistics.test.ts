import { describe, expect, it } from 'vitest';
import { createStatistics } from './raster-statistics.ts';

/** Returns 200,000 values: 90 % background (0), values from 1 to 100, and one outlier. */
function heatmapValues(): number[] {
  const values = Array.from({ length: 200_000 }, (_, i) => (i % 10 === 0 ? 1 + ((i / 10) % 100) : 0));
  values[5] = 60_000;
  return values;
}

describe('createStatistics: usual value range (1st to 99th percentile of the values above the minimum) of a result raster', () => {
  it('is 2 to 100 for an integer raster with the minimum 0, values from 1 to 100 and one outlier 60,000', () => {
    const statistics = createStatistics('uint16');
    statistics.add(Uint16Array.from(heatmapValues()));
    expect(statistics.result()).toEqual({
      range: { min: 0, max: 60_000 },
      usualRange: { min: 2, max: 100 }, // the 1st and 99th percentile of the values from 1 to 100 and the outlier
      hasGaps: false,
    });
    expect(statistics.values()?.length).toBe(102);
  });

  it('is 2 to 99 ± 1 (estimated from a sample) for a floating-point raster with the minimum 0 and values from 1 to 100', () => {
    const statistics = createStatistics('float32');
    const values = Float32Array.from(heatmapValues());
    values[7] = Number.NaN;
    values[8] = Number.POSITIVE_INFINITY;
    for (let part = 0; part < 10; part++) statistics.add(values.slice(part * 20_000, (part + 1) * 20_000));
    const { range, usualRange, hasGaps } = statistics.result();
    expect(range).toEqual({ min: 0, max: 60_000 });
    expect(hasGaps).toBe(true);
    expect(Math.abs((usualRange?.min ?? 0) - 2)).toBeLessThanOrEqual(1);
    expect(Math.abs((usualRange?.max ?? 0) - 99)).toBeLessThanOrEqual(1);
  });

  it.each([
    ['one distinct value', [7, 7, 7]],
    ['two distinct values', [0, 0, 255]],
  ])('is null for a raster that has only %s', (_, values) => {
    for (const [type, tile] of [
      ['uint8', Uint8Array.from(values)],
      ['float32', Float32Array.from(values)],
    ] as const) {
      const statistics = createStatistics(type);
      statistics.add(tile);
      expect(statistics.result().usualRange).toBeNull();
    }
  });

  it('is null, like the full value range, for a raster that has only NaN values', () => {
    const statistics = createStatistics('float64');
    statistics.add(Float64Array.of(Number.NaN));
    expect(statistics.result()).toEqual({ range: null, usualRange: null, hasGaps: true });
  });
});
