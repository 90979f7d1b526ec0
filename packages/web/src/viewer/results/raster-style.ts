/** Converts the values of a raster layer to colours. Tiles contain values, so a change of the style needs no request. */
import type { RasterDescriptor } from '@lamina/contract';
import { colourAt, type PaletteName } from './palettes.ts';

export interface RasterStyle {
  readonly palette: PaletteName;
  /** Values outside are transparent. Not used for categories. */
  readonly from: number;
  readonly to: number;
  /** Values of categories that are not shown; of objects: indexes of classes. */
  readonly hidden: ReadonlySet<number>;
}

/** Returns the range over which the palette is spread: a few extreme values must not leave all others one colour. */
export function colourRangeOf({ usual_range, value_range }: RasterDescriptor): { min: number; max: number } {
  return usual_range ?? value_range ?? { min: 0, max: 1 };
}

export function rasterStyleAtFirst(descriptor: RasterDescriptor): RasterStyle {
  const { value_range, categories } = descriptor;
  const { min, max } = value_range ?? { min: 0, max: 1 };
  const usual = colourRangeOf(descriptor);
  // The lowest values of a heatmap mean "nothing here": a tenth of the range hides them. The highest are never hidden.
  const from = categories === null ? usual.min + (usual.max - usual.min) / 10 : min;
  return { palette: 'viridis', from, to: max, hidden: new Set() };
}

/** Returns the colour of each byte of a value tile: 256 × red, green, blue, alpha. */
export function colourTableOf(descriptor: RasterDescriptor, style: RasterStyle): Uint8ClampedArray {
  const { encoding, categories } = descriptor;
  const table = new Uint8ClampedArray(256 * 4);
  const colourRange = colourRangeOf(descriptor);
  for (let byte = 0; byte < 256; byte++) {
    if (byte === encoding.no_data) continue;
    const value = encoding.offset + encoding.scale * byte;
    const colour = categories === null ? continuous(value) : category(value);
    if (colour !== null) table.set([...colour, 255], byte * 4);
  }
  return table;

  function continuous(value: number) {
    // Half a step of the encoding: the last byte must not fall out of the range by rounding.
    const slack = Math.abs(encoding.scale) / 2;
    if (value < style.from - slack || value > style.to + slack) return null;
    const { min, max } = colourRange;
    return colourAt(style.palette, max === min ? 1 : (value - min) / (max - min));
  }

  function category(value: number) {
    const found = categories?.find((each) => Math.abs(each.value - value) < 0.5);
    if (found === undefined || found.value === 0 || style.hidden.has(found.value)) return null;
    return found.color;
  }
}
