/**
 * The job `import-result`: it converts a result file, which a client uploaded or the server found beside a slide, to the file format
 * of result layers (container.ts). This module also resumes interrupted imports, deletes abandoned uploads, and deletes the files of
 * layers that no longer exist.
 */
import fs from 'node:fs/promises';
import { ResultRegistration } from '@lamina/contract';
import type { Logger } from 'pino';
import { type Jobs, RetryLater } from '../jobs/jobs.ts';
import type { Config } from '../platform/config.ts';
import type { ObjectStore } from '../slide-storage/object-storage.ts';
import { locate } from '../slide-storage/slide-roots.ts';
import type { Database } from '../store/database.ts';
import { findImage } from '../store/images.ts';
import {
  findResultLayer,
  listReplacedResultLayers,
  listResultLayerIds,
  listUnfinishedResultLayers,
  type ResultLayerRow,
  updateResultLayerInState,
} from '../store/result-layers.ts';
import type { SlideRoot } from '../store/schema.ts';
import { downloadResult } from './download-result.ts';
import { freeQuotaBytes } from './free-quota.ts';
import { ImportRejectedError, type Problem } from './problems.ts';
import { queueImport } from './queue-import.ts';
import { deleteResultLayer, layersWithFile, type ResultFiles } from './result-files.ts';
import { type ImportOutcome, runImport } from './run-import.ts';

interface Dependencies {
  readonly config: Config;
  readonly db: Database;
  readonly now: () => Date;
  readonly log: Logger;
  readonly jobs: Pick<Jobs, 'setWorker' | 'enqueue'>;
  readonly files: ResultFiles;
  /** Object store of the bucket; null if there is no bucket. */
  readonly store: ObjectStore | null;
}

/** If the process ended during this number of imports of a file, the file may be the cause, and is not imported again. */
const maxInterruptions = 2;
/** Codes of errors that the file did not cause, so that a later import of the same file may succeed: system errors, then SlideErrors. */
const temporaryErrorCodes: ReadonlySet<string> = new Set([
  ...['ENOSPC', 'EDQUOT', 'EROFS', 'EIO', 'ESTALE', 'ETIMEDOUT', 'EBUSY', 'EMFILE', 'ENFILE', 'ENOMEM'],
  ...['STORE_UNAVAILABLE', 'STORE_TIMEOUT', 'BUSY'],
]);
const progressIntervalMs = 1000; // time between two writes of the progress to the database
/** An upload that has received no data for this time is deleted. */
const uploadExpiryMs = 48 * 60 * 60_000; // 48 hours
/** A file without a layer is deleted only after this time, because a younger one may belong to a running import. */
const orphanedFileMs = 24 * 60 * 60_000; // 24 hours

interface ResultImports {
  /** Resumes interrupted imports, and deletes abandoned uploads and files of layers that no longer exist. */
  sweep(): Promise<void>;
}

