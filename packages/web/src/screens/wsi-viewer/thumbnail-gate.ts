/** Lets thumbnails be loaded a few at a time, and not at all while their rows rush past. */

export interface ThumbnailGate {
  /**
   * @param onOpen called when it may be loaded, at once where nobody is in the way
   * @returns to be called when it is loaded, has failed or is not wanted any more
   */
  ask(onOpen: () => void): () => void;
  /** The list has moved. */
  scrolled(): void;
}

interface Settings {
  readonly atOnce: number;
  /** A row that appears in a moving list has to stay for so long, in milliseconds. */
  readonly stayMs: number;
  /** A list that has not moved for so long stands still. */
  readonly stillAfterMs: number;
}

export function createThumbnailGate({ atOnce, stayMs, stillAfterMs }: Settings): ThumbnailGate {
  let movedAt = -Infinity;
  let loading = 0;
  /** In the order they came. */
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

/** Of the catalogue. The tiles of the slide need the browser's connections too. */
export const thumbnailGate = createThumbnailGate({ atOnce: 4, stayMs: 120, stillAfterMs: 150 });
