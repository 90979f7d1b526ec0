/**
 * Header reads that requests wait for. A slide is opened once for all its viewers. Each waiting viewer adds a request of its
 * own to the read, so the read uses the turn of whichever account comes first in the render queue.
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
  readonly waiting: Map<string, { readonly requester: Requester; count: number }>;
  /** Adds a requester to each running read. */
  readonly reads: Set<(requester: Requester) => void>;
}

export function createSlideOpenings(inspect: Inspect): SlideOpenings {
  const openings = new Map<string, Opening>();
  const openingOf = (imageId: string): Opening => {
    const opening = openings.get(imageId) ?? { waiting: new Map(), reads: new Set() };
    openings.set(imageId, opening);
    return opening;
  };
  const deleteIfUnused = (imageId: string, { waiting, reads }: Opening) => {
    if (waiting.size === 0 && reads.size === 0) openings.delete(imageId);
  };

  return {
    join(imageId, requester) {
      const opening = openingOf(imageId);
      const key = `${requester.account} ${requester.session}`;
      const entry = opening.waiting.get(key) ?? { requester, count: 0 };
      entry.count++;
      if (entry.count === 1) {
        opening.waiting.set(key, entry);
        for (const add of opening.reads) add(requester);
      }
      let hasLeft = false;
      return () => {
        if (hasLeft) return;
        hasLeft = true;
        entry.count--;
        if (entry.count === 0) opening.waiting.delete(key);
        deleteIfUnused(imageId, opening);
      };
    },

    async read(imageId, location) {
      const opening = openingOf(imageId);
      const { promise, resolve, reject } = Promise.withResolvers<SlideSummary>();
      let underWay = 0;
      const add = (requester: Requester | null) => {
        underWay++;
        // One requester may be refused with BUSY while another one still has a place in the queue.
        inspect(location, requester).then(resolve, (error: unknown) => {
          underWay--;
          if (underWay === 0) reject(error as Error);
        });
      };
      opening.reads.add(add);
      const requesters = [...opening.waiting.values()].map(({ requester }) => requester);
      for (const requester of requesters.length > 0 ? requesters : [null]) add(requester);
      try {
        return await promise;
      } finally {
        opening.reads.delete(add);
        deleteIfUnused(imageId, opening);
      }
    },
  };
}
