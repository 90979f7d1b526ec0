/** What a person draws now: the tool, the unfinished shape, and what becomes of it when it is finished. */
import {
  type AnnotationFeature,
  type AreaGeometry,
  boundsOf,
  boundsTouch,
  type Classification,
  containsPosition,
  createStroke,
  createUuid,
  type Geometry,
  isArea,
  type Position,
  splitArea,
  subtractAreas,
  unionAreas,
} from '@lamina/annotations';
import { type Annotation, mapPositions } from './annotation.ts';
import type { AnnotationStore } from './annotation-store.ts';
import { boxGeometry, copyOf, type Draft, pathGeometry, type Tool, tidy, withClass } from './drafts.ts';
import { moveVertex, removeVertex, type Vertex } from './vertices.ts';

/** Vertex that was clicked last: the Delete key removes it. */
export interface ChosenVertex {
  readonly id: string;
  readonly vertex: Vertex;
}

/** Screen pixels. */
const brushLimits = { least: 3, most: 300 } as const;
const brushStep = 1.15;

export class DrawingSession {
  readonly #store: AnnotationStore;
  readonly #listeners = new Set<() => void>();
  tool: Tool = 'move';
  /** Class of new annotations. */
  classification: Classification | null = null;
  draft: Draft | null = null;
  chosenVertex: ChosenVertex | null = null;
  /** Position of the pointer over the slide in image pixels; null elsewhere. */
  pointer: Position | null = null;
  /** Screen pixels. */
  brushRadius = 25;

  constructor(store: AnnotationStore) {
    this.#store = store;
  }

  readonly listen = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  choose(tool: Tool): void {
    this.tool = tool;
    this.chosenVertex = null;
    this.setDraft(null);
  }

  setDraft(draft: Draft | null): void {
    this.draft = draft;
    this.#tell();
  }

  setPointer(position: Position | null): void {
    this.pointer = position;
    this.#tell();
  }

  chooseVertex(chosen: ChosenVertex | null): void {
    this.chosenVertex = chosen;
    this.#tell();
  }

  resizeBrush(isLarger: boolean): void {
    const radius = this.brushRadius * (isLarger ? brushStep : 1 / brushStep);
    this.brushRadius = Math.min(brushLimits.most, Math.max(brushLimits.least, radius));
    this.#tell();
  }

