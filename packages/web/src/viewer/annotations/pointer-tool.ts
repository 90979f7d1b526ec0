/** Turns pointer events over the slide into drawing, selecting and editing. */
import { containsPosition, isArea, type Position } from '@lamina/annotations';
import { type Placement, type Point, toImage, toScreen, zoomOf } from '../overlay/placement.ts';
import type { PointerKeys, PointerTool, SlideView } from '../slide-view.ts';
import type { Annotation } from './annotation.ts';
import type { AnnotationStore } from './annotation-store.ts';
import type { DrawingSession } from './drawing-session.ts';
import type { HitIndex } from './hit-index.ts';
import { insertVertex, removeVertex, type Vertex, verticesOf } from './vertices.ts';
import { wandRegion } from './wand.ts';

/** CSS pixels. Movements below this count as no movement. */
const sameSpot = 5;
/** Reach around vertices and outlines; a finger needs about this. */
const reach = 9;
/** Distance between points of a freehand line and of a brush stroke. */
const handStep = 4;
const doubleClickMs = 400;

interface PointerToolDependencies {
  readonly view: Pick<SlideView, 'placement' | 'size' | 'picture'>;
  readonly store: AnnotationStore;
  readonly session: DrawingSession;
  readonly hits: HitIndex;
  /** Whether the key that moves the slide is held. */
  readonly isPanning: () => boolean;
  readonly cursor: string;
}

/** A press until its release. */
interface Press {
  readonly at: Point;
  readonly image: Position;
  isDragged: boolean;
  last: Point;
}

export class AnnotationPointer implements PointerTool {
  readonly cursor: string;
  leavesToSlide = false;
  readonly #of: PointerToolDependencies;
  #press: Press | null = null;
  #lastClick: { readonly at: Point; readonly time: number } | null = null;

  constructor(dependencies: PointerToolDependencies) {
    this.#of = dependencies;
    this.cursor = dependencies.cursor;
  }

  onPress(at: Point, keys: PointerKeys): void {
    this.leavesToSlide = !this.#takesPress(at, keys);
  }

