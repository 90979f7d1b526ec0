/** The objects of blocks as paths, by class or by measurement, and the grid of counts of the objects that a filter leaves. */
import type { VectorDescriptor } from '@lamina/contract';
import { visitObjects } from './layer-objects.ts';
import { fits, type LayerStyle, measurementRange } from './object-filter.ts';
import { colourAt } from './palettes.ts';

/** Colours of measurements: objects of one colour are one path. */
const bins = 24;

/** Returns the group of an object: a class, or a colour of its measurement; null: the filter hides it. */
export function groupOf(descriptor: VectorDescriptor, style: LayerStyle, index: number, value: number) {
  if (style.hidden.has(index) || !fits(style, value)) return null;
  if (!style.isColoured || style.column === null) return index;
  const { min, max } = measurementRange(descriptor, style.column);
  return Math.min(bins - 1, Math.max(0, Math.floor((max > min ? (value - min) / (max - min) : 1) * bins)));
}

/** Returns the colour of a group. */
export function colourOfGroup({ classes }: VectorDescriptor, style: LayerStyle, group: number): string {
  const isMeasured = style.isColoured && style.column !== null;
  const colour = isMeasured
    ? colourAt(style.palette, group / (bins - 1))
    : (classes[group]?.color ?? [128, 128, 128]);
  return `rgb(${colour.join(' ')})`;
}

type Grid = VectorDescriptor['density'][number];

/** Counts the objects that fit a filter in the cells of a grid. @returns null when the layer has too many objects */
export async function filteredGrid(
  descriptor: VectorDescriptor,
  style: LayerStyle,
  { x: left, y: top, cell, width, height }: Grid,
): Promise<Uint32Array | null> {
  const counts = new Uint32Array(width * height);
  const isComplete = await visitObjects(
    descriptor,
    { bounds: null, column: style.column },
    ({ x, y, classes, values }) => {
      for (const [place, index] of classes.entries()) {
        if (style.hidden.has(index) || !fits(style, values?.[place] ?? Number.NaN)) continue;
        const column = Math.min(width - 1, Math.max(0, Math.floor(((x[place] ?? 0) - left) / cell)));
        const row = Math.min(height - 1, Math.max(0, Math.floor(((y[place] ?? 0) - top) / cell)));
        const at = row * width + column;
        counts[at] = (counts[at] ?? 0) + 1;
      }
    },
  );
  return isComplete ? counts : null;
}
