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
import type { Audit, Origin } from '../audit.ts';
import { createBelief } from '../belief.ts';
import type { Config } from '../config.ts';
import type { Datasets } from '../datasets.ts';
import { opens } from '../domain/image-session.ts';
import { slideRoots } from '../slides/slide-roots.ts';
import type { ServableImage, Slides } from '../slides/slides.ts';
import { change, type Database, timesTaken } from '../store/database.ts';
import {
  type EditableField,
  editableFields,
  findImage,
  hasNoImages,
  type ImageChanges,
  type ImageRow,
  imageOf,
  listImages,
  updateImage,
} from '../store/images.ts';
import { decodePlace, encodePlace } from './cursor.ts';
import { createIntake } from './intake.ts';
import { type Watch, watchFolders } from './watch.ts';

/** Who changes an entry and where from, for the audit trail. */
export interface Editor {
  readonly uid: string;
  readonly origin: Origin;
}

export interface Catalogue {
  /** Looks through the slide folders and goes on watching them; what is new is read behind. */
  start(): Promise<void>;
  /** Looks through the slide folders again; resolves when every file there has its entry, read or not. */
  rescan(): Promise<void>;
  /** Resolves when nothing waits to be read. */
  settled(): Promise<void>;
  /** Whether no file has an entry; one that an administrator removed counts as having one. */
  isEmpty(): Promise<boolean>;
  /** Administrators see every entry that is not removed; all others the ready ones open to them, without `error`. */
  list(
    query: QueryOf<typeof listImagesEndpoint>,
    reader: User,
  ): Promise<ResponseOf<typeof listImagesEndpoint>>;
  /**
   * Changes whenever the list might: viewers ask every half minute, and almost always nothing has happened. Weak,
   * since the list may be compressed on its way.
   */
  etagOf(query: QueryOf<typeof listImagesEndpoint>, reader: User): Promise<string>;
  /** @throws AppError not_found, also for an entry the reader may not see */
  get(imageId: string, reader: User): Promise<Image>;
  /** What is set here survives rescans. @throws AppError not_found */
  update(imageId: string, changes: BodyOf<typeof updateImageEndpoint>, editor: Editor): Promise<Image>;
  /** The file stays. @throws AppError not_found */
  remove(imageId: string, editor: Editor): Promise<void>;
  /** From memory where it was asked for within the last second; null for what may not be shown. */
  servable(imageId: string): ServableImage | null | Promise<ServableImage | null>;
  close(): Promise<void>;
}

interface Ground {
  readonly config: Config;
  readonly db: Database;
  readonly now: () => Date;
  readonly log: Logger;
  readonly audit: Audit;
  readonly slides: Slides;
  readonly datasets: Pick<Datasets, 'closedTo'>;
}

/** A row this old is read again in the background when the image is asked for. */
const renewAfterMs = 500;
const maxKnown = 10_000;
/** Some network file systems tell nobody of changes. */
const rescanEveryMs = 10 * 60_000;

const uuid = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/;

interface Known {
  readonly image: ServableImage | null;
  /** By `performance.now`. */
  readonly readAt: number;
  /** When it was last tried to read it again. */
  triedAt: number;
}

