/**
 * Finds files that analysis programs have written beside slides (`a_mask.tif` beside `a.svs`), and reconciles the result layers with
 * them: a new or changed file becomes a layer, and the layer of a missing file is deleted. The job `find-results` searches the
 * slide folders. The bucket is searched during each scan for slides, because such a scan lists all objects anyway.
 */
import { randomUUID } from 'node:crypto';
import fs from 'node:fs/promises';
import path from 'node:path';
import { resultNameOf, slideStemOf } from '@lamina/slide/names';
import type { Logger } from 'pino';
import type { Jobs } from '../jobs/jobs.ts';
import type { Config } from '../platform/config.ts';
import type { FolderTree } from '../slide-storage/folder-tree.ts';
import { isMissingFile, slideRoots } from '../slide-storage/slide-roots.ts';
import type { Database } from '../store/database.ts';
import {
  insertResultLayer,
  listFoundResultLayers,
  listSlidesInBucket,
  listSlidesOnDisk,
  lockResultLayer,
  newResultColumns,
  type ResultLayerRow,
  type SlideInBucket,
  type SlideOnDisk,
  updateResultLayerInState,
} from '../store/result-layers.ts';
import { freeQuotaBytes } from './free-quota.ts';
import { deleteResultLayer, layersWithFile, type ResultFiles } from './result-files.ts';

interface Dependencies {
  readonly config: Config;
  readonly db: Database;
  readonly now: () => Date;
  readonly log: Logger;
  readonly jobs: Pick<Jobs, 'setWorker' | 'enqueue'>;
  readonly files: ResultFiles;
}

interface FoundResult {
  readonly imageId: string;
  readonly name: string;
  readonly kind: 'raster' | 'vector';
  /** Path of the file relative to the storage root (folder or bucket) in which the slide lies. */
  readonly path: string;
  /** Changes with the content: size and modification time, or the version of the object. */
  readonly version: string;
}

/**
 * A file that was modified less than this time ago may be incomplete. The layer of its earlier content stays until a later job finds the
 * file complete and imports it.
 */
const settleMs = 2000;
const searchAgainAfterMs = 2 * settleMs;

interface ResultSearch {
  /** Searches `tree`, the listing of the bucket. Throws only after an abort. It logs other failures; the next scan searches again. */
  inBucket(tree: FolderTree, signal: AbortSignal): Promise<void>;
}

