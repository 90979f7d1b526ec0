/**
 * Loads centres, classes and measurements of the objects of a vector layer (such as detected cells). It loads them in pages of
 * consecutive objects, which the API client caches.
 */
import type { Bounds } from '@lamina/annotations';
import type { VectorDescriptor } from '@lamina/contract';
import { loadCachedIndex, loadCenters, loadMeasurement } from '../../api/results.ts';
import { BlockIndex, type ObjectSpan } from './vector-block.ts';

/** Number of objects per request. */
const pageSize = 65_536;
/**
 * When a filter or a count would need more objects than this, the viewer does not load them: the density grid then ignores the filter,
 * and no count is shown.
 */
export const maxLoadedObjects = 2_000_000;

/** Consecutive objects of a layer; all arrays have one element per object. */
export interface ObjectRange {
  /** Centres in pixels of the slide. */
  readonly x: Float32Array;
  readonly y: Float32Array;
  /** Indexes of the classes in the descriptor. */
  readonly classes: Uint8Array;
  /** Values of the requested measurement, NaN for objects without a value; null when no measurement was requested. */
  readonly values: Float32Array | null;
}

/**
 * Calls `visit` with the objects of all blocks (spatial groups of objects) that touch the bounds, range by range. It visits all
 * objects of a block, so some of them may lie outside the bounds.
 *
 * @param bounds null selects the whole layer
 * @param measurementIndex index of the requested measurement; null for none
 * @returns false when the blocks contain more than `maxLoadedObjects` objects; `visit` is then not called
 */
export async function visitObjects(
  { id, object_count }: Pick<VectorDescriptor, 'id' | 'object_count'>,
  { bounds, measurementIndex }: { readonly bounds: Bounds | null; readonly measurementIndex: number | null },
  visit: (objects: ObjectRange) => void,
): Promise<boolean> {
  const spans = new BlockIndex(await loadCachedIndex(id)).objectSpansIn(bounds);
  if (spans.reduce((sum, { count }) => sum + count, 0) > maxLoadedObjects) return false;

  /** The ranges of objects to visit in each page, as positions in the page; `end` is exclusive. */
  const rangesByPage = new Map<number, [start: number, end: number][]>();
  for (const { first, count } of spans) {
    for (let start = first; start < first + count; ) {
      const page = Math.floor(start / pageSize);
      const end = Math.min(first + count, (page + 1) * pageSize);
      const ranges = rangesByPage.get(page) ?? [];
      rangesByPage.set(page, [...ranges, [start - page * pageSize, end - page * pageSize]]);
      start = end;
    }
  }

  for (const [page, ranges] of rangesByPage) {
    const pageSpan = { first: page * pageSize, count: Math.min(pageSize, object_count - page * pageSize) };
    const [centers, values] = await Promise.all([
      loadCenters(id, pageSpan),
      measurementIndex === null ? null : loadMeasurement(id, measurementIndex, pageSpan),
    ]);
    // `centers` contains all x (4 bytes each), then all y (4 bytes each), then all classes (1 byte each).
    const x = new Float32Array(centers, 0, pageSpan.count);
    const y = new Float32Array(centers, pageSpan.count * 4, pageSpan.count);
    const classes = new Uint8Array(centers, pageSpan.count * 8, pageSpan.count);
    const pageValues = values === null ? null : new Float32Array(values);
    for (const [start, end] of ranges) {
      visit({
        x: x.subarray(start, end),
        y: y.subarray(start, end),
        classes: classes.subarray(start, end),
        values: pageValues?.subarray(start, end) ?? null,
      });
    }
  }
  return true;
}

/** Loads one measurement of consecutive objects; the result has one value per object, NaN for objects without the measurement. */
export async function loadMeasurementOf(
  { id, object_count }: Pick<VectorDescriptor, 'id' | 'object_count'>,
  measurementIndex: number,
  { first, count: objectCount }: ObjectSpan,
): Promise<Float32Array> {
  const result = new Float32Array(objectCount);
  const end = first + objectCount;
  for (let page = Math.floor(first / pageSize); page * pageSize < end; page++) {
    const pageStart = page * pageSize;
    const count = Math.min(pageSize, object_count - pageStart);
    const pageValues = new Float32Array(
      await loadMeasurement(id, measurementIndex, { first: pageStart, count }),
    );
    const copyStart = Math.max(first, pageStart);
    const copyEnd = Math.min(end, pageStart + count);
    result.set(pageValues.subarray(copyStart - pageStart, copyEnd - pageStart), copyStart - first);
  }
  return result;
}
