/** Limits how many thumbnails load at a time, and delays them while the list scrolls. */

export interface ThumbnailQueue {
  /**
   * Adds a thumbnail to the queue.
   *
   * @param onOpen called when the thumbnail may be loaded: at once while the list is still and the limit is not reached
   * @returns a function to call when the thumbnail is loaded, has failed or is no longer needed
   */
  ask(onOpen: () => void): () => void;
  /** Must be called whenever the list scrolls. */
  scrolled(): void;
}

interface Settings {
  /** Maximum number of thumbnails that load at the same time. */
  readonly maxConcurrent: number;
  /** How long a row must stay in a scrolling list before its thumbnail loads, in milliseconds. */
  readonly stayMs: number;
  /** Time without scrolling after which the list counts as still, in milliseconds. */
  readonly stillAfterMs: number;
}

export function createThumbnailQueue({ maxConcurrent, stayMs, stillAfterMs }: Settings): ThumbnailQueue {
  /** As `performance.now()`. */
  let lastScrollMs = -Infinity;
  let loadingCount = 0;
  /** Start functions of the waiting thumbnails, in the order of the requests. */
  const waiting = new Set<() => void>();

  function startWaiting() {
    for (const open of waiting) {
      if (loadingCount >= maxConcurrent) return;
      waiting.delete(open);
      loadingCount++;
      open();
    }
  }

  return {
    ask(onOpen) {
      let isLoading = false;
      const open = () => {
        isLoading = true;
        onOpen();
      };
      const queue = () => {
        waiting.add(open);
        startWaiting();
      };
      const isScrolling = performance.now() - lastScrollMs < stillAfterMs;
      const timer = isScrolling ? setTimeout(queue, stayMs) : undefined;
      if (!isScrolling) queue();
      return () => {
        clearTimeout(timer);
        waiting.delete(open);
        if (!isLoading) return;
        isLoading = false;
        loadingCount--;
        startWaiting();
      };
    },

    scrolled() {
      lastScrollMs = performance.now();
    },
  };
}

/** The queue of the catalogue. It uses at most four of the browser's connections to the server, so that the others stay free for tiles. */
export const thumbnailQueue = createThumbnailQueue({ maxConcurrent: 4, stayMs: 120, stillAfterMs: 150 });
