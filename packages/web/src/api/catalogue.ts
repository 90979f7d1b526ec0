/**
 * The catalogue of images (slides) for the viewer: groups (one per dataset) with their image counts, and pages of the
 * list of all images. When the groups change, this module loads the visible pages together with them, so that the whole
 * list changes in one step. The file is long because groups, pages and single images share the loaded pages.
 */
import {
  AppError,
  getImage,
  getImagePosition,
  type Image,
  type ImageOrder,
  listImageGroups,
  listImageRows,
  type QueryInputOf,
  type ResponseOf,
} from '@lamina/contract';
import { keepPreviousData, useQueries, useQuery } from '@tanstack/react-query';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { call, callIfChanged, codeOf, NoResponseError, UnexpectedResponseError } from './client.ts';
import { imageSessions } from './image-sessions.ts';
import { queryClient } from './query-client.ts';
import { imageTexts as texts } from './texts.ts';

const refetchMs = 30_000; // interval at which the groups are loaded again
/** Number of rows per request. */
export const rowsPerPage = 100;

/** Search, filters and order of a list of images. */
export interface Listing {
  /** Search text. */
  readonly query: string;
  /** Null for images without a dataset; undefined for any dataset. */
  readonly dataset: string | null | undefined;
  /** Null for images without an organ; undefined for any organ. */
  readonly organ: string | null | undefined;
  readonly order: ImageOrder;
}

/** The groups of a list at one revision of the catalogue. */
export interface LoadedGroups extends ResponseOf<typeof listImageGroups> {
  readonly listing: Listing;
  readonly etag: string | null; // for the next conditional request; null if the response had none
}

/** The rows of a list that are loaded so far. */
export interface ImageRows {
  /** The image at a position of the list; undefined when its row is not loaded. */
  imageAt(position: number): Image | undefined;
  /** Position of an image among the loaded rows; -1 when it is not among them. */
  positionOf(imageId: string): number;
}

/** Result of creating a new image session (the credential for loading pixels) after the server rejected the current one. */
type Renewal = 'done' | 'failed';

const listsKey = 'catalogue';
const groupsKey = (listing: Listing) => [listsKey, 'groups', listing];
const rowsKey = (listing: Listing, revision: string) => [listsKey, 'rows', listing, revision];
const imagesKey = 'image';

/**
 * Loads the groups of a list, and again every 30 s while the page is visible. While the groups of another list are loading, the hook
 * returns the previous groups. When the server rejects the image session with 401, the hook creates a new session and retries once.
 */
export function useImageGroups(listing: Listing) {
  /** Numbers of the visible pages, from 0, which are loaded again together with the groups. The list that shows the rows sets them. */
  const pages = useRef<readonly number[]>([0]);
  const groups = useQuery({
    queryKey: groupsKey(listing),
    queryFn: ({ signal }) => loadGroups(listing, pages.current, signal),
    placeholderData: keepPreviousData,
    structuralSharing: false, // unchanged groups need no comparison: after a 304, `loadGroups` returns the cached object
    refetchInterval: refetchMs,
    refetchOnWindowFocus: 'always',
    // A prefetch that was rejected with 401 is not repeated on mount: the effect below first creates a new session.
    retryOnMount: ({ state }) => state.error === null || statusOf(state.error) !== 401,
  });
  /** Null while no new session has been requested, and while it is being created. */
  const [renewal, setRenewal] = useState<Renewal | null>(null);
  const { data, error, refetch } = groups;
  const isRejected = error !== null && statusOf(error) === 401;
  // After a success, the next 401 may create a new session again. React allows setting the state during rendering.
  if (error === null && data !== undefined && renewal !== null) setRenewal(null);

  useEffect(() => {
    if (!isRejected || renewal !== null) return;
    imageSessions.refresh().then(
      () => {
        setRenewal('done');
        void refetch();
      },
      () => setRenewal('failed'),
    );
  }, [isRejected, renewal, refetch]);

  const reload = useCallback(() => {
    setRenewal(null);
    void refetch();
  }, [refetch]);

  return {
    data,
    isLoading: groups.isPending,
    /** Whether the returned groups still belong to the previous list. */
    isPrevious: groups.isPlaceholderData,
    /** Message about the last error, also while a new session is being created; null while there are groups, even if outdated. */
    error: error === null || data !== undefined ? null : listMessageOf(error, renewal),
    reload,
    /** The visible pages, which the caller sets. */
    pages,
  };
}

