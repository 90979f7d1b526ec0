/**
 * Downloads of original slide files (routes/originals.ts): checks who may download them, and reads their bytes. The server replaces
 * identifying bytes while it sends a file. It sends a file that cannot be de-identified only if the dataset allows this.
 *
 * Downloads must not delay requests for tiles. So in each turn of the event loop, all downloads together begin at most one read, of a
 * block of up to 64 KiB, and at most two reads are in progress at the same time. So the work of one block at most precedes a tile request.
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
import type { Encryption } from '../platform/encryption.ts';
import { createTurns } from '../platform/event-loop-turns.ts';
import { hashSecret } from '../platform/secrets.ts';
import type { ImageSessions } from '../sessions/image-sessions.ts';
import type { SignInService } from '../sessions/sign-in-service.ts';
import { locate } from '../slide-storage/slide-roots.ts';
import type { Database } from '../store/database.ts';
import { mayDownload } from '../store/dataset-grants.ts';
import { findDataset } from '../store/datasets.ts';
import type { ServableImage } from '../tiles/slides.ts';

export interface Originals {
  /**
   * Returns the files of a slide, if the account may download them.
   *
   * @throws AppError not_found, forbidden; not_deidentifiable when the files cannot be de-identified; SlideError
   */
  find(reader: Reader, imageId: string): Promise<Original>;
  /**
   * Records a download in the audit log, if it starts at the first byte, or if it is the first part of the file in this hour that this
   * process sends to the account or API token.
   */
  record(original: Original, file: OriginalFile, download: RecordedDownload): Promise<void>;
  /**
   * Returns the bytes of a part of a file as a stream of blocks. The stream fails within a second after the account has lost the
   * right to download the file: a download may take hours.
   *
   * @throws AppError rate_limited when too many downloads are in progress; SlideError
   */
  read(original: Original, file: OriginalFile, part: RequestedPart): Promise<AsyncIterable<Uint8Array>>;
}

export interface Original {
  readonly image: ServableImage;
  readonly location: SlideLocation;
  /** The files of the slide and the bytes to replace in them. `notDeidentifiedBecause`: null if the files can be de-identified. */
  readonly plan: OriginalPlan;
  /** When the rights of the account were read: time (`performance.now`) and result of `countChanges`, both before the query. */
  readonly rightsRead: RightsRead;
}

interface RightsRead {
  readonly at: number;
  readonly changeCount: number;
}

interface RequestedPart extends ByteRange {
  readonly uid: string; // of the account that downloads
  readonly tokenHash: string; // hash of its bearer token
  readonly signal: AbortSignal; // aborted when the client disconnects
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
  readonly audit: Pick<AuditRecorder, 'recordSeparately'>;
  readonly catalogue: Pick<Catalogue, 'get' | 'servable'>;
  /** Reads slides in the bucket; null if there is no object storage. */
  readonly objects: ObjectReader | null;
  readonly encryption: Pick<Encryption, 'deriveSecret'>;
  readonly signIn: Pick<SignInService, 'currentHolder'>;
  readonly imageSessions: Pick<ImageSessions, 'countChanges'>; // the number of revocations that this process has made
}

/** Version of the de-identification rules, part of the ETag. Increase it when new rules change the sent bytes. */
const rulesVersion = 3;
/** Reading and sending a block of this size takes about as long as reading and sending a tile. */
const blockBytes = 64 * 1024;
/** Maximum number of blocks that all downloads read at the same time. */
const maxConcurrentReads = 2;
/** Maximum number of plans (`Original.plan`) in preparation, because preparing one reads the files of the slide. */
const maxConcurrentPlans = 2;
/** Maximum number of downloads in progress. */
const maxDownloads = 64;
const maxDownloadsPerAccount = 16;
const maxCachedPlans = 200;
const hourMs = 60 * 60_000;
/** Interval at which the rights of a running download are checked: a revocation in another process takes effect within a second. */
const recheckAfterMs = 500;
/** Size at which `recordedKeys` is cleared, which bounds its memory. */
const maxRecordedKeys = 10_000;

