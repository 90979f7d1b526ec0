/**
 * Original files of slides: who may download them, and their bytes, de-identified on the way.
 *
 * All downloads together read and send one block in each turn of the event loop, so that a tile waits for one block at most.
 */
import { AppError, may } from '@lamina/contract';
import {
  type ObjectReader,
  type OpenOriginal,
  type OriginalFile,
  type OriginalPlan,
  openOriginal,
  planOriginals,
  type SlideLocation,
} from '@lamina/slide';
import type { AuditRecorder, Origin } from '../audit/audit-recorder.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import type { ByteRange } from '../domain/byte-range.ts';
import type { Reader } from '../domain/dataset-access.ts';
import type { Config } from '../platform/config.ts';
import { createTurns } from '../platform/event-loop-turns.ts';
import { hashSecret } from '../platform/secrets.ts';
import { locate } from '../slide-storage/slide-roots.ts';
import type { Database } from '../store/database.ts';
import { mayDownload } from '../store/dataset-grants.ts';
import { findDataset } from '../store/datasets.ts';
import type { ServableImage } from '../tiles/slides.ts';

export interface Originals {
  /**
   * Returns the files of a slide that the account may download.
   *
   * @throws AppError not_found, forbidden, not_deidentifiable; SlideError
   */
  find(reader: Reader, imageId: string): Promise<Original>;
  /**
   * Records a download in the audit log: each that begins with the first byte, and the first part of a file in an hour.
   */
  record(original: Original, file: OriginalFile, download: RecordedDownload): Promise<void>;
  /**
   * Returns the bytes of a part of a file in blocks.
   *
   * @throws AppError rate_limited when too many downloads are in progress; SlideError
   */
  read(original: Original, file: OriginalFile, part: RequestedPart): Promise<AsyncIterable<Uint8Array>>;
}

export interface Original {
  readonly image: ServableImage;
  readonly location: SlideLocation;
  readonly plan: OriginalPlan;
}

interface RequestedPart extends ByteRange {
  readonly uid: string;
  readonly signal: AbortSignal;
}

interface RecordedDownload {
  readonly uid: string;
  /** First characters of the API token; null for a sign-in. */
  readonly token: string | null;
  readonly range: ByteRange;
  readonly origin: Origin;
}

interface Dependencies {
  readonly config: Config;
  readonly db: Database;
  readonly now: () => Date;
  readonly audit: Pick<AuditRecorder, 'note'>;
  readonly catalogue: Pick<Catalogue, 'get' | 'servable'>;
  readonly objects: ObjectReader | null;
}

/** Changes when the same file would give other bytes than before, because the rules of de-identification changed. */
const rulesVersion = 1;
/** Reading and sending one takes about as long as a tile. */
const blockBytes = 64 * 1024;
/** Blocks that are read at once, over all downloads. */
const readsAtOnce = 2;
const plansAtOnce = 2;
const maxDownloads = 64;
const maxDownloadsPerAccount = 16;
const maxPlans = 200;
const hourMs = 60 * 60_000;
const maxRecorded = 10_000;

/** Returns the ETag of a file; parts with the same tag belong together. */
export function etagOfOriginal({ image, plan }: Original, file: OriginalFile): string {
  const mode = plan.identifiable === null ? 'deidentified' : 'identifiable';
  const key = [rulesVersion, mode, image.id, plan.fingerprint, file.path, file.size];
  return `"${hashSecret(JSON.stringify(key)).slice(0, 32)}"`;
}

