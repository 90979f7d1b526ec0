/**
 * The catalogue of slides. It keeps its entries in line with the slide folders and the bucket (object storage), and applies
 * the edits by administrators. It lists the entries that a reader (the account of a request) may see.
 *
 * The file is long because scans, lists and edits share the jobs and the cached entries of one catalogue.
 */
import { basename } from 'node:path/posix';
import {
  AppError,
  type BodyOf,
  type Image,
  type listImages as listImagesEndpoint,
  type QueryOf,
  type ResponseOf,
  type User,
  type updateImage as updateImageEndpoint,
} from '@lamina/contract';
import type { Logger } from 'pino';
import type { AuditRecorder } from '../audit/audit-recorder.ts';
import type { Datasets } from '../datasets/datasets.ts';
import { mayViewImage } from '../domain/image-session.ts';
import type { Jobs } from '../jobs/jobs.ts';
import type { Config } from '../platform/config.ts';
import type { Encryption } from '../platform/encryption.ts';
import { createStalenessLimit } from '../platform/staleness-limit.ts';
import type { FolderTree } from '../slide-storage/folder-tree.ts';
import type { ObjectStorage } from '../slide-storage/object-storage.ts';
import { slideRoots } from '../slide-storage/slide-roots.ts';
import { prepareSearch } from '../store/catalogue-search.ts';
import { type Database, runLockedTransaction } from '../store/database.ts';
import { findImage, hasNoImages, type ImageRow } from '../store/images.ts';
import { imageOf } from '../store/listed-image.ts';
import { type ImagePage, listImages } from '../store/listed-images.ts';
import type { ServableImage, Slides } from '../tiles/slides.ts';
import { decodeImageCursor, encodeImageCursor } from './catalogue-cursor.ts';
import { type CatalogueEditor, editImage } from './edit-image.ts';
import { createImageGroups, type ImageGroups } from './image-groups.ts';
import { createIngest } from './ingest.ts';
import { noImages, streamList } from './list-stream.ts';
import { isMetadataName } from './metadata-files.ts';
import { createReaderFilters, imageFor, seesAll } from './reader-filter.ts';
import { type Watch, watchFolders } from './watch.ts';

type ImageList = ResponseOf<typeof listImagesEndpoint>;
type ListQuery = Omit<QueryOf<typeof listImagesEndpoint>, 'limit'>;

export interface Catalogue {
  /** Requests a scan of the slide folders and the bucket, and watches the folders; new files are read in the background. */
  start(): Promise<void>;
  /** Scans the slide folders and the bucket. Resolves when every slide has an entry, even if its files have not been read yet. */
  rescan(): Promise<void>;
  /** Requests a scan without waiting for it. */
  rescanSoon(): void;
  /** Resolves when no scan runs or waits, and no slide waits to be read. */
  settled(): Promise<void>;
  /** Returns whether no entry has an existing file. An entry that an administrator removed counts like any other. */
  isEmpty(): Promise<boolean>;
  /**
   * Returns a page of the list. Administrators see every entry that is not removed; others see only ready entries that
   * they may open, without `error`.
   */
  list(query: ListQuery & { readonly limit: number }, reader: User): Promise<ImageList>;
  /** Returns the JSON of the whole `ImageList`, in parts. @throws AppError invalid_request, before the first part */
  listAll(query: ListQuery, reader: User): Promise<AsyncIterable<string>>;
  /** Returns an ETag that changes whenever the list may have changed. It is weak, because the response may be compressed. */
  etagOf(query: QueryOf<typeof listImagesEndpoint>, reader: User): Promise<string>;
  /** The entries of `list` as the viewer requests them: image counts of groups (one per dataset), and pages of rows. */
  readonly imageGroups: ImageGroups;
  /** Returns an entry. @throws AppError not_found, also for an entry that the reader may not see */
  get(imageId: string, reader: User): Promise<Image>;
  /** Edits an entry; scans keep the edited fields. @throws AppError not_found */
  update(imageId: string, edit: BodyOf<typeof updateImageEndpoint>, editor: CatalogueEditor): Promise<Image>;
  /** Removes an entry; its file stays. @throws AppError not_found */
  remove(imageId: string, editor: CatalogueEditor): Promise<void>;
  /**
   * Returns the data of an image that tile requests need, cached up to the staleness limit (the maximum age of cached data);
   * null when no account may open the image. A cached value is returned directly, without a promise.
   */
  servable(imageId: string): ServableImage | null | Promise<ServableImage | null>;
  /** Evicts images from the caches. Call it after a change to these images has been committed. */
  evict(imageIds: readonly string[]): void;
  close(): Promise<void>;
}

