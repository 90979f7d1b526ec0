/** A cache of the open slides of a render process. */
import { fingerprintOf, type OptionalObjectReader } from '../location/open-slide-files.ts';
import { isTemporaryError, type Slide, SlideError } from '../model/slide.ts';
import { openSlide } from '../open-slide.ts';
import type { ExpectedSlide } from './messages.ts';

const MAX_OPEN_SLIDES = 4;
/** Slides that were not used for this time are closed, because a deleted file uses disk space while it is open. */
const IDLE_MS = 20_000;
const IDLE_CHECK_MS = 5000; // interval between two searches for unused slides

interface CachedSlide {
  readonly slide: Slide;
  /** Time of the last use, by `performance.now()`. */
  usedAt: number;
}

/** Keeps the last four slides of a render process open, each until its file changes or it is unused for 20 seconds. */
export class OpenSlideCache {
  /** Open slides by the key of their location, the least recently used first. */
  readonly #open = new Map<string, CachedSlide>();
  readonly #objects: OptionalObjectReader;
  #isInUse = false;

  /** @param objects reads from object storage; null when slides are local files */
  constructor(objects: OptionalObjectReader = null) {
    this.#objects = objects;
    setInterval(() => void this.#closeIdle(), IDLE_CHECK_MS).unref();
  }

  /**
   * Runs `work` with an open slide. Calls must not overlap.
   *
   * @throws SlideError FILE_CHANGED when the file does not have the expected fingerprint, or was replaced
   * during `work` (the result could mix two files); errors of opening the slide and of `work`
   */
  async use<T>(location: ExpectedSlide, work: (slide: Slide) => Promise<T>): Promise<T> {
    this.#isInUse = true;
    try {
      const slide = await this.#reuseOrOpen(location);
      if (location.fingerprint !== undefined && location.fingerprint !== slide.fingerprint) {
        throw new SlideError('FILE_CHANGED', 'The file has changed: it has another fingerprint');
      }
      const result = await work(slide);
      if (!(await this.#isUnchanged(slide, location))) {
        throw new SlideError('FILE_CHANGED', 'The file was replaced while Lamina was reading it');
      }
      return result;
    } finally {
      this.#isInUse = false;
      const cached = this.#open.get(keyOf(location));
      if (cached) cached.usedAt = performance.now();
    }
  }

  /** Whether the files still have the fingerprint of the open slide. */
  async #isUnchanged(slide: Slide, location: ExpectedSlide): Promise<boolean> {
    try {
      return (await fingerprintOf(location, this.#objects)) === slide.fingerprint;
    } catch (error) {
      // Every read of an object requires the same ETag. If the slide is a single object, the result therefore cannot mix two
      // versions, even if the store is unreachable now.
      if (location.isObject && !location.members?.length && isTemporaryError(error)) return true;
      throw error;
    }
  }

  /** Returns the open slide if its files are unchanged. Otherwise opens it, and closes the least recently used ones above the limit. */
  async #reuseOrOpen(location: ExpectedSlide): Promise<Slide> {
    const key = keyOf(location);
    const cachedSlide = this.#open.get(key)?.slide;
    this.#open.delete(key); // added again below, as the most recently used one
    // If the open slide has the expected fingerprint, the files are not checked here: `use` checks them after the work.
    // An error of `fingerprintOf` counts as a change; `openSlide` then opens the files again or throws its own error.
    const expected = location.fingerprint;
    const isCurrent =
      cachedSlide !== undefined &&
      (cachedSlide.fingerprint === expected ||
        cachedSlide.fingerprint === (await fingerprintOf(location, this.#objects).catch(() => null)));
    if (cachedSlide && !isCurrent) await cachedSlide.close();
    const slide = cachedSlide && isCurrent ? cachedSlide : await openSlide(location, this.#objects);
    this.#open.set(key, { slide, usedAt: performance.now() });
    for (const [oldest, cached] of this.#open) {
      if (this.#open.size <= MAX_OPEN_SLIDES) break;
      this.#open.delete(oldest);
      await cached.slide.close();
    }
    return slide;
  }

  async #closeIdle(): Promise<void> {
    if (this.#isInUse) return;
    const now = performance.now();
    const idle = [...this.#open].filter(([, { usedAt }]) => now - usedAt >= IDLE_MS);
    for (const [key] of idle) this.#open.delete(key);
    await Promise.all(idle.map(([, { slide }]) => slide.close()));
  }
}

function keyOf({ isObject, path }: ExpectedSlide): string {
  return `${isObject ? 'object' : 'file'} ${path}`;
}
