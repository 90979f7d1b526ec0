/** The style of a vector layer: which of its objects are shown and counted, and in which colours. */
import type { VectorDescriptor } from '@lamina/contract';
import type { RasterStyle } from './raster-style.ts';

export interface LayerStyle extends RasterStyle {
  /** Column of the measurement whose values must lie from `from` to `to`; null: objects are not filtered. */
  readonly column: number | null;
  /** Whether objects have the colour of their measurement in place of the colour of their class. */
  readonly isColoured: boolean;
}

export type ObjectFilter = Pick<LayerStyle, 'column' | 'from' | 'to'>;

/** Tells whether an object fits the measurement of the filter. An object without the measurement does not. */
export function fits({ column, from, to }: ObjectFilter, value: number): boolean {
  return column === null || (value >= from && value <= to);
}

/** Returns the range of a measurement as Float32, as its values are. */
export function measurementRange({ measurements }: VectorDescriptor, column: number) {
  const { min, max } = measurements[column] ?? {};
  return { min: min ?? 0, max: max ?? 1 };
}
