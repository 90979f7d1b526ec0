/**
 * API calls for result layers (heatmaps, masks and objects that programs have computed) and their content, shown over a slide. The
 * endpoints of the content are called overlays: a layer and its overlay have the same id.
 */
import {
  AppError,
  countOverlayObjects,
  deleteResultLayer,
  type Endpoint,
  getOverlayBlock,
  getOverlayCenters,
  getOverlayDensity,
  getOverlayDescriptor,
  getOverlayIndex,
  getOverlayMeasurement,
  getOverlayTile,
  getOverlayValue,
  listResultLayers,
  pickOverlayObject,
  type ResponseOf,
  type ResultLayer,
} from '@lamina/contract';
import { useQuery } from '@tanstack/react-query';
import { call, endpointUrl, UnexpectedResponseError } from './client.ts';
import { fetchPixels } from './images.ts';
import { queryClient, retryInterval } from './query-client.ts';

/** Polling interval while the server imports a file. */
const importPollMs = 2000;
const layersKey = (imageId: string) => ['result-layers', imageId];
const isBeingImported = ({ state }: ResultLayer) => state === 'queued' || state === 'importing';

/**
 * Loads the result layers of a slide. A failed request is repeated up to three times, unless the API sent an error response. Until a
 * request has succeeded, it is also repeated every 5 s after a temporary error (no response, 429, 5xx; `retryInterval`).
 *
 * @param imageId null loads nothing
 */
export function useResultLayers(imageId: string | null) {
  return useQuery({
    queryKey: layersKey(imageId ?? ''),
    queryFn: async ({ signal }): Promise<readonly ResultLayer[]> => {
      const { layers } = await call(listResultLayers, { params: { imageId: imageId ?? '' }, signal });
      return layers;
    },
    enabled: imageId !== null,
    retry: (count, error) => count < 3 && !(error instanceof AppError),
    refetchInterval: (query) =>
      query.state.data?.some(isBeingImported) === true ? importPollMs : retryInterval(query),
    gcTime: 0, // a slide that is opened again shows current layers, not cached ones
  });
}

export function invalidateResultLayers(imageId: string): Promise<void> {
  return queryClient.invalidateQueries({ queryKey: layersKey(imageId) });
}

export async function removeResultLayer({ id, image_id }: ResultLayer): Promise<void> {
  await call(deleteResultLayer, { params: { layerId: id } });
  await invalidateResultLayers(image_id);
}

/** The viewer shows the renewal of an image session for slide tiles only; a request for a result layer just takes longer. */
const ignoreRenewal = () => undefined;

/**
 * Requests content of a layer with the image session.
 *
 * @throws UnexpectedResponseError for an error response; TypeError without a response; the abort reason
 */
async function fetchContent(url: string, signal: AbortSignal): Promise<Response> {
  const response = await fetchPixels(url, { signal, onRenewing: ignoreRenewal });
  if (response === 'session-lost') throw new UnexpectedResponseError(401);
  if (!response.ok) throw new UnexpectedResponseError(response.status);
  return response;
}

type Query = Readonly<Record<string, string | number>>;

/** An endpoint whose response is JSON, not binary or empty. */
type JsonEndpoint = Endpoint & { readonly response: Exclude<Endpoint['response'], string | null> };

async function loadJson<E extends JsonEndpoint>(
  endpoint: E,
  layerId: string,
  query: Query,
  signal: AbortSignal,
): Promise<ResponseOf<E>> {
  const response = await fetchContent(endpointUrl(endpoint, { layerId }, query), signal);
  return endpoint.response.parse(await response.json()) as ResponseOf<E>;
}

/**
 * Loads the descriptor of a result layer. A failed request is repeated twice, and after a temporary error every 5 s (`retryInterval`).
 *
 * @param isReady false loads nothing, because the server has not imported the layer yet
 */
export function useOverlayDescriptor(layerId: string, isReady: boolean) {
  return useQuery({
    queryKey: ['overlay-descriptor', layerId],
    queryFn: ({ signal }) => loadJson(getOverlayDescriptor, layerId, {}, signal),
    enabled: isReady,
    staleTime: Number.POSITIVE_INFINITY, // the content of a layer never changes
    retry: 2,
    refetchInterval: retryInterval,
  });
}

