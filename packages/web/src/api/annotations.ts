/** API calls for the annotation layers of slides, their annotations, and the annotation classes of datasets. */
import {
  type AnnotationChange,
  type AnnotationClass,
  AnnotationLayer,
  AppError,
  type BodyInputOf,
  changeAnnotations,
  createAnnotationLayer,
  defaultAnnotationClasses,
  deleteAnnotationLayer,
  exportAnnotationFile,
  exportWarningsHeader,
  getAnnotationClasses,
  importAnnotationFile,
  listAnnotationHistory,
  listAnnotationLayers,
  listAnnotations,
  type QueryInputOf,
  type ResponseOf,
  restoreAnnotation,
  restoreAnnotationLayer,
  streamAnnotationEvents,
  updateAnnotationLayer,
} from '@lamina/contract';
import { useQuery } from '@tanstack/react-query';
import { z } from 'zod';
import { wasActiveWithin } from '../browser/last-activity.ts';
import {
  call,
  codeOf,
  downloadWithHeader,
  NoResponseError,
  openStream,
  sendFile,
  UnexpectedResponseError,
} from './client.ts';
import { type FeatureBatch, readFeatures } from './feature-stream.ts';
import { isTemporary, queryClient, retryInterval } from './query-client.ts';

const layersKey = (imageId: string) => ['annotation-layers', imageId];

/**
 * Polling interval while a slide has no layers. A slide with layers has an event stream instead. A stream for every open slide would
 * occupy one of the six HTTP/1.1 connections that a browser opens to a server; the tiles need these connections.
 */
const firstLayerPollMs = 800;
/** Polling interval after a minute without input, and while the server is unreachable or overloaded. */
const idlePollMs = 5000;

/**
 * Loads those layers of a slide that the user may read. A failed request is repeated up to three times, unless the API sent an error
 * response. Until a request has succeeded, it is also repeated every 5 s after a temporary error (no response, 429, 5xx; `retryInterval`).
 *
 * @param options.awaitsFirstLayer whether to poll while the slide has no layers, so that the first layer of another user appears
 */
export function useAnnotationLayers(imageId: string, { awaitsFirstLayer = false } = {}) {
  return useQuery({
    queryKey: layersKey(imageId),
    queryFn: async ({ signal }): Promise<readonly AnnotationLayer[]> => {
      const { layers } = await call(listAnnotationLayers, { params: { imageId }, query: {}, signal });
      return layers;
    },
    retry: (count, error) => count < 3 && !(error instanceof AppError),
    gcTime: 0, // a slide that is opened again shows current layers, not cached ones
    refetchInterval: (query) => {
      const { data, error } = query.state;
      if (data === undefined) return retryInterval(query);
      if (!awaitsFirstLayer || data.length > 0 || !isTemporary(error)) return false; // no error (null) counts as temporary
      return error === null && wasActiveWithin(60_000) ? firstLayerPollMs : idlePollMs;
    },
  });
}

/** Loads the layers from the server, even if they are cached, and updates the cache. */
export async function loadAnnotationLayers(imageId: string): Promise<readonly AnnotationLayer[]> {
  const { layers } = await call(listAnnotationLayers, { params: { imageId }, query: {} });
  queryClient.setQueryData(layersKey(imageId), layers);
  return layers;
}

/** Creates a layer. @param source where its annotations will come from: drawing, or the import of a file */
export async function createLayer(
  imageId: string,
  name: string,
  source: 'manual' | 'import' = 'manual',
): Promise<AnnotationLayer> {
  const layer = await call(createAnnotationLayer, { params: { imageId }, body: { name, source } });
  void queryClient.invalidateQueries({ queryKey: layersKey(imageId) });
  return layer;
}

export type LayerEdit = Omit<BodyInputOf<typeof updateAnnotationLayer>, 'version'>;

/**
 * Changes a layer. Loads its current version first: the server rejects an old version, and the version increments with every
 * changed annotation.
 */
export async function updateLayer(
  imageId: string,
  layerId: string,
  edit: LayerEdit,
): Promise<AnnotationLayer> {
  const layers = await loadAnnotationLayers(imageId);
  const version = layers.find(({ id }) => id === layerId)?.version ?? 0; // 0 for a deleted layer: the call then fails
  return call(updateAnnotationLayer, { params: { layerId }, body: { ...edit, version } });
}

/** Loads those deleted layers of a slide that the user may restore. */
export async function loadDeletedLayers(imageId: string): Promise<readonly AnnotationLayer[]> {
  const { layers } = await call(listAnnotationLayers, { params: { imageId }, query: { deleted: 'true' } });
  return layers;
}

export async function deleteLayer(layerId: string): Promise<void> {
  await call(deleteAnnotationLayer, { params: { layerId } });
}

export function restoreLayer(layerId: string): Promise<AnnotationLayer> {
  return call(restoreAnnotationLayer, { params: { layerId } });
}

/** Origin of the coordinates in an annotation file: the corner of the slide (`none`) or of its scanned area (`bounds`), as in QuPath. */
type FileOffset = NonNullable<QueryInputOf<typeof exportAnnotationFile>['offset']>;

/** Imports the valid features of a GeoJSON file and skips invalid ones. @param options.isDryRun whether the server only checks the file */
export function importFile(
  layerId: string,
  file: Blob,
  { isDryRun, offset }: { readonly isDryRun: boolean; readonly offset: FileOffset },
) {
  const query = { dry_run: isDryRun ? 'true' : 'false', skip_refused: 'true', offset } as const;
  return sendFile(importAnnotationFile, { params: { layerId }, query }, file);
}

export type ExportFormat = NonNullable<QueryInputOf<typeof exportAnnotationFile>['format']>;