/** Registers the job `import-result`. */
export function createResultImports(dependencies: Dependencies): ResultImports {
  const { config, db, now, log, jobs, files, store } = dependencies; // `files.parts` contains uploaded and downloaded files
  const nowIso = () => now().toISOString();

  /**
   * Returns the path of the file to import; null when the file is missing. A file in the bucket is downloaded first.
   *
   * @throws ImportRejectedError for an object that is too large; RetryLater (the job runs again) when the store cannot send it
   */
  async function localSourceOf(
    layer: ResultLayerRow,
    root: SlideRoot,
    maxBytes: number,
    signal: AbortSignal,
  ): Promise<string | null> {
    if (layer.source_path === null) return files.parts.pathOf(layer.id); // an uploaded file
    if (root !== 'bucket') return locate(config, { root, path: layer.source_path });
    if (store === null) return null;
    const target = files.parts.pathOf(layer.id);
    const exists = await downloadResult({ store, key: layer.source_path, target, maxBytes, signal });
    return exists ? target : null;
  }

  /** Returns the bytes that the quota leaves for a layer. The layers that it will replace, and the space of its upload, count as free. */
  async function remainingQuotaFor(layer: ResultLayerRow): Promise<number> {
    const freeBytes = await freeQuotaBytes(config, db);
    const replaced = await listReplacedResultLayers(db, layer);
    const replacedBytes = replaced.reduce((sum, { size_bytes }) => sum + size_bytes, 0);
    return Math.max(0, freeBytes + replacedBytes + (layer.upload_bytes ?? 0));
  }

  /** Deletes the layers with earlier contents of a layer's file. They stay until its import ends, so that viewers can show them. */
  async function deleteReplacedLayers(layer: ResultLayerRow): Promise<void> {
    for (const { id } of await listReplacedResultLayers(db, layer)) await deleteResultLayer(db, files, id);
  }

  /**
   * Runs an import, and saves its progress at intervals, also while the import reports none.
   *
   * @param run gets a signal that is also aborted when the layer is deleted, and a function that reports the completed fraction
   * @throws LayerDeleted if the layer is deleted
   */
  async function whileLayerExists<T>(
    layer: ResultLayerRow,
    signal: AbortSignal,
    run: (signal: AbortSignal, onProgress: (fraction: number) => void) => Promise<T>,
  ): Promise<T> {
    const layerDeleted = new AbortController();
    let percent = 0;
    const timer = setInterval(() => {
      // Updates the layer only in the state `importing`; `isSaved` is false when the layer no longer exists.
      updateResultLayerInState(db, layer.id, { percent, updated_at: nowIso() }, ['importing'])
        .then((isSaved) => {
          if (!isSaved) layerDeleted.abort(new LayerDeleted());
        })
        .catch((error) =>
          log.warn(
            { err: error, layerId: layer.id, imageId: layer.image_id },
            'progress of an analysis result import not saved; the import continues',
          ),
        );
    }, progressIntervalMs);
    try {
      return await run(AbortSignal.any([signal, layerDeleted.signal]), (fraction) => {
        percent = Math.min(99, Math.floor(fraction * 100)); // 100 is saved with the state 'ready'
      });
    } catch (error) {
      layerDeleted.signal.throwIfAborted(); // the object store throws its own error when it is aborted
      throw error;
    } finally {
      clearInterval(timer);
    }
  }

  /** Imports a layer's file in a worker thread. @throws the reason of the signal when it is aborted */
  async function importLayer(
    layer: ResultLayerRow,
    signal: AbortSignal,
    onProgress: (fraction: number) => void,
  ): Promise<ImportOutcome> {
    const failure = (problem: Problem, message: string): ImportOutcome => ({ ok: false, problem, message });
    const image = await findImage(db, layer.image_id);
    if (image === null || image.width === null || image.height === null) {
      return failure('file_missing', 'The slide is missing');
    }
    const maxBytes = await remainingQuotaFor(layer);
    const source = await localSourceOf(layer, image.root, maxBytes, signal);
    if (source === null) return failure('file_missing', 'The file is missing');
    const fullSize = '{"method":"full-size"}'; // without a registration (placement on the slide), the result covers the whole slide
    const task = {
      kind: layer.kind,
      source,
      target: `${files.pathOf(layer.id)}.importing`, // renamed when the import is complete
      maxBytes,
      registration: ResultRegistration.parse(JSON.parse(layer.registration ?? fullSize)),
      isMask: isMaskByName(layer.source_path),
      slide: {
        width: image.width,
        height: image.height,
        mpp: image.mpp_x === null || image.mpp_y === null ? null : { x: image.mpp_x, y: image.mpp_y },
      },
    };
    try {
      return await runImport(task, onProgress, signal);
    } catch (error) {
      await fs.rm(task.target, { force: true });
      throw error;
    }
  }

  jobs.setWorker('import-result', async ({ layerId }, signal) => {
    const layer = await findResultLayer(db, layerId);
    // A job may run after its layer was deleted, or a second time after the import has ended.
    if (layer === null || (layer.state !== 'queued' && layer.state !== 'importing')) return;
    await updateResultLayerInState(db, layerId, { state: 'importing', percent: 0 }, ['queued', 'importing']);
    let outcome: ImportOutcome;
    try {
      // `interruptions`: number of earlier imports of this layer during which the process ended.
      outcome = await files.whileImporting(layerId, (interruptions) => {
        if (interruptions >= maxInterruptions)
          throw new Error(`The process ended during ${interruptions} imports`);
        return whileLayerExists(layer, signal, (importSignal, onProgress) =>
          importLayer(layer, importSignal, onProgress),
        );
      });
    } catch (error) {
      // `discard`: the download from the bucket may have written its file after the deletion of the layer.
      if (error instanceof LayerDeleted) return files.parts.discard(layerId);
      if (signal.aborted || error instanceof RetryLater) throw error;
      if (temporaryErrorCodes.has(String((error as { code?: unknown }).code))) {
        // After the last attempt of this job, the next call of `sweep` queues the import again.
        await updateResultLayerInState(db, layerId, { state: 'queued', percent: 0 }, ['importing']);
        throw new RetryLater('The disk is full or does not respond; the import is tried again later.', {
          cause: error,
        });
      }
      if (error instanceof ImportRejectedError)
        // The download rejected the file. A rejection by the worker thread is an outcome, not an error.
        outcome = { ok: false, problem: error.problem, message: error.message };
      else {
        log.error(
          { err: error, layerId, imageId: layer.image_id },
          'import of an analysis result failed with an unexpected error; its result layer is marked as failed until its file is uploaded again or replaced',
        );
        outcome = { ok: false, problem: 'internal', message: 'The import failed' };
      }
    }
    const target = files.pathOf(layerId);
    if (outcome.ok) await fs.rename(`${target}.importing`, target);
    else if (outcome.problem !== 'internal')
      // An internal error has already been logged with its cause.
      log.info(
        { layerId, imageId: layer.image_id, problem: outcome.problem, reason: outcome.message },
        'analysis result file rejected (code in `problem`, details in `reason`); its result layer is marked as failed',
      );
    const columns = outcome.ok
      ? ({
          state: 'ready',
          percent: 100,
          size_bytes: outcome.sizeBytes,
          object_count: outcome.objects,
        } as const)
      : ({ state: 'failed', percent: 0, problem: outcome.problem } as const);
    const isSaved = await updateResultLayerInState(db, layerId, { ...columns, updated_at: nowIso() }, [
      'importing',
    ]);
    if (isSaved) {
      await files.parts.discard(layerId);
      await deleteReplacedLayers(layer);
    } else await files.remove(layerId); // the layer was deleted during the import
  });

  /** Queues the imports for which no job waits any more: a restart empties the queue in memory, and a job ends with its last attempt. */
  async function resumeImports(): Promise<void> {
    for (const { id, state, upload_bytes } of await listUnfinishedResultLayers(db)) {
      // The server may have stopped after the last part of an upload, before it queued the import.
      if (state === 'uploading' && (await files.parts.received(id)) !== upload_bytes) continue;
      await queueImport({ db, now, jobs }, id);
    }
  }

  return {
    async sweep() {
      await resumeImports();
      const expiredBefore = new Date(now().getTime() - uploadExpiryMs).toISOString();
      for (const id of await listResultLayerIds(db, { state: 'uploading', before: expiredBefore })) {
        await deleteResultLayer(db, files, id);
      }
      const layerIds = new Set(await listResultLayerIds(db));
      for (const id of await layersWithFile(files.folder)) {
        if (layerIds.has(id)) continue;
        const stats = await fs.stat(files.pathOf(id)).catch(() => null);
        if (stats !== null && Date.now() - stats.mtimeMs > orphanedFileMs) await files.remove(id);
      }
    },
  };
}

/** Aborts the import of a layer that was deleted during the import. */
class LayerDeleted extends Error {
  override readonly name = 'LayerDeleted';
}

/** Returns whether a file found beside a slide is a mask, by its name; null for an upload, and when the name does not tell. */
function isMaskByName(sourcePath: string | null): boolean | null {
  if (sourcePath === null) return null;
  if (/_mask\.\w+$/i.test(sourcePath)) return true;
  return /_likelihood_map\.\w+$/i.test(sourcePath) ? false : null;
}
