/** The initials that the viewer shows above annotations that other users have just changed. */
import { initialsOf } from '../../formatting/person.ts';

/** How long initials are shown. */
const displayMs = 6000;

export class RecentAuthors {
  readonly #initials = new Map<string, string>();
  /** The timers that end the display, by annotation id. */
  readonly #timers = new Map<string, ReturnType<typeof setTimeout>>();
  readonly #onExpired: () => void;

  /** @param onExpired called when initials are no longer shown */
  constructor(onExpired: () => void) {
    this.#onExpired = onExpired;
  }

  /** Initials by annotation id. */
  get all(): ReadonlyMap<string, string> {
    return this.#initials;
  }

  /** Shows the initials of a user at an annotation for `displayMs` from now on. They replace other initials at this annotation. */
  show(annotationId: string, displayName: string): void {
    const noEmail = ''; // `initialsOf` uses the e-mail address only for a user without a name
    this.#initials.set(annotationId, initialsOf({ displayName, email: noEmail }));
    clearTimeout(this.#timers.get(annotationId));
    const timer = setTimeout(() => {
      this.#timers.delete(annotationId);
      this.#initials.delete(annotationId);
      this.#onExpired();
    }, displayMs);
    this.#timers.set(annotationId, timer);
  }

  /** Stops the timers when the slide is closed. */
  close(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer);
  }
}