interface CatalogueDependencies {
  readonly config: Config;
  readonly db: Database;
  readonly now: () => Date;
  readonly log: Logger;
  readonly audit: AuditRecorder;
  readonly slides: Slides;
  readonly objectStorage: ObjectStorage | null; // null when the settings name no bucket
  readonly jobs: Jobs;
  readonly datasets: Pick<Datasets, 'inaccessibleTo'>;
  readonly encryption: Pick<Encryption, 'deriveSecret'>;
  /** Called with the listing after each scan of the bucket; searches the listing for result files of analysis programs. */
  readonly onBucketListed: (tree: FolderTree, signal: AbortSignal) => Promise<void>;
}

/** A request for a cached image also starts a refresh in the background if the last refresh started at least this long ago. */
const refreshAfterMs = 500;
const maxCachedImages = 10_000; // when this number is reached, the cache is emptied
/**
 * Delay between the reading of a slide and the search for its result files (the output of analysis programs). During
 * the delay, more slides may be read; one search then covers all of them.
 */
const findResultsDelayMs = 5000;

const uuidPattern = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/;

interface CachedImage {
  readonly image: ServableImage | null; // null when no account may open the image
  /** Time (`performance.now`) when the row of the image was read. */
  readonly readAt: number;
  /** Time (`performance.now`) when the last refresh of this cached image started. */
  refreshTriedAt: number;
}

