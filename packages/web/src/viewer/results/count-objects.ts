/**
 * Counts the objects of a vector layer (such as detected cells) in the field of view or in an annotation, and exports the counts.
 */
import { type AreaGeometry, type Bounds, boundsOf } from '@lamina/annotations';
import type { VectorDescriptor } from '@lamina/contract';
import { countObjects } from '../../api/results.ts';
import { createAreaTest } from './area-contains.ts';
import { visitObjects } from './layer-objects.ts';
import { type ObjectFilter, passesFilter } from './layer-style.ts';

/** Numbers of objects by the name of their class. */
export type Counts = Readonly<Record<string, number>>;

/**
 * Counts, for each class, the objects whose centre lies in a part of the slide and that pass the filter. For a rectangle without a
 * filter, the server counts; in all other cases, the browser loads the objects and counts them.
 *
 * @param part a rectangle or an annotated area, in pixels of the slide
 * @param signal aborts the request to the server; counting in the browser always runs to the end
 * @returns null when the browser would have to load more than `maxLoadedObjects` objects
 */
export async function countObjectsIn(
  descriptor: VectorDescriptor,
  part: Bounds | AreaGeometry,
  filter: ObjectFilter,
  signal: AbortSignal,
): Promise<Counts | null> {
  const isArea = 'type' in part;
  const bounds = isArea ? boundsOf(part) : part;
  const { minX, minY, maxX, maxY } = bounds;
  if (!isArea && filter.measurementIndex === null) {
    return countObjects(descriptor.id, [minX, minY, maxX, maxY], signal);
  }
  const contains = isArea
    ? createAreaTest(part)
    : (x: number, y: number) => x >= minX && x <= maxX && y >= minY && y <= maxY;
  const countsByClass = descriptor.classes.map(() => 0);
  const isCounted = await visitObjects(
    descriptor,
    { bounds, measurementIndex: filter.measurementIndex },
    ({ x, y, classes, values }) => {
      for (const [objectIndex, classIndex] of classes.entries()) {
        if (values !== null && !passesFilter(filter, values[objectIndex] ?? Number.NaN)) continue;
        if (!contains(x[objectIndex] ?? 0, y[objectIndex] ?? 0)) continue;
        countsByClass[classIndex] = (countsByClass[classIndex] ?? 0) + 1;
      }
    },
  );
  if (!isCounted) return null;
  return Object.fromEntries(descriptor.classes.map(({ name }, index) => [name, countsByClass[index] ?? 0]));
}

/** Formats rows as a CSV file in UTF-8. It starts with a byte order mark, because Excel would otherwise use another encoding. */
export function countsAsCsv(rows: readonly (readonly (string | number)[])[]): Blob {
  const formatCell = (value: string | number) => {
    // Spreadsheets run a text that begins with one of these characters as a formula. An apostrophe prevents this.
    const text = typeof value === 'string' && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value);
    return /[",;\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const lines = rows.map((row) => row.map(formatCell).join(','));
  return new Blob(['\uFEFF', lines.join('\r\n'), '\r\n'], { type: 'text/csv;charset=utf-8' });
}