/** Loads the list that the viewer shows first, while the viewer's code is loading. `useImageGroups` retries after a failure. */
export function prefetchCatalogue(): void {
  const listing: Listing = { query: '', dataset: undefined, organ: undefined, order: 'name' };
  void queryClient.prefetchQuery({
    queryKey: groupsKey(listing),
    queryFn: ({ signal }) => loadGroups(listing, [0], signal),
  });
}

/** Loads the groups and the visible rows again, after access to a dataset or the image session has changed. */
export function reloadCatalogue(): void {
  void queryClient.invalidateQueries({ queryKey: [listsKey, 'groups'] });
}

/**
 * Makes all screens load images and lists of images again, after this account has changed slides. The lists that no screen shows are
 * removed, because `useImage` takes images from loaded lists.
 */
export function invalidateCatalogue(): void {
  queryClient.removeQueries({ queryKey: [listsKey], type: 'inactive' });
  void queryClient.invalidateQueries({ queryKey: [listsKey] });
  void queryClient.invalidateQueries({ queryKey: [imagesKey] });
}

/** Returns the image session; undefined when there is none. @throws NoResponseError */
function currentSession(): Promise<string | undefined> {
  return imageSessions.get().catch((error: unknown) => {
    if (error instanceof NoResponseError) throw error;
    return undefined; // the catalogue needs only the sign-in; the top bar shows that there is no image session
  });
}

/** Loads an image, with a new image session if the server has ended the current one. */
async function loadImage(imageId: string, signal: AbortSignal): Promise<Image> {
  const load = async (session: string | undefined) =>
    (
      await call(getImage, {
        params: { imageId },
        query: { ...(session !== undefined && { session }) },
        signal,
      })
    ).image;
  const session = await currentSession();
  try {
    return await load(session);
  } catch (error) {
    if (session === undefined || codeOf(error) !== 'session_invalid') throw error;
    return await load(await imageSessions.replaceRejected(session));
  }
}

/** Loads the groups, and the given pages if the groups have changed. @returns the cached groups when the server responds with 304 */
async function loadGroups(
  listing: Listing,
  pages: readonly number[],
  signal: AbortSignal,
): Promise<LoadedGroups> {
  const session = await currentSession();
  const previous = queryClient.getQueryData<LoadedGroups>(groupsKey(listing));
  const query = { ...queryOf(listing), ...(session !== undefined && { session }) };
  const loadRows = (page: number) =>
    call(listImageRows, { query: { ...query, from: page * rowsPerPage, limit: rowsPerPage }, signal });
  // The first page of a new list is requested at the same time as its groups.
  const [changed, firstPage] = await Promise.all([
    callIfChanged(listImageGroups, { query, signal }, previous?.etag ?? null),
    previous === undefined ? loadRows(0) : null,
  ]);
  if (changed === null) {
    if (previous === undefined) throw new UnexpectedResponseError(304); // the request contained no ETag
    return previous;
  }
  const { response, etag } = changed;
  // A new list needs only its first page, which is loaded already.
  const loadedRows =
    firstPage !== null
      ? [{ page: 0, rows: firstPage }]
      : await Promise.all(pages.map(async (page) => ({ page, rows: await loadRows(page) })));
  for (const { page, rows } of loadedRows) {
    if (rows.revision !== response.revision) continue; // the catalogue has changed in between: `useImageRows` loads the page
    queryClient.setQueryData(
      [...rowsKey(listing, response.revision), page],
      reuseUnchangedImages(listing, previous, rows.images),
    );
  }
  // The single images that `useImage` and `useImagesById` have loaded may have changed, too.
  if (previous !== undefined) void queryClient.invalidateQueries({ queryKey: [imagesKey] });
  return { ...response, listing, etag };
}

