/** Range and usual range of the values of a raster, from one pass over it in bounded memory. */
import type { ValueArray, ValueType } from '@lamina/slide';

interface ValueRange {
  readonly min: number;
  readonly max: number;
}

export interface ValueStatistics {
  /** Of all values; null: no pixel has data. */
  readonly range: ValueRange | null;
  /**
   * From the 1st to the 99th percentile of the values above the lowest one, which in most heatmaps means "nothing here" and
   * fills most of the slide. Of floating point from a sample. Null: these values are alike, or there are none. Absent in
   * layers that an earlier version imported.
   */
  readonly usualRange?: ValueRange | null;
  /** Whether some pixels have no data. */
  readonly hasGaps: boolean;
}

const lowShare = 0.01;
const highShare = 0.99;
/** Values of floating point that are kept: the error of the percentiles is far below one of 255 colours. */
const sampleSize = 65_536;

export function createStatistics(type: ValueType) {
  return type === 'uint8' || type === 'uint16' ? countedValues(type) : sampledValues();
}

function countedValues(type: 'uint8' | 'uint16') {
  const counts = new Float64Array(type === 'uint8' ? 256 : 65_536);
  return {
    add(tile: ValueArray): void {
      if (tile instanceof Uint8Array) countBytes(counts, tile);
      else for (let i = 0; i < tile.length; i++) (counts[tile[i] as number] as number)++;
    },
    /** The distinct values; null when they are not whole numbers. */
    values(): number[] | null {
      return [...counts.keys()].filter((value) => counts[value] !== 0);
    },
    result(): ValueStatistics {
      const min = counts.findIndex((count) => count > 0);
      const max = counts.findLastIndex((count) => count > 0);
      let above = 0;
      for (let value = min + 1; value <= max; value++) above += counts[value] as number;
      const valueAt = (share: number) => {
        let [value, seen] = [min, 0];
        while (value < max && seen <= share * above) seen += counts[++value] as number;
        return value;
      };
      return {
        range: { min, max },
        usualRange: rangeOf(valueAt(lowShare), valueAt(highShare)),
        hasGaps: false,
      };
    },
  };
}

/** Most pixels of most masks are counted here: a loop over one type of array, which the compiler makes fast. */
function countBytes(counts: Float64Array, tile: Uint8Array): void {
  for (let i = 0; i < tile.length; i++) (counts[tile[i] as number] as number)++;
}

function sampledValues() {
  const sample = new Float64Array(sampleSize);
  let size = 0;
  let meanGap = 1;
  /** Values until the next one that is kept. */
  let gap = 0;
  let random = 1;
  let min = Number.POSITIVE_INFINITY;
  let max = Number.NEGATIVE_INFINITY;
  let hasGaps = false;

  function keep(value: number): void {
    if (size === sampleSize) {
      size = sampleSize / 2;
      for (let i = 0; i < size; i++) sample[i] = sample[2 * i] as number;
      meanGap *= 2;
    }
    sample[size++] = value;
    // Irregular gaps: regular ones would fall on the same columns of each tile. Source of the numbers: Numerical Recipes.
    random = (Math.imul(random, 1_664_525) + 1_013_904_223) >>> 0;
    gap = meanGap === 1 ? 0 : Math.floor((random / 2 ** 32) * (2 * meanGap - 1));
  }

  return {
    /** Infinite values are no data: they have no place in a range. Replaces them by NaN. */
    add(tile: ValueArray): void {
      for (let i = 0; i < tile.length; i++) {
        const value = tile[i] as number;
        if (!Number.isFinite(value)) {
          tile[i] = Number.NaN;
          hasGaps = true;
          continue;
        }
        if (value < min) min = value;
        if (value > max) max = value;
        if (gap > 0) gap--;
        else keep(value);
      }
    },
    values(): number[] | null {
      return null;
    },
    result(): ValueStatistics {
      const above = sample.subarray(0, size).filter((value) => value > min);
      above.sort();
      const valueAt = (share: number) => above[Math.min(above.length - 1, Math.floor(share * above.length))];
      return {
        range: min <= max ? { min, max } : null,
        usualRange: rangeOf(valueAt(lowShare), valueAt(highShare)),
        hasGaps,
      };
    },
  };
}

function rangeOf(min: number | undefined, max: number | undefined): ValueRange | null {
  return min !== undefined && max !== undefined && min < max ? { min, max } : null;
}
