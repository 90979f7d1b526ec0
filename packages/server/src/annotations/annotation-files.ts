/**
 * Imports and exports annotation files (GeoJSON of QuPath, ASAP and others). A worker thread parses them, because parsing
 * megabytes of JSON in the main thread would block other requests.
 */
import { Readable } from 'node:stream';
import { exportAnnotations, type ImportResult } from '@lamina/annotations';
import {
  type AnnotationImport,
  AppError,
  annotationLayerLimits,
  type exportAnnotationFile,
  type importAnnotationFile,
  type QueryOf,
  type User,
} from '@lamina/contract';
import type { Actor } from '../audit/actor.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import type { Translate } from '../domain/translate.ts';
import { createAccountBudget } from '../platform/account-budget.ts';
import { runInThread } from '../platform/run-in-thread.ts';
import { findAnnotations } from '../store/annotations.ts';
import type { Database } from '../store/database.ts';
import type { ImageRow } from '../store/images.ts';
import type { Slides } from '../tiles/slides.ts';
import type { AdminAccessAudit } from './admin-access-audit.ts';
import type { Annotations } from './annotations.ts';
import { countersAfter } from './apply-changes.ts';
import { fileErrorOf, refusedFeatureOf, warningTextOf } from './import-texts.ts';
import { requireLayer } from './layer-access.ts';
import { featuresOf } from './layer-features.ts';
import type { StorableFeature } from './parse-feature.ts';
import { statedPixelSizeOf } from './stated-pixel-size.ts';

export interface AnnotationFile {
  readonly stream: Readable;
  /** Content type. */
  readonly type: string;
  readonly fileName: string;
  /** What the format cannot store, in the form of `exportWarningsHeader` of the contract; '' when nothing is lost. */
  readonly warnings: string;
}

export interface AnnotationFiles {
  /**
   * Adds the annotations of a file to a layer. With `dry_run`, it only reports what an import would do.
   *
   * @param actor sign-in of the caller, for the audit log and for a second check of the caller's rights in the transaction
   * @param account account of the caller, as it was when the request arrived
   * @param signal aborts the parsing of the file
   * @throws AppError not_found, forbidden, layer_locked, layer_full, too_large; unavailable while two other files are parsed;
   *   invalid_request for a file that cannot be read, and for invalid features (in `refused`), unless `skip_refused` or
   *   `dry_run` is set
   * @throws SlideError when the offset is `bounds` and the slide cannot be opened
   */
  import(
    actor: Actor,
    account: User,
    layerId: string,
    options: ImportOptions,
    translate: Translate,
    signal: AbortSignal,
  ): Promise<AnnotationImport>;
  /**
   * Returns the annotations of a layer as a file. They are in memory until the stream is closed.
   *
   * @throws AppError not_found; unavailable while other exports take too much memory; SlideError as `import`
   */
  export(
    actor: Actor,
    account: User,
    layerId: string,
    query: QueryOf<typeof exportAnnotationFile>,
  ): Promise<AnnotationFile>;
}

type ImportOptions = QueryOf<typeof importAnnotationFile> & { readonly file: Uint8Array };

interface Dependencies {
  readonly db: Database;
  readonly annotations: Pick<Annotations, 'put'>;
  readonly adminAccessAudit: AdminAccessAudit;
  readonly catalogue: Pick<Catalogue, 'servable'>;
  readonly slides: Pick<Slides, 'tiling'>;
}

/** The input of the worker thread. */
export interface ImportTask {
  readonly file: Uint8Array;
  readonly options: {
    readonly format: ImportOptions['format'];
    /** Size of the slide in pixels; null when it is not known. */
    readonly extent: { readonly width: number; readonly height: number } | null;
    /** Pixels that the import adds to all coordinates, and the export subtracts. */
    readonly offset: { readonly x: number; readonly y: number };
  };
}

type SuccessfulImport = Extract<ImportResult, { readonly ok: true }>;

/** The result of an `ImportTask`, with features in the form in which they are stored. */
export type ImportTaskResult =
  | (Omit<SuccessfulImport, 'features'> & { readonly features: readonly StorableFeature[] })
  | Extract<ImportResult, { readonly ok: false }>
  | { readonly ok: false; readonly error: 'not_gzip' | 'too_large' };

/** Memory limit of a worker thread. A file of 5 million vertices needs about 700 MB. */
const workerMegabytes = 1536;
/** Time limit of a worker thread. The largest valid files need a few seconds. */
const workerTimeoutMs = 60_000;
/** Maximum number of files that are parsed at the same time. */
const maxWorkers = 2;
/** Properties and geometry object of an annotation take as much memory as this number of positions. */
const positionsPerAnnotation = 20;
/** Positions in memory for the exports of an account: a layer of the maximum size, or several smaller ones. */
const maxPositionsPerAccount =
  annotationLayerLimits.vertices + annotationLayerLimits.annotations * positionsPerAnnotation;
/** Positions in memory for all exports; they take about a gigabyte. */
const maxPositions = 3 * maxPositionsPerAccount;

