/** Computes the range of the values of a raster, with and without outliers, in one pass and with bounded memory. */
import type { ValueArray, ValueType } from '@lamina/slide/result-files';

interface ValueRange {
  readonly min: number;
  readonly max: number;
}

export interface ValueStatistics {
  /** Range of all values; null when no pixel has data. */
  readonly range: ValueRange | null;
  /**
   * Range from the 1st to the 99th percentile of all values except the lowest one. In most heatmaps the lowest value means
   * "nothing here" and fills most of the slide, so it is left out. For floating-point values, it is computed from a sample. Null when
   * both percentiles are the same value, or no value is left. Undefined for layers that an earlier version imported.
   */
  readonly usualRange?: ValueRange | null;
  /** Whether some pixels have no data. */
  readonly hasGaps: boolean;
}

/** Percentiles of the usual range, as fractions. */
const lowPercentile = 0.01;
const highPercentile = 0.99;
/** Number of floating-point values in the sample. The error of the percentiles is then smaller than a display step (1/255). */
const sampleSize = 65_536;

/** Creates statistics, to which all tiles of a raster are added one by one. */
export function createStatistics(type: ValueType) {
  return type === 'uint8' || type === 'uint16' ? createCounts(type) : createSample();
}

/** Statistics of whole numbers: counts how often each value occurs. */
function createCounts(type: 'uint8' | 'uint16') {
  const counts = new Float64Array(type === 'uint8' ? 256 : 65_536);
  return {
    add(tile: ValueArray): void {
      if (tile instanceof Uint8Array) countBytes(counts, tile);
      else for (let i = 0; i < tile.length; i++) (counts[tile[i] as number] as number)++;
    },
    /** Returns the distinct values in ascending order. */
    values(): number[] | null {
      return [...counts.keys()].filter((value) => counts[value] !== 0);
    },
    result(): ValueStatistics {
      const min = counts.findIndex((count) => count > 0);
      const max = counts.findLastIndex((count) => count > 0);
      let countAboveMin = 0;
      for (let value = min + 1; value <= max; value++) countAboveMin += counts[value] as number;
      const valueAt = (percentile: number) => {
        let [value, countUpToValue] = [min, 0]; // does not count `min` itself, which `usualRange` leaves out
        while (value < max && countUpToValue <= percentile * countAboveMin) {
          countUpToValue += counts[++value] as number;
        }
        return value;
      };
      return {
        range: { min, max },
        usualRange: rangeOf(valueAt(lowPercentile), valueAt(highPercentile)),
        hasGaps: false, // only a floating-point value can mean "no data"
      };
    },
  };
}

/** Counts values of type `uint8`, the type of most masks. This separate loop is fast, because the compiler sees one type of array. */
function countBytes(counts: Float64Array, tile: Uint8Array): void {
  for (let i = 0; i < tile.length; i++) (counts[tile[i] as number] as number)++;
}

/** Statistics of floating-point values: keeps a sample. When it is full, every other value is dropped and `meanStep` doubles. */
function createSample() {
  const sample = new Float64Array(sampleSize);
  let size = 0;
  /** Mean distance between two sampled values in the sequence of all values; 1 when every value is sampled. */
  let meanStep = 1;
  /** Number of values to skip before the next one is sampled. */
  let valuesToSkip = 0;
  /** State of the pseudorandom generator. */
  let random = 1;
  let min = Number.POSITIVE_INFINITY;
  let max = Number.NEGATIVE_INFINITY;
  let hasGaps = false;
  /** 1 for each value that occurs, by value; null after a value that is no whole number from 0 to 255. */
  let seenBytes: Uint8Array | null = new Uint8Array(256);

  function addToSample(value: number): void {
    if (size === sampleSize) {
      size = sampleSize / 2;
      for (let i = 0; i < size; i++) sample[i] = sample[2 * i] as number;
      meanStep *= 2;
    }
    sample[size++] = value;
    // The steps are random, because regular steps would sample the same columns of each tile. The constants of the linear
    // congruential generator are from Numerical Recipes.
    random = (Math.imul(random, 1_664_525) + 1_013_904_223) >>> 0;
    // The number of values to skip is uniformly distributed from 0 to 2 × meanStep - 2, so its mean is meanStep - 1.
    valuesToSkip = meanStep === 1 ? 0 : Math.floor((random / 2 ** 32) * (2 * meanStep - 1));
  }

  return {
    /** Adds a tile. Replaces its infinite values with NaN (no data) in place, because they cannot be part of a range. */
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
        if (seenBytes !== null) {
          if (Number.isInteger(value) && value >= 0 && value <= 255) seenBytes[value] = 1;
          else seenBytes = null;
        }
        if (valuesToSkip > 0) valuesToSkip--;
        else addToSample(value);
      }
    },
    /** Returns the distinct values in ascending order; null when there are none, or one is no whole number from 0 to 255. */
    values(): number[] | null {
      const seen = seenBytes;
      if (seen === null || min > max) return null;
      return [...seen.keys()].filter((value) => seen[value] === 1);
    },
    result(): ValueStatistics {
      const aboveMin = sample.subarray(0, size).filter((value) => value > min);
      aboveMin.sort();
      const valueAt = (percentile: number) =>
        aboveMin[Math.min(aboveMin.length - 1, Math.floor(percentile * aboveMin.length))];
      return {
        range: min <= max ? { min, max } : null,
        usualRange: rangeOf(valueAt(lowPercentile), valueAt(highPercentile)),
        hasGaps,
      };
    },
  };
}

/** Returns a range; null when it is empty. */
function rangeOf(min: number | undefined, max: number | undefined): ValueRange | null {
  return min !== undefined && max !== undefined && min < max ? { min, max } : null;
}
