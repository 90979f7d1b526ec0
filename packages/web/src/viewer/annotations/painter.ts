/**
 * Draws the annotations of a slide to a canvas. Annotations of one colour in one cell of a grid share a path for each level of
 * simplification, so that a movement costs one call per cell and colour. A cell with many vertices has several paths: building
 * one never takes long, and a change rebuilds one.
 */
import { type Bounds, boundsTouch, countVertices } from '@lamina/annotations';
import { type Placement, visibleBounds, zoomOf } from '../overlay/placement.ts';
import { type Annotation, colorOf, cssColor } from './annotation.ts';
import { addOutline, highestLevel, levelOf } from './outline-path.ts';

/** Side of the cells of the grid in image pixels. */
const cellSize = 8192;
const lineWidth = 2;
const dotSize = 9;
/** Lines and dots reach so far beyond the bounds of an annotation, in CSS pixels. */
export const drawnMargin = dotSize;
const dotEdge = 3;
/** Building paths may take this long per frame; meanwhile paths of another level are drawn, or none. */
const buildMsPerFrame = 3;
/** A path takes no further annotations from here on. */
const maxVertices = 20_000;

/** Annotations that share paths. */
interface Group {
  readonly color: string;
  readonly areDots: boolean;
  readonly members: Map<string, Annotation>;
  vertices: number;
  bounds: Bounds | null;
  /** An annotation was changed or removed: the next frame must not show it as it was. */
  isChanged: boolean;
  /** By level. */
  paths: (Path2D | undefined)[];
}

export interface ViewSize {
  readonly width: number;
  readonly height: number;
  readonly pixelRatio: number;
}

export function applyPlacement(
  context: CanvasRenderingContext2D,
  { a, b, c, d, e, f }: Placement,
  pixelRatio: number,
): void {
  context.setTransform(
    a * pixelRatio,
    b * pixelRatio,
    c * pixelRatio,
    d * pixelRatio,
    e * pixelRatio,
    f * pixelRatio,
  );
}

export class AnnotationPainter {
  readonly #groups = new Set<Group>();
  readonly #groupOf = new Map<string, Group>();
  /** The group of each cell and colour that takes further annotations. */
  readonly #open = new Map<string, Group>();

  /** Shows exactly these annotations. */
  reset(annotations: Iterable<Annotation>): void {
    this.#groups.clear();
    this.#groupOf.clear();
    this.#open.clear();
    for (const annotation of annotations) this.#add(annotation);
  }

  /** Shows an annotation in place of its earlier version; null removes it. */
  set(id: string, annotation: Annotation | null): void {
    const group = this.#groupOf.get(id);
    const known = group?.members.get(id);
    if (group !== undefined && known !== undefined) {
      if (known.feature === annotation?.feature) return;
      group.members.delete(id);
      this.#groupOf.delete(id);
      group.vertices -= countVertices(known.feature.geometry);
      group.bounds = boundsOfAll(group.members.values());
      group.paths = [];
      group.isChanged = true;
    }
    if (annotation !== null) this.#add(annotation);
  }

  /** @returns whether paths are still to be built for this zoom: draw again in the next frame */
  draw(context: CanvasRenderingContext2D, placement: Placement, size: ViewSize): boolean {
    const zoom = zoomOf(placement);
    const level = levelOf(zoom);
    const visible = visibleBounds(placement, size, drawnMargin);
    const started = performance.now();
    let isIncomplete = false;
    applyPlacement(context, placement, size.pixelRatio);
    context.lineJoin = 'round';
    context.lineCap = 'round';
    for (const group of this.#groups) {
      if (group.bounds === null || !boundsTouch(group.bounds, visible)) continue;
      let path = group.paths[level];
      if (path === undefined) {
        if (group.isChanged || performance.now() - started < buildMsPerFrame) path = buildPath(group, level);
        else {
          isIncomplete = true;
          path = nearestPath(group.paths, level);
          if (path === undefined) continue;
        }
      }
      if (group.areDots) {
        context.lineWidth = (dotSize + dotEdge) / zoom;
        context.strokeStyle = 'white';
        context.stroke(path);
      }
      context.lineWidth = (group.areDots ? dotSize : lineWidth) / zoom;
      context.strokeStyle = group.color;
      context.stroke(path);
    }
    return isIncomplete;
  }

  #add(annotation: Annotation): void {
    const { id, feature, bounds } = annotation;
    const { geometry } = feature;
    const column = Math.floor((bounds.minX + bounds.maxX) / 2 / cellSize);
    const row = Math.floor((bounds.minY + bounds.maxY) / 2 / cellSize);
    const color = cssColor(colorOf(feature));
    const areDots = geometry.type === 'Point' || geometry.type === 'MultiPoint';
    const key = `${column} ${row} ${areDots} ${color}`;
    let group = this.#open.get(key);
    if (group === undefined || group.vertices >= maxVertices) {
      group = { color, areDots, members: new Map(), vertices: 0, bounds: null, isChanged: false, paths: [] };
      this.#open.set(key, group);
      this.#groups.add(group);
    }
    group.members.set(id, annotation);
    group.vertices += countVertices(geometry);
    group.bounds = group.bounds === null ? bounds : joined(group.bounds, bounds);
    for (const [level, path] of group.paths.entries())
      if (path !== undefined) addOutline(path, geometry, level);
    this.#groupOf.set(id, group);
  }
}

function buildPath(group: Group, level: number): Path2D {
  const path = new Path2D();
  for (const { feature } of group.members.values()) addOutline(path, feature.geometry, level);
  group.paths[level] = path;
  group.isChanged = false;
  return path;
}

function nearestPath(paths: readonly (Path2D | undefined)[], level: number): Path2D | undefined {
  for (let distance = 1; distance <= highestLevel; distance++) {
    const path = paths[level - distance] ?? paths[level + distance];
    if (path !== undefined) return path;
  }
  return undefined;
}

function joined(a: Bounds, b: Bounds): Bounds {
  return {
    minX: Math.min(a.minX, b.minX),
    minY: Math.min(a.minY, b.minY),
    maxX: Math.max(a.maxX, b.maxX),
    maxY: Math.max(a.maxY, b.maxY),
  };
}

function boundsOfAll(annotations: Iterable<Annotation>): Bounds | null {
  let all: Bounds | null = null;
  for (const { bounds } of annotations) all = all === null ? bounds : joined(all, bounds);
  return all;
}
