/** Centres, classes and measurements of the objects of a layer, loaded in pages and kept for a while. */
import type { Bounds } from '@lamina/annotations';
import type { VectorDescriptor } from '@lamina/contract';
import { loadCenters, loadKeptIndex, loadMeasurement } from '../../api/results.ts';
import { BlockIndex, type ObjectSpan } from './vector-block.ts';

/** Objects of one request. */
const pageSize = 65_536;
/** More objects are not loaded for a filter or an area: the layer is then shown and counted without it. */
export const mostLoadedObjects = 2_000_000;

export interface ObjectRange {
  readonly x: Float32Array;
  readonly y: Float32Array;
  /** Indexes of classes. */
  readonly classes: Uint8Array;
  /** NaN: the object does not have the measurement. Null: no measurement was requested. */
  readonly values: Float32Array | null;
}

/**
 * Passes the objects of all blocks that touch the bounds; null stands for the whole layer.
 *
 * @returns false when there are too many
 */
export async function visitObjects(
  { id, object_count }: Pick<VectorDescriptor, 'id' | 'object_count'>,
  { bounds, column }: { readonly bounds: Bounds | null; readonly column: number | null },
  visit: (objects: ObjectRange) => void,
): Promise<boolean> {
  const spans = new BlockIndex(await loadKeptIndex(id)).spans(bounds);
  if (spans.reduce((sum, { objects }) => sum + objects, 0) > mostLoadedObjects) return false;
  const byPage = new Map<number, [from: number, to: number][]>();
  for (const { first, objects } of spans) {
    for (let at = first; at < first + objects; ) {
      const page = Math.floor(at / pageSize);
      const end = Math.min(first + objects, (page + 1) * pageSize);
      const ranges = byPage.get(page) ?? [];
      byPage.set(page, [...ranges, [at - page * pageSize, end - page * pageSize]]);
      at = end;
    }
  }
  for (const [page, ranges] of byPage) {
    const range = { first: page * pageSize, count: Math.min(pageSize, object_count - page * pageSize) };
    const [centers, values] = await Promise.all([
      loadCenters(id, range),
      column === null ? null : loadMeasurement(id, column, range),
    ]);
    const x = new Float32Array(centers, 0, range.count);
    const y = new Float32Array(centers, range.count * 4, range.count);
    const classes = new Uint8Array(centers, range.count * 8, range.count);
    const all = values === null ? null : new Float32Array(values);
    for (const [from, to] of ranges) {
      visit({
        x: x.subarray(from, to),
        y: y.subarray(from, to),
        classes: classes.subarray(from, to),
        values: all?.subarray(from, to) ?? null,
      });
    }
  }
  return true;
}

/** Returns one measurement of consecutive objects. */
export async function measurementOf(
  { id, object_count }: Pick<VectorDescriptor, 'id' | 'object_count'>,
  column: number,
  { first, objects }: ObjectSpan,
): Promise<Float32Array> {
  const found = new Float32Array(objects);
  for (let page = Math.floor(first / pageSize); page * pageSize < first + objects; page++) {
    const start = page * pageSize;
    const count = Math.min(pageSize, object_count - start);
    const values = new Float32Array(await loadMeasurement(id, column, { first: start, count }));
    const from = Math.max(first, start);
    found.set(values.subarray(from - start, Math.min(first + objects, start + count) - start), from - first);
  }
  return found;
}
