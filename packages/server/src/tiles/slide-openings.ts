/**
 * Shares the header read of a slide between all requests that wait for the slide to open. Each waiting requester puts the same
 * read into the render queue, which is fair between accounts, and the result of the first that gets its turn serves all.
 */
import type { Requester, SlideLocation, SlideSummary } from '@lamina/slide';

export interface SlideOpenings {
  /** Registers a requester that waits until the image is open. @returns a function that ends the registration */
  join(imageId: string, requester: Requester): () => void;
  /** Reads the header on behalf of all requesters that have joined or join meanwhile. @throws SlideError what reading throws */
  read(imageId: string, location: SlideLocation): Promise<SlideSummary>;
}

type Inspect = (location: SlideLocation, requester: Requester | null) => Promise<SlideSummary>;

interface Opening {
  /** Requesters by account and session, with the number of their waiting requests. */
  readonly waitingRequesters: Map<string, { readonly requester: Requester; count: number }>;
  /** Functions that add a requester to a running read, one per read. */
  readonly reads: Set<(requester: Requester) => void>;
}

export function createSlideOpenings(inspect: Inspect): SlideOpenings {
  const openings = new Map<string, Opening>();
  const openingOf = (imageId: string): Opening => {
    const opening = openings.get(imageId) ?? { waitingRequesters: new Map(), reads: new Set() };
    openings.set(imageId, opening);
    return opening;
  };
  const deleteIfUnused = (imageId: string, { waitingRequesters, reads }: Opening) => {
    if (waitingRequesters.size === 0 && reads.size === 0) openings.delete(imageId);
  };

  return {
    join(imageId, requester) {
      const opening = openingOf(imageId);
      const key = `${requester.account} ${requester.session}`;
      const entry = opening.waitingRequesters.get(key) ?? { requester, count: 0 };
      entry.count++;
      if (entry.count === 1) {
        opening.waitingRequesters.set(key, entry);
        for (const addRequester of opening.reads) addRequester(requester);
      }
      let hasLeft = false;
      return () => {
        if (hasLeft) return;
        hasLeft = true;
        entry.count--;
        if (entry.count === 0) opening.waitingRequesters.delete(key);
        deleteIfUnused(imageId, opening);
      };
    },

    async read(imageId, location) {
      const opening = openingOf(imageId);
      const { promise, resolve, reject } = Promise.withResolvers<SlideSummary>();
      let pendingCount = 0;
      const addRequester = (requester: Requester | null) => {
        pendingCount++;
        // One requester may be refused with BUSY while another one still has a place in the queue.
        inspect(location, requester).then(resolve, (error: unknown) => {
          pendingCount--;
          if (pendingCount === 0) reject(error as Error);
        });
      };
      opening.reads.add(addRequester);
      const requesters = [...opening.waitingRequesters.values()].map(({ requester }) => requester);
      for (const requester of requesters.length > 0 ? requesters : [null]) addRequester(requester);
      try {
        return await promise;
      } finally {
        opening.reads.delete(addRequester);
        deleteIfUnused(imageId, opening);
      }
    },
  };
}