  /** Sets the class of the selected annotations, and of new ones. */
  classify(classification: Classification | null): void {
    this.classification = classification;
    this.#store.change(
      this.#editable().map(({ id, feature }) => ({ id, feature: withClass(feature, classification) })),
    );
    this.#tell();
  }

  /** Cancels the unfinished shape, else the selection, else the tool. */
  cancel(): void {
    if (this.draft !== null) this.setDraft(null);
    else if (this.#store.selection.size > 0) {
      this.chosenVertex = null;
      this.#store.select([]);
    } else this.choose('move');
  }

  /** Places a point of the tool: a click, or a key at the cross in the middle of the view. */
  addPoint(at: Position): void {
    if (!this.#store.canDrawOn(this.#store.activeLayerId)) return;
    switch (this.tool) {
      case 'points':
        this.#addToPoints(at);
        return;
      case 'rectangle':
      case 'ellipse':
        if (this.draft?.kind !== 'box') {
          this.setDraft({ kind: 'box', isEllipse: this.tool === 'ellipse', from: at, to: at });
          return;
        }
        this.setDraft({ ...this.draft, to: at });
        this.finish();
        return;
      case 'line':
      case 'polygon':
      case 'polyline':
      case 'cut': {
        const fixed = this.draft?.kind === 'path' ? this.draft.fixed : [];
        this.setDraft({ kind: 'path', fixed: [...fixed, at], floating: null });
        if (this.tool === 'line' && fixed.length === 1) this.finish();
        return;
      }
      case 'move':
      case 'brush':
      case 'wand':
        return;
    }
  }

  /** Removes the last point of the unfinished shape, else the chosen vertex, else the selected annotations. */
  remove(): void {
    const { chosenVertex } = this;
    if (this.draft !== null) {
      this.removeLastPoint();
      return;
    }
    const annotation = chosenVertex === null ? undefined : this.#store.find(chosenVertex.id);
    if (chosenVertex === null || annotation === undefined) {
      this.removeSelected();
      return;
    }
    this.chosenVertex = null;
    this.replaceGeometry(annotation, removeVertex(annotation.feature.geometry, chosenVertex.vertex));
  }

  removeLastPoint(): void {
    if (this.draft?.kind !== 'path') return;
    const fixed = this.draft.fixed.slice(0, -1);
    this.setDraft(fixed.length === 0 ? null : { ...this.draft, fixed });
  }

  /** Completes the unfinished shape; one without an extent is dropped. */
  finish(): void {
    const { draft } = this;
    if (draft === null) return;
    this.setDraft(null);
    switch (draft.kind) {
      case 'box': {
        const geometry = boxGeometry(draft);
        if (geometry !== null) this.#create(geometry);
        return;
      }
      case 'path': {
        if (this.tool === 'cut') {
          this.#cut(draft.fixed);
          return;
        }
        const geometry = pathGeometry(this.tool, draft.fixed);
        if (geometry !== null) this.#create(geometry);
        return;
      }
      case 'stroke':
        this.#applyStroke(draft);
        return;
      case 'move':
        this.#moveSelected(draft.to[0] - draft.from[0], draft.to[1] - draft.from[1]);
        return;
      case 'vertex': {
        const annotation = this.#store.find(draft.id);
        if (annotation === undefined) return;
        const moved = moveVertex(annotation.feature.geometry, draft.vertex, draft.to);
        this.replaceGeometry(annotation, moved);
        return;
      }
    }
  }

  /** Returns the annotation that a brush stroke from here changes; null: it creates a new one. */
  brushTarget(at: Position, subtracts: boolean, under: readonly Annotation[]): string | null {
    const selected = this.#editable().filter(({ feature }) => isArea(feature.geometry));
    if (subtracts) {
      const found =
        selected[0] ?? under.find((each) => this.#store.canEdit(each) && isArea(each.feature.geometry));
      return found?.id ?? null;
    }
    const around = selected.find(
      ({ feature }) => isArea(feature.geometry) && containsPosition(feature.geometry, at),
    );
    return around?.id ?? null;
  }

  replaceGeometry({ id, feature }: Annotation, geometry: Geometry | null): void {
    if (geometry === null) return;
    this.#store.change([{ id, feature: { ...feature, geometry: tidy(geometry) } }]);
  }

  removeSelected(): void {
    this.#store.change(this.#editable().map(({ id }) => ({ id, feature: null })));
  }

  duplicateSelected(offset: number): void {
    const copies = this.#store.selected().map(({ feature }) => copyOf(feature, offset));
    this.#store.change(copies.map((feature) => ({ id: feature.id, feature })));
    this.#store.select(copies.map(({ id }) => id));
  }

  /** Combines the selected areas in the first of them. */
  combineSelected(operation: 'merge' | 'subtract'): void {
    const selected = this.#editable().filter(({ feature }) => isArea(feature.geometry));
    const [first, ...others] = selected;
    if (first === undefined || others.length === 0) return;
    const areas = selected.map(({ feature }) => feature.geometry as AreaGeometry);
    const [area, ...rest] = areas as [AreaGeometry, ...AreaGeometry[]];
    const result = operation === 'merge' ? unionAreas(areas) : subtractAreas(area, rest);
    if (result === null) return;
    const gone = operation === 'merge' ? others.map(({ id }) => ({ id, feature: null })) : [];
    this.#store.change([{ id: first.id, feature: { ...first.feature, geometry: tidy(result) } }, ...gone]);
    this.#store.select([first.id]);
  }

  /** Changes the geometry of each selected annotation. */
  changeSelected(change: (geometry: Geometry) => Geometry): void {
    this.#store.change(
      this.#editable().map(({ id, feature }) => ({
        id,
        feature: { ...feature, geometry: tidy(change(feature.geometry)) },
      })),
    );
  }

  #editable(): readonly Annotation[] {
    return this.#store.selected().filter((annotation) => this.#store.canEdit(annotation));
  }

  #moveSelected(dx: number, dy: number): void {
    this.changeSelected((geometry) => mapPositions(geometry, ([x, y]) => [x + dx, y + dy]));
  }

  #create(geometry: Geometry): void {
    const id = createUuid();
    const feature: AnnotationFeature = {
      type: 'Feature',
      id,
      geometry: tidy(geometry),
      properties: {
        objectType: 'annotation',
        ...(this.classification !== null && { classification: this.classification }),
      },
    };
    this.#store.change([{ id, feature }]);
    this.#store.select([id]);
  }

  /** Cuts the selected areas along a line; without a selection all areas that it crosses. */
  #cut(line: readonly Position[]): void {
    if (line.length < 2) return;
    const [first, ...others] = line;
    const bounds = boundsOf({
      type: 'LineString',
      coordinates: first === undefined ? [] : [first, ...others],
    });
    const selected = this.#editable();
    const candidates = selected.length > 0 ? selected : this.#store.all();
    const changes = candidates
      .filter((each) => this.#store.canEdit(each) && this.#store.isVisible(each))
      .filter((each) => boundsTouch(each.bounds, bounds))
      .flatMap(({ feature }) => {
        if (!isArea(feature.geometry)) return [];
        const pieces = splitArea(feature.geometry, line);
        if (pieces.length < 2) return [];
        return pieces.map((geometry, index) => {
          const id = index === 0 ? feature.id : createUuid();
          return { id, feature: { ...feature, id, geometry: tidy(geometry) } };
        });
      });
    this.#store.change(changes);
    if (changes.length > 0) this.#store.select(changes.map(({ id }) => id));
  }

  #addToPoints(at: Position): void {
    const [selected] = this.#editable();
    const points = selected?.feature.geometry;
    if (selected !== undefined && points?.type === 'MultiPoint') {
      this.replaceGeometry(selected, { ...points, coordinates: [...points.coordinates, at] });
      return;
    }
    this.#create({ type: 'MultiPoint', coordinates: [at] });
  }

  #applyStroke({ path, radius, subtracts, targetId }: Draft & { readonly kind: 'stroke' }): void {
    const stroke = createStroke(path, radius);
    if (stroke !== null) this.applyArea(stroke, subtracts, targetId);
  }

  /** Adds an area to an annotation or subtracts it. @param targetId null: a new annotation */
  applyArea(stroke: AreaGeometry, subtracts: boolean, targetId: string | null): void {
    const target = targetId === null ? undefined : this.#store.find(targetId);
    if (target === undefined) {
      if (!subtracts) this.#create(stroke);
      return;
    }
    const area = target.feature.geometry as AreaGeometry;
    const result = subtracts ? subtractAreas(area, [stroke]) : unionAreas([area, stroke]);
    if (result === null) this.#store.change([{ id: target.id, feature: null }]);
    // Not tidied: the result is rounded where it is new and has no crossings, and looking for some takes long in a large outline.
    else this.#store.change([{ id: target.id, feature: { ...target.feature, geometry: result } }]);
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }
}
