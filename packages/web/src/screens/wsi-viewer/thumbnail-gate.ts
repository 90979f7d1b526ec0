/** Limits how many thumbnails load at a time, and delays them while the list scrolls. */

export interface ThumbnailQueue {
  /**
   * @param onOpen called when the thumbnail may be loaded; at once if the limit is not reached
   * @returns a function to call when the thumbnail is loaded, has failed or is no longer needed
   */
  ask(onOpen: () => void): () => void;
  /** The list has moved. */
  scrolled(): void;
}

interface Settings {
  readonly atOnce: number;
  /** How long a row must stay in a scrolling list before its thumbnail loads, in milliseconds. */
  readonly stayMs: number;
  /** Time without scrolling after which the list counts as still, in milliseconds. */
  readonly stillAfterMs: number;
}

export function createThumbnailQueue({ atOnce, stayMs, stillAfterMs }: Settings): ThumbnailQueue {
  let movedAt = -Infinity;
  let loading = 0;
  /** In the order of the requests. */
  const waiting = new Set<() => void>();

  function letIn() {
    for (const open of waiting) {
      if (loading >= atOnce) return;
      waiting.delete(open);
      loading++;
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
        letIn();
      };
      const isMoving = performance.now() - movedAt < stillAfterMs;
      const timer = isMoving ? setTimeout(queue, stayMs) : undefined;
      if (!isMoving) queue();
      return () => {
        clearTimeout(timer);
        waiting.delete(open);
        if (!isLoading) return;
        isLoading = false;
        loading--;
        letIn();
      };
    },

    scrolled() {
      movedAt = performance.now();
    },
  };
}

/** The queue of the catalogue; it leaves connections of the browser free for tiles. */
export const thumbnailQueue = createThumbnailQueue({ atOnce: 4, stayMs: 120, stillAfterMs: 150 });
