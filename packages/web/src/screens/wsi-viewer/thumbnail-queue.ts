/** A queue that limits how many thumbnails of the catalogue load at a time, and delays them while the list scrolls. */

export interface ThumbnailQueue {
  /**
   * Adds a thumbnail to the queue.
   *
   * @param onStart called when the thumbnail may load: immediately if the list is still and the limit is not reached
   * @returns a function that leaves the queue; must be called when the thumbnail is loaded, has failed or is no longer needed
   */
  enqueue(onStart: () => void): () => void;
  /** Must be called whenever the list scrolls. */
  noteScroll(): void;
}

interface Settings {
  /** Maximum number of thumbnails that load at the same time. */
  readonly maxConcurrent: number;
  /** How long a row must stay in a scrolling list before its thumbnail loads, in milliseconds. */
  readonly scrollDelayMs: number;
  /** Time without scrolling after which the list counts as still, in milliseconds. */
  readonly stillAfterMs: number;
}

export function createThumbnailQueue({
  maxConcurrent,
  scrollDelayMs,
  stillAfterMs,
}: Settings): ThumbnailQueue {
  /** Time of the last scroll, as `performance.now()` counts. */
  let lastScrollMs = -Infinity;
  let loadingCount = 0;
  /** Start functions of the waiting thumbnails, in the order of the calls of `enqueue`. */
  const waiting = new Set<() => void>();

  function startWaiting() {
    for (const start of waiting) {
      if (loadingCount >= maxConcurrent) return;
      waiting.delete(start);
      loadingCount++;
      start();
    }
  }

  return {
    enqueue(onStart) {
      let isLoading = false;
      const start = () => {
        isLoading = true;
        onStart();
      };
      const waitForSlot = () => {
        waiting.add(start);
        startWaiting();
      };
      const isScrolling = performance.now() - lastScrollMs < stillAfterMs;
      const timer = isScrolling ? setTimeout(waitForSlot, scrollDelayMs) : undefined;
      if (!isScrolling) waitForSlot();
      return () => {
        clearTimeout(timer);
        waiting.delete(start);
        if (!isLoading) return;
        isLoading = false;
        loadingCount--;
        startWaiting();
      };
    },

    noteScroll() {
      lastScrollMs = performance.now();
    },
  };
}

/** The queue of the catalogue. It uses at most four of the browser's connections to the server; the others stay free for tiles. */
export const thumbnailQueue = createThumbnailQueue({
  maxConcurrent: 4,
  scrollDelayMs: 120,
  stillAfterMs: 150,
});
