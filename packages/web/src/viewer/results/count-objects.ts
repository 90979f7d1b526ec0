/** Counts the objects of a layer in an area. */
import { type AreaGeometry, type Bounds, boundsOf } from '@lamina/annotations';
import type { VectorDescriptor } from '@lamina/contract';
import { countObjects } from '../../api/results.ts';
import { areaTestOf } from './area-contains.ts';
import { visitObjects } from './layer-objects.ts';
import { fits, type ObjectFilter } from './object-filter.ts';

export type Counts = Readonly<Record<string, number>>;

/**
 * Counts the objects of each class whose centre lies in a rectangle or an area, and whose measurement fits the filter.
 *
 * @returns null when the layer has too many objects there
 */
export async function countIn(
  descriptor: VectorDescriptor,
  region: Bounds | AreaGeometry,
  filter: ObjectFilter,
  signal: AbortSignal,
): Promise<Counts | null> {
  const isArea = 'type' in region;
  const bounds = isArea ? boundsOf(region) : region;
  const { minX, minY, maxX, maxY } = bounds;
  if (!isArea && filter.column === null) {
    return countObjects(descriptor.id, [minX, minY, maxX, maxY], signal);
  }
  const contains = isArea
    ? areaTestOf(region)
    : (x: number, y: number) => x >= minX && x <= maxX && y >= minY && y <= maxY;
  const counts = descriptor.classes.map(() => 0);
  const isCounted = await visitObjects(
    descriptor,
    { bounds, column: filter.column },
    ({ x, y, classes, values }) => {
      for (const [place, index] of classes.entries()) {
        if (values !== null && !fits(filter, values[place] ?? Number.NaN)) continue;
        if (contains(x[place] ?? 0, y[place] ?? 0)) counts[index] = (counts[index] ?? 0) + 1;
      }
    },
  );
  if (!isCounted) return null;
  return Object.fromEntries(descriptor.classes.map(({ name }, index) => [name, counts[index] ?? 0]));
}

/** Returns a CSV file of counts: UTF-8 with a byte order mark, for Excel. */
export function countsAsCsv(rows: readonly (readonly (string | number)[])[]): Blob {
  const cell = (value: string | number) => {
    // A spreadsheet would run a text that starts like a formula.
    const text = typeof value === 'string' && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value);
    return /[",;\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const lines = rows.map((row) => row.map(cell).join(','));
  return new Blob(['\uFEFF', lines.join('\r\n'), '\r\n'], { type: 'text/csv;charset=utf-8' });
}
