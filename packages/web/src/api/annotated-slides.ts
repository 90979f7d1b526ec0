/** API calls for the recently annotated slides (dashboard) and annotation counts of slides (rows of the catalogue). */
import {
  type AnnotatedSlide,
  countAnnotations,
  listRecentAnnotations,
  maxCountedSlides,
} from '@lamina/contract';
import { useQuery } from '@tanstack/react-query';
import { call } from './client.ts';
import { queryClient } from './query-client.ts';

/** Loads the slides whose annotations changed last. */
export function useRecentAnnotations() {
  return useQuery({
    queryKey: ['recent-annotations'],
    queryFn: async ({ signal }): Promise<readonly AnnotatedSlide[]> =>
      (await call(listRecentAnnotations, { signal })).slides,
  });
}

/**
 * Time for which this module collects requests for counts, in order to load all these counts with one call. A row that the
 * user scrolls out of view during this time cancels its request, and the call omits this count.
 */
const batchDelayMs = 250;
/** Age after which a count is loaded again. */
const countStaleMs = 60_000;

interface CountRequest {
  readonly imageId: string;
  readonly signal: AbortSignal;
  readonly resolve: (count: number) => void;
  readonly reject: (error: unknown) => void;
}
let countRequests: CountRequest[] = [];

/** Returns how many annotations of a slide the user may read; undefined until the number is loaded, and for an undefined image id. */
export function useAnnotationCount(imageId: string | undefined): number | undefined {
  const { data } = useQuery({
    queryKey: countKey(imageId ?? ''),
    queryFn: ({ signal }) => requestCount(imageId ?? '', signal), // not called without an id, because of `enabled`
    enabled: imageId !== undefined,
    staleTime: countStaleMs,
  });
  return data;
}

/** Invalidates the count of a slide; the count is loaded again if the row of the slide is visible. */
export function invalidateAnnotationCount(imageId: string): void {
  void queryClient.invalidateQueries({ queryKey: countKey(imageId) });
}

const countKey = (imageId: string) => ['annotation-count', imageId];

function requestCount(imageId: string, signal: AbortSignal): Promise<number> {
  return new Promise((resolve, reject) => {
    if (countRequests.length === 0) setTimeout(() => void sendCountRequests(), batchDelayMs);
    countRequests.push({ imageId, signal, resolve, reject });
  });
}

async function sendCountRequests(): Promise<void> {
  const requests = countRequests;
  countRequests = [];
  const activeRequests = requests.filter(({ signal }) => !signal.aborted);
  for (let start = 0; start < activeRequests.length; start += maxCountedSlides) {
    const batch = activeRequests.slice(start, start + maxCountedSlides);
    const images = batch.map(({ imageId }) => imageId).join();
    try {
      const { counts } = await call(countAnnotations, { query: { images } });
      for (const { imageId, resolve } of batch) resolve(counts[imageId] ?? 0); // the response omits slides without annotations
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }
}
