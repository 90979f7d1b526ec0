/** Copies decoded tiles to graphics memory for at most 2 ms per frame: the middle of the view and the sharpest level first. */
import type { TilePicture } from './tile-pictures.ts';

const budgetMs = 2;
/** A page in the background has no frames; tiles that it waits for must not time out. */
const withoutFramesMs = 250;

interface Waiting {
  readonly picture: TilePicture;
  readonly done: () => void;
}

export class UploadQueue {
  readonly #upload: (picture: TilePicture) => void;
  /** Returns a smaller number for a tile that is needed sooner. */
  readonly #urgency: (picture: TilePicture) => number;
  #waiting: Waiting[] = [];
  #spentMs = 0;
  #isScheduled = false;

  /** @param upload does nothing when the picture has no bitmap any more, or the context is lost */
  constructor(upload: (picture: TilePicture) => void, urgency: (picture: TilePicture) => number) {
    this.#upload = upload;
    this.#urgency = urgency;
  }

  /** Resolves when the picture is in graphics memory: at once while the budget of this frame lasts. */
  add(picture: TilePicture): Promise<void> {
    if (this.#waiting.length === 0 && this.#spentMs < budgetMs) {
      this.#run(picture);
      this.#schedule();
      return Promise.resolve();
    }
    return new Promise((done) => {
      this.#waiting.push({ picture, done });
      this.#schedule();
    });
  }

  #run(picture: TilePicture): void {
    const start = performance.now();
    this.#upload(picture);
    this.#spentMs += performance.now() - start;
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    const next = () => {
      clearTimeout(timer);
      cancelAnimationFrame(frame);
      this.#isScheduled = false;
      this.#nextFrame();
    };
    const timer = setTimeout(next, withoutFramesMs);
    const frame = requestAnimationFrame(next);
  }

  #nextFrame(): void {
    this.#spentMs = 0;
    if (this.#waiting.length === 0) return;
    this.#waiting.sort((one, other) => this.#urgency(one.picture) - this.#urgency(other.picture));
    let place = 0;
    while (place < this.#waiting.length && this.#spentMs < budgetMs) {
      const next = this.#waiting[place];
      place += 1;
      if (next === undefined) break;
      this.#run(next.picture);
      next.done();
    }
    this.#waiting = this.#waiting.slice(place);
    this.#schedule();
  }
}
