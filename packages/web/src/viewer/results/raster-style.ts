/** Converts the values of a raster layer (heatmap or mask) to colours. */
import type { RasterDescriptor } from '@lamina/contract';
import { colourAt, type PaletteName } from './palettes.ts';

/** How a raster layer is coloured. */
export interface RasterStyle {
  readonly palette: PaletteName;
  /** Values below `minValue` or above `maxValue` are transparent. Both are ignored for masks of categories. */
  readonly minValue: number;
  readonly maxValue: number;
  /** Hidden categories of a mask, by value; in a vector layer, hidden classes, by index. */
  readonly hidden: ReadonlySet<number>;
}

/**
 * Returns the values that have the first and the last colour of the palette. The usual range, which excludes rare extreme values,
 * is preferred: with the whole range, a few outliers would give almost all other values the same colour.
 */
export function colourRangeOf({ usual_range, value_range }: RasterDescriptor): { min: number; max: number } {
  return usual_range ?? value_range ?? { min: 0, max: 1 };
}

/** Returns the style with which a raster layer is shown until the user changes it. */
export function defaultRasterStyle(descriptor: RasterDescriptor): RasterStyle {
  const { value_range, categories } = descriptor;
  const { min, max } = value_range ?? { min: 0, max: 1 };
  const colourRange = colourRangeOf(descriptor);
  // Hides the lowest tenth of a heatmap's colour range ("nothing here"). Values above the colour range stay visible.
  const minValue = categories === null ? colourRange.min + (colourRange.max - colourRange.min) / 10 : min;
  return { palette: 'viridis', minValue, maxValue: max, hidden: new Set() };
}

/** Returns red, green, blue and alpha for each of the 256 possible bytes of a tile; hidden values are transparent. */
export function colourTableOf(descriptor: RasterDescriptor, style: RasterStyle): Uint8ClampedArray {
  const { encoding, categories } = descriptor;
  const table = new Uint8ClampedArray(256 * 4);
  const colourRange = colourRangeOf(descriptor);
  for (let byte = 0; byte < 256; byte++) {
    if (byte === encoding.no_data) continue; // pixels without data stay transparent
    const value = encoding.offset + encoding.scale * byte;
    const colour = categories === null ? paletteColourOf(value) : categoryColourOf(value);
    if (colour !== null) table.set([...colour, 255], byte * 4);
  }
  return table;

  /** Returns the colour of a value of a heatmap; null for values outside the range of the style. */
  function paletteColourOf(value: number) {
    // The tolerance is half a step of the encoding, so that rounding does not hide values at the ends of the range.
    const tolerance = Math.abs(encoding.scale) / 2;
    if (value < style.minValue - tolerance || value > style.maxValue + tolerance) return null;
    const { min, max } = colourRange;
    // When all values are equal, they have the last colour of the palette.
    return colourAt(style.palette, max === min ? 1 : (value - min) / (max - min));
  }

  /** Returns the colour of a category of a mask; null for the background (category 0) and for hidden and unknown categories. */
  function categoryColourOf(value: number) {
    // Values of categories are integers, but `value` may have a rounding error.
    const category = categories?.find((candidate) => Math.abs(candidate.value - value) < 0.5);
    if (category === undefined || category.value === 0 || style.hidden.has(category.value)) return null;
    return category.color;
  }
}
