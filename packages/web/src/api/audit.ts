/**
 * API calls of administrators for the audit log, its filters, and its hash chain (each entry contains the hash of the
 * previous one).
 */
import {
  type AuditChain,
  type AuditEntry,
  type AuditFilter,
  checkAuditChain,
  exportAudit,
  getAuditChain,
  listAudit,
  listImages,
} from '@lamina/contract';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { call, download } from './client.ts';
import { queryClient } from './query-client.ts';

const chainKey = ['audit-chain'];
/** Polling interval while a check of the chain is running. */
const checkPollMs = 1500;

/** Loads entries page by page, newest first. */
export function useAudit(filter: AuditFilter) {
  return useInfiniteQuery({
    queryKey: ['audit', filter],
    queryFn: ({ pageParam, signal }) =>
      call(listAudit, { query: { ...filter, ...(pageParam !== null && { cursor: pageParam }) }, signal }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next_cursor }) => next_cursor,
    select: ({ pages }): readonly AuditEntry[] => pages.flatMap(({ entries }) => entries),
    // Nothing is cached: whenever the screen opens, it loads the list from the server. On the open screen, a button loads newer entries.
    staleTime: 0,
    gcTime: 0,
  });
}

/** Loads the result of the last check of the chain, and polls it while a check is running. */
export function useAuditChain() {
  return useQuery({
    queryKey: chainKey,
    queryFn: ({ signal }) => call(getAuditChain, { signal }),
    refetchInterval: ({ state }) => (state.data?.isChecking ? checkPollMs : false),
    gcTime: 0,
  });
}

/** Starts a check of the whole chain. The response says that it is running, so `useAuditChain` begins to poll. @throws like `call` */
export async function startChainCheck(): Promise<void> {
  const chain = await call(checkAuditChain, {});
  queryClient.setQueryData<AuditChain>(chainKey, chain);
}

/** Returns all matching entries as CSV. @throws like `call` */
export function downloadAudit(filter: AuditFilter): Promise<Blob> {
  return download(exportAudit, { query: filter });
}

/** A slide that the slide filter of the audit log suggests. */
interface SuggestedSlide {
  readonly id: string;
  readonly fileName: string;
  readonly dataset: string | null; // null for a slide without a dataset
}

const maxSuggestedSlides = 20;

/** Loads up to 20 slides whose name, organ or dataset contains the text; for an empty text, the first slides of the catalogue. */
export function useSlidesByText(text: string) {
  return useQuery({
    queryKey: ['slides-called', text],
    queryFn: async ({ signal }): Promise<readonly SuggestedSlide[]> => {
      const query = { limit: maxSuggestedSlides, ...(text !== '' && { q: text }) };
      const { images } = await call(listImages, { query, signal });
      return images.map(({ id, file_name, dataset_name }) => ({
        id,
        fileName: file_name,
        dataset: dataset_name,
      }));
    },
    placeholderData: (previous) => previous,
  });
}
