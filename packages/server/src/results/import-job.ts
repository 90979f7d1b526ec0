/** The job `import-result`, and what ends uploads and files that no layer needs. */
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
  deleteResultLayerRow,
  findResultLayer,
  listResultLayerIds,
  type ResultLayerRow,
  sumResultBytes,
  updateResultLayer,
} from '../store/result-layers.ts';
import type { SlideRoot } from '../store/schema.ts';
import { sumUnfinishedUploads, sumUploadedSlides } from '../store/uploads.ts';
import { downloadResult } from './download-result.ts';
import { type Problem, RefusedResult } from './problems.ts';
import { layersWithFile, type ResultFiles } from './result-files.ts';
import { type ImportAnswer, runImport } from './run-import.ts';

interface Dependencies {
  readonly config: Config;
  readonly db: Database;
  readonly now: () => Date;
  readonly log: Logger;
  readonly jobs: Pick<Jobs, 'setWorker'>;
  readonly files: ResultFiles;
  /** Null: there is no bucket. */
  readonly store: ObjectStore | null;
}

/** Size of a file without a quota. */
const mostBytes = 2 ** 40;
const saveEveryMs = 1000;
/** An upload without new data for this long is deleted. */
const expiryMs = 48 * 60 * 60_000;
/** A file without a layer may belong to an import that runs, as long as it is younger. */
const orphanMs = 24 * 60 * 60_000;

interface ResultImports {
  /** Deletes uploads that ended, and files of layers that no longer exist. */
  sweep(): Promise<void>;
}

export function createResultImports(dependencies: Dependencies): ResultImports {
  const { config, db, now, log, jobs, files, store } = dependencies;
  const at = () => now().toISOString();

  /** @throws RefusedResult for an object that is too large; RetryLater when the store does not answer */
  async function sourceOf(
    layer: ResultLayerRow,
    root: SlideRoot,
    maxBytes: number,
    signal: AbortSignal,
  ): Promise<string | null> {
    if (layer.source_path === null) return files.parts.pathOf(layer.id);
    if (root !== 'bucket') return locate(config, { root, path: layer.source_path });
    if (store === null) return null;
    const target = files.parts.pathOf(layer.id);
    const isThere = await downloadResult({ store, key: layer.source_path, target, maxBytes, signal });
    return isThere ? target : null;
  }

  async function spaceFor(layer: ResultLayerRow): Promise<number> {
    if (config.uploadQuotaBytes === 0) return mostBytes;
    const used =
      (await sumUnfinishedUploads(db)).bytes + (await sumUploadedSlides(db)) + (await sumResultBytes(db));
    return Math.max(0, config.uploadQuotaBytes - used + (layer.upload_bytes ?? 0));
  }

  async function importLayer(layer: ResultLayerRow, signal: AbortSignal): Promise<ImportAnswer> {
    const failed = (problem: Problem, message: string): ImportAnswer => ({ ok: false, problem, message });
    const image = await findImage(db, layer.image_id);
    if (image === null || image.width === null || image.height === null) {
      return failed('file_missing', 'The slide is missing');
    }
    const maxBytes = await spaceFor(layer);
    const source = await sourceOf(layer, image.root, maxBytes, signal);
    if (source === null) return failed('file_missing', 'The file is missing');
    await fs.mkdir(files.folder, { recursive: true });
    const ended = new AbortController();
    let savedAt = 0;
    const onProgress = (done: number) => {
      if (performance.now() - savedAt < saveEveryMs) return;
      savedAt = performance.now();
      const percent = Math.min(99, Math.floor(done * 100));
      updateResultLayer(db, layer.id, { percent, updated_at: at() }, ['importing'])
        .then((exists) => {
          if (!exists) ended.abort(new LayerDeleted());
        })
        .catch((error) =>
          log.warn(
            { err: error, layer: layer.id },
            'progress of a result import not saved; the import continues',
          ),
        );
    };
    const task = {
      kind: layer.kind,
      source,
      fileName: layer.source_path,
      target: `${files.pathOf(layer.id)}.importing`,
      maxBytes,
      registration: ResultRegistration.parse(JSON.parse(layer.registration ?? '{"method":"full-size"}')),
      isMask: maskByName(layer.source_path),
      slide: {
        width: image.width,
        height: image.height,
        mpp: image.mpp_x === null || image.mpp_y === null ? null : { x: image.mpp_x, y: image.mpp_y },
      },
    };
    try {
      return await runImport(task, onProgress, AbortSignal.any([signal, ended.signal]));
    } catch (error) {
      await fs.rm(task.target, { force: true });
      throw error;
    }
  }

  jobs.setWorker('import-result', async ({ layerId }, signal) => {
    const layer = await findResultLayer(db, layerId);
    if (layer === null || (layer.state !== 'queued' && layer.state !== 'importing')) return;
    await updateResultLayer(db, layerId, { state: 'importing', percent: 0 }, ['queued', 'importing']);
    let answer: ImportAnswer;
    try {
      answer = await importLayer(layer, signal);
    } catch (error) {
      if (error instanceof LayerDeleted) return;
      if (signal.aborted || error instanceof RetryLater) throw error;
      if (error instanceof RefusedResult)
        answer = { ok: false, problem: error.problem, message: error.message };
      else {
        log.error({ err: error, layer: layerId }, 'result import failed; the layer is marked as failed');
        answer = { ok: false, problem: 'internal', message: 'The import failed' };
      }
    }
    const target = files.pathOf(layerId);
    if (answer.ok) await fs.rename(`${target}.importing`, target);
    else
      log.info(
        { layer: layerId, problem: answer.problem, reason: answer.message },
        'result file rejected: its layer is marked as failed',
      );
    const outcome = answer.ok
      ? { state: 'ready', percent: 100, size_bytes: answer.sizeBytes, object_count: answer.objects }
      : { state: 'failed', percent: 0, problem: answer.problem };
    const isSaved = await updateResultLayer(
      db,
      layerId,
      { ...outcome, upload_bytes: null, updated_at: at() } as Parameters<typeof updateResultLayer>[2],
      ['importing'],
    );
    if (isSaved) await files.parts.discard(layerId);
    else await files.remove(layerId);
  });

  return {
    async sweep() {
      const before = new Date(now().getTime() - expiryMs).toISOString();
      for (const id of await listResultLayerIds(db, { state: 'uploading', before })) {
        await deleteResultLayerRow(db, id);
        await files.remove(id);
      }
      const known = new Set(await listResultLayerIds(db));
      for (const id of await layersWithFile(files.folder)) {
        if (known.has(id)) continue;
        const stats = await fs.stat(files.pathOf(id)).catch(() => null);
        if (stats !== null && Date.now() - stats.mtimeMs > orphanMs) await files.remove(id);
      }
    },
  };
}

class LayerDeleted extends Error {
  override readonly name = 'LayerDeleted';
}

/** What the name of a file beside the slide says of its values; null: nothing. */
function maskByName(sourcePath: string | null): boolean | null {
  if (sourcePath === null) return null;
  if (/_mask\.\w+$/i.test(sourcePath)) return true;
  return /_likelihood_map\.\w+$/i.test(sourcePath) ? false : null;
}
