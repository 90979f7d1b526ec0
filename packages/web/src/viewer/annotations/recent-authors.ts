/** Initials of other authors beside the annotations that they changed a moment ago. */
import { initialsOf } from '../../formatting/person.ts';

const shownMs = 6000;

export class RecentAuthors {
  readonly #initials = new Map<string, string>();
  readonly #timers = new Set<ReturnType<typeof setTimeout>>();
  readonly #onEnd: () => void;

  /** @param onEnd called when initials are no longer shown */
  constructor(onEnd: () => void) {
    this.#onEnd = onEnd;
  }

  /** Initials by annotation. */
  get all(): ReadonlyMap<string, string> {
    return this.#initials;
  }

  show(id: string, displayName: string): void {
    this.#initials.set(id, initialsOf({ displayName, email: '' }));
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      this.#initials.delete(id);
      this.#onEnd();
    }, shownMs);
    this.#timers.add(timer);
  }

  close(): void {
    for (const timer of this.#timers) clearTimeout(timer);
  }
}