/** Replaces each unchanged image in the rows with its previous object, so that React does not render it again. */
function reuseUnchangedImages(
  listing: Listing,
  previous: LoadedGroups | undefined,
  rows: readonly Image[],
): readonly Image[] {
  if (previous === undefined) return rows;
  const previousImages = new Map(
    loadedPages(listing, previous.revision).flatMap(([, images]) => images.map((image) => [image.id, image])),
  );
  return rows.map((image) => {
    const previousImage = previousImages.get(image.id);
    return previousImage !== undefined && isSameImage(previousImage, image) ? previousImage : image;
  });
}

/** Compares two versions of an image field by field with `===`. */
function isSameImage(a: Image, b: Image): boolean {
  return (Object.keys(b) as (keyof Image)[]).every((field) => a[field] === b[field]);
}

/** Returns the pages in the cache, each with its number. */
function loadedPages(
  listing: Listing,
  revision: string,
): readonly (readonly [page: number, readonly Image[]])[] {
  return queryClient
    .getQueriesData<readonly Image[]>({ queryKey: rowsKey(listing, revision) })
    .flatMap(([key, images]) => (images === undefined ? [] : [[Number(key.at(-1)), images] as const]));
}

/** Loads pages of a list at one revision of the catalogue. @returns the rows of all pages that are loaded so far */
export function useImageRows(
  groups: Pick<LoadedGroups, 'listing' | 'revision'>,
  pages: readonly number[],
): ImageRows {
  const { listing, revision } = groups;
  const results = useQueries({ queries: pages.map((page) => pageOptions(listing, revision, page)) });
  const loadTimes = results.map(({ dataUpdatedAt }) => dataUpdatedAt).join();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the cache is read again when a page has been loaded
  return useMemo(() => rowsOf(listing, revision), [listing, revision, pages, loadTimes]); // oxlint-disable-line react-hooks/exhaustive-deps
}

function rowsOf(listing: Listing, revision: string): ImageRows {
  const pages = new Map(loadedPages(listing, revision));
  const positions = new Map<string, number>();
  for (const [page, images] of pages) {
    for (const [index, { id }] of images.entries()) positions.set(id, page * rowsPerPage + index);
  }
  return {
    imageAt: (position) => pages.get(Math.floor(position / rowsPerPage))?.[position % rowsPerPage],
    positionOf: (imageId) => positions.get(imageId) ?? -1,
  };
}

/** Returns the options of the TanStack query for one page of the list. */
function pageOptions(listing: Listing, revision: string, page: number) {
  return {
    queryKey: [...rowsKey(listing, revision), page],
    queryFn: async ({ signal }: { readonly signal: AbortSignal }): Promise<readonly Image[]> => {
      const query = { ...queryOf(listing), from: page * rowsPerPage, limit: rowsPerPage };
      const rows = await call(listImageRows, { query, signal });
      if (rows.revision !== revision) reloadCatalogue(); // the catalogue has changed; its new groups replace this list
      return rows.images;
    },
    staleTime: Number.POSITIVE_INFINITY, // the rows of one revision never change
    structuralSharing: false, // `reuseUnchangedImages` keeps the objects of unchanged images
    retry: 3,
  } as const;
}

/** Loads the image at a position of the list. @returns undefined for a position after the end of the list */
export async function loadImageAt(
  { listing, revision }: Pick<LoadedGroups, 'listing' | 'revision'>,
  position: number,
): Promise<Image | undefined> {
  const images = await queryClient.query(pageOptions(listing, revision, Math.floor(position / rowsPerPage)));
  return images[position % rowsPerPage];
}

/** Returns the position of an image in a list; null when the list does not contain it. */
export async function loadPosition(
  { listing, revision }: Pick<LoadedGroups, 'listing' | 'revision'>,
  imageId: string,
): Promise<number | null> {
  const position = rowsOf(listing, revision).positionOf(imageId);
  if (position !== -1) return position;
  try {
    return (await call(getImagePosition, { params: { imageId }, query: queryOf(listing) })).position;
  } catch (error) {
    if (statusOf(error) === 404) return null;
    throw error;
  }
}

/**
 * Loads an image. Returns the image immediately when a loaded list contains it, otherwise null until the server has responded.
 * `isLoading` is true until the server has responded to the first request; `isUnknown` is true when the catalogue of
 * this account does not contain the image.
 */
