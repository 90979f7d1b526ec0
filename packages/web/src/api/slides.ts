/** The catalogue for administrators. */
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
import type { ActionResult } from '../notifications/action-result.ts';
import { call, codeOf, download, messageOf, sendFile } from './client.ts';
import { invalidateDatasets } from './datasets.ts';
import { queryClient } from './query-client.ts';
import { texts } from './texts.ts';

const listKey = ['slides', 'list'];
const countsKey = ['slides', 'counts'];
/** Polling interval while slides are being ingested. */
const ingestPollMs = 5000;

export interface SlideFilter {
  /** Empty: any name. */
  readonly search: string;
  /** Null: all datasets; empty: slides without a dataset. */
  readonly dataset: string | null;
}

const queryOf = ({ search, dataset }: SlideFilter) => ({
  ...(search !== '' && { q: search }),
  ...(dataset !== null && { dataset }),
});

/** Returns pages in the order of the catalogue. */
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
 * Returns the number of matching slides by status. While slides are being ingested, the counts are polled
 * and the list is reloaded after them: an ingested slide may now match.
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
    refetchInterval: ({ state }) => (isReading(state.data) ? ingestPollMs : false),
    placeholderData: (before) => before,
  });
}

const isReading = (counts: ManagedCounts | undefined) => counts !== undefined && counts.pending > 0;

/** Changes of a slide; null or empty removes a dataset or an organ. */
export type SlideEdit = Omit<BodyInputOf<typeof updateImage>, 'removed'>;

export function editSlide(imageId: string, edit: SlideEdit): Promise<ActionResult> {
  const called = call(updateImage, { params: { imageId }, body: edit }).then(() => texts.slideEdited);
  return change(called, texts.slidesFailed);
}

export type ChangeOfMany = Omit<BodyInputOf<typeof changeImages>, 'ids'>;

/** Changes all slides or none. */
export function changeSlides(ids: readonly string[], edit: ChangeOfMany): Promise<ActionResult> {
  const called = call(changeImages, { body: { ids: [...ids], ...edit } }).then(({ message }) => message);
  return change(called, texts.slidesFailed);
}

/** Reloads after success and failure: a failure may mean that another administrator was first. */
async function change(called: Promise<string>, failed: string): Promise<ActionResult> {
  try {
    return { success: true, message: await called };
  } catch (error) {
    return { success: false, message: messageOf(error, failed), error: codeOf(error) };
  } finally {
    await invalidateSlides();
  }
}

/** Reloads the counts, then the list. */
export async function invalidateSlides(): Promise<void> {
  invalidateDatasets();
  await queryClient.invalidateQueries({ queryKey: countsKey });
  await queryClient.invalidateQueries({ queryKey: listKey });
}

/** Returns the catalogue as CSV for spreadsheets. @throws like `call` */
export function downloadCatalogue(): Promise<Blob> {
  return download(exportCatalogue, {});
}

/** Returns what a catalogue file would change, without changing anything. @throws like `call` */
export function checkCatalogueFile(file: Blob): Promise<ImportPlan> {
  return sendFile(checkCatalogueImport, {}, file);
}

/** Applies a catalogue file as previewed. */
export function applyCatalogueFile(file: Blob, plan: string): Promise<ActionResult> {
  const called = sendFile(applyCatalogueImport, { query: { plan } }, file).then(({ message }) => message);
  return change(called, texts.importFailed);
}