export function createAnnotationFiles(dependencies: Dependencies): AnnotationFiles {
  const { db, annotations, adminAccessAudit, catalogue, slides } = dependencies;
  let runningWorkers = 0;
  /** Positions in memory until an export ends: a client that reads slowly may keep them for hours. */
  const exportBudget = createAccountBudget({ maxPerAccount: maxPositionsPerAccount, max: maxPositions });

  /**
   * Returns the pixels that an import adds to all coordinates, and an export subtracts. With the offset `bounds`, coordinates in the
   * file begin at the corner of the scanned area, as QuPath writes them for MIRAX slides.
   *
   * @throws AppError not_found; SlideError
   */
  async function offsetOf(
    actor: Actor,
    imageId: string,
    { offset, offset_x, offset_y }: Pick<ImportOptions, 'offset' | 'offset_x' | 'offset_y'>,
  ): Promise<ImportTask['options']['offset']> {
    if (offset === 'none') return { x: offset_x, y: offset_y };
    const image = await catalogue.servable(imageId);
    if (image === null) throw new AppError('not_found');
    const requester = { account: actor.uid, session: actor.tokenHash }; // for turns in the render queue
    const { boundsOrigin } = await slides.tiling(image, requester);
    return { x: offset_x + (boundsOrigin?.x ?? 0), y: offset_y + (boundsOrigin?.y ?? 0) };
  }

  return {
    async import(
      actor,
      account,
      layerId,
      { file, dry_run, skip_refused, format, ...offsets },
      translate,
      signal,
    ) {
      const { layer, image, rights } = await requireLayer(db, account, layerId);
      if (!rights.annotate) throw new AppError('forbidden');
      if (layer.locked_by !== null) throw new AppError('layer_locked');
      if (file.length === 0) throw new AppError('invalid_request', { reason: 'annotation_file_empty' });
      if (runningWorkers >= maxWorkers) throw new AppError('unavailable', { retryAfterSeconds: 5 });
      runningWorkers++;
      try {
        const offset = await offsetOf(actor, image.id, offsets);
        const result = await parseInWorker(
          { file, options: { format, extent: extentOf(image), offset } },
          signal,
        );
        if (!result.ok) throw fileErrorOf(result.error);
        const refused = result.rejected.map((rejection) => refusedFeatureOf(rejection, translate));
        if (result.rejectedCount > 0 && !skip_refused && !dry_run) {
          throw new AppError('invalid_request', {
            reason: 'annotation_file_refused',
            limit: result.rejectedCount, // the message for this reason shows `limit` as the number of features
            refused,
          });
        }
        if (dry_run && result.features.length > 0) {
          const changes = result.features.map((feature) => ({ id: feature.id, feature }));
          const ids = changes.map(({ id }) => id);
          countersAfter(layer, changes, await findAnnotations(db, layerId, ids)); // throws when the layer would be full
        }
        const hasChanges = !dry_run && result.features.length > 0;
        const appliedChanges = hasChanges ? await annotations.put(actor, layerId, result.features) : null;
        return {
          dry_run,
          format: result.format,
          imported: Object.keys(appliedChanges?.revisions ?? {}).length,
          features: result.counts.features,
          vertices: result.counts.vertices,
          types: result.counts.byType as Record<string, number>,
          classes: result.counts.byClass.map(({ names, count }) => ({
            name: names.join(': ') || null, // parent classes come first, for example `Tumor: Necrosis`; null: unclassified
            count,
          })),
          warnings: result.warnings.map(({ code, count }) => ({
            code,
            count,
            message: translate(warningTextOf(code)),
          })),
          refused_count: result.rejectedCount,
          refused,
          version: appliedChanges?.version ?? layer.version,
        };
      } finally {
        runningWorkers--;
      }
    },

    async export(actor, account, layerId, { format, ...offsets }) {
      const { layer, image } = await requireLayer(db, account, layerId);
      const offset = await offsetOf(actor, image.id, offsets);
      await adminAccessAudit.recordRead(actor, account, layer);
      const positions = layer.vertex_count + layer.annotation_count * positionsPerAnnotation;
      const endExport = exportBudget.reserve(actor.uid, positions);
      try {
        const features = await featuresOf(db, layer.id);
        const { chunks, mediaType, extension, warnings } = exportAnnotations(features, {
          format,
          pixelSize: statedPixelSizeOf(image),
          offset,
        });
        return {
          // The stream may be closed before the first chunk is read; then only the event tells the end.
          stream: Readable.from(joinedChunks(chunks, endExport)).once('close', endExport),
          type: mediaType,
          fileName: `annotations-${layer.id}.${extension}`,
          warnings: warnings.map(({ code, count }) => `${code}=${count}`).join(', '),
        };
      } catch (error) {
        endExport();
        throw error;
      }
    },
  };
}

function extentOf({ width, height }: ImageRow): ImportTask['options']['extent'] {
  return width === null || height === null ? null : { width, height };
}

/**
 * Parses a file in a worker thread with limited memory and time.
 *
 * @throws AppError invalid_request when the file needs too much memory or time; the reason of the signal when it is aborted
 */
async function parseInWorker(task: ImportTask, signal: AbortSignal): Promise<ImportTaskResult> {
  const timeout = AbortSignal.timeout(workerTimeoutMs);
  try {
    return await runInThread<ImportTaskResult>({
      module: new URL('./import-worker.ts', import.meta.url),
      workerData: task,
      resourceLimits: { maxOldGenerationSizeMb: workerMegabytes },
      signal: AbortSignal.any([signal, timeout]),
    });
  } catch (error) {
    const isOutOfMemory = (error as { code?: unknown }).code === 'ERR_WORKER_OUT_OF_MEMORY';
    const isOutOfTime = error === timeout.reason;
    if (isOutOfMemory || isOutOfTime)
      throw new AppError('invalid_request', { reason: 'annotation_file_too_complex', cause: error });
    throw error;
  }
}

const minChunkChars = 65_536;

/**
 * Joins short chunks into chunks of at least `minChunkChars`, because sending many short chunks is slower.
 *
 * @param onEnd called when all chunks have been read, before the response ends, or when reading ends early
 */
function* joinedChunks(chunks: Iterable<string>, onEnd: () => void): Generator<string> {
  try {
    let joined = '';
    for (const chunk of chunks) {
      joined += chunk;
      if (joined.length < minChunkChars) continue;
      yield joined;
      joined = '';
    }
    if (joined !== '') yield joined;
  } finally {
    onEnd();
  }
}
