/** The undo history of the drawing mode. A step contains the edits of one action, such as deleting the selected annotations. */
import type { AnnotationFeature } from '@lamina/annotations';

/** The change of one annotation in a step. `before` is null for a created annotation, `after` is null for a deleted one. */
export interface Edit {
  readonly id: string;
  readonly layerId: string;
  readonly before: AnnotationFeature | null;
  readonly after: AnnotationFeature | null;
}

/** Number of steps that can be undone; a further step drops the oldest one. */
const maxSteps = 200;

export class UndoHistory {
  /** Steps that can be undone, the latest at the end. */
  #undoable: (readonly Edit[])[] = [];
  /** Steps that were undone and can be redone, the last undone at the end. */
  #redoable: (readonly Edit[])[] = [];

  get canUndo(): boolean {
    return this.#undoable.length > 0;
  }

  get canRedo(): boolean {
    return this.#redoable.length > 0;
  }

  add(step: readonly Edit[]): void {
    this.#undoable.push(step);
    if (this.#undoable.length > maxSteps) this.#undoable.shift();
    this.#redoable = [];
  }

  /** Returns the edits of the last step, which can then be redone; empty when there is none. */
  undo(): readonly Edit[] {
    const step = this.#undoable.pop();
    if (step !== undefined) this.#redoable.push(step);
    return step ?? [];
  }

  /** Returns the edits of the step that was undone last, which can then be undone again; empty when there is none. */
  redo(): readonly Edit[] {
    const step = this.#redoable.pop();
    if (step !== undefined) this.#undoable.push(step);
    return step ?? [];
  }

  /** Removes edits from all steps, and the steps that are then empty. @param isForgotten whether to remove an edit */
  forget(isForgotten: (edit: Edit) => boolean): void {
    const withoutForgotten = (steps: readonly (readonly Edit[])[]) =>
      steps.map((step) => step.filter((edit) => !isForgotten(edit))).filter((step) => step.length > 0);
    this.#undoable = withoutForgotten(this.#undoable);
    this.#redoable = withoutForgotten(this.#redoable);
  }
}
