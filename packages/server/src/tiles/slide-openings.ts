/**
 * Shares the read of a slide's header between all requests that wait for the slide to open. The read has one job in the render queue for
 * each waiting requester (image session of an account), because accounts take turns there. The first result serves all requests.
 */
import type { Requester, SlideLocation, SlideSummary } from '@lamina/slide';

export interface SlideOpenings {
  /** Registers a requester that waits until the image is open. @returns a function to call when the requester no longer waits */
  join(imageId: string, requester: Requester): () => void;
  /**
   * Reads the header for all requesters that have joined, and for those that join during the read.
   *
   * @throws SlideError the last error, when the jobs of all requesters have failed
   */
  read(imageId: string, location: SlideLocation): Promise<SlideSummary>;
}

/** Puts a job that reads the header into the render queue. @param requester null when no request waits for the slide */
type Inspect = (location: SlideLocation, requester: Requester | null) => Promise<SlideSummary>;

/** The requesters that wait for one image, and the running reads of its header. */
interface Opening {
  /** Requesters with the number of their waiting requests, by account and session. */
  readonly waitingRequesters: Map<string, { readonly requester: Requester; count: number }>;
  /** For each running read, the function that adds a job of another requester to the read. */
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
      const waiting = opening.waitingRequesters.get(key) ?? { requester, count: 0 };
      waiting.count++;
      // Further requests of the same account and session need no further job.
      if (waiting.count === 1) {
        opening.waitingRequesters.set(key, waiting);
        for (const addJob of opening.reads) addJob(requester);
      }
      let hasLeft = false;
      return () => {
        if (hasLeft) return;
        hasLeft = true;
        waiting.count--;
        if (waiting.count === 0) opening.waitingRequesters.delete(key);
        deleteIfUnused(imageId, opening);
      };
    },

    async read(imageId, location) {
      const opening = openingOf(imageId);
      const { promise, resolve, reject } = Promise.withResolvers<SlideSummary>();
      let jobCount = 0;
      const addJob = (requester: Requester | null) => {
        jobCount++;
        // The read fails only when no job is left: the queue may reject one requester with BUSY while the job of another one waits.
        inspect(location, requester).then(resolve, (error: unknown) => {
          jobCount--;
          if (jobCount === 0) reject(error as Error);
        });
      };
      opening.reads.add(addJob);
      const requesters = [...opening.waitingRequesters.values()].map(({ requester }) => requester);
      for (const requester of requesters.length > 0 ? requesters : [null]) addJob(requester);
      try {
        return await promise;
      } finally {
        opening.reads.delete(addJob);
        deleteIfUnused(imageId, opening);
      }
    },
  };
}
