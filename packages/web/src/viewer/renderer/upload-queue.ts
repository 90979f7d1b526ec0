/**
 * Copies decoded tiles ("pictures") to graphics memory, for about 2 ms per frame, so that movements stay smooth. The caller
 * decides which tiles are copied first.
 */
import type { TilePicture } from './tile-pictures.ts';

/** Time for uploads in each frame. */
const budgetMs = 2;
/** A page in the background has no frames. Uploads then continue after this time: OpenSeadragon's tile jobs wait for them. */
const maxFrameMs = 250;

interface WaitingUpload {
  readonly picture: TilePicture;
  /** Resolves the promise that `add` has returned. */
  readonly resolve: () => void;
}

export class UploadQueue {
  readonly #upload: (picture: TilePicture) => void;
  /** Tiles with smaller numbers are uploaded first. */
  readonly #priorityOf: (picture: TilePicture) => number;
  #waiting: WaitingUpload[] = [];
  /** Time spent on uploads in the current frame. */
  #spentMs = 0;
  #isScheduled = false;

  /**
   * @param upload must do nothing when the picture no longer has a bitmap or the context is lost
   * @param priorityOf returns a smaller number for a tile that is needed sooner
   */
  constructor(upload: (picture: TilePicture) => void, priorityOf: (picture: TilePicture) => number) {
    this.#upload = upload;
    this.#priorityOf = priorityOf;
  }

  /** Uploads a picture now if the frame has time left, otherwise in a later frame. Resolves when `upload` has run. */
  add(picture: TilePicture): Promise<void> {
    if (this.#waiting.length === 0 && this.#spentMs < budgetMs) {
      this.#uploadNow(picture);
      this.#schedule(); // the next frame has a new time budget
      return Promise.resolve();
    }
    return new Promise((resolve) => {
      this.#waiting.push({ picture, resolve });
      this.#schedule();
    });
  }

  #uploadNow(picture: TilePicture): void {
    const start = performance.now();
    this.#upload(picture);
    this.#spentMs += performance.now() - start;
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    // The timer or the animation frame, whichever comes first, begins the next frame and cancels the other.
    const begin = () => {
      clearTimeout(timer);
      cancelAnimationFrame(frame);
      this.#isScheduled = false;
      this.#nextFrame();
    };
    const timer = setTimeout(begin, maxFrameMs);
    const frame = requestAnimationFrame(begin);
  }

  #nextFrame(): void {
    this.#spentMs = 0;
    if (this.#waiting.length === 0) return;
    this.#waiting.sort((a, b) => this.#priorityOf(a.picture) - this.#priorityOf(b.picture));
    let uploadedCount = 0;
    while (uploadedCount < this.#waiting.length && this.#spentMs < budgetMs) {
      const next = this.#waiting[uploadedCount];
      uploadedCount += 1;
      if (next === undefined) break;
      this.#uploadNow(next.picture);
      next.resolve();
    }
    this.#waiting = this.#waiting.slice(uploadedCount);
    this.#schedule(); // the next frame resets the time budget, even if no tile waits
  }
}
