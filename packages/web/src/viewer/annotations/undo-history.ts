/** The undo history: steps of editing that can be undone and redone. */
import type { AnnotationFeature } from '@lamina/annotations';

/** The change of one annotation in a step; `before` is null for a created annotation, `after` for a deleted one. */
export interface Edit {
  readonly id: string;
  readonly layerId: string;
  readonly before: AnnotationFeature | null;
  readonly after: AnnotationFeature | null;
}

const maxSteps = 200;

export class UndoHistory {
  #done: (readonly Edit[])[] = [];
  #undone: (readonly Edit[])[] = [];

  get canUndo(): boolean {
    return this.#done.length > 0;
  }

  get canRedo(): boolean {
    return this.#undone.length > 0;
  }

  add(step: readonly Edit[]): void {
    this.#done.push(step);
    if (this.#done.length > maxSteps) this.#done.shift();
    this.#undone = [];
  }

  /** Returns the edits of the last step, which can then be redone; empty when there is none. */
  undo(): readonly Edit[] {
    const step = this.#done.pop();
    if (step !== undefined) this.#undone.push(step);
    return step ?? [];
  }

  redo(): readonly Edit[] {
    const step = this.#undone.pop();
    if (step !== undefined) this.#done.push(step);
    return step ?? [];
  }

  /** Removes the edits of annotations that another person has changed since: undoing them would undo that change, too. */
  forget(ids: readonly string[]): void {
    const without = (steps: readonly (readonly Edit[])[]) =>
      steps.map((step) => step.filter(({ id }) => !ids.includes(id))).filter((step) => step.length > 0);
    this.#done = without(this.#done);
    this.#undone = without(this.#undone);
  }

  clear(): void {
    this.#done = [];
    this.#undone = [];
  }
}
