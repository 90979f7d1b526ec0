/** Import and export of annotation files. A worker thread parses files, because megabytes of JSON would block other requests. */
import { Readable } from 'node:stream';
import { exportAnnotations, type ImportResult } from '@lamina/annotations';
import {
  type AnnotationImport,
  AppError,
  type exportAnnotationFile,
  type importAnnotationFile,
  type QueryOf,
  type User,
} from '@lamina/contract';
import type { Actor } from '../audit/actor.ts';
import { answerOfThread } from '../platform/answer-of-thread.ts';
import type { Database } from '../store/database.ts';
import type { ImageRow } from '../store/images.ts';
import type { Annotations } from './annotations.ts';
import type { AuditForeignUse } from './audit-foreign-use.ts';
import { calibratedScaleOf } from './calibrated-scale.ts';
import { fileErrorOf, refusedFeatureOf, warningTextOf } from './import-texts.ts';
import { requireLayer } from './layer-access.ts';
import { featuresOf } from './layer-features.ts';
import type { Say } from './layers.ts';
import type { StorableFeature } from './parse-feature.ts';

/** A file to be saved. */
export interface AnnotationFile {
  readonly stream: Readable;
  /** Content type. */
  readonly type: string;
  readonly fileName: string;
}

export interface AnnotationFiles {
  /** @throws AppError not_found, forbidden, layer_locked, layer_full, too_large, invalid_request with `refused` */
  import(
    by: Actor,
    reader: User,
    layerId: string,
    options: ImportOptions,
    say: Say,
    signal: AbortSignal,
  ): Promise<AnnotationImport>;
  /** @throws AppError not_found */
  export(
    by: Actor,
    reader: User,
    layerId: string,
    query: QueryOf<typeof exportAnnotationFile>,
  ): Promise<AnnotationFile>;
}

type ImportOptions = QueryOf<typeof importAnnotationFile> & { readonly file: Uint8Array };

interface Dependencies {
  readonly db: Database;
  readonly annotations: Pick<Annotations, 'put'>;
  readonly foreignUse: AuditForeignUse;
}

/** What the worker thread gets. */
export interface ImportTask {
  readonly file: Uint8Array;
  readonly options: {
    readonly format: ImportOptions['format'];
    readonly extent: { readonly width: number; readonly height: number } | null;
    readonly offset: { readonly x: number; readonly y: number };
  };
}

type Parsed = Extract<ImportResult, { readonly ok: true }>;

/** What the worker thread returns: features in the form in which they are stored. */
export type ImportAnswer =
  | (Omit<Parsed, 'features'> & { readonly features: readonly StorableFeature[] })
  | Extract<ImportResult, { readonly ok: false }>
  | { readonly ok: false; readonly error: 'not_gzip' | 'too_large' };

/** Memory of the worker thread: a file of 5 million vertices takes some 700 MB. */
const workerMegabytes = 1536;
/** Files that are parsed at a time. */
const maxWorkers = 2;

export function createAnnotationFiles({ db, annotations, foreignUse }: Dependencies): AnnotationFiles {
  let running = 0;

  return {
    async import(
      by,
      reader,
      layerId,
      { file, dry_run, skip_refused, format, offset_x, offset_y },
      say,
      signal,
    ) {
      const { layer, image, rights } = await requireLayer(db, reader, layerId);
      if (!rights.annotate) throw new AppError('forbidden');
      if (layer.locked_by !== null) throw new AppError('layer_locked');
      if (file.length === 0) throw new AppError('invalid_request', { reason: 'annotation_file_empty' });
      if (running >= maxWorkers) throw new AppError('unavailable', { retryAfterSeconds: 5 });
      running++;
      try {
        const offset = { x: offset_x, y: offset_y };
        const answer = await parseInWorker(
          { file, options: { format, extent: extentOf(image), offset } },
          signal,
        );
        if (!answer.ok) throw fileErrorOf(answer.error);
        const refused = answer.rejected.map((rejection) => refusedFeatureOf(rejection, say));
        const isRejected = answer.rejectedCount > 0 && !skip_refused;
        if (isRejected && !dry_run) {
          throw new AppError('invalid_request', {
            reason: 'annotation_file_refused',
            limit: answer.rejectedCount,
            refused,
          });
        }
        const isChanging = !dry_run && answer.features.length > 0;
        const applied = isChanging ? await annotations.put(by, layerId, answer.features) : null;
        return {
          dry_run,
          format: answer.format,
          imported: Object.keys(applied?.revisions ?? {}).length,
          features: answer.counts.features,
          vertices: answer.counts.vertices,
          types: answer.counts.byType as Record<string, number>,
          classes: answer.counts.byClass.map(({ names, count }) => ({
            name: names.join(': ') || null,
            count,
          })),
          warnings: answer.warnings.map(({ code, count }) => ({
            code,
            count,
            message: say(warningTextOf(code)),
          })),
          refused_count: answer.rejectedCount,
          refused,
          version: applied?.version ?? layer.version,
        };
      } finally {
        running--;
      }
    },

    async export(by, reader, layerId, { format, offset_x, offset_y }) {
      const { layer, image } = await requireLayer(db, reader, layerId);
      await foreignUse.recordRead(by, reader, layer);
      const features = await featuresOf(db, layer.id);
      const { chunks, mediaType, extension } = exportAnnotations(features, {
        format,
        pixelSize: calibratedScaleOf(image),
        offset: { x: offset_x, y: offset_y },
      });
      return {
        stream: Readable.from(inLargeParts(chunks)),
        type: mediaType,
        fileName: `annotations-${layer.id}.${extension}`,
      };
    },
  };
}

function extentOf({ width, height }: ImageRow): ImportTask['options']['extent'] {
  return width === null || height === null ? null : { width, height };
}

/** @throws AppError invalid_request when the file needs too much memory; the reason of the signal when it is aborted */
async function parseInWorker(task: ImportTask, signal: AbortSignal): Promise<ImportAnswer> {
  try {
    return await answerOfThread<ImportAnswer>({
      module: new URL('./import-worker.ts', import.meta.url),
      workerData: task,
      resourceLimits: { maxOldGenerationSizeMb: workerMegabytes },
      signal,
    });
  } catch (error) {
    const isFull = (error as { code?: unknown }).code === 'ERR_WORKER_OUT_OF_MEMORY';
    if (isFull)
      throw new AppError('invalid_request', { reason: 'annotation_file_too_complex', cause: error });
    throw error;
  }
}

/** Joins pieces to parts of some 64 kB: a stream costs more for each part than for each byte. */
function* inLargeParts(chunks: Iterable<string>): Generator<string> {
  let part = '';
  for (const chunk of chunks) {
    part += chunk;
    if (part.length < 65_536) continue;
    yield part;
    part = '';
  }
  if (part !== '') yield part;
}