export function createCatalogue(dependencies: CatalogueDependencies): Catalogue {
  const { config, db, now, log, audit, slides, objectStorage, jobs, datasets, encryption } = dependencies;
  const cachedImages = new Map<string, CachedImage>();
  const runningReads = new Map<string, Promise<ServableImage | null>>();
  const readerFilters = createReaderFilters(db, datasets, encryption);
  const staleness = createStalenessLimit(() => performance.now());
  let watching: Watch | null = null;
  let isClosed = false;

  /** Number of evictions so far. A row that was read while an eviction happened may be outdated and is not cached. */
  let evictionCount = 0;

  function evict(imageId: string): void {
    evictionCount++;
    cachedImages.delete(imageId);
    runningReads.delete(imageId);
    slides.closeSlide(imageId); // closes the files of the slide
  }

  const bucketStore = objectStorage?.store ?? null;
  const ingest = createIngest({
    config,
    db,
    now,
    log,
    audit,
    slides,
    store: bucketStore,
    jobs,
    onChange: evict,
    onBucketListed: dependencies.onBucketListed,
  });

  // `atStart` is true for the scans that start() enqueues; they also retry slides that could not be read before.
  jobs.setWorker('rescan', async ({ atStart }, signal) => {
    await ingest.rescan('folders', { retryFailed: atStart }, signal);
    await jobs.enqueue('find-results', {});
    if (atStart && bucketStore === null) await drawDemoSlidesIfEmpty(); // with a bucket: after the scan of the bucket
  });
  jobs.setWorker('rescan-bucket', async ({ atStart }, signal) => {
    // No job `find-results` follows, because `onBucketListed` searches the listing of this scan for result files.
    // An unreadable bucket may contain slides, so the catalogue does not count as empty.
    const isComplete = await ingest.rescan('bucket', { retryFailed: atStart }, signal);
    if (atStart && isComplete) await drawDemoSlidesIfEmpty();
  });
  jobs.setWorker('read-slide', async ({ imageId, again }, signal) => {
    await ingest.read(imageId, { again }, signal);
    await jobs.enqueue('find-results', {}, findResultsDelayMs);
  });

  /** Returns the row of an entry. @throws AppError not_found */
  async function requireRow(imageId: string): Promise<ImageRow> {
    const row = uuidPattern.test(imageId) ? await findImage(db, imageId) : null;
    if (row === null) throw new AppError('not_found');
    return row;
  }

  async function drawDemoSlidesIfEmpty(): Promise<void> {
    if (config.demo && (await hasNoImages(db))) await jobs.enqueue('draw-demo-slides', {});
  }

  /** Jobs that scan all slide storage: first the folders, then the bucket. */
  const rescanJobs: readonly ('rescan' | 'rescan-bucket')[] =
    bucketStore === null ? ['rescan'] : ['rescan', 'rescan-bucket'];

  function rescanSoon(): void {
    for (const name of rescanJobs) {
      jobs
        .enqueue(name, { atStart: false })
        .catch((error) =>
          log.warn(
            { err: error, job: name },
            'slide scan could not be queued; the next scheduled scan will find the changes',
          ),
        );
    }
  }

  /** Reads an image once for concurrent callers. A call after an eviction starts a new read, even if an older one still runs. */
  function readOnce(imageId: string): Promise<ServableImage | null> {
    const running = runningReads.get(imageId);
    if (running !== undefined) return running;
    const reading = readServable(imageId).finally(() => {
      if (runningReads.get(imageId) === reading) runningReads.delete(imageId);
    });
    runningReads.set(imageId, reading);
    return reading;
  }

  /**
   * Reads an image; while the database is unavailable, returns the cached one.
   *
   * @throws the database error when the image is not cached, or was cached longer ago than the staleness limit
   */
  async function readOrUseCached(imageId: string): Promise<ServableImage | null> {
    try {
      return await readOnce(imageId);
    } catch (error) {
      const cached = cachedImages.get(imageId);
      if (cached !== undefined && staleness.isFresh(cached.readAt, performance.now())) return cached.image;
      throw error;
    }
  }

  async function readServable(imageId: string): Promise<ServableImage | null> {
    const readAt = performance.now();
    const countBefore = evictionCount;
    const row = await staleness.track(() => findImage(db, imageId)); // track() records whether the database answers
    const image =
      row === null || row.removed_at !== null || row.status !== 'ready' || row.fingerprint === null
        ? null
        : {
            id: row.id,
            fileName: row.file_name,
            dataset: row.dataset_name,
            isHidden: row.hidden_at !== null,
            root: row.root,
            path: row.path,
            members: JSON.parse(row.members) as string[], // the other files of the slide; `path` is its main file
            fingerprint: row.fingerprint,
          };
    if (cachedImages.size >= maxCachedImages) cachedImages.clear();
    if (evictionCount === countBefore) cachedImages.set(imageId, { image, readAt, refreshTriedAt: readAt });
    if (image === null) slides.closeSlide(imageId);
    return image;
  }

  return {
    async start() {
      const error = await prepareSearch(db);
      if (error !== null) {
        log.warn(
          { err: error },
          'catalogue search is slow: the PostgreSQL extension pg_trgm or its index could not be created; a database administrator can create the extension',
        );
      }
      for (const name of rescanJobs) await jobs.enqueue(name, { atStart: true });
      if (isClosed) return; // close() was called while the jobs were being enqueued
      watching = watchFolders({
        folders: Object.values(slideRoots(config)),
        onChange: () => void jobs.enqueue('rescan', { atStart: false }),
        log,
      });
    },

    async rescan() {
      for (const name of rescanJobs) await jobs.enqueue(name, { atStart: false });
      for (const name of rescanJobs) await jobs.idle(name);
    },

    rescanSoon,

    async settled() {
      for (const name of rescanJobs) await jobs.idle(name);
      await jobs.idle('read-slide');
    },

    isEmpty: () => hasNoImages(db),

    async list({ limit, cursor, ...query }, reader) {
      const filter = await readerFilters.filterFor(query, reader);
      const after = cursor === undefined ? null : decodeImageCursor(cursor);
      // One more row shows whether there is a next page.
      const rows = await listImages(db, { ...filter, after, limit: limit + 1 });
      const page = rows.slice(0, limit);
      const last = page.at(-1);
      const hasMore = page.length < rows.length;
      return {
        images: page.map((row) => imageFor(reader, row)),
        next_cursor: hasMore && last ? encodeImageCursor({ sortKey: last.sort_key, id: last.id }) : null,
        ...(page.length === 0 && { message: noImages }),
      };
    },

    async listAll({ cursor, ...query }, reader) {
      const after = cursor === undefined ? null : decodeImageCursor(cursor);
      const filter = await readerFilters.filterFor(query, reader);
      const readBatch = (page: Pick<ImagePage, 'after' | 'limit'>) => listImages(db, { ...filter, ...page });
      return streamList(readBatch, after, (row) => imageFor(reader, row));
    },

    async etagOf({ q, dataset, organ, limit, cursor }, reader) {
      // The caller computes the ETag before it reads the list, so a change in between leads to a new ETag in the next response.
      const key = JSON.stringify([await readerFilters.viewKey(reader), q, dataset, organ, limit, cursor]);
      return `W/"${readerFilters.hashOf(key)}"`;
    },

    imageGroups: createImageGroups(db, readerFilters),

    async get(imageId, reader) {
      // This query precedes the query for the entry, so that response times do not reveal invisible entries.
      const inaccessibleDatasets = await datasets.inaccessibleTo(reader);
      const row = await requireRow(imageId);
      const seesEveryEntry = seesAll(reader);
      const isListedForReader = row.removed_at === null && (row.status === 'ready' || seesEveryEntry);
      const rights = { inaccessibleDatasets, seesHidden: seesEveryEntry };
      const image = { dataset: row.dataset_name, isHidden: row.hidden_at !== null };
      if (!isListedForReader || !mayViewImage(rights, image)) throw new AppError('not_found');
      return imageFor(reader, row);
    },

    async update(imageId, edit, editor) {
      const row = await runLockedTransaction(db, 'catalogue', async (tx) => {
        const current = uuidPattern.test(imageId) ? await findImage(tx, imageId) : null;
        if (current === null) throw new AppError('not_found');
        const edited = await editImage(tx, current, edit, editor, now().toISOString());
        await audit.recordAll(tx, edited.auditEntries);
        return edited.row;
      });
      evict(imageId);
      return imageOf(row);
    },

    async remove(imageId, editor) {
      let isMetadataFile = false;
      await runLockedTransaction(db, 'catalogue', async (tx) => {
        const row = uuidPattern.test(imageId) ? await findImage(tx, imageId) : null;
        if (row === null || row.removed_at !== null) throw new AppError('not_found');
        const edited = await editImage(tx, row, { removed: true }, editor, now().toISOString());
        await audit.recordAll(tx, edited.auditEntries);
        isMetadataFile = isMetadataName(basename(row.path));
      });
      evict(imageId);
      // An entry may stand for an unusable metadata file (`catalogue.csv`). After its removal, scans no longer expect the file.
      if (isMetadataFile) rescanSoon();
    },

    servable(imageId) {
      const cached = cachedImages.get(imageId);
      const nowMs = performance.now();
      if (cached === undefined || !staleness.isFresh(cached.readAt, nowMs)) {
        return uuidPattern.test(imageId) ? readOrUseCached(imageId) : null;
      }
      if (nowMs - cached.refreshTriedAt >= refreshAfterMs) {
        cached.refreshTriedAt = nowMs;
        readOnce(imageId).catch((error) =>
          log.warn(
            { err: error, imageId },
            'cached catalogue entry of an image could not be refreshed; the old entry stays in use, and the next request retries',
          ),
        );
      }
      return cached.image;
    },

    evict(imageIds) {
      for (const imageId of imageIds) evict(imageId);
    },

    async close() {
      isClosed = true;
      ingest.close();
      await watching?.close();
    },
  };
}
