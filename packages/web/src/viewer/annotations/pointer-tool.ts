/**
 * The pointer of the drawing mode: it draws, selects or edits, depending on the chosen tool. In this file, a `point` is
 * in CSS pixels of the viewer and a `position` is in image pixels. The file is long because all tools share the state
 * of the pressed pointer.
 */
import { containsPosition, isArea, type Position } from '@lamina/annotations';
import { type Placement, type Point, toImage, toScreen, zoomOf } from '../overlay/placement.ts';
import type { SlideView } from '../slide-view.ts';
import type { PointerKeys, PointerTool } from '../tool-pointer.ts';
import type { Annotation } from './annotation.ts';
import type { AnnotationStore } from './annotation-store.ts';
import type { Draft } from './drafts.ts';
import type { DrawingSession } from './drawing-session.ts';
import type { HitIndex } from './hit-index.ts';
import { hasVertex, insertVertex, removeVertex, type Vertex, verticesOf } from './vertices.ts';
import { wandRegion } from './wand.ts';

// Distances in CSS pixels.
/** A press that moves less than this is a click. Points nearer to each other than this count as the same point. */
const clickTolerance = 5;
/** A click within this distance hits a vertex or an outline: a finger cannot point more precisely. */
const hitRadius = 9;
/** Minimum distance between successive positions that a freehand line or a brush stroke records. */
const freehandStep = 4;
/** Longest time between the two clicks of a double click. */
const doubleClickMs = 400;

interface PointerToolDependencies {
  readonly view: Pick<SlideView, 'placement' | 'size' | 'picture'>;
  readonly store: AnnotationStore;
  readonly session: DrawingSession;
  readonly hitIndex: HitIndex;
  /** Whether the space bar is held: dragging then moves the slide with every tool. */
  readonly isSpaceHeld: () => boolean;
  /** CSS cursor of the chosen tool. */
  readonly cursor: string;
}

/** The current press of the pointer, until it is released. */
interface Press {
  readonly point: Point;
  readonly position: Position;
  /** The draft before the press: the corners that earlier clicks have placed. */
  readonly draftBefore: Draft | null;
  /** Whether the pointer has moved at least `clickTolerance` since the press. */
  isDragged: boolean;
  /** The point where a freehand line or a brush stroke last recorded a position. */
  lastRecorded: Point;
}

export class AnnotationPointer implements PointerTool {
  readonly cursor: string;
  /** Whether the drag of the current press moves the slide. */
  letsSlideMove = false;
  readonly #dependencies: PointerToolDependencies;
  #press: Press | null = null; // null while the pointer is not pressed
  /** The last click, to recognise a double click. */
  #lastClick: { readonly point: Point; readonly time: number } | null = null;

  constructor(dependencies: PointerToolDependencies) {
    this.#dependencies = dependencies;
    this.cursor = dependencies.cursor;
  }

  onPress(point: Point, keys: PointerKeys): void {
    this.letsSlideMove = !this.#handlePress(point, keys);
  }

