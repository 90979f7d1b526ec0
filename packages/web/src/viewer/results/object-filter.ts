/** The style of a vector layer: which of its objects (such as detected cells) it shows and counts, and in which colours. */
import type { VectorDescriptor } from '@lamina/contract';
import type { RasterStyle } from './raster-style.ts';

/** The style of a result layer. Raster layers use only the part that is also in `RasterStyle`. */
export interface LayerStyle extends RasterStyle {
  /** Index of the measurement whose values must lie between `minValue` and `maxValue`; null: objects are not filtered. */
  readonly column: number | null;
  /** Whether objects have the colour of their value of this measurement instead of the colour of their class. */
  readonly isColoured: boolean;
}

/** The part of a style that decides which objects are shown and counted. */
export type ObjectFilter = Pick<LayerStyle, 'column' | 'minValue' | 'maxValue'>;

/** Returns whether an object with this value passes the filter. NaN (no value) passes only a filter without a measurement. */
export function passesFilter({ column, minValue, maxValue }: ObjectFilter, value: number): boolean {
  return column === null || (value >= minValue && value <= maxValue);
}

/**
 * Returns the lowest and highest value of a measurement, rounded to Float32 like the values of the objects; 0 and 1 when no
 * object has the measurement.
 */
export function measurementRange({ measurements }: VectorDescriptor, column: number) {
  const { min, max } = measurements[column] ?? {};
  return { min: min ?? 0, max: max ?? 1 };
}