/** Exports a layer. Also returns what the format cannot store, in the form of `exportWarningsHeader`; null when nothing is lost. */
export async function exportFile(
  layerId: string,
  { format, offset }: { readonly format: ExportFormat; readonly offset: FileOffset },
): Promise<{ readonly file: Blob; readonly warnings: string | null }> {
  const input = { params: { layerId }, query: { format, offset } };
  const { file, header } = await downloadWithHeader(exportAnnotationFile, input, exportWarningsHeader);
  return { file, warnings: header };
}

/** Loads the latest changes of an annotation, newest first. */
export async function loadHistory(layerId: string, annotationId: string) {
  const query = { annotation: annotationId };
  const { revisions } = await call(listAnnotationHistory, { params: { layerId }, query });
  return revisions;
}

/** Loads a page of the changes of a layer, newest first. @param cursor `next_cursor` of the previous page; null for the first page */
export function loadLayerHistory(layerId: string, cursor: string | null) {
  const query = { limit: 500, ...(cursor !== null && { cursor }) };
  return call(listAnnotationHistory, { params: { layerId }, query });
}

/** Restores an annotation that was deleted at most 30 days ago. */
export async function restoreDeletedAnnotation(layerId: string, annotationId: string): Promise<void> {
  await call(restoreAnnotation, { params: { layerId, annotationId } });
}

/** Loads the annotations of a layer, and yields them in batches as they arrive. */
export async function* loadAnnotations(
  layerId: string,
  signal: AbortSignal,
): AsyncGenerator<FeatureBatch, void, undefined> {
  yield* readFeatures(await openStream(listAnnotations, { params: { layerId }, query: {}, signal }));
}

/** Schemas for the data of the server-sent events, by event name. */
export const annotationEventSchemas = {
  layer: z.object({ layer: AnnotationLayer.omit({ counts: true }) }),
  'layer-removed': z.object({ layer_id: z.string() }),
  annotations: z.object({
    layer_id: z.string(),
    /** Whether `changes` is empty because there are too many; the browser must then load the layer again. */
    reload: z.boolean().optional(),
    changes: z
      .array(
        z.discriminatedUnion('op', [
          z.object({ op: z.literal('put'), feature: z.looseObject({ id: z.string() }) }),
          z.object({
            op: z.literal('delete'),
            id: z.string(),
            revision: z.number(),
            updated_by: z.string().optional(),
          }),
        ]),
      )
      .default([]),
    /** Display name of each author, by account id (uid). */
    authors: z.record(z.string(), z.string()).default({}),
  }),
} as const;
export type AnnotationsEvent = z.infer<(typeof annotationEventSchemas)['annotations']>;
export type LayerEvent = z.infer<(typeof annotationEventSchemas)['layer']>;

/**
 * Opens the stream of server-sent events about changes of a slide's annotations.
 *
 * @param lastEventId id of the last received event, after which the stream resumes; null begins with the next event
 */
export function openAnnotationEvents(imageId: string, lastEventId: string | null, signal: AbortSignal) {
  return openStream(streamAnnotationEvents, { params: { imageId }, query: {}, signal }, lastEventId);
}

/** The result of sending a batch of changes. */
export type ChangeOutcome =
  | { readonly kind: 'applied'; readonly revisions: ResponseOf<typeof changeAnnotations>['revisions'] }
  /**
   * Another user has changed annotations of the batch. `conflicts` contains the current features of these annotations;
   * the feature of a deleted annotation has no geometry.
   */
  | { readonly kind: 'conflict'; readonly conflicts: readonly unknown[] }
  /** The server is unreachable or overloaded; a retry may succeed. */
  | { readonly kind: 'unreachable' }
  /** The sign-in has ended; the caller keeps the changes until the user signs in again. */
  | { readonly kind: 'signed-out' }
  | { readonly kind: 'rejected'; readonly error: unknown };

/**
 * Sends changes of annotations of a layer. Never rejects: errors are in the result.
 *
 * @param bytes estimated size of the changes. A large batch gets more time for a response: 4 MiB get 40 s, of which a connection of
 *   1.2 Mbit/s needs 30 s.
 */
export async function sendChanges(
  layerId: string,
  changes: AnnotationChange[],
  bytes: number,
): Promise<ChangeOutcome> {
  const timeoutMs = Math.min(60_000, 10_000 + Math.round(bytes / 140));
  try {
    const { revisions } = await call(changeAnnotations, {
      params: { layerId },
      body: { changes },
      timeoutMs,
    });
    return { kind: 'applied', revisions };
  } catch (error) {
    if (error instanceof NoResponseError) return { kind: 'unreachable' };
    if (error instanceof UnexpectedResponseError) {
      return error.status >= 500 || error.status === 429
        ? { kind: 'unreachable' }
        : { kind: 'rejected', error };
    }
    if (!(error instanceof AppError)) return { kind: 'rejected', error };
    if (codeOf(error) === 'conflict') return { kind: 'conflict', conflicts: error.detail.conflicts ?? [] };
    if (error.status === 401) return { kind: 'signed-out' };
    if (error.status >= 500 || error.status === 429) return { kind: 'unreachable' };
    return { kind: 'rejected', error };
  }
}

/** Returns the annotation classes of a dataset; the default classes while loading, and for slides without a dataset. */
export function useAnnotationClasses(dataset: string | null): readonly AnnotationClass[] {
  const { data } = useQuery({
    queryKey: ['annotation-classes', dataset],
    queryFn: ({ signal }) =>
      call(getAnnotationClasses, { params: { datasetId: dataset ?? '' }, signal }).then(
        ({ classes }): readonly AnnotationClass[] => classes,
      ),
    enabled: dataset !== null,
  });
  return data ?? defaultAnnotationClasses;
}
