/**
 * The state of drawing: the chosen tool, the draft (the unfinished shape) and the brush. The pointer and the keys of the drawing
 * mode change it. Finishing a draft creates or changes annotations in the store.
 *
 * The file is long because all tools share the draft and the brush.
 */
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
import type { Annotation } from './annotation.ts';
import type { AnnotationStore } from './annotation-store.ts';
import {
  boxGeometry,
  changesOfPieces,
  copiesOf,
  type Draft,
  moveFeature,
  normalise,
  pathGeometry,
  type Tool,
  withClass,
} from './drafts.ts';
import { moveVertex, removeVertex, type Vertex } from './vertices.ts';

/** The vertex that was clicked last; the Delete key removes it. */
export interface ChosenVertex {
  /** Id of the annotation. */
  readonly id: string;
  readonly vertex: Vertex;
}

/** Limits of the brush radius in CSS pixels. */
const brushRadiusLimits = { min: 3, max: 300 } as const;
/** Factor by which one step of the wheel changes the brush radius. */
const brushStep = 1.15;

export class DrawingSession {
  readonly #store: AnnotationStore;
  readonly #listeners = new Set<() => void>();
  tool: Tool = 'move';
  /** Class of new annotations. */
  classification: Classification | null = null;
  /** The unfinished shape; null if there is none. */
  draft: Draft | null = null;
  /** The chosen vertex and the selection when it was chosen; null if no vertex is chosen. */
  #chosen: { readonly vertex: ChosenVertex; readonly selection: ReadonlySet<string> } | null = null;
  /** Position of the pointer in image pixels; null when it is not over the slide. */
  pointer: Position | null = null;
  /** Radius in CSS pixels, so that the brush has the same size on the screen at every zoom. */
  brushRadius = 25;

  constructor(store: AnnotationStore) {
    this.#store = store;
  }

  readonly listen = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** The chosen vertex; null if there is none. A change of the selection ends the choice. */
  get chosenVertex(): ChosenVertex | null {
    return this.#chosen?.selection === this.#store.selection ? this.#chosen.vertex : null;
  }

  /** Chooses a tool and discards the draft. */
  chooseTool(tool: Tool): void {
    this.tool = tool;
    this.#chosen = null;
    this.setDraft(null);
  }

  setDraft(draft: Draft | null): void {
    this.draft = draft;
    this.#notify();
  }

  setPointer(position: Position | null): void {
    this.pointer = position;
    this.#notify();
  }

  chooseVertex(vertex: ChosenVertex | null): void {
    this.#chosen = vertex && { vertex, selection: this.#store.selection };
    this.#notify();
  }

  resizeBrush(isLarger: boolean): void {
    const radius = this.brushRadius * (isLarger ? brushStep : 1 / brushStep);
    this.brushRadius = Math.min(brushRadiusLimits.max, Math.max(brushRadiusLimits.min, radius));
    this.#notify();
  }

