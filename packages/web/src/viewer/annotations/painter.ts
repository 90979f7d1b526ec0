/**
 * The painter that draws annotations to a canvas. A grid divides the slide into cells. The annotations of one colour in one cell
 * form a group. A group has one path for each level of simplification, so each frame of a movement costs one canvas call per
 * visible group. A cell with many vertices has several groups of one colour, so that building a path is fast and a change
 * rebuilds only one path.
 *
 * Points are drawn as dots: `addOutline` adds a very short line, which round caps widen to a circle as wide as the line.
 */
import { type Bounds, boundsTouch, countVertices } from '@lamina/annotations';
import { type Placement, visibleBounds, zoomOf } from '../overlay/placement.ts';
import { type Annotation, colorOf, cssColor } from './annotation.ts';
import { addOutline, maxSimplificationLevel, simplificationLevelOf } from './outline-path.ts';

/** Side of the grid's cells in image pixels. */
const cellSize = 8192;
// The widths below are in CSS pixels.
const lineWidth = 2;
/** Diameter of a dot. */
const dotSize = 9;
/** Width of the white edge around a dot, both sides together. */
const dotEdge = 3;
/** Upper bound of the distance by which lines and dots extend beyond the bounds of their annotation. */
export const drawnMargin = dotSize;
/** Time for building paths in each frame. Until a path is built, the path of the nearest other level replaces it. */
const buildMsPerFrame = 3;
/** A group with this many vertices takes no further annotations. */
const maxGroupVertices = 20_000;

/** Annotations of one colour and one kind (dots or lines) that share paths. */
interface Group {
  readonly color: string;
  readonly areDots: boolean;
  /** By annotation id. */
  readonly members: Map<string, Annotation>;
  /** Number of vertices of all members. */
  vertexCount: number;
  /** Bounds of all members; null if there are no members. */
  bounds: Bounds | null;
  /** Whether a member was changed or removed. The next frame then rebuilds a path, even if that exceeds `buildMsPerFrame`. */
  isChanged: boolean;
  /** The built paths; the index is the level of simplification (see `simplificationLevelOf`). */
  paths: (Path2D | undefined)[];
}

/** Size of the viewer in CSS pixels. */
export interface ViewSize {
  readonly width: number;
  readonly height: number;
  /** Device pixels per CSS pixel. */
  readonly pixelRatio: number;
}

/** Makes the following drawing commands use image pixels as their unit. A `Placement` maps image pixels to CSS pixels. */
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
  /** The group of each annotation, by annotation id. */
  readonly #groupOf = new Map<string, Group>();
  /** The groups that take further annotations, by cell, kind (dots or lines) and colour. */
  readonly #openGroups = new Map<string, Group>();

  reset(annotations: Iterable<Annotation>): void {
    this.#groups.clear();
    this.#groupOf.clear();
    this.#openGroups.clear();
    for (const annotation of annotations) this.#add(annotation);
  }

  /** Replaces the annotation with this id, or adds it if there is none; null removes it. */
  set(id: string, annotation: Annotation | null): void {
    const group = this.#groupOf.get(id);
    const previous = group?.members.get(id);
    if (group !== undefined && previous !== undefined) {
      if (previous.feature === annotation?.feature) return; // only other fields have changed, such as the revision
      group.members.delete(id);
      this.#groupOf.delete(id);
      group.vertexCount -= countVertices(previous.feature.geometry);
      group.bounds = boundsOfAll(group.members.values());
      group.paths = [];
      group.isChanged = true;
    }
    if (annotation !== null) this.#add(annotation);
  }

  /** Draws the annotations. @returns whether paths for this zoom are still missing, so that the next frame must draw again */
  draw(context: CanvasRenderingContext2D, placement: Placement, size: ViewSize): boolean {
    const zoom = zoomOf(placement);
    const level = simplificationLevelOf(zoom);
    const visible = visibleBounds(placement, size, drawnMargin);
    const startedAt = performance.now();
    let isIncomplete = false;
    applyPlacement(context, placement, size.pixelRatio);
    context.lineJoin = 'round';
    context.lineCap = 'round';
    for (const group of this.#groups) {
      if (group.bounds === null || !boundsTouch(group.bounds, visible)) continue;
      let path = group.paths[level];
      if (path === undefined) {
        if (group.isChanged || performance.now() - startedAt < buildMsPerFrame)
          path = buildPath(group, level);
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
    let group = this.#openGroups.get(key);
    if (group === undefined || group.vertexCount >= maxGroupVertices) {
      group = {
        color,
        areDots,
        members: new Map(),
        vertexCount: 0,
        bounds: null,
        isChanged: false,
        paths: [],
      };
      this.#openGroups.set(key, group);
      this.#groups.add(group);
    }
    group.members.set(id, annotation);
    group.vertexCount += countVertices(geometry);
    group.bounds = group.bounds === null ? bounds : unionOf(group.bounds, bounds);
    // The built paths of the group are extended, not rebuilt.
    for (const [level, path] of group.paths.entries())
      if (path !== undefined) addOutline(path, geometry, level);
    this.#groupOf.set(id, group);
  }
}

/** Builds and stores the path of a group at a level of simplification. */
function buildPath(group: Group, level: number): Path2D {
  const path = new Path2D();
  for (const { feature } of group.members.values()) addOutline(path, feature.geometry, level);
  group.paths[level] = path;
  group.isChanged = false;
  return path;
}

/** Returns the built path of the nearest other level; undefined if the group has no built path. */
function nearestPath(paths: readonly (Path2D | undefined)[], level: number): Path2D | undefined {
  for (let distance = 1; distance <= maxSimplificationLevel; distance++) {
    const path = paths[level - distance] ?? paths[level + distance];
    if (path !== undefined) return path;
  }
  return undefined;
}

function unionOf(a: Bounds, b: Bounds): Bounds {
  return {
    minX: Math.min(a.minX, b.minX),
    minY: Math.min(a.minY, b.minY),
    maxX: Math.max(a.maxX, b.maxX),
    maxY: Math.max(a.maxY, b.maxY),
  };
}

/** Returns the bounds that contain all annotations; null if there are none. */
function boundsOfAll(annotations: Iterable<Annotation>): Bounds | null {
  let all: Bounds | null = null;
  for (const { bounds } of annotations) all = all === null ? bounds : unionOf(all, bounds);
  return all;
}
