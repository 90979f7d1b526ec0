import { openSlide } from '../open-slide.ts';
import { isUnreachable, type Slide, SlideError } from '../slide.ts';
import { fingerprintOf, type Objects } from '../source/slide-place.ts';
import type { ExpectedSlide } from './maker-message.ts';

const MOST_OPEN = 4;
/** A slide that was moved or deleted must not stay on the disk because it is open here. */
const IDLE_MS = 20_000;
const LOOK_EVERY_MS = 5000;

interface Kept {
  readonly slide: Slide;
  /** By `performance.now`. */
  usedAt: number;
}

/** The slides that a process has open: the last few, each until its file changes or nothing is asked for a while. */
export class KeptSlides {
  /** By place, the one used longest ago first. */
  readonly #open = new Map<string, Kept>();
  readonly #objects: Objects;
  #isInUse = false;

  /** @param objects through which objects are read; without it, slides are files */
  constructor(objects: Objects = null) {
    this.#objects = objects;
    setInterval(() => void this.#closeIdle(), LOOK_EVERY_MS).unref();
  }

  /**
   * Use a slide; one at a time.
   *
   * @throws SlideError FILE_CHANGED when the file was replaced meanwhile, so that no answer mixes two files, or is not
   *   the expected one; what opening it and `work` throw
   */
  async use<T>(location: ExpectedSlide, work: (slide: Slide) => Promise<T>): Promise<T> {
    this.#isInUse = true;
    try {
      const slide = await this.#take(location);
      if (location.fingerprint !== undefined && location.fingerprint !== slide.fingerprint) {
        throw new SlideError('FILE_CHANGED', 'The file is not the expected one any more');
      }
      const answer = await work(slide);
      if (!(await this.#isStill(slide, location))) {
        throw new SlideError('FILE_CHANGED', 'The file was replaced while it was read');
      }
      return answer;
    } finally {
      this.#isInUse = false;
      const kept = this.#open.get(placeOf(location));
      if (kept) kept.usedAt = performance.now();
    }
  }

  async #isStill(slide: Slide, location: ExpectedSlide): Promise<boolean> {
    try {
      return (await fingerprintOf(location, this.#objects)) === slide.fingerprint;
    } catch (error) {
      // Every part of an object is asked for as a part of that one: whatever came of it, nothing was mixed.
      if (location.isObject && !location.members?.length && isUnreachable(error)) return true;
      throw error;
    }
  }

  async #take(location: ExpectedSlide): Promise<Slide> {
    const place = placeOf(location);
    const known = this.#open.get(place)?.slide;
    this.#open.delete(place);
    // Where the expected one is open, a look after the work is enough: what has changed is noticed then.
    const wanted = location.fingerprint;
    const isCurrent =
      known !== undefined &&
      (known.fingerprint === wanted ||
        known.fingerprint === (await fingerprintOf(location, this.#objects).catch(() => null)));
    if (known && !isCurrent) await known.close();
    const slide = known && isCurrent ? known : await openSlide(location, this.#objects);
    this.#open.set(place, { slide, usedAt: performance.now() });
    for (const [oldest, kept] of this.#open) {
      if (this.#open.size <= MOST_OPEN) break;
      this.#open.delete(oldest);
      await kept.slide.close();
    }
    return slide;
  }

  async #closeIdle(): Promise<void> {
    if (this.#isInUse) return;
    const now = performance.now();
    const idle = [...this.#open].filter(([, { usedAt }]) => now - usedAt >= IDLE_MS);
    for (const [place] of idle) this.#open.delete(place);
    await Promise.all(idle.map(([, { slide }]) => slide.close()));
  }
}

function placeOf({ isObject, path }: ExpectedSlide): string {
  return `${isObject ? 'object' : 'file'} ${path}`;
}