  /** Begins a stroke, a box or a drag, depending on the tool. @returns false if dragging moves the slide instead */
  #handlePress(point: Point, keys: PointerKeys): boolean {
    const { session, store } = this.#dependencies;
    const position = this.#positionOf(point);
    if (position === null || this.#dependencies.isSpaceHeld()) return false;
    const press = { point, position, draftBefore: session.draft, isDragged: false, lastRecorded: point };
    if (session.tool === 'move') {
      this.#press = press;
      return this.#handleSelectionPress(point, position, keys);
    }
    if (!store.canDrawOn(store.activeLayerId)) return false;
    this.#press = press;
    if (session.tool === 'brush') {
      const subtracts = keys.alt;
      const targetId = session.brushTargetOf(position, subtracts, this.#annotationsAt(position));
      const radius = session.brushRadius / this.#zoom();
      session.setDraft({ kind: 'stroke', path: [position], radius, subtracts, targetId });
    } else if (session.tool === 'rectangle' || session.tool === 'ellipse') {
      if (session.draft?.kind !== 'box') {
        session.setDraft({
          kind: 'box',
          isEllipse: session.tool === 'ellipse',
          start: position,
          end: position,
        });
      }
    }
    return true;
  }

  onMove(point: Point, keys: PointerKeys): void {
    const { session } = this.#dependencies;
    const position = this.#positionOf(point);
    if (position === null) return;
    const press = this.#press;
    if (press !== null && !press.isDragged && distance(press.point, point) >= clickTolerance)
      press.isDragged = true;
    session.pointer = position; // does not notify listeners: `setDraft` or `setPointer` below does
    const { draft } = session;
    switch (draft?.kind) {
      case 'box':
        session.setDraft({ ...draft, end: boxEnd(draft.start, position, keys) });
        return;
      case 'stroke':
        if (press !== null && distance(press.lastRecorded, point) >= freehandStep) {
          press.lastRecorded = point;
          session.setDraft({ ...draft, path: [...draft.path, position] });
          return;
        }
        break;
      case 'move':
        session.setDraft({ ...draft, end: position });
        return;
      case 'vertex':
        session.setDraft({ ...draft, position });
        return;
      default: // an unfinished path, or no draft
        if (press?.isDragged && this.#extendFreehandLine(press, point, position)) return;
        if (draft?.kind === 'path') {
          session.setDraft({ ...draft, pointer: position });
          return;
        }
    }
    session.setPointer(position);
  }

  onRelease(point: Point, keys: PointerKeys): void {
    const { session } = this.#dependencies;
    const press = this.#press;
    const position = this.#positionOf(point);
    this.#press = null;
    if (press === null || position === null) return;
    const isDoubleClick = this.#recordClick(press, point);
    const { draft } = session;
    switch (draft?.kind) {
      case 'box':
        // After a drag or a second click, the box is finished. The first click only places the first corner.
        if (press.isDragged || distance(this.#pointOf(draft.start), point) >= clickTolerance) {
          session.setDraft({ ...draft, end: boxEnd(draft.start, position, keys) }); // between two taps, a finger causes no `onMove`
          session.finish();
        }
        return;
      case 'stroke':
        session.finish();
        return;
      case 'move':
      case 'vertex': {
        if (press.isDragged && this.#isDragValid(draft)) {
          session.finish();
          return;
        }
        // Ends a drag that has become invalid, or a click without a drag: a click on a vertex only chooses the vertex.
        session.setDraft(null);
        if (draft.kind === 'move') this.#handleSelectionRelease(press, position, keys, isDoubleClick);
        return;
      }
      default: // an unfinished path, or no draft
        if (session.tool === 'move') {
          this.#handleSelectionRelease(press, position, keys, isDoubleClick);
          return;
        }
        this.#handleDrawingRelease(press, point, position, keys, isDoubleClick);
    }
  }

  /** Adds the region of similar colour around a point to the annotations, or subtracts it while Alt is held (the wand tool). */
  applyWandAt(point: Point, keys: PointerKeys): void {
    const { session, view, store } = this.#dependencies;
    const position = this.#positionOf(point);
    if (position === null || !store.canDrawOn(store.activeLayerId)) return;
    const region = wandRegion(view, point);
    if (region === null) return;
    const subtracts = keys.alt;
    const targetId = session.brushTargetOf(position, subtracts, this.#annotationsAt(position));
    session.applyArea(region, subtracts, targetId);
  }

  /** Undoes what the press has drawn, for example because it has become a pinch, which zooms the slide. */
  onCancel(): void {
    if (this.#press === null) return;
    this.#dependencies.session.setDraft(this.#press.draftBefore);
    this.#press = null;
  }

  /** Changes the brush radius while Shift is held: larger when the wheel turns up. @returns whether the slide must not zoom */
  onWheel(delta: number, { shift }: PointerKeys): boolean {
    const { session } = this.#dependencies;
    if (session.tool !== 'brush' || !shift) return false;
    const isLarger = delta < 0;
    session.resizeBrush(isLarger);
    return true;
  }

  /** Begins to drag a vertex or the selected annotations if the press hits one. @returns whether the tool uses the press */
  #handleSelectionPress(point: Point, position: Position, keys: PointerKeys): boolean {
    const { store, session } = this.#dependencies;
    for (const annotation of store.selected()) {
      if (!store.canEdit(annotation)) continue;
      const vertex = this.#vertexAt(annotation, point);
      if (vertex !== null) {
        session.chooseVertex({ id: annotation.id, vertex });
        if (keys.alt) return true; // the release removes the vertex
        session.setDraft({ kind: 'vertex', id: annotation.id, vertex, position: vertex.position });
        return true;
      }
    }
    session.chooseVertex(null);
    const hitsMovableAnnotation = store
      .selected()
      .some(
        (annotation) =>
          store.canEdit(annotation) && this.#fitsView(annotation) && isWithin(annotation, position),
      );
    if (!hitsMovableAnnotation || keys.shift) return false; // with Shift, the release selects or deselects one annotation
    session.setDraft({ kind: 'move', start: position, end: position });
    return true;
  }

  /** Whether a drag can still be applied: not if another user has changed the outline at the dragged vertex. */
  #isDragValid(draft: Draft & { readonly kind: 'move' | 'vertex' }): boolean {
    if (draft.kind === 'move') return true;
    const annotation = this.#dependencies.store.find(draft.id);
    return annotation !== undefined && hasVertex(annotation.feature.geometry, draft.vertex);
  }

  /** Handles a click with the move tool: removes a vertex (Alt), inserts one (double click), or selects an annotation. */
  #handleSelectionRelease(press: Press, position: Position, keys: PointerKeys, isDoubleClick: boolean): void {
    const { store, session } = this.#dependencies;
    if (press.isDragged) return;
    const { chosenVertex } = session;
    if (keys.alt && chosenVertex !== null) {
      const annotation = store.find(chosenVertex.id);
      session.chooseVertex(null);
      if (annotation)
        session.replaceGeometry(annotation, removeVertex(annotation.feature.geometry, chosenVertex.vertex));
      return;
    }
    const [selected] = store.selected();
    if (isDoubleClick && selected !== undefined && store.canEdit(selected) && store.selection.size === 1) {
      session.replaceGeometry(selected, insertVertex(selected.feature.geometry, position));
      return;
    }
    const [hit] = this.#annotationsAt(position);
    if (hit === undefined) {
      if (!keys.shift) store.select([]);
    } else if (keys.shift) {
      const toggledSelection = new Set(store.selection);
      if (!toggledSelection.delete(hit.id)) toggledSelection.add(hit.id);
      store.select(toggledSelection);
    } else store.select([hit.id]);
  }

  /** Handles the end of a press with the wand, the point tool and the line tools. */
  #handleDrawingRelease(
    press: Press,
    point: Point,
    position: Position,
    keys: PointerKeys,
    isDoubleClick: boolean,
  ): void {
    const { session } = this.#dependencies;
    if (session.tool === 'wand') {
      if (!press.isDragged) this.applyWandAt(point, keys);
      return;
    }
    const placed = session.draft?.kind === 'path' ? session.draft.placed : [];
    if (press.isDragged && placed.length > 0) {
      // A freehand line ends at the release. A drag with the line tool or with fewer than three positions adds a point.
      if (session.tool === 'line' || placed.length < 3) session.addPoint(position);
      else session.finish();
      return;
    }
    const isAtPointer = (corner: Position | undefined) =>
      corner !== undefined && distance(this.#pointOf(corner), point) < clickTolerance;
    // A double click, or a click on the first point, completes the shape.
    if (isDoubleClick || (placed.length > 2 && isAtPointer(placed[0]))) {
      session.finish();
      return;
    }
    if (!isAtPointer(placed.at(-1))) session.addPoint(position);
  }

  /** Begins or continues a freehand line during a drag. @returns whether the line has a new position */
  #extendFreehandLine(press: Press, point: Point, position: Position): boolean {
    const { session } = this.#dependencies;
    const { tool, draft } = session;
    if (tool !== 'polygon' && tool !== 'polyline' && tool !== 'line' && tool !== 'cut') return false;
    if (draft?.kind !== 'path') {
      press.lastRecorded = point;
      session.setDraft({ kind: 'path', placed: [press.position], pointer: position });
      // A line has only two points: the drag ends it and records nothing in between.
    } else if (tool !== 'line' && distance(press.lastRecorded, point) >= freehandStep) {
      press.lastRecorded = point;
      session.setDraft({ kind: 'path', placed: [...draft.placed, position], pointer: position });
    } else return false;
    return true;
  }

  /** Remembers the click that a release ends. @returns whether it is the second click of a double click */
  #recordClick({ isDragged }: Press, point: Point): boolean {
    const previousClick = this.#lastClick;
    this.#lastClick = isDragged ? null : { point, time: performance.now() };
    if (previousClick === null || isDragged) return false;
    const isSoonEnough = performance.now() - previousClick.time < doubleClickMs;
    const isDoubleClick = isSoonEnough && distance(previousClick.point, point) < clickTolerance;
    if (isDoubleClick) this.#lastClick = null;
    return isDoubleClick;
  }