export function useImage(imageId: string | null) {
  const { data, error, isLoading } = useQuery({
    queryKey: [imagesKey, imageId],
    queryFn: ({ signal }) => loadImage(imageId ?? '', signal),
    enabled: imageId !== null,
    initialData: () => (imageId === null ? undefined : listedImage(imageId)),
    staleTime: Number.POSITIVE_INFINITY, // invalidated when the catalogue has changed
  });
  const isUnknown = imageId !== null && statusOf(error) === 404;
  return { image: isUnknown ? null : (data ?? null), isLoading, isUnknown };
}

/** Loads the first `limit` images that match a search text, sorted by name. @returns only the images that are ready */
export function useImageSearch(searchText: string, { isEnabled = true, limit = 30 } = {}) {
  return useQuery({
    queryKey: [listsKey, 'found', searchText, limit],
    queryFn: async ({ signal }): Promise<readonly Image[]> => {
      const query = { ...(searchText.trim() !== '' && { q: searchText.trim() }), from: 0, limit };
      const { images } = await call(listImageRows, { query, signal });
      return images.filter(({ status }) => status === 'ready');
    },
    placeholderData: keepPreviousData,
    enabled: isEnabled,
  });
}

/** Loads all ready images of a dataset, sorted by name. */
export function useDatasetImages(dataset: string) {
  return useQuery({
    queryKey: [listsKey, 'of-dataset', dataset],
    queryFn: async ({ signal }): Promise<readonly Image[]> => {
      const found: Image[] = [];
      for (let firstRow = 0; ; firstRow += rowsPerPage) {
        const { images } = await call(listImageRows, {
          query: { dataset, from: firstRow, limit: rowsPerPage },
          signal,
        });
        found.push(...images);
        if (images.length < rowsPerPage) return found.filter(({ status }) => status === 'ready');
      }
    },
  });
}

/** Loads images by their ids, even if they are not ready. @returns the images that are loaded so far */
export function useImagesById(imageIds: readonly string[]): readonly Image[] {
  const results = useQueries({
    queries: imageIds.map((imageId) => ({
      queryKey: [imagesKey, imageId],
      queryFn: async ({ signal }: { readonly signal: AbortSignal }): Promise<Image> =>
        (await call(getImage, { params: { imageId }, query: {}, signal })).image,
      staleTime: Number.POSITIVE_INFINITY, // invalidated when the catalogue has changed
    })),
  });
  return results.flatMap(({ data }) => data ?? []);
}

/** Returns an image from the loaded pages; undefined when it is not among them. */
function listedImage(imageId: string): Image | undefined {
  for (const [, images] of queryClient.getQueriesData<readonly Image[]>({ queryKey: [listsKey, 'rows'] })) {
    const image = images?.find(({ id }) => id === imageId);
    if (image !== undefined) return image;
  }
  return undefined;
}

/** Returns the query parameters of a list; defaults are omitted. */
function queryOf({ query, dataset, organ, order }: Listing): QueryInputOf<typeof listImageGroups> {
  return {
    ...(query.trim() !== '' && { q: query.trim() }),
    ...(dataset === null ? { no_dataset: 'true' } : dataset !== undefined && { dataset }),
    ...(organ === null ? { no_organ: 'true' } : organ !== undefined && { organ }),
    ...(order !== 'name' && { order }),
  };
}

/** Returns the message for the user about a list that cannot be loaded. */
function listMessageOf(error: Error, renewal: Renewal | null): string {
  const status = statusOf(error);
  if (status === 401) {
    if (renewal === 'done') return texts.unauthorised; // the server rejected the new session as well
    const progress = renewal === null ? texts.tryingNewSession : texts.newSessionFailed;
    return `${texts.unauthorised} ${progress}`;
  }
  if (status === 500) return texts.internal;
  if (status !== null || error instanceof NoResponseError) return error.message;
  return texts.failed;
}

/** Returns the status of an error response; null when there was no response, or a successful one that could not be read. */
function statusOf(error: unknown): number | null {
  return error instanceof AppError || error instanceof UnexpectedResponseError ? error.status : null;
}
