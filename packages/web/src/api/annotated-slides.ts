/** Slides with annotations: the ones that changed last, and counts for the rows of the catalogue. */
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

/** Rows that appear within this time are counted by one call; rows that leave the list before it are not counted. */
const collectMs = 250;
const recountMs = 60_000;

interface Wanted {
  readonly imageId: string;
  readonly signal: AbortSignal;
  readonly resolve: (count: number) => void;
  readonly reject: (error: unknown) => void;
}
let wanted: Wanted[] = [];

/** Returns the number of annotations of a slide that the person may read; undefined until it is loaded. */
export function useAnnotationCount(imageId: string | undefined): number | undefined {
  const { data } = useQuery({
    queryKey: countKey(imageId ?? ''),
    queryFn: ({ signal }) => collect(imageId ?? '', signal),
    enabled: imageId !== undefined,
    staleTime: recountMs,
  });
  return data;
}

/** Counts the annotations of a slide again, when its row is visible. */
export function recountAnnotations(imageId: string): void {
  void queryClient.invalidateQueries({ queryKey: countKey(imageId) });
}

const countKey = (imageId: string) => ['annotation-count', imageId];

function collect(imageId: string, signal: AbortSignal): Promise<number> {
  return new Promise((resolve, reject) => {
    if (wanted.length === 0) setTimeout(() => void countWanted(), collectMs);
    wanted.push({ imageId, signal, resolve, reject });
  });
}

async function countWanted(): Promise<void> {
  const all = wanted;
  wanted = [];
  const visible = all.filter(({ signal }) => !signal.aborted);
  for (let from = 0; from < visible.length; from += maxCountedSlides) {
    const batch = visible.slice(from, from + maxCountedSlides);
    const images = batch.map(({ imageId }) => imageId).join();
    try {
      const { counts } = await call(countAnnotations, { query: { images } });
      for (const { imageId, resolve } of batch) resolve(counts[imageId] ?? 0);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }
}