  #takesPress(at: Point, keys: PointerKeys): boolean {
    const { session, store } = this.#of;
    const image = this.#imageOf(at);
    if (image === null || this.#of.isPanning()) return false;
    this.#press = { at, image, isDragged: false, last: at };
    if (session.tool === 'move') return this.#pressToMove(at, image, keys);
    if (!store.canDrawOn(store.activeLayerId)) return false;
    if (session.tool === 'brush') {
      const targetId = session.brushTarget(image, keys.alt, this.#under(image));
      const radius = session.brushRadius / this.#zoom();
      session.setDraft({ kind: 'stroke', path: [image], radius, subtracts: keys.alt, targetId });
    } else if (session.tool === 'rectangle' || session.tool === 'ellipse') {
      if (session.draft?.kind !== 'box') {
        session.setDraft({ kind: 'box', isEllipse: session.tool === 'ellipse', from: image, to: image });
      }
    }
    return true;
  }

  onMove(at: Point, keys: PointerKeys): void {
    const { session } = this.#of;
    const image = this.#imageOf(at);
    if (image === null) return;
    const press = this.#press;
    if (press !== null && !press.isDragged && distance(press.at, at) >= sameSpot) press.isDragged = true;
    session.pointer = image;
    const { draft } = session;
    switch (draft?.kind) {
      case 'box':
        session.setDraft({ ...draft, to: keys.shift ? squareFrom(draft.from, image) : image });
        return;
      case 'stroke':
        if (press !== null && distance(press.last, at) >= handStep) {
          press.last = at;
          session.setDraft({ ...draft, path: [...draft.path, image] });
          return;
        }
        break;
      case 'move':
      case 'vertex':
        session.setDraft({ ...draft, to: image });
        return;
      default:
        if (press?.isDragged && this.#drawByHand(press, at, image)) return;
        if (draft?.kind === 'path') {
          session.setDraft({ ...draft, floating: image });
          return;
        }
    }
    session.setPointer(image);
  }

  onRelease(at: Point, keys: PointerKeys): void {
    const { session } = this.#of;
    const press = this.#press;
    const image = this.#imageOf(at);
    this.#press = null;
    if (press === null || image === null) return;
    const isDouble = this.#isDoubleClick(press, at);
    switch (session.draft?.kind) {
      case 'box':
        // A click places the first corner, the next one the second.
        if (press.isDragged || distance(this.#screenOf(session.draft.from), at) >= sameSpot) session.finish();
        return;
      case 'stroke':
        session.finish();
        return;
      case 'move':
      case 'vertex': {
        const isVertex = session.draft.kind === 'vertex';
        if (press.isDragged) {
          session.finish();
          return;
        }
        session.setDraft(null);
        if (!isVertex) this.#releaseToSelect(press, image, keys, isDouble);
        return;
      }
      default:
        if (session.tool === 'move') {
          this.#releaseToSelect(press, image, keys, isDouble);
          return;
        }
        this.#releaseToDraw(press, at, image, keys, isDouble);
    }
  }

  /** Outlines the region of similar colour around a place of the view. */
  wandAt(at: Point, keys: PointerKeys): void {
    const { session, view, store } = this.#of;
    const image = this.#imageOf(at);
    if (image === null || !store.canDrawOn(store.activeLayerId)) return;
    const region = wandRegion(view, at);
    if (region === null) return;
    session.applyArea(region, keys.alt, session.brushTarget(image, keys.alt, this.#under(image)));
  }

  onPinch(): void {
    if (this.#press === null) return;
    this.#press = null;
    this.#of.session.setDraft(null);
  }

  onWheel(delta: number, { shift }: PointerKeys): boolean {
    const { session } = this.#of;
    if (session.tool !== 'brush' || !shift) return false;
    session.resizeBrush(delta < 0);
    return true;
  }

  #pressToMove(at: Point, image: Position, keys: PointerKeys): boolean {
    const { store, session } = this.#of;
    for (const annotation of store.selected()) {
      if (!store.canEdit(annotation)) continue;
      const vertex = this.#vertexAt(annotation, at);
      if (vertex !== null) {
        session.chooseVertex({ id: annotation.id, vertex });
        if (keys.alt) return true;
        session.setDraft({ kind: 'vertex', id: annotation.id, vertex, to: vertex.at });
        return true;
      }
    }
    session.chooseVertex(null);
    const isInside = store
      .selected()
      .some(
        (annotation) =>
          store.canEdit(annotation) && this.#fitsView(annotation) && isWithin(annotation, image),
      );
    if (!isInside || keys.shift) return false;
    session.setDraft({ kind: 'move', from: image, to: image });
    return true;
  }

  #releaseToSelect(press: Press, image: Position, keys: PointerKeys, isDouble: boolean): void {
    const { store, session } = this.#of;
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
    if (isDouble && selected !== undefined && store.canEdit(selected) && store.selection.size === 1) {
      session.replaceGeometry(selected, insertVertex(selected.feature.geometry, image));
      return;
    }
    const [hit] = this.#under(image);
    if (hit === undefined) {
      if (!keys.shift) store.select([]);
    } else if (keys.shift) {
      const next = new Set(store.selection);
      if (!next.delete(hit.id)) next.add(hit.id);
      store.select(next);
    } else store.select([hit.id]);
  }

  #releaseToDraw(press: Press, at: Point, image: Position, keys: PointerKeys, isDouble: boolean): void {
    const { session } = this.#of;
    if (session.tool === 'wand') {
      if (!press.isDragged) this.wandAt(at, keys);
      return;
    }
    const fixed = session.draft?.kind === 'path' ? session.draft.fixed : [];
    if (press.isDragged && fixed.length > 0) {
      // A line that was drawn by hand ends where the pointer is released; a short drag is a click.
      if (session.tool === 'line' || fixed.length < 3) session.addPoint(image);
      else session.finish();
      return;
    }
    const isNear = (position: Position | undefined) =>
      position !== undefined && distance(this.#screenOf(position), at) < sameSpot;
    if (isDouble || (fixed.length > 2 && isNear(fixed[0]))) {
      session.finish();
      return;
    }
    if (!isNear(fixed.at(-1))) session.addPoint(image);
  }

  /** @returns whether a freehand line goes on */
  #drawByHand(press: Press, at: Point, image: Position): boolean {
    const { session } = this.#of;
    const { tool, draft } = session;
    if (tool !== 'polygon' && tool !== 'polyline' && tool !== 'line' && tool !== 'cut') return false;
    if (draft?.kind !== 'path') {
      press.last = at;
      session.setDraft({ kind: 'path', fixed: [press.image], floating: image });
    } else if (tool !== 'line' && distance(press.last, at) >= handStep) {
      press.last = at;
      session.setDraft({ kind: 'path', fixed: [...draft.fixed, image], floating: image });
    } else return false;
    return true;
  }

  #isDoubleClick({ isDragged }: Press, at: Point): boolean {
    const before = this.#lastClick;
    this.#lastClick = isDragged ? null : { at, time: performance.now() };
    if (before === null || isDragged) return false;
    const isDouble = performance.now() - before.time < doubleClickMs && distance(before.at, at) < sameSpot;
    if (isDouble) this.#lastClick = null;
    return isDouble;
  }

  #under(image: Position): readonly Annotation[] {
    const { store, hits } = this.#of;
    return hits.at(image, reach / this.#zoom(), store).filter((each) => store.isVisible(each));
  }

  #vertexAt({ feature }: Annotation, at: Point): Vertex | null {
    let nearest: { readonly vertex: Vertex; readonly distance: number } | null = null;
    for (const vertex of verticesOf(feature.geometry)) {
      const away = distance(this.#screenOf(vertex.at), at);
      if (away <= reach && (nearest === null || away < nearest.distance))
        nearest = { vertex, distance: away };
    }
    return nearest?.vertex ?? null;
  }

  /** A shape larger than the view is not dragged: a person who drags there wants to move the slide. */
  #fitsView({ bounds }: Annotation): boolean {
    const { width, height } = this.#of.view.size();
    const zoom = this.#zoom();
    return (bounds.maxX - bounds.minX) * zoom < width && (bounds.maxY - bounds.minY) * zoom < height;
  }

  #placement(): Placement | null {
    return this.#of.view.placement();
  }

  #zoom(): number {
    const placement = this.#placement();
    return placement === null ? 1 : zoomOf(placement);
  }

  #imageOf(at: Point): Position | null {
    const placement = this.#placement();
    if (placement === null) return null;
    const { x, y } = toImage(placement, at);
    return [x, y];
  }

  #screenOf([x, y]: Position): Point {
    const placement = this.#placement();
    return placement === null ? { x: 0, y: 0 } : toScreen(placement, { x, y });
  }
}

function isWithin({ feature, bounds }: Annotation, [x, y]: Position): boolean {
  const { geometry } = feature;
  if (isArea(geometry)) return containsPosition(geometry, [x, y]);
  return x >= bounds.minX && x <= bounds.maxX && y >= bounds.minY && y <= bounds.maxY;
}

function distance(a: Point, b: Point): number {
  return Math.hypot(a.x - b.x, a.y - b.y);
}

/** Returns the corner of a square, for a held Shift key. */
function squareFrom([x0, y0]: Position, [x, y]: Position): Position {
  const side = Math.max(Math.abs(x - x0), Math.abs(y - y0));
  return [x0 + side * Math.sign(x - x0), y0 + side * Math.sign(y - y0)];
}