/** Returns the ETag of a file. Parts with equal ETags come from identical files, so a client may join them. */
export function etagOfOriginal({ image, plan }: Original, file: OriginalFile): string {
  const mode = plan.notDeidentifiedBecause === null ? 'deidentified' : 'identifiable';
  const key = [rulesVersion, mode, image.id, plan.fingerprint, file.path, file.size];
  // `hashSecret` returns a SHA-256 in base64url; 32 characters of it are 192 bits. The key contains no secret.
  return `"${hashSecret(JSON.stringify(key)).slice(0, 32)}"`;
}

/** The function is long because plans, downloads and their limits share their state. */
export function createOriginals(dependencies: Dependencies): Originals {
  const { config, db, now, audit, catalogue, objects, encryption, signIn, imageSessions } = dependencies;
  /** Plans by image id and fingerprint (a value that changes with the file), oldest first. */
  const cachedPlans = new Map<string, Promise<OriginalPlan>>();
  /** Number of downloads in progress by uid. */
  const downloadCounts = new Map<string, number>();
  /** Keys of the downloads that this process has recorded: account, token, image, file and hour. */
  const recordedKeys = new Set<string>();
  const runWithinReadLimit = createSemaphore(maxConcurrentReads);
  const waitForTurn = createTurns(); // resolves one waiting call in each turn of the event loop
  const runWithinPlanLimit = createSemaphore(maxConcurrentPlans);
  let downloadCount = 0;

  async function locationOf({ root, path, members }: ServableImage): Promise<SlideLocation> {
    if (root === 'bucket') return { path, isObject: true, members };
    const filePath = await locate(config, { root, path });
    if (filePath === null) throw new AppError('not_found');
    return { path: filePath, members };
  }

  function planOf(image: ServableImage, location: SlideLocation): Promise<OriginalPlan> {
    const key = `${image.id} ${image.fingerprint}`;
    const cachedPlan = cachedPlans.get(key);
    if (cachedPlan !== undefined) return cachedPlan;
    for (const oldestKey of cachedPlans.keys())
      if (cachedPlans.size >= maxCachedPlans) cachedPlans.delete(oldestKey);
    // The secret key of the server is part of the salt. With the image id alone, anyone who knows the id could compute the DICOM UIDs
    // that replace those of the file.
    const salt = encryption.deriveSecret(`UIDs of ${image.id}`);
    const plan = runWithinPlanLimit(() => planOriginals(location, objects, salt));
    cachedPlans.set(key, plan);
    plan.catch(() => cachedPlans.delete(key));
    return plan;
  }

  /** Checks that the account may download the slide. Returns its dataset. @throws AppError not_found, forbidden */
  async function requireRight(reader: Reader, imageId: string): Promise<string> {
    const { dataset_name: dataset } = await catalogue.get(imageId, reader); // throws not_found if the reader may not view the image
    const isAllowed =
      may(reader, 'slides.download') && dataset !== null && (await mayDownload(db, reader.uid, dataset));
    if (!isAllowed) throw new AppError('forbidden');
    return dataset;
  }

  /** Checks that files which cannot be de-identified may be downloaded from the dataset. @throws AppError not_deidentifiable */
  async function requireDownloadable(
    { notDeidentifiedBecause }: OriginalPlan,
    dataset: string,
  ): Promise<void> {
    if (notDeidentifiedBecause === null) return;
    const allowsIdentifiable = (await findDataset(db, dataset))?.identifiable_originals === 1; // 1: true
    if (!allowsIdentifiable) throw new AppError('not_deidentifiable');
  }

  const readRightsNow = (): RightsRead => ({
    at: performance.now(),
    changeCount: imageSessions.countChanges(),
  });

  /**
   * Returns a function that checks the rights of a running download again if this process has revoked rights since the last
   * check, or if that was half a second ago. The function throws the errors of `find`, and token_invalid.
   */
  function createRecheck({ image, plan, rightsRead }: Original, { uid, tokenHash }: RequestedPart) {
    let lastRead = rightsRead;
    return async (): Promise<void> => {
      const { at, changeCount } = readRightsNow();
      if (at - lastRead.at < recheckAfterMs && changeCount === lastRead.changeCount) return;
      lastRead = { at, changeCount };
      const reader = await signIn.currentHolder(tokenHash);
      if (reader?.uid !== uid) throw new AppError('token_invalid');
      await requireDownloadable(plan, await requireRight(reader, image.id));
    };
  }

  /** Counts a started download. @returns a function that counts its end, at most once @throws AppError rate_limited */
  function beginDownload(uid: string): () => void {
    const accountCount = downloadCounts.get(uid) ?? 0;
    if (downloadCount >= maxDownloads || accountCount >= maxDownloadsPerAccount) {
      throw new AppError('rate_limited', { retryAfterSeconds: 1 });
    }
    downloadCount++;
    downloadCounts.set(uid, accountCount + 1);
    let hasEnded = false;
    return () => {
      if (hasEnded) return;
      hasEnded = true;
      downloadCount--;
      const remainingCount = (downloadCounts.get(uid) ?? 1) - 1;
      if (remainingCount > 0) downloadCounts.set(uid, remainingCount);
      else downloadCounts.delete(uid);
    };
  }

  /**
   * Returns the blocks of the requested part. Ends the download (closes the file and calls `endDownload`) after the last block, when
   * reading or `recheckRights` fails, or when the stream of the response is destroyed.
   */
  function blocksOf(
    open: OpenOriginal,
    { start, end, signal }: RequestedPart,
    { recheckRights, endDownload }: { recheckRights: () => Promise<void>; endDownload: () => void },
  ): AsyncIterable<Uint8Array> {
    let nextOffset = start;
    async function finish(): Promise<IteratorReturnResult<undefined>> {
      nextOffset = Number.POSITIVE_INFINITY;
      endDownload();
      await open.close();
      return { done: true, value: undefined };
    }
    return {
      [Symbol.asyncIterator]: () => ({
        async next() {
          if (nextOffset > end) return finish();
          const offset = nextOffset;
          const length = Math.min(blockBytes, end + 1 - offset);
          nextOffset += length;
          await waitForTurn(); // the server first handles the tile requests that have already arrived
          try {
            await recheckRights();
            const block = await runWithinReadLimit(() => open.read(offset, length, signal));
            return { done: false, value: block };
          } catch (error) {
            await finish();
            throw error;
          }
        },
        return: finish,
      }),
    };
  }

  return {
    async find(reader, imageId) {
      const rightsRead = readRightsNow();
      const dataset = await requireRight(reader, imageId);
      const image = await catalogue.servable(imageId);
      if (image === null) throw new AppError('not_found');
      const location = await locationOf(image);
      const plan = await planOf(image, location);
      await requireDownloadable(plan, dataset);
      return { image, location, plan, rightsRead };
    },

    async record({ image, plan }, file, { uid, token, range, origin }) {
      const hour = Math.floor(now().getTime() / hourMs);
      const key = [uid, token, image.id, file.path, hour].join('\n');
      if (range.start > 0 && recordedKeys.has(key)) return;
      await audit.recordSeparately({
        action: 'original-downloaded',
        actor: uid,
        target: image.id,
        detail: {
          file_name: image.fileName,
          file: file.path,
          from: range.start,
          to: range.end,
          identifiable: plan.notDeidentifiedBecause !== null,
          ...(token !== null && { token }),
        },
        origin,
      });
      if (recordedKeys.size >= maxRecordedKeys) recordedKeys.clear();
      recordedKeys.add(key);
    },

    async read(original, file, part) {
      const { location, plan } = original;
      const endDownload = beginDownload(part.uid);
      try {
        const open = await openOriginal(location, objects, plan, file);
        return blocksOf(open, part, { recheckRights: createRecheck(original, part), endDownload });
      } catch (error) {
        endDownload();
        throw error;
      }
    },
  };
}

/** Returns a function that runs at most `maxConcurrent` pieces of work at the same time. Further calls wait in their order. */
function createSemaphore(maxConcurrent: number): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  let runningCount = 0;
  return async (work) => {
    if (runningCount >= maxConcurrent) await new Promise<void>((resolve) => waiting.push(resolve));
    else runningCount++;
    try {
      return await work();
    } finally {
      const startNext = waiting.shift();
      if (startNext === undefined) runningCount--;
      else startNext(); // takes the place of the finished work, so the count stays the same
    }
  };
}