/** Registers the job `find-results`, and returns the search in the bucket, which each scan of the bucket calls. */
export function registerFindResults({ config, db, now, log, jobs, files }: Dependencies): ResultSearch {
  /** Free bytes of the quota when this process last queued the import of a failed layer again, by the id of the layer. */
  const freeBytesAtRetry = new Map<string, number>();

  jobs.setWorker('find-results', async (_, signal) => {
    const layersByImage = Map.groupBy(await listFoundResultLayers(db), ({ image_id }) => image_id);
    const importedLayerIds = new Set(await layersWithFile(files.folder));
    const slidesByFolder = Map.groupBy(await listSlidesOnDisk(db), ({ root, path: slidePath }) =>
      path.join(slideRoots(config)[root], path.posix.dirname(slidePath)),
    );
    let isSettling = false;
    for (const [folder, slides] of slidesByFolder) {
      signal.throwIfAborted();
      const found = await findResultsInFolder(folder, slides);
      if (found === null) continue; // keeps the layers: the disk with the folder may be unavailable for now
      if (found.settlingPaths.size > 0) isSettling = true;
      for (const slide of slides) {
        const layers = layersByImage.get(slide.id) ?? [];
        const results = found.results.filter(({ imageId }) => imageId === slide.id);
        await reconcile(
          // The layers of files that may be incomplete stay unchanged.
          layers.filter(({ source_path }) => source_path === null || !found.settlingPaths.has(source_path)),
          results,
          importedLayerIds,
        );
      }
    }
    if (isSettling) await jobs.enqueue('find-results', {}, searchAgainAfterMs);
  });

  async function searchBucket(tree: FolderTree, signal: AbortSignal): Promise<void> {
    const slides = await listSlidesInBucket(db);
    if (slides.length === 0) return;
    const layersByImage = Map.groupBy(await listFoundResultLayers(db), ({ image_id }) => image_id);
    const importedLayerIds = new Set(await layersWithFile(files.folder));
    for (const [folder, slidesInFolder] of Map.groupBy(slides, ({ path: key }) => folderOf(key))) {
      signal.throwIfAborted();
      // Unlike on a disk, a folder that is missing from the complete listing is empty, so the layers of its slides are deleted.
      const results = await findResultsInBucket(tree, folder, slidesInFolder);
      for (const { id } of slidesInFolder) {
        const slideResults = results.filter(({ imageId }) => imageId === id);
        await reconcile(layersByImage.get(id) ?? [], slideResults, importedLayerIds);
      }
    }
  }

  /**
   * Reconciles the layers of a slide with the result files beside the slide. When the content of a file has changed, a new layer replaces
   * the earlier one, which stays until the new content is imported (import-job.ts).
   *
   * @param importedLayerIds ids of the layers whose imported file exists in DATA_DIR/results
   */
  async function reconcile(
    layers: readonly ResultLayerRow[],
    results: readonly FoundResult[],
    importedLayerIds: ReadonlySet<string>,
  ): Promise<void> {
    for (const layer of layers) {
      const result = results.find(({ path: file }) => file === layer.source_path);
      if (result?.version !== layer.source_version) {
        // The file is missing or has changed. The layer of its earlier content stays until the new content is imported.
        const isReplacementPending = result !== undefined && isImportPending(layerOf(result, layers));
        if (layer.state === 'ready' && isReplacementPending) continue;
        await deleteResultLayer(db, files, layer.id);
      } else if (layer.state === 'ready' && !importedLayerIds.has(layer.id)) {
        // A backup may have been restored without DATA_DIR/results: the row of the layer exists, but its imported file does not.
        await updateResultLayerInState(db, layer.id, { state: 'queued' }, ['ready']); // no change in any other state
        await jobs.enqueue('import-result', { layerId: layer.id });
      } else if (await mayBeImportedNow(layer)) await importAgain(layer);
    }
    for (const result of results) {
      if (layerOf(result, layers) === undefined) await addLayer(result);
    }
  }

  /**
   * Returns whether the import of a failed layer may succeed now, although its file is unchanged: it failed because the quota was exceeded
   * or the file was missing. The result is true once in each process; if the quota was exceeded, also each time that the quota has more
   * free bytes than at the last retry.
   */
  async function mayBeImportedNow({ id, state, problem }: ResultLayerRow): Promise<boolean> {
    if (state !== 'failed' || (problem !== 'quota_exceeded' && problem !== 'file_missing')) return false;
    const freeBytes = await freeQuotaBytes(config, db);
    const lastFreeBytes = freeBytesAtRetry.get(id);
    const isWorthwhile =
      lastFreeBytes === undefined || (problem === 'quota_exceeded' && freeBytes > lastFreeBytes);
    if (isWorthwhile) freeBytesAtRetry.set(id, freeBytes);
    return isWorthwhile;
  }

  /** Queues the import of a failed layer, unless an administrator has deleted the layer (which changes `problem`) in the meantime. */
  async function importAgain({ id, problem }: ResultLayerRow): Promise<void> {
    await db.transaction().execute(async (tx) => {
      if ((await lockResultLayer(tx, id))?.problem !== problem) return;
      const changes = { state: 'queued', problem: null, updated_at: now().toISOString() } as const;
      await updateResultLayerInState(tx, id, changes, ['failed']);
    });
    await jobs.enqueue('import-result', { layerId: id });
  }

  /** Creates a layer for a result file and queues its import. */
  async function addLayer({ imageId, name, kind, path: file, version }: FoundResult): Promise<void> {
    const createdAt = now().toISOString();
    const id = randomUUID();
    await db.transaction().execute((tx) =>
      insertResultLayer(tx, {
        ...newResultColumns,
        id,
        image_id: imageId,
        name,
        kind,
        owner_uid: null,
        source: 'folder', // found beside a slide, on a disk or in the bucket
        source_path: file,
        source_version: version,
        state: 'queued',
        created_at: createdAt,
        updated_at: createdAt,
      }),
    );
    log.info(
      { imageId, layerId: id, path: file },
      'analysis result file found beside a slide (`path` in the slide folder or bucket); its import is queued',
    );
    await jobs.enqueue('import-result', { layerId: id });
  }

  return {
    async inBucket(tree, signal) {
      try {
        await searchBucket(tree, signal);
      } catch (error) {
        if (signal.aborted) throw error;
        log.warn(
          { err: error, bucket: config.objectStore?.bucket },
          'search for analysis result files in the bucket failed; the next scan searches again',
        );
      }
    },
  };
}

