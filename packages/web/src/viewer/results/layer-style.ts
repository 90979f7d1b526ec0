/** The style of a result layer. For a vector layer, it contains a filter of the objects, such as detected cells. */
import type { VectorDescriptor } from '@lamina/contract';
import type { RasterStyle } from './raster-style.ts';

/**
 * How a result layer is shown. Raster layers use only the properties of `RasterStyle`. For vector layers, `minValue` and
 * `maxValue` are the limits of the filter, and `hidden` contains the indexes of the hidden classes.
 */
export interface LayerStyle extends RasterStyle {
  /** The measurement whose values must be from `minValue` to `maxValue`, as its index in the descriptor; null: no filter. */
  readonly measurementIndex: number | null;
  /** Whether objects have the palette colour of their value of this measurement; otherwise they have the colour of their class. */
  readonly isColoured: boolean;
}

/** The filter by a measurement. Hidden classes are not part of the filter: their objects are counted, too. */
export type ObjectFilter = Pick<LayerStyle, 'measurementIndex' | 'minValue' | 'maxValue'>;

/** Returns whether an object passes the filter. @param value of the measurement; NaN (the object has none) fails every range */
export function passesFilter({ measurementIndex, minValue, maxValue }: ObjectFilter, value: number): boolean {
  return measurementIndex === null || (value >= minValue && value <= maxValue);
}

/**
 * Returns the lowest and highest value of a measurement, as the descriptor states them; 0 and 1 when no object has the
 * measurement.
 */
export function measurementRange({ measurements }: VectorDescriptor, measurementIndex: number) {
  const { min, max } = measurements[measurementIndex] ?? {};
  return { min: min ?? 0, max: max ?? 1 };
}
