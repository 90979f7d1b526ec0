/** The undo history of the drawing mode. A step contains the edits of one action, such as deleting the selected annotations. */
import { type AnnotationFeature, countFeatureVertices } from '@lamina/annotations';

/** The change of one annotation in a step. `before` is null for a created annotation, `after` is null for a deleted one. */
export interface Edit {
  /** Id of the feature. */
  readonly id: string;
  readonly layerId: string;
  readonly before: AnnotationFeature | null;
  readonly after: AnnotationFeature | null;
}

/**
 * Number of vertices that all steps together may hold, about 600 MB. When a new step exceeds it, the oldest steps are removed, but never
 * the new one. Vertices that belong to an annotation both before and after an edit are counted once.
 */
const maxVertices = 10_000_000;

interface Step {
  readonly edits: readonly Edit[];
  /** Sum over all edits: the number of vertices before or after the edit, whichever is larger. */
  readonly vertexCount: number;
}

export class UndoHistory {
  /** Steps that can be undone, the latest at the end. */
  #undoable: Step[] = [];
  /** Steps that were undone and can be redone, the last undone at the end. */
  #redoable: Step[] = [];

  get canUndo(): boolean {
    return this.#undoable.length > 0;
  }

  get canRedo(): boolean {
    return this.#redoable.length > 0;
  }

  add(edits: readonly Edit[]): void {
    this.#undoable.push(stepOf(edits));
    this.#redoable = [];
    let vertexCount = this.#undoable.reduce((sum, step) => sum + step.vertexCount, 0);
    while (vertexCount > maxVertices && this.#undoable.length > 1)
      vertexCount -= this.#undoable.shift()?.vertexCount ?? 0;
  }

  /** Returns the edits of the last step, which can then be redone; empty when there is none. */
  undo(): readonly Edit[] {
    const step = this.#undoable.pop();
    if (step !== undefined) this.#redoable.push(step);
    return step?.edits ?? [];
  }

  /** Returns the edits of the step that was undone last, which can then be undone again; empty when there is none. */
  redo(): readonly Edit[] {
    const step = this.#redoable.pop();
    if (step !== undefined) this.#undoable.push(step);
    return step?.edits ?? [];
  }

  /** Removes edits from all steps, and the steps that are then empty. @param isRemoved returns whether to remove an edit */
  removeEdits(isRemoved: (edit: Edit) => boolean): void {
    const withoutRemoved = (steps: readonly Step[]) =>
      steps
        .map(({ edits }) => stepOf(edits.filter((edit) => !isRemoved(edit))))
        .filter(({ edits }) => edits.length > 0);
    this.#undoable = withoutRemoved(this.#undoable);
    this.#redoable = withoutRemoved(this.#redoable);
  }
}

function stepOf(edits: readonly Edit[]): Step {
  const vertexCount = edits.reduce(
    (sum, { before, after }) => sum + Math.max(vertexCountOf(before), vertexCountOf(after)),
    0,
  );
  return { edits, vertexCount };
}

const vertexCountOf = (feature: AnnotationFeature | null) =>
  feature === null ? 0 : countFeatureVertices(feature);