  /** Returns the visible annotations at a position, the smallest first. */
  #annotationsAt(position: Position): readonly Annotation[] {
    const { store, hitIndex } = this.#dependencies;
    return hitIndex
      .annotationsAt(position, hitRadius / this.#zoom(), store)
      .filter((annotation) => store.isVisible(annotation));
  }

  /** Returns the nearest vertex within `hitRadius` of a point; null if there is none. */
  #vertexAt({ feature }: Annotation, point: Point): Vertex | null {
    let nearest: { readonly vertex: Vertex; readonly distance: number } | null = null;
    for (const vertex of verticesOf(feature.geometry)) {
      const distanceToVertex = distance(this.#pointOf(vertex.position), point);
      const isNearer = nearest === null || distanceToVertex < nearest.distance;
      if (distanceToVertex <= hitRadius && isNearer) nearest = { vertex, distance: distanceToVertex };
    }
    return nearest?.vertex ?? null;
  }

  /** Whether an annotation is smaller than the viewer. A drag on a larger one moves the slide instead of the annotation. */
  #fitsView({ bounds }: Annotation): boolean {
    const { width, height } = this.#dependencies.view.size();
    const zoom = this.#zoom();
    return (bounds.maxX - bounds.minX) * zoom < width && (bounds.maxY - bounds.minY) * zoom < height;
  }

  #placement(): Placement | null {
    return this.#dependencies.view.placement();
  }

  /** Returns the zoom in CSS pixels per image pixel; 1 before the slide is open. */
  #zoom(): number {
    const placement = this.#placement();
    return placement === null ? 1 : zoomOf(placement);
  }

  /** Converts CSS pixels to image pixels; null before the slide is open. */
  #positionOf(point: Point): Position | null {
    const placement = this.#placement();
    if (placement === null) return null;
    const { x, y } = toImage(placement, point);
    return [x, y];
  }

  /** Converts image pixels to CSS pixels; (0, 0) before the slide is open. */
  #pointOf([x, y]: Position): Point {
    const placement = this.#placement();
    return placement === null ? { x: 0, y: 0 } : toScreen(placement, { x, y });
  }
}

/** Whether a position lies in an area, or in the bounding box of a line or of points. */
function isWithin({ feature, bounds }: Annotation, [x, y]: Position): boolean {
  const { geometry } = feature;
  if (isArea(geometry)) return containsPosition(geometry, [x, y]);
  return x >= bounds.minX && x <= bounds.maxX && y >= bounds.minY && y <= bounds.maxY;
}

function distance(a: Point, b: Point): number {
  return Math.hypot(a.x - b.x, a.y - b.y);
}

/** Returns the corner of a box at the pointer; while Shift is held, the corner that makes the box a square. */
function boxEnd(fixedCorner: Position, pointer: Position, { shift }: PointerKeys): Position {
  if (!shift) return pointer;
  const [dx, dy] = [pointer[0] - fixedCorner[0], pointer[1] - fixedCorner[1]];
  const side = Math.max(Math.abs(dx), Math.abs(dy));
  return [fixedCorner[0] + side * Math.sign(dx), fixedCorner[1] + side * Math.sign(dy)];
}
