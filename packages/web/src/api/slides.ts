/**
 * API calls of administrators for the slides of the catalogue, and for its export and import as a file. A function
 * that returns an `ActionResult` never throws: the result says whether the call succeeded, with a message for the
 * user.
 */
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
import { invalidateCases } from './cases.ts';
import { invalidateCatalogue } from './catalogue.ts';
import { call, codeOf, download, messageOf, sendFile } from './client.ts';
import { invalidateDatasets } from './datasets.ts';
import { queryClient } from './query-client.ts';
import { texts } from './texts.ts';

const listKey = ['slides', 'list'];
const countsKey = ['slides', 'counts'];
/** Polling interval while the server ingests slides, that is, reads new slide files for the catalogue. */
const ingestPollMs = 5000;

export interface SlideFilter {
  /** Search text; empty: no search. */
  readonly search: string;
  /** Null: all datasets; empty: slides without a dataset. */
  readonly dataset: string | null;
}

const queryOf = ({ search, dataset }: SlideFilter) => ({
  ...(search !== '' && { q: search }),
  ...(dataset !== null && { dataset }),
});

/** Loads the slides with a status, page by page, in the order of the catalogue. */
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
    placeholderData: (previous) => previous,
    gcTime: 0, // not cached: whenever the screen opens, it loads the first page from the server
  });
}

/**
 * Loads the number of matching slides per status. While the server is ingesting slides (status `pending`), this hook polls the counts and
 * reloads the list each time, because a slide whose ingest has ended has a new status and belongs to another list.
 */
export function useSlideCounts(filter: SlideFilter) {
  const queryKey = [...countsKey, filter];
  return useQuery({
    queryKey,
    queryFn: async ({ signal }): Promise<ManagedCounts> => {
      const previous = queryClient.getQueryData<ManagedCounts>(queryKey);
      const { counts } = await call(countManagedImages, { query: queryOf(filter), signal });
      if (isIngesting(previous)) void queryClient.invalidateQueries({ queryKey: listKey });
      return counts;
    },
    refetchInterval: ({ state }) => (isIngesting(state.data) ? ingestPollMs : false),
    placeholderData: (previous) => previous,
  });
}

const isIngesting = (counts: ManagedCounts | undefined) => counts !== undefined && counts.pending > 0;

/** Changes of a slide. Null or an empty text removes its dataset or organ. */
export type SlideEdit = Omit<BodyInputOf<typeof updateImage>, 'removed'>;

export function editSlide(imageId: string, edit: SlideEdit): Promise<ActionResult> {
  const request = call(updateImage, { params: { imageId }, body: edit }).then(() => texts.slideEdited);
  return resultOf(request, texts.slidesFailed);
}

/** Changes that are applied to several slides. */
export type BulkEdit = Omit<BodyInputOf<typeof changeImages>, 'ids'>;

/** Changes several slides; the server changes all of them or none. */
export function changeSlides(ids: readonly string[], edit: BulkEdit): Promise<ActionResult> {
  const request = call(changeImages, { body: { ids: [...ids], ...edit } }).then(({ message }) => message);
  return resultOf(request, texts.slidesFailed);
}

/**
 * Waits for a request and returns its result. Reloads the slides also after a failure, because another administrator may have changed them.
 *
 * @param request resolves with the success message
 */
async function resultOf(request: Promise<string>, failureMessage: string): Promise<ActionResult> {
  try {
    return { success: true, message: await request };
  } catch (error) {
    return { success: false, message: messageOf(error, failureMessage), error: codeOf(error) };
  } finally {
    await invalidateSlides();
  }
}

/** Makes screens load datasets, images and cases again, and reloads first the counts and then the list of slides. */
export async function invalidateSlides(): Promise<void> {
  invalidateDatasets();
  invalidateCatalogue();
  invalidateCases();
  await queryClient.invalidateQueries({ queryKey: countsKey });
  await queryClient.invalidateQueries({ queryKey: listKey });
}

/** Returns the catalogue as CSV for spreadsheets. @throws like `call` */
export function downloadCatalogue(): Promise<Blob> {
  return download(exportCatalogue, {});
}

/** Returns the changes that a catalogue file would make, without making them. @throws like `call` */
export function checkCatalogueFile(file: Blob): Promise<ImportPlan> {
  return sendFile(checkCatalogueImport, {}, file);
}

/** Applies a catalogue file. @param plan from `checkCatalogueFile`; the server rejects a plan that is outdated */
export function applyCatalogueFile(file: Blob, plan: string): Promise<ActionResult> {
  const request = sendFile(applyCatalogueImport, { query: { plan } }, file).then(({ message }) => message);
  return resultOf(request, texts.importFailed);
}
