/** The audit trail, as administrators read it. */
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
/** While a check is under way its end is asked for so often. */
const askAgainAfterMs = 1500;

/** Newest first, a page at a time. */
export function useAudit(filter: AuditFilter) {
  return useInfiniteQuery({
    queryKey: ['audit', filter],
    queryFn: ({ pageParam, signal }) =>
      call(listAudit, { query: { ...filter, ...(pageParam !== null && { cursor: pageParam }) }, signal }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next_cursor }) => next_cursor,
    select: ({ pages }): readonly AuditEntry[] => pages.flatMap(({ entries }) => entries),
    // What is shown is what was there when somebody looked: what is new is asked for with a button.
    staleTime: 0,
    gcTime: 0,
  });
}

export function useAuditChain() {
  return useQuery({
    queryKey: chainKey,
    queryFn: ({ signal }) => call(getAuditChain, { signal }),
    refetchInterval: ({ state }) => (state.data?.isChecking ? askAgainAfterMs : false),
    gcTime: 0,
  });
}

/** @throws as `call` does */
export async function beginChainCheck(): Promise<void> {
  const chain = await call(checkAuditChain, {});
  queryClient.setQueryData<AuditChain>(chainKey, chain);
}

/** The whole of what the filter lets through, as a file for spreadsheets. @throws as `call` does */
export function downloadAudit(filter: AuditFilter): Promise<Blob> {
  return download(exportAudit, { query: filter });
}

interface NamedSlide {
  readonly id: string;
  readonly fileName: string;
  readonly dataset: string | null;
}

const slidesOffered = 20;

/** Slides whose name, organ or dataset has this in it; the first of the catalogue without any text. */
export function useSlidesCalled(text: string) {
  return useQuery({
    queryKey: ['slides-called', text],
    queryFn: async ({ signal }): Promise<readonly NamedSlide[]> => {
      const query = { limit: slidesOffered, ...(text !== '' && { q: text }) };
      const { images } = await call(listImages, { query, signal });
      return images.map(({ id, file_name, dataset_name }) => ({
        id,
        fileName: file_name,
        dataset: dataset_name,
      }));
    },
    placeholderData: (before) => before,
  });
}
