/** The catalogue as administrators keep it. */
import {
  applyCatalogueImport,
  type BodyInputOf,
  changeImages,
  checkCatalogueImport,
  countManagedImages,
  exportCatalogue,
  type ImportPlan,
  listManagedImages,
  type ManagedCounts,
  type ManagedImage,
  type ManagedStatus,
  updateImage,
} from '@lamina/contract';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import type { ActionResult } from './action-result.ts';
import { call, codeOf, download, messageOf, sendFile } from './client.ts';
import { renewDatasets } from './datasets.ts';
import { queryClient } from './query-client.ts';
import { texts } from './texts.ts';

const listKey = ['slides', 'list'];
const countsKey = ['slides', 'counts'];
/** What is being read changes by itself. */
const askAgainMs = 5000;

export interface SlideFilter {
  /** Empty: whatever they are called. */
  readonly search: string;
  /** Null: of every dataset; empty: those in none. */
  readonly dataset: string | null;
}

const queryOf = ({ search, dataset }: SlideFilter) => ({
  ...(search !== '' && { q: search }),
  ...(dataset !== null && { dataset }),
});

/** In the order of the catalogue, a page at a time. */
export function useSlides(status: ManagedStatus, filter: SlideFilter) {
  return useInfiniteQuery({
    queryKey: [...listKey, status, filter],
    queryFn: ({ pageParam, signal }) =>
      call(listManagedImages, {
        query: { ...queryOf(filter), status, ...(pageParam !== null && { cursor: pageParam }) },
        signal,
      }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next_cursor }) => next_cursor,
    select: ({ pages }): readonly ManagedImage[] => pages.flatMap(({ images }) => images),
    placeholderData: (before) => before,
    gcTime: 0,
  });
}

/**
 * How many of each status the filter lets through. As long as some of them are being read, they are counted again and
 * again, and what the list shows is asked for after them: one that has been read may belong into it now.
 */
export function useSlideCounts(filter: SlideFilter) {
  const queryKey = [...countsKey, filter];
  return useQuery({
    queryKey,
    queryFn: async ({ signal }): Promise<ManagedCounts> => {
      const before = queryClient.getQueryData<ManagedCounts>(queryKey);
      const { counts } = await call(countManagedImages, { query: queryOf(filter), signal });
      if (isReading(before)) void queryClient.invalidateQueries({ queryKey: listKey });
      return counts;
    },
    refetchInterval: ({ state }) => (isReading(state.data) ? askAgainMs : false),
    placeholderData: (before) => before,
  });
}

const isReading = (counts: ManagedCounts | undefined) => counts !== undefined && counts.pending > 0;

/** What of a slide is changed; null or empty takes a dataset or an organ away. */
export type SlideEdit = Omit<BodyInputOf<typeof updateImage>, 'removed'>;

export function editSlide(imageId: string, edit: SlideEdit): Promise<ActionResult> {
  const called = call(updateImage, { params: { imageId }, body: edit }).then(() => texts.slideEdited);
  return change(called, texts.slidesFailed);
}

export type ChangeOfMany = Omit<BodyInputOf<typeof changeImages>, 'ids'>;

/** All of them or none. */
export function changeSlides(ids: readonly string[], edit: ChangeOfMany): Promise<ActionResult> {
  const called = call(changeImages, { body: { ids: [...ids], ...edit } }).then(({ message }) => message);
  return change(called, texts.slidesFailed);
}

/** Whatever came of it, what is shown is asked for again: a refusal may mean that somebody else was first. */
async function change(called: Promise<string>, failed: string): Promise<ActionResult> {
  try {
    return { success: true, message: await called };
  } catch (error) {
    return { success: false, message: messageOf(error, failed), error: codeOf(error) };
  } finally {
    await renewSlides();
  }
}

/** The list after the counts: what it does not show because it is being read is counted, and asked for again. */
export async function renewSlides(): Promise<void> {
  renewDatasets();
  await queryClient.invalidateQueries({ queryKey: countsKey });
  await queryClient.invalidateQueries({ queryKey: listKey });
}

/** The catalogue as a file for spreadsheets. @throws as `call` does */
export function downloadCatalogue(): Promise<Blob> {
  return download(exportCatalogue, {});
}

/** What a catalogue file would change; changes nothing. @throws as `call` does */
export function checkCatalogueFile(file: Blob): Promise<ImportPlan> {
  return sendFile(checkCatalogueImport, {}, file);
}

/** Applies a catalogue file as it was shown. */
export function applyCatalogueFile(file: Blob, plan: string): Promise<ActionResult> {
  const called = sendFile(applyCatalogueImport, { query: { plan } }, file).then(({ message }) => message);
  return change(called, texts.importFailed);
}
