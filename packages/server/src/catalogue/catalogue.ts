/** The catalogue of slides: what lies in the slide folders, what administrators say of it, who may see what. */
import { createHash } from 'node:crypto';
import {
  AppError,
  type BodyOf,
  type Image,
  type listImages as listImagesEndpoint,
  may,
  type QueryOf,
  type ResponseOf,
  type User,
  type updateImage as updateImageEndpoint,
} from '@lamina/contract';
import type { Logger } from 'pino';
import type { Audit } from '../audit.ts';
import { createBelief } from '../belief.ts';
import type { Config } from '../config.ts';
import type { Datasets } from '../datasets.ts';
import { openStretches } from '../domain/catalogue-order.ts';
import { opens } from '../domain/image-session.ts';
import type { Jobs } from '../jobs/jobs.ts';
import type { ObjectStorage } from '../slides/object-storage.ts';
import { slideRoots } from '../slides/slide-roots.ts';
import type { ServableImage, Slides } from '../slides/slides.ts';
import { prepareSearch } from '../store/catalogue-search.ts';
import { change, type Database, timesTaken } from '../store/database.ts';
import {
  findImage,
  hasNoImages,
  type ImageFilter,
  type ImageRow,
  imageOf,
  type ListedImage,
  listDatasetNames,
  listImages,
} from '../store/images.ts';
import { decodePlace, encodePlace } from './cursor.ts';
import { type Editor, editImage } from './edit-image.ts';
import { createIntake } from './intake.ts';
import { createKeptLists } from './kept-lists.ts';
import { type Watch, watchFolders } from './watch.ts';
import { listAsJson, noImages, partsOfList } from './whole-list.ts';

type ImageList = ResponseOf<typeof listImagesEndpoint>;
/** In one of two ways. */
export type LongText =
  | { readonly parts: AsyncIterable<string> }
  | { readonly brotli: AsyncIterable<Uint8Array> };
type ListQuery = Omit<QueryOf<typeof listImagesEndpoint>, 'limit'>;

export interface Catalogue {
  /** Asks for a look through the slide folders and goes on watching them; what is new is read behind. */
  start(): Promise<void>;
  /** Has the slide folders looked through; resolves when every file there has its entry, read or not. */
  rescan(): Promise<void>;
  /** Resolves when nothing waits to be read. */
  settled(): Promise<void>;
  /** Whether no file has an entry; one that an administrator removed counts as having one. */
  isEmpty(): Promise<boolean>;
  /** Administrators see every entry that is not removed; all others the ready ones open to them, without `error`. */
  list(query: ListQuery & { readonly limit: number }, reader: User): Promise<ImageList>;
  /** The same without a limit: an `ImageList` as JSON, in parts. @throws AppError invalid_request, before any part */
  listAll(query: ListQuery, reader: User): Promise<LongText>;
  /**
   * Changes whenever the list might: viewers ask every half minute, and almost always nothing has happened. Weak,
   * since the list may be compressed on its way.
   */
  etagOf(query: QueryOf<typeof listImagesEndpoint>, reader: User): Promise<string>;
  /** @throws AppError not_found, also for an entry the reader may not see */
  get(imageId: string, reader: User): Promise<Image>;
  /** What is set here survives rescans. @throws AppError not_found */
  update(imageId: string, edit: BodyOf<typeof updateImageEndpoint>, editor: Editor): Promise<Image>;
  /** The file stays. @throws AppError not_found */
  remove(imageId: string, editor: Editor): Promise<void>;
  /** From memory where it was asked for within the last second; null for what may not be shown. */
  servable(imageId: string): ServableImage | null | Promise<ServableImage | null>;
  /** After a change of these has been committed: nothing of what was known of them is served any more. */
  forget(imageIds: readonly string[]): void;
  close(): Promise<void>;
}

interface Ground {
  readonly config: Config;
  readonly db: Database;
  readonly now: () => Date;
  readonly log: Logger;
  readonly audit: Audit;
  readonly slides: Slides;
  readonly objectStorage: ObjectStorage | null;
  readonly jobs: Jobs;
  readonly datasets: Pick<Datasets, 'closedTo'>;
}

/** A row this old is read again in the background when the image is asked for. */
const renewAfterMs = 500;
const maxKnown = 10_000;

const uuid = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/;

/** So many entries are worth being kept for the next one who asks. */
const longList = 1000;

interface Known {
  readonly image: ServableImage | null;
  /** By `performance.now`. */
  readonly readAt: number;
  /** When it was last tried to read it again. */
  triedAt: number;
}