export function createCatalogue({ config, db, now, log, audit, slides, datasets }: Ground): Catalogue {
  const known = new Map<string, Known>();
  const beingRead = new Map<string, Promise<ServableImage | null>>();
  const belief = createBelief(() => performance.now());
  let watching: Watch | null = null;
  let isClosed = false;
  let rescanTimer: NodeJS.Timeout | null = null;

  /** Grows with every change, so that a row that was read before it is not believed after it. */
  let changes = 0;

  /** Nothing of what was known of an image is served any more. */
  function forget(imageId: string): void {
    changes++;
    known.delete(imageId);
    beingRead.delete(imageId);
    slides.forget(imageId);
  }

  const intake = createIntake({ config, db, now, log, audit, slides, onChange: forget });

  /** @throws AppError not_found */
  async function rowOf(imageId: string): Promise<ImageRow> {
    const row = uuid.test(imageId) ? await findImage(db, imageId) : null;
    if (row === null) throw new AppError('not_found');
    return row;
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
      if (entry !== undefined && belief.holds(entry.readAt)) return entry.image;
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

  const rescanInBackground = () => {
    intake
      .rescan()
      .catch((error) => log.error({ err: error }, 'the slide folders could not be looked through'));
  };

  return {
    async start() {
      await intake.rescan({ retryFailed: true });
      if (isClosed) return; // meanwhile
      watching = watchFolders({
        folders: Object.values(slideRoots(config)),
        onChange: rescanInBackground,
        log,
      });
      rescanTimer = setInterval(rescanInBackground, rescanEveryMs).unref();
    },

    rescan: () => intake.rescan(),
    settled: () => intake.settled(),
    isEmpty: () => hasNoImages(db),

    async list({ q, dataset, organ, limit, cursor }, reader) {
      const rows = await listImages(db, {
        status: seesAll(reader) ? null : 'ready',
        search: q?.trim(),
        dataset,
        organ,
        closedDatasets: await datasets.closedTo(reader),
        after: cursor === undefined ? null : decodePlace(cursor),
        limit: limit === undefined ? undefined : limit + 1, // one more tells whether there is a next page
      });
      const page = limit === undefined ? rows : rows.slice(0, limit);
      const last = page.at(-1);
      const hasMore = page.length < rows.length;
      return {
        images: page.map((row) => seenBy(reader, row)),
        next_cursor: hasMore && last ? encodePlace({ sortKey: last.sort_key, id: last.id }) : null,
        ...(page.length === 0 && { message: 'No images found.' }),
      };
    },

    async etagOf({ q, dataset, organ, limit, cursor }, reader) {
      // Before the list: what changes in between is told the next time.
      const revision = await timesTaken(db, 'catalogue');
      const closed = [...(await datasets.closedTo(reader))].sort();
      const seen = JSON.stringify([revision, seesAll(reader), closed, q, dataset, organ, limit, cursor]);
      return `W/"${createHash('sha256').update(seen).digest('base64url')}"`;
    },

    async get(imageId, reader) {
      const row = await rowOf(imageId);
      const isHidden = row.removed_at !== null || (row.status !== 'ready' && !seesAll(reader));
      if (isHidden || !opens({ closedDatasets: await datasets.closedTo(reader) }, row.dataset_name)) {
        throw new AppError('not_found');
      }
      return seenBy(reader, row);
    },

    async update(imageId, changes, editor) {
      const row = await change(db, 'catalogue', async (tx) => {
        const before = uuid.test(imageId) ? await findImage(tx, imageId) : null;
        const isBroughtBack = changes.removed === false && before?.removed_at !== null;
        if (before === null || (before.removed_at !== null && !isBroughtBack))
          throw new AppError('not_found');
        const edited = editableFields.filter((field) => changes[field] !== undefined);
        const after = await updateImage(
          tx,
          imageId,
          {
            ...valuesOf(changes),
            ...(edited.length > 0 && { edited_fields: withEdited(before.edited_fields, edited) }),
            ...(isBroughtBack && { removed_at: null }),
          },
          now().toISOString(),
        );
        if (after === null) throw new AppError('not_found');
        const entry = { actor: editor.uid, target: imageId, origin: editor.origin };
        if (isBroughtBack) await audit.record(tx, { ...entry, action: 'image-restored' });
        if (edited.length > 0) {
          await audit.record(tx, { ...entry, action: 'image-edited', detail: { fields: edited.join(' ') } });
        }
        return after;
      });
      forget(imageId);
      return imageOf(row);
    },

    async remove(imageId, editor) {
      await change(db, 'catalogue', async (tx) => {
        const row = uuid.test(imageId) ? await findImage(tx, imageId) : null;
        if (row === null || row.removed_at !== null) throw new AppError('not_found');
        const at = now().toISOString();
        await updateImage(tx, imageId, { removed_at: at }, at);
        await audit.record(tx, {
          action: 'image-removed',
          actor: editor.uid,
          target: imageId,
          origin: editor.origin,
        });
      });
      forget(imageId);
    },

    servable(imageId) {
      const entry = known.get(imageId);
      if (entry === undefined || !belief.holds(entry.readAt)) {
        return uuid.test(imageId) ? readOrBelieve(imageId) : null;
      }
      const at = performance.now();
      if (at - entry.triedAt >= renewAfterMs) {
        entry.triedAt = at;
        readOnce(imageId).catch((error) => log.warn({ err: error }, 'an image could not be looked up'));
      }
      return entry.image;
    },

    async close() {
      isClosed = true;
      if (rescanTimer !== null) clearInterval(rescanTimer);
      await watching?.close();
      await intake.close();
    },
  };
}

function seesAll(reader: User): boolean {
  return may(reader, 'catalogue.write');
}

function seenBy(reader: User, row: ImageRow): Image {
  const image = imageOf(row);
  return seesAll(reader) ? image : { ...image, error: null };
}

/** An empty text takes a dataset or an organ away. */
function valuesOf(changes: BodyOf<typeof updateImageEndpoint>): ImageChanges {
  return {
    ...(changes.file_name !== undefined && { file_name: changes.file_name }),
    ...(changes.dataset_name !== undefined && { dataset_name: changes.dataset_name || null }),
    ...(changes.organ_type !== undefined && { organ_type: changes.organ_type || null }),
  };
}

function withEdited(before: string, edited: readonly EditableField[]): string {
  return JSON.stringify([...new Set([...(JSON.parse(before) as EditableField[]), ...edited])]);
}
