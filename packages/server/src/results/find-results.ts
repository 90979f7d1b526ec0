/**
 * Results that lie beside slides become layers, and stop being ones when their file is gone: of folders by the job
 * `find-results`, of a bucket with each scan of it, whose listing answers everything.
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
  deleteResultLayerRow,
  insertResultLayer,
  listFoundResultLayers,
  listSlidesInBucket,
  listSlidesOnDisk,
  newResultColumns,
  type ResultLayerRow,
  type SlideInBucket,
  type SlideOnDisk,
  updateResultLayer,
} from '../store/result-layers.ts';
import { layersWithFile, type ResultFiles } from './result-files.ts';

interface Dependencies {
  readonly config: Config;
  readonly db: Database;
  readonly now: () => Date;
  readonly log: Logger;
  readonly jobs: Pick<Jobs, 'setWorker' | 'enqueue'>;
  readonly files: ResultFiles;
}

/** A result beside a slide. */
interface FoundResult {
  readonly imageId: string;
  readonly name: string;
  readonly kind: 'raster' | 'vector';
  /** Below the root of the slide. */
  readonly place: string;
  readonly version: string;
}

/** A file that changed less than this ago may not be complete. */
const settleMs = 2000;

interface ResultSearch {
  /** Looks for results beside the slides of the bucket. A failure is logged: the next scan looks again. */
  inBucket(tree: FolderTree, signal: AbortSignal): Promise<void>;
}

export function registerFindResults({ config, db, now, log, jobs, files }: Dependencies): ResultSearch {
  jobs.setWorker('find-results', async (_, signal) => {
    const known = Map.groupBy(await listFoundResultLayers(db), ({ image_id }) => image_id);
    const present = new Set(await layersWithFile(files.folder));
    const folders = Map.groupBy(await listSlidesOnDisk(db), ({ root, path: file }) =>
      path.join(slideRoots(config)[root], path.posix.dirname(file)),
    );
    let isSettling = false;
    for (const [folder, slides] of folders) {
      signal.throwIfAborted();
      const found = await resultsIn(folder, slides);
      if (found === null) continue; // unreadable now: layers stay
      if (found.isSettling) isSettling = true;
      for (const slide of slides) {
        const layers = known.get(slide.id) ?? [];
        const results = found.results.filter(({ imageId }) => imageId === slide.id);
        await reconcile(layers, results, present);
      }
    }
    if (isSettling) await jobs.enqueue('find-results', {}, settleMs * 2);
  });

  async function searchBucket(tree: FolderTree, signal: AbortSignal): Promise<void> {
    const slides = await listSlidesInBucket(db);
    if (slides.length === 0) return;
    const known = Map.groupBy(await listFoundResultLayers(db), ({ image_id }) => image_id);
    const present = new Set(await layersWithFile(files.folder));
    for (const [folder, beside] of Map.groupBy(slides, ({ path: key }) => folderOf(key))) {
      signal.throwIfAborted();
      const results = await resultsInBucket(tree, folder, beside);
      for (const { id } of beside) {
        const found = results.filter(({ imageId }) => imageId === id);
        await reconcile(known.get(id) ?? [], found, present);
      }
    }
  }

  async function reconcile(
    layers: readonly ResultLayerRow[],
    results: readonly FoundResult[],
    present: ReadonlySet<string>,
  ): Promise<void> {
    for (const layer of layers) {
      const same = results.find(
        ({ place, version }) => place === layer.source_path && version === layer.source_version,
      );
      if (same === undefined) {
        await deleteResultLayerRow(db, layer.id);
        await files.remove(layer.id);
      } else if (layer.state === 'ready' && !present.has(layer.id)) {
        // The file is missing after a restore without uploads.
        await updateResultLayer(db, layer.id, { state: 'queued' }, ['ready']);
        await jobs.enqueue('import-result', { layerId: layer.id });
      }
    }
    for (const result of results) {
      const isKnown = layers.some(
        ({ source_path, source_version }) =>
          source_path === result.place && source_version === result.version,
      );
      if (!isKnown) await add(result);
    }
  }

  async function add({ imageId, name, kind, place, version }: FoundResult): Promise<void> {
    const at = now().toISOString();
    const id = randomUUID();
    await db.transaction().execute((tx) =>
      insertResultLayer(tx, {
        ...newResultColumns,
        id,
        image_id: imageId,
        name,
        kind,
        owner_uid: null,
        source: 'folder',
        source_path: place,
        source_version: version,
        state: 'queued',
        created_at: at,
        updated_at: at,
      }),
    );
    log.info(
      { image: imageId, layer: id, file: place },
      'result file found beside a slide; its import is queued',
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
          { err: error },
          'search for result files in the bucket failed; the next scan searches again',
        );
      }
    },
  };
}

/** Returns the folder of a key; '' is the bucket. */
function folderOf(key: string): string {
  const folder = path.posix.dirname(key);
  return folder === '.' ? '' : folder;
}

function slidesByName<Slide extends SlideInBucket>(slides: readonly Slide[]): ReadonlyMap<string, Slide> {
  const byName = new Map<string, Slide>();
  for (const slide of slides) {
    const name = path.posix.basename(slide.path);
    byName.set(name.toLowerCase(), slide);
    byName.set(slideStemOf(name), slide);
  }
  return byName;
}

async function resultsInBucket(
  tree: FolderTree,
  folder: string,
  slides: readonly SlideInBucket[],
): Promise<FoundResult[]> {
  const byName = slidesByName(slides);
  const results: FoundResult[] = [];
  for (const entry of (await tree.entriesOf(folder)) ?? []) {
    const result = entry.kind === 'file' ? resultNameOf(entry.name) : null;
    const slide = result && byName.get(result.slide);
    if (!slide || path.posix.basename(slide.path) === entry.name) continue;
    const object = await tree.find(folder, entry);
    if (object?.kind !== 'file') continue;
    const { realPlace: place, version } = object;
    results.push({ imageId: slide.id, name: entry.name, kind: result.kind, place, version });
  }
  return results;
}

async function resultsIn(
  folder: string,
  slides: readonly SlideOnDisk[],
): Promise<{ readonly results: FoundResult[]; readonly isSettling: boolean } | null> {
  const byName = slidesByName(slides);
  const results: FoundResult[] = [];
  let isSettling = false;
  try {
    for (const name of (await fs.readdir(folder)).sort()) {
      const result = resultNameOf(name);
      const slide = result && byName.get(result.slide);
      if (!slide || path.posix.basename(slide.path) === name) continue;
      const stats = await fs.stat(path.join(folder, name));
      if (!stats.isFile()) continue;
      if (Date.now() - stats.mtimeMs < settleMs) {
        isSettling = true;
        continue;
      }
      results.push({
        imageId: slide.id,
        name,
        kind: result.kind,
        place: path.posix.join(path.posix.dirname(slide.path), name),
        version: `${stats.size}-${Math.floor(stats.mtimeMs)}`,
      });
    }
  } catch (error) {
    if (isMissingFile(error)) return null;
    throw error;
  }
  return { results, isSettling };
}