export function createCatalogue(ground: Ground): Catalogue {
  const { config, db, now, log, audit, slides, objectStorage, jobs, datasets } = ground;
  const known = new Map<string, Known>();
  const beingRead = new Map<string, Promise<ServableImage | null>>();
  const lists = createKeptLists();
  const belief = createBelief(() => performance.now());
  let watching: Watch | null = null;
  let isClosed = false;

  /** Grows with every change, so that a row that was read before it is not believed after it. */
  let changes = 0;

  /** Nothing of what was known of an image is served any more. */
  function forget(imageId: string): void {
    changes++;
    known.delete(imageId);
    beingRead.delete(imageId);
    slides.forget(imageId);
  }

  const store = objectStorage?.store ?? null;
  const intake = createIntake({ config, db, now, log, audit, slides, store, jobs, onChange: forget });

  jobs.on('rescan', async ({ atStart }, signal) => {
    await intake.rescan('folders', { retryFailed: atStart }, signal);
    if (atStart && store === null) await drawWhereNothingIs();
  });
  jobs.on('rescan-bucket', async ({ atStart }, signal) => {
    const isKnown = await intake.rescan('bucket', { retryFailed: atStart }, signal);
    if (atStart && isKnown) await drawWhereNothingIs();
  });
  jobs.on('read-slide', ({ imageId, again }, signal) => intake.read(imageId, { again }, signal));

  /** @throws AppError not_found */
  async function rowOf(imageId: string): Promise<ImageRow> {
    const row = uuid.test(imageId) ? await findImage(db, imageId) : null;
    if (row === null) throw new AppError('not_found');
    return row;
  }

  async function drawWhereNothingIs(): Promise<void> {
    if (config.demo && (await hasNoImages(db))) await jobs.ask('draw-demo-slides', {});
  }

  /** Jobs that look through all places where slides lie; the bucket after the folders. */
  const rescans: readonly ('rescan' | 'rescan-bucket')[] =
    store === null ? ['rescan'] : ['rescan', 'rescan-bucket'];

  let knownDatasets: { readonly revision: number; readonly names: readonly string[] } | null = null;

  /** Asked for anew when the catalogue has changed. */
  async function datasetNames(): Promise<readonly string[]> {
    const revision = await timesTaken(db, 'catalogue');
    if (knownDatasets?.revision !== revision) knownDatasets = { revision, names: await listDatasetNames(db) };
    return knownDatasets.names;
  }

  /** Of a list as its reader sees it now: the same list has the same key, and what changes it changes the key. */
  async function listKey(
    { q, dataset, organ, limit, cursor }: QueryOf<typeof listImagesEndpoint>,
    reader: User,
  ): Promise<string> {
    const revision = await timesTaken(db, 'catalogue');
    const closed = [...(await datasets.closedTo(reader))].sort();
    return JSON.stringify([revision, seesAll(reader), closed, q, dataset, organ, limit, cursor]);
  }

  async function filterFor(
    { q, dataset, organ }: ListQuery,
    reader: User,
  ): Promise<Omit<ImageFilter, 'after' | 'limit'>> {
    const closedDatasets = await datasets.closedTo(reader);
    return {
      status: seesAll(reader) ? null : 'ready',
      evenHidden: seesAll(reader),
      search: q?.trim(),
      dataset,
      organ,
      closedDatasets,
      stretches: closedDatasets.size === 0 ? null : openStretches(await datasetNames(), closedDatasets),
    };
  }

  /** Once for all who ask at the same time. */
  function readOnce(imageId: string): Promise<ServableImage | null> {
    const underWay = beingRead.get(imageId);
    if (underWay !== undefined) return underWay;
    const reading = readServable(imageId).finally(() => {
      if (beingRead.get(imageId) === reading) beingRead.delete(imageId);
    });
    beingRead.set(imageId, reading);
    return reading;
  }

  /** @throws when the database does not answer, and has not for a while */
  async function readOrBelieve(imageId: string): Promise<ServableImage | null> {
    try {
      return await readOnce(imageId);
    } catch (error) {
      const entry = known.get(imageId);
      if (entry !== undefined && belief.holds(entry.readAt, performance.now())) return entry.image;
      throw error;
    }
  }

  async function readServable(imageId: string): Promise<ServableImage | null> {
    const readAt = performance.now();
    const changesBefore = changes;
    const row = await belief.ask(() => findImage(db, imageId));
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
            members: JSON.parse(row.members) as string[],
            fingerprint: row.fingerprint,
          };
    if (known.size >= maxKnown) known.clear();
    if (changes === changesBefore) known.set(imageId, { image, readAt, triedAt: readAt });
    if (image === null) slides.forget(imageId);
    return image;
  }

  return {
    async start() {
      const hindrance = await prepareSearch(db);
      if (hindrance !== null) {
        log.warn(
          { err: hindrance },
          'searching goes through every entry: the extension pg_trgm, or the index made with it, could not be made',
        );
      }
      for (const name of rescans) await jobs.ask(name, { atStart: true });
      if (isClosed) return; // meanwhile
      watching = watchFolders({
        folders: Object.values(slideRoots(config)),
        onChange: () => void jobs.ask('rescan', { atStart: false }),
        log,
      });
    },

    async rescan() {
      for (const name of rescans) await jobs.ask(name, { atStart: false });
      for (const name of rescans) await jobs.idle(name);
    },

    async settled() {
      for (const name of rescans) await jobs.idle(name);
      await jobs.idle('read-slide');
    },

    isEmpty: () => hasNoImages(db),

    async list({ limit, cursor, ...query }, reader) {
      const filter = await filterFor(query, reader);
      const after = cursor === undefined ? null : decodePlace(cursor);
      // One more tells whether there is a next page.
      const rows = await listImages(db, { ...filter, after, limit: limit + 1 });
      const page = rows.slice(0, limit);
      const last = page.at(-1);
      const hasMore = page.length < rows.length;
      return {
        images: page.map((row) => seenBy(reader, row)),
        next_cursor: hasMore && last ? encodePlace({ sortKey: last.sort_key, id: last.id }) : null,
        ...(page.length === 0 && { message: noImages }),
      };
    },

    async listAll({ cursor, ...query }, reader) {
      const after = cursor === undefined ? null : decodePlace(cursor);
      const key = await listKey({ ...query, cursor }, reader);
      const filter = await filterFor(query, reader);
      const pageOf = (page: Pick<ImageFilter, 'after' | 'limit'>) => listImages(db, { ...filter, ...page });
      const make = () => listAsJson(partsOfList(pageOf, after), (row) => seenBy(reader, row));
      const isLong = (await pageOf({ after, limit: longList })).length === longList;
      return isLong ? { brotli: lists.get(key, make) } : { parts: make() };
    },

    async etagOf(query, reader) {
      // Before the list: what changes in between is told the next time.
      const key = await listKey(query, reader);
      return `W/"${createHash('sha256').update(key).digest('base64url')}"`;
    },

    async get(imageId, reader) {
      const row = await rowOf(imageId);
      const seesHidden = seesAll(reader);
      const isListed = row.removed_at === null && (row.status === 'ready' || seesHidden);
      const place = { dataset: row.dataset_name, isHidden: row.hidden_at !== null };
      if (!isListed || !opens({ closedDatasets: await datasets.closedTo(reader), seesHidden }, place)) {
        throw new AppError('not_found');
      }
      return seenBy(reader, row);
    },

    async update(imageId, edit, editor) {
      const row = await change(db, 'catalogue', async (tx) => {
        const before = uuid.test(imageId) ? await findImage(tx, imageId) : null;
        if (before === null) throw new AppError('not_found');
        const edited = await editImage(tx, before, edit, editor, now().toISOString());
        await audit.recordAll(tx, edited.entries);
        return edited.row;
      });
      forget(imageId);
      return imageOf(row);
    },

    async remove(imageId, editor) {
      await change(db, 'catalogue', async (tx) => {
        const row = uuid.test(imageId) ? await findImage(tx, imageId) : null;
        if (row === null || row.removed_at !== null) throw new AppError('not_found');
        const edited = await editImage(tx, row, { removed: true }, editor, now().toISOString());
        await audit.recordAll(tx, edited.entries);
      });
      forget(imageId);
    },

    servable(imageId) {
      const entry = known.get(imageId);
      const at = performance.now();
      if (entry === undefined || !belief.holds(entry.readAt, at)) {
        return uuid.test(imageId) ? readOrBelieve(imageId) : null;
      }
      if (at - entry.triedAt >= renewAfterMs) {
        entry.triedAt = at;
        readOnce(imageId).catch((error) => log.warn({ err: error }, 'an image could not be looked up'));
      }
      return entry.image;
    },

    forget(imageIds) {
      for (const imageId of imageIds) forget(imageId);
    },

    async close() {
      isClosed = true;
      intake.close();
      await watching?.close();
    },
  };
}

function seesAll(reader: User): boolean {
  return may(reader, 'catalogue.write');
}

function seenBy(reader: User, row: ListedImage): Image {
  const image = imageOf(row);
  return seesAll(reader) ? image : { ...image, error: null };
}