  /** Sets the class of the selected annotations and of annotations that are drawn from now on; null: no class. */
  classify(classification: Classification | null): void {
    this.classification = classification;
    this.#store.change(
      this.#editableSelection().map(({ id, feature }) => ({
        id,
        feature: withClass(feature, classification),
      })),
    );
    this.#notify();
  }

  /** Discards the draft. Without a draft, clears the selection. Without a selection, chooses the move tool. */
  cancel(): void {
    if (this.draft !== null) this.setDraft(null);
    else if (this.#store.selection.size > 0) this.#store.select([]);
    else this.chooseTool('move');
  }

  /** Adds a point, for a click or Enter: with the point tool to an annotation, otherwise to the draft. @param point in image pixels */
  addPoint(point: Position): void {
    if (!this.#store.canDrawOn(this.#store.activeLayerId)) return;
    switch (this.tool) {
      case 'points':
        this.#addToPoints(point);
        return;
      case 'rectangle':
      case 'ellipse':
        if (this.draft?.kind !== 'box') {
          this.setDraft({ kind: 'box', isEllipse: this.tool === 'ellipse', start: point, end: point });
          return;
        }
        this.setDraft({ ...this.draft, end: point });
        this.finish();
        return;
      case 'line':
      case 'polygon':
      case 'polyline':
      case 'cut': {
        const earlierPoints = this.draft?.kind === 'path' ? this.draft.placed : [];
        this.setDraft({ kind: 'path', placed: [...earlierPoints, point], pointer: null });
        if (this.tool === 'line' && earlierPoints.length === 1) this.finish(); // a line has two points
        return;
      }
      case 'move':
      case 'brush':
      case 'wand':
        return;
    }
  }

  /** Removes the last point of the draft, or else the chosen vertex, or else the selected annotations. */
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
    this.#chosen = null;
    this.replaceGeometry(annotation, removeVertex(annotation.feature.geometry, chosenVertex.vertex));
  }

  removeLastPoint(): void {
    if (this.draft?.kind !== 'path') return;
    const placed = this.draft.placed.slice(0, -1);
    this.setDraft(placed.length === 0 ? null : { ...this.draft, placed });
  }

  /** Applies the draft to the annotations and ends it. A draft that is too small to be a shape is dropped. */
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
          this.#cut(draft.placed);
          return;
        }
        const geometry = pathGeometry(this.tool, draft.placed);
        if (geometry !== null) this.#create(geometry);
        return;
      }
      case 'stroke':
        this.#applyStroke(draft);
        return;
      case 'move':
        this.#moveSelected(draft.end[0] - draft.start[0], draft.end[1] - draft.start[1]);
        return;
      case 'vertex': {
        const annotation = this.#store.find(draft.id);
        if (annotation === undefined) return;
        const moved = moveVertex(annotation.feature.geometry, draft.vertex, draft.position);
        this.replaceGeometry(annotation, moved);
        return;
      }
    }
  }

  /**
   * Returns the id of the annotation that a brush stroke or an area of the wand tool changes. Erasing changes the first
   * selected area or, without a selected area, the smallest area at the start. Painting extends the selected area that
   * contains the start. Returns null when there is none: painting then creates a new annotation, and erasing changes
   * nothing.
   *
   * @param start position where the stroke begins
   * @param annotationsAtStart the annotations at this position, the smallest first
   */
  brushTargetOf(
    start: Position,
    subtracts: boolean,
    annotationsAtStart: readonly Annotation[],
  ): string | null {
    const selectedAreas = this.#editableSelection().filter(({ feature }) => isArea(feature.geometry));
    if (subtracts) {
      const isEditableArea = (annotation: Annotation) =>
        this.#store.canEdit(annotation) && isArea(annotation.feature.geometry);
      const target = selectedAreas[0] ?? annotationsAtStart.find(isEditableArea);
      return target?.id ?? null;
    }
    const selectedTarget = selectedAreas.find(
      ({ feature }) => isArea(feature.geometry) && containsPosition(feature.geometry, start),
    );
    return selectedTarget?.id ?? null;
  }

  /** Changes the geometry of an annotation. @param geometry null (the edit is not possible) changes nothing */
  replaceGeometry({ id, feature }: Annotation, geometry: Geometry | null): void {
    if (geometry === null) return;
    this.#store.change([{ id, feature: { ...feature, geometry: normalise(geometry) } }]);
  }

  removeSelected(): void {
    this.#store.change(this.#editableSelection().map(({ id }) => ({ id, feature: null })));
  }

  /** Adds copies of the selected annotations to the active layer and selects them. @param offset to the right and down, in image pixels */
  duplicateSelected(offset: number): void {
    if (!this.#store.canDrawOn(this.#store.activeLayerId)) return;
    const selected = this.#store.selected().map(({ feature }) => feature);
    this.#store.select(this.#store.change(copiesOf(selected, offset).map((feature) => ({ feature }))));
  }

  /** Merges the selected areas into the area that was selected first, or subtracts the other areas from this area. */
  combineSelected(operation: 'merge' | 'subtract'): void {
    const selected = this.#editableSelection().filter(({ feature }) => isArea(feature.geometry));
    const [target, ...others] = selected;
    if (target === undefined || others.length === 0) return;
    const areas = selected.map(({ feature }) => feature.geometry as AreaGeometry); // the filter leaves only areas
    const [firstArea, ...otherAreas] = areas as [AreaGeometry, ...AreaGeometry[]];
    const result = operation === 'merge' ? unionAreas(areas) : subtractAreas(firstArea, otherAreas);
    if (result === null) return; // nothing would be left: all annotations stay unchanged
    // The merged areas are now part of the first one; subtracted areas stay.
    const deletions = operation === 'merge' ? others.map(({ id }) => ({ id, feature: null })) : [];
    this.#store.change([
      { id: target.id, feature: { ...target.feature, geometry: normalise(result) } },
      ...deletions,
    ]);
    this.#store.select([target.id]);
  }

  /** Changes the geometry of each selected annotation. */
  changeSelected(change: (geometry: Geometry) => Geometry): void {
    this.#store.change(
      this.#editableSelection().map(({ id, feature }) => ({
        id,
        feature: { ...feature, geometry: normalise(change(feature.geometry)) },
      })),
    );
  }

  /** Returns the selected annotations that the user may change. */
  #editableSelection(): readonly Annotation[] {
    return this.#store.selected().filter((annotation) => this.#store.canEdit(annotation));
  }

  #moveSelected(dx: number, dy: number): void {
    this.#store.change(
      this.#editableSelection().map(({ id, feature }) => {
        const moved = moveFeature(feature, dx, dy);
        return { id, feature: { ...moved, geometry: normalise(moved.geometry) } };
      }),
    );
  }

  /** Creates an annotation of the chosen class and selects it. */
  #create(geometry: Geometry): void {
    const feature: AnnotationFeature = {
      type: 'Feature',
      id: createUuid(),
      geometry: normalise(geometry),
      properties: {
        objectType: 'annotation',
        ...(this.classification !== null && { classification: this.classification }),
      },
    };
    this.#store.select(this.#store.change([{ feature }]));
  }

  /** Cuts the selected areas along a line; without a selection, all visible areas that the line crosses. */
  #cut(line: readonly Position[]): void {
    if (line.length < 2) return;
    const bounds = boundsOf({ type: 'LineString', coordinates: line });
    const selected = this.#editableSelection();
    const candidates = selected.length > 0 ? selected : this.#store.all();
    const changes = candidates
      .filter((candidate) => this.#store.canEdit(candidate) && this.#store.isVisible(candidate))
      .filter((candidate) => boundsTouch(candidate.bounds, bounds))
      .flatMap((annotation) => {
        const { geometry } = annotation.feature;
        const pieces = isArea(geometry) ? splitArea(geometry, line) : [];
        return pieces.length < 2 ? [] : changesOfPieces(annotation, pieces.map(normalise));
      });
    if (changes.length > 0) this.#store.select(this.#store.change(changes));
  }

  /** Adds a point to the first selected annotation if it consists of points; otherwise creates an annotation of one point. */
  #addToPoints(point: Position): void {
    const [selected] = this.#editableSelection();
    const points = selected?.feature.geometry;
    if (selected !== undefined && points?.type === 'MultiPoint') {
      this.replaceGeometry(selected, { ...points, coordinates: [...points.coordinates, point] });
      return;
    }
    this.#create({ type: 'MultiPoint', coordinates: [point] });
  }

  #applyStroke({ path, radius, subtracts, targetId }: Draft & { readonly kind: 'stroke' }): void {
    const stroke = createStroke(path, radius);
    if (stroke !== null) this.applyArea(stroke, subtracts, targetId);
  }

  /** Adds an area to an annotation or subtracts it. @param targetId null: adding creates an annotation, subtracting does nothing */
  applyArea(newArea: AreaGeometry, subtracts: boolean, targetId: string | null): void {
    const target = targetId === null ? undefined : this.#store.find(targetId);
    if (target === undefined) {
      if (!subtracts) this.#create(newArea);
      return;
    }
    const area = target.feature.geometry as AreaGeometry; // `brushTargetOf` returns only areas
    const result = subtracts ? subtractAreas(area, [newArea]) : unionAreas([area, newArea]);
    // Nothing is left of an area that is erased completely.
    if (result === null) this.#store.change([{ id: target.id, feature: null }]);
    // `normalise` is not needed: new positions of the result are rounded and its rings do not cross. Checking a large outline is slow.
    else this.#store.change([{ id: target.id, feature: { ...target.feature, geometry: result } }]);
  }

  #notify(): void {
    for (const listener of this.#listeners) listener();
  }
}