/** Returns the layer with the current content of a result file; undefined when the file is new or has changed. */
function layerOf({ path: file, version }: FoundResult, layers: readonly ResultLayerRow[]) {
  return layers.find(({ source_path, source_version }) => source_path === file && source_version === version);
}

/** Returns whether the import of a layer has not ended; also true when the layer does not exist yet. */
function isImportPending(layer: ResultLayerRow | undefined): boolean {
  return layer === undefined || layer.state === 'queued' || layer.state === 'importing';
}

/** Returns the folder of a key in the bucket; '' for a key without a folder. */
function folderOf(key: string): string {
  const folder = path.posix.dirname(key);
  return folder === '.' ? '' : folder;
}

/**
 * Returns the slides of a folder by lower-case file name, with and without extension; the name of a result file may contain either.
 * Without the extension, it may name several slides, such as `a.svs` and its conversion `a.tif`; the result then belongs to each of them.
 */
function slidesByName<Slide extends SlideInBucket>(
  slides: readonly Slide[],
): ReadonlyMap<string, readonly Slide[]> {
  const byName = new Map<string, Slide[]>();
  for (const slide of slides) {
    const name = path.posix.basename(slide.path);
    const keys = new Set([name.toLowerCase(), slideStemOf(name)]); // `slideStemOf` returns lower case
    for (const key of keys) byName.set(key, [...(byName.get(key) ?? []), slide]);
  }
  return byName;
}

/** Returns the kind of a result file and the slides that it belongs to; null for a file that is not a result of any of the slides. */
function resultOf<Slide extends SlideInBucket>(
  fileName: string,
  byName: ReadonlyMap<string, readonly Slide[]>,
) {
  const result = resultNameOf(fileName);
  if (result === null) return null;
  const namedSlides = byName.get(result.slideName) ?? [];
  const slides = namedSlides.filter((slide) => path.posix.basename(slide.path) !== fileName); // no file is a result of itself
  return slides.length === 0 ? null : { kind: result.kind, slides };
}

async function findResultsInBucket(
  tree: FolderTree,
  folder: string,
  slides: readonly SlideInBucket[],
): Promise<FoundResult[]> {
  const byName = slidesByName(slides);
  const results: FoundResult[] = [];
  for (const entry of (await tree.entriesOf(folder)) ?? []) {
    const result = entry.kind === 'file' ? resultOf(entry.name, byName) : null;
    if (result === null) continue;
    const object = await tree.find(folder, entry); // the listing of the folder does not contain the version
    if (object?.kind !== 'file') continue;
    const { resolvedPath, version } = object; // `resolvedPath`: the key of the object
    for (const { id } of result.slides)
      results.push({ imageId: id, name: entry.name, kind: result.kind, path: resolvedPath, version });
  }
  return results;
}

interface FolderSearch {
  readonly results: FoundResult[];
  /** Paths, relative to the storage root, of result files that may be incomplete; `results` does not contain them. */
  readonly settlingPaths: ReadonlySet<string>;
}

/** Finds result files in a folder with slides; null when the folder, or one of its result files, is missing or not accessible. */
async function findResultsInFolder(
  folder: string,
  slides: readonly SlideOnDisk[],
): Promise<FolderSearch | null> {
  const byName = slidesByName(slides);
  const results: FoundResult[] = [];
  const settlingPaths = new Set<string>();
  try {
    const entries = await fs.readdir(folder, { withFileTypes: true });
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const { name } = entry;
      const result = resultOf(name, byName);
      if (result === null) continue;
      const stats = await fs.stat(path.join(folder, name)).catch((error: unknown) => {
        // A link without its target is no result. A file that has disappeared may mean that the whole folder is not accessible.
        if (entry.isSymbolicLink() && isMissingFile(error)) return null;
        throw error;
      });
      if (!stats?.isFile()) continue;
      // `Date.now` instead of the server's own clock (clock.ts), because the file system sets `mtime` by the system clock. An `mtime` that
      // is more than `settleMs` in the future comes from a wrong clock or time zone, as in an archive, and does not delay the import.
      const isSettling = Math.abs(Date.now() - stats.mtimeMs) < settleMs;
      const version = `${stats.size}-${Math.floor(stats.mtimeMs)}`;
      for (const slide of result.slides) {
        const relativePath = path.posix.join(path.posix.dirname(slide.path), name);
        if (isSettling) settlingPaths.add(relativePath);
        else results.push({ imageId: slide.id, name, kind: result.kind, path: relativePath, version });
      }
    }
  } catch (error) {
    if (isMissingFile(error)) return null;
    throw error;
  }
  return { results, settlingPaths };
}
