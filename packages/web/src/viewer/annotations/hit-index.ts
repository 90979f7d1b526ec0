/** The spatial index (Flatbush) that finds the annotations at a position of the slide, for clicks and brush strokes. */
import { type Bounds, containsPosition, isArea, type Position, pathsOf } from '@lamina/annotations';
import Flatbush from 'flatbush';
import type { Annotation } from './annotation.ts';

/** When more annotations than this have changed, the index is rebuilt. Until then, each search tests all changed annotations, too. */
const maxUnindexedChanges = 200;

export class HitIndex {
  /** Null before it is built, and when there are no annotations. */
  #index: Flatbush | null = null;
  /** The indexed annotations. Flatbush returns the indices of annotations in this array. */
  #indexedAnnotations: readonly Annotation[] = [];
  /** Ids of annotations that changed after the index was built. */
  readonly #changed = new Set<string>();
  /** Whether the index must be rebuilt before the next search. */
  #isStale = true;

  /** Marks annotations as changed. @param ids null: all annotations may have changed */
  invalidate(ids: readonly string[] | null): void {
    if (ids === null) this.#isStale = true;
    else for (const id of ids) this.#changed.add(id);
  }

  /**
   * Returns the annotations that contain the position or whose outline is at most `reach` image pixels away, sorted by
   * the area of their bounding box, the smallest first.
   *
   * @param position in image pixels
   * @param source the current annotations: the annotation store
   */
  annotationsAt(
    position: Position,
    reach: number,
    source: {
      readonly all: () => readonly Annotation[];
      readonly find: (id: string) => Annotation | undefined;
    },
  ): readonly Annotation[] {
    if (this.#isStale || this.#changed.size > maxUnindexedChanges) this.#build(source.all());
    const [x, y] = position;
    const candidateIds = new Set(this.#changed);
    const foundIndices = this.#index?.search(x - reach, y - reach, x + reach, y + reach) ?? [];
    for (const index of foundIndices) {
      const id = this.#indexedAnnotations[index]?.id;
      if (id !== undefined) candidateIds.add(id);
    }
    return [...candidateIds]
      .flatMap((id) => source.find(id) ?? [])
      .filter((annotation) => isHit(annotation, position, reach))
      .sort((a, b) => boxAreaOf(a.bounds) - boxAreaOf(b.bounds));
  }

  #build(all: readonly Annotation[]): void {
    this.#indexedAnnotations = all;
    this.#changed.clear();
    this.#isStale = false;
    this.#index = null;
    if (all.length === 0) return;
    const index = new Flatbush(all.length);
    for (const { bounds } of all) index.add(bounds.minX, bounds.minY, bounds.maxX, bounds.maxY);
    index.finish();
    this.#index = index;
  }
}

const boxAreaOf = ({ minX, minY, maxX, maxY }: Bounds) => (maxX - minX) * (maxY - minY);

/** Whether an area contains the position, or an outline is at most `reach` image pixels away. */
function isHit({ feature, bounds }: Annotation, position: Position, reach: number): boolean {
  const [x, y] = position;
  if (x < bounds.minX - reach || x > bounds.maxX + reach) return false;
  if (y < bounds.minY - reach || y > bounds.maxY + reach) return false;
  const { geometry } = feature;
  if (isArea(geometry) && containsPosition(geometry, position)) return true;
  // No line joins the points of a point annotation: each point is a path of its own.
  const paths =
    geometry.type === 'MultiPoint' ? geometry.coordinates.map((point) => [point]) : pathsOf(geometry);
  return paths.some((path) => distanceToPath(path, position) <= reach);
}

/** Returns the distance to the nearest edge of a path, or to its only position. */
function distanceToPath(path: readonly Position[], [x, y]: Position): number {
  let nearest = Number.POSITIVE_INFINITY;
  for (const [index, [x1, y1]] of path.entries()) {
    const [x0, y0] = path[index - 1] ?? [x1, y1];
    nearest = Math.min(nearest, distanceToEdge(x, y, x0, y0, x1, y1));
  }
  return nearest;
}

/** Returns the distance from (x, y) to the line segment from (x0, y0) to (x1, y1); also used to insert vertices. */
export function distanceToEdge(x: number, y: number, x0: number, y0: number, x1: number, y1: number): number {
  const dx = x1 - x0;
  const dy = y1 - y0;
  const squaredLength = dx * dx + dy * dy;
  const projection = squaredLength === 0 ? 0 : ((x - x0) * dx + (y - y0) * dy) / squaredLength;
  /** Where the nearest point of the segment lies: 0 is its start, 1 its end. */
  const fraction = Math.min(1, Math.max(0, projection));
  return Math.hypot(x - x0 - fraction * dx, y - y0 - fraction * dy);
}
