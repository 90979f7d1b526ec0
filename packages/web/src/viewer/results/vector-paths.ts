/**
 * Groups the objects of a vector layer (such as detected cells) by colour: one group per class or, when a measurement colours the
 * objects, per bin of its values. Also counts the objects that a style shows in the cells of a grid.
 */
import type { VectorDescriptor } from '@lamina/contract';
import { visitObjects } from './layer-objects.ts';
import { type LayerStyle, measurementRange, passesFilter } from './layer-style.ts';
import { colourAt } from './palettes.ts';

/** Number of bins of a measurement; each has a colour. All objects of one colour are drawn as one path, so few colours are faster. */
const binCount = 24;
/** Colour of objects whose class is not in the descriptor (the server's description of the layer's content). */
const grey = [128, 128, 128] as const;

/**
 * Returns the group of an object: the index of its class or, if the style colours objects by a measurement, the bin of its value.
 * Returns null when the style hides the object.
 *
 * @param value the object's value of the measurement of the filter; NaN when there is no filter or the object has no value
 */
export function groupOf(
  descriptor: VectorDescriptor,
  style: LayerStyle,
  classIndex: number,
  value: number,
): number | null {
  if (style.hidden.has(classIndex) || !passesFilter(style, value)) return null;
  if (!style.isColoured || style.measurementIndex === null) return classIndex;
  // The value is not NaN here, because NaN does not pass the filter by a measurement.
  const { min, max } = measurementRange(descriptor, style.measurementIndex);
  // When all values are equal, all objects are in the highest bin.
  const position = max > min ? (value - min) / (max - min) : 1;
  return Math.min(binCount - 1, Math.max(0, Math.floor(position * binCount)));
}

/** Returns the CSS colour of a group. */
export function colourOfGroup({ classes }: VectorDescriptor, style: LayerStyle, group: number): string {
  const isByMeasurement = style.isColoured && style.measurementIndex !== null;
  const colour = isByMeasurement
    ? colourAt(style.palette, group / (binCount - 1))
    : (classes[group]?.color ?? grey);
  return `rgb(${colour.join(' ')})`;
}

/** A grid of object counts; `x`, `y` (upper left corner) and `cell` (side of a cell) are in pixels of the slide. */
type DensityGrid = VectorDescriptor['density'][number];

/**
 * Counts the objects that the style shows in each cell of a grid.
 *
 * @returns the counts row by row; null when the layer has too many objects to load
 */
export async function countInGrid(
  descriptor: VectorDescriptor,
  style: LayerStyle,
  { x: left, y: top, cell: cellSide, width, height }: DensityGrid,
): Promise<Uint32Array | null> {
  const counts = new Uint32Array(width * height);
  const isComplete = await visitObjects(
    descriptor,
    { bounds: null, measurementIndex: style.measurementIndex }, // `bounds: null`: the whole layer
    ({ x, y, classes, values }) => {
      for (const [object, classIndex] of classes.entries()) {
        if (style.hidden.has(classIndex) || !passesFilter(style, values?.[object] ?? Number.NaN)) continue;
        const column = Math.min(width - 1, Math.max(0, Math.floor(((x[object] ?? 0) - left) / cellSide)));
        const row = Math.min(height - 1, Math.max(0, Math.floor(((y[object] ?? 0) - top) / cellSide)));
        const cell = row * width + column;
        counts[cell] = (counts[cell] ?? 0) + 1;
      }
    },
  );
  return isComplete ? counts : null;
}