/** One closure of more than 60 lines: plans, downloads and their limits share their state. */
export function createOriginals({ config, db, now, audit, catalogue, objects }: Dependencies): Originals {
  const plans = new Map<string, Promise<OriginalPlan>>();
  const downloads = new Map<string, number>();
  const recorded = new Set<string>();
  const reading = createSemaphore(readsAtOnce);
  const turn = createTurns();
  const planning = createSemaphore(plansAtOnce);
  let running = 0;

  async function locationOf({ root, path, members }: ServableImage): Promise<SlideLocation> {
    if (root === 'bucket') return { path, isObject: true, members };
    const found = await locate(config, { root, path });
    if (found === null) throw new AppError('not_found');
    return { path: found, members };
  }

  function planOf(image: ServableImage, location: SlideLocation): Promise<OriginalPlan> {
    const key = `${image.id} ${image.fingerprint}`;
    const known = plans.get(key);
    if (known !== undefined) return known;
    for (const oldest of plans.keys()) if (plans.size >= maxPlans) plans.delete(oldest);
    const plan = planning(() => planOriginals(location, objects, image.id));
    plans.set(key, plan);
    plan.catch(() => plans.delete(key));
    return plan;
  }

  function begin(uid: string): () => void {
    const own = downloads.get(uid) ?? 0;
    if (running >= maxDownloads || own >= maxDownloadsPerAccount) {
      throw new AppError('rate_limited', { retryAfterSeconds: 1 });
    }
    running++;
    downloads.set(uid, own + 1);
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      running--;
      const left = (downloads.get(uid) ?? 1) - 1;
      if (left > 0) downloads.set(uid, left);
      else downloads.delete(uid);
    };
  }

  /** Ends the download when the last block was read, reading fails, or the response is over, also before the first block. */
  function blocksOf(
    open: OpenOriginal,
    { start, end, signal }: RequestedPart,
    finish: () => void,
  ): AsyncIterable<Uint8Array> {
    let at = start;
    async function finished(): Promise<IteratorReturnResult<undefined>> {
      at = Number.POSITIVE_INFINITY;
      finish();
      await open.close();
      return { done: true, value: undefined };
    }
    return {
      [Symbol.asyncIterator]: () => ({
        async next() {
          if (at > end) return finished();
          const from = at;
          const length = Math.min(blockBytes, end + 1 - from);
          at += length;
          await turn(); // tile requests that have arrived come first
          try {
            return { done: false, value: await reading(() => open.read(from, length, signal)) };
          } catch (error) {
            await finished();
            throw error;
          }
        },
        return: finished,
      }),
    };
  }

  return {
    async find(reader, imageId) {
      const { dataset_name: dataset } = await catalogue.get(imageId, reader);
      const image = await catalogue.servable(imageId);
      if (image === null) throw new AppError('not_found');
      if (
        !may(reader, 'slides.download') ||
        dataset === null ||
        !(await mayDownload(db, reader.uid, dataset))
      ) {
        throw new AppError('forbidden');
      }
      const location = await locationOf(image);
      const plan = await planOf(image, location);
      if (plan.identifiable !== null) {
        const isAllowed = (await findDataset(db, dataset))?.identifiable_originals === 1;
        if (!isAllowed || plan.files.length === 0) throw new AppError('not_deidentifiable');
      }
      return { image, location, plan };
    },

    async record({ image, plan }, file, { uid, token, range, origin }) {
      const hour = Math.floor(now().getTime() / hourMs);
      const key = [uid, token, image.id, file.path, hour].join('\n');
      if (range.start > 0 && recorded.has(key)) return;
      await audit.note({
        action: 'original-downloaded',
        actor: uid,
        target: image.id,
        detail: {
          file_name: image.fileName,
          file: file.path,
          from: range.start,
          to: range.end,
          identifiable: plan.identifiable !== null,
          ...(token !== null && { token }),
        },
        origin,
      });
      if (recorded.size >= maxRecorded) recorded.clear();
      recorded.add(key);
    },

    async read({ location, plan }, file, part) {
      const finish = begin(part.uid);
      try {
        return blocksOf(await openOriginal(location, objects, plan, file), part, finish);
      } catch (error) {
        finish();
        throw error;
      }
    },
  };
}

/** Returns a function that runs work, so much of it at once; further work waits in order. */
function createSemaphore(most: number): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (work) => {
    if (running >= most) await new Promise<void>((resolve) => waiting.push(resolve));
    else running++;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) running--;
      else next();
    }
  };
}