/** Loads a tile of a raster (level z, column x, row y): a PNG whose grey levels encode the values. @throws like `fetchContent` */
export async function loadValueTile(
  layerId: string,
  { z, x, y }: { readonly z: number; readonly x: number; readonly y: number },
  signal: AbortSignal,
): Promise<Blob> {
  const tile = `${x}_${y}.png`;
  return (await fetchContent(endpointUrl(getOverlayTile, { layerId, z: String(z), tile }), signal)).blob();
}

/** Loads the index of a vector layer: the bounds and the range of objects of each block (see `loadBlock`). @throws like `fetchContent` */
export async function loadBlockIndex(layerId: string, signal: AbortSignal): Promise<ArrayBuffer> {
  return (await fetchContent(endpointUrl(getOverlayIndex, { layerId }), signal)).arrayBuffer();
}

/** Loads content of a layer and caches it for some minutes, because the content of a layer never changes. */
function loadCached(url: string): Promise<ArrayBuffer> {
  return queryClient.fetchQuery({
    queryKey: ['overlay-content', url],
    queryFn: async ({ signal }) => (await fetchContent(url, signal)).arrayBuffer(),
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** Consecutive objects of a vector layer. */
interface ObjectRange {
  /** Number of the first object in the layer, from 0. */
  readonly first: number;
  readonly count: number;
}

/** Like `loadBlockIndex`, but cached; concurrent callers share one request. */
export function loadCachedIndex(layerId: string): Promise<ArrayBuffer> {
  return loadCached(endpointUrl(getOverlayIndex, { layerId }));
}

/** Loads centres and classes of consecutive objects. */
export function loadCenters(layerId: string, { first, count }: ObjectRange): Promise<ArrayBuffer> {
  return loadCached(endpointUrl(getOverlayCenters, { layerId }, { first, count }));
}

/** Loads one measurement of consecutive objects, as Float32. @param column number of the measurement in the descriptor, from 0 */
export function loadMeasurement(
  layerId: string,
  column: number,
  { first, count }: ObjectRange,
): Promise<ArrayBuffer> {
  const params = { layerId, column: String(column) };
  return loadCached(endpointUrl(getOverlayMeasurement, params, { first, count }));
}

/** Loads a block: the outlines of the objects in one part of the slide. @throws like `fetchContent` */
export async function loadBlock(layerId: string, block: number, signal: AbortSignal): Promise<ArrayBuffer> {
  return (
    await fetchContent(endpointUrl(getOverlayBlock, { layerId, block: String(block) }), signal)
  ).arrayBuffer();
}

/** Loads the density grid of one level: the number of objects of a class in each cell, as Uint32. @throws like `fetchContent` */
export async function loadDensity(
  layerId: string,
  { level, class: classNumber }: { readonly level: number; readonly class: number },
  signal: AbortSignal,
): Promise<ArrayBuffer> {
  const params = { layerId, level: String(level), class: String(classNumber) };
  return (await fetchContent(endpointUrl(getOverlayDensity, params), signal)).arrayBuffer();
}

/** Returns the exact value of a raster at a position in pixels of the slide; null where the raster has no data. */
export async function loadValue(
  layerId: string,
  position: { readonly x: number; readonly y: number },
  signal: AbortSignal,
): Promise<number | null> {
  return (await loadJson(getOverlayValue, layerId, position, signal)).value;
}

/** Returns the object at a position, or the nearest one within a tolerance, in pixels of the slide; null for none. */
export async function pickObject(
  layerId: string,
  position: { readonly x: number; readonly y: number; readonly tolerance: number },
  signal: AbortSignal,
) {
  return (await loadJson(pickOverlayObject, layerId, position, signal)).object;
}

/** Counts the objects of each class whose centre lies in a rectangle, in pixels of the slide. */
export async function countObjects(
  layerId: string,
  [x0, y0, x1, y1]: readonly [number, number, number, number],
  signal: AbortSignal,
): Promise<Readonly<Record<string, number>>> {
  const bbox = [x0, y0, x1, y1].map((coordinate) => coordinate.toFixed(2)).join(',');
  return (await loadJson(countOverlayObjects, layerId, { bbox }, signal)).classes;
}
