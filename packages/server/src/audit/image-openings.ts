/**
 * The one place that records the first pixel of a slide in an image session. Every adapter that sends pixels (the pixel
 * routes, the fast path) calls it before it answers.
 *
 * - `image-opened`: once per image and session, whichever call brought the first pixel (`detail.by`).
 * - `image-viewed`: once per image and session, when a descriptor or tile follows after the thumbnail alone was shown.
 * - An API token acts as one session for each hour (audit/api-token-uses.ts).
 *
 * The pixel waits until its entry is committed. Requests that arrive during a write share the next transaction, so a
 * page of thumbnails costs two commits. If the entry cannot be written, the request fails with 503. The exception is a
 * database that is down: requests are then served for at most 30 s (promise REL-5), and their entries stay in memory, are
 * named in the log, and are written when the database is back.
 */
import { AppError } from '@lamina/contract';
import type { Logger } from 'pino';
import {
  type ApiTokenName,
  type ImageSession,
  includesView,
  type PixelSource,
  type ViewKind,
  viewKindOf,
} from '../domain/image-session.ts';
import { acquireLock, type Database, isDatabaseDown, isDeadlock } from '../store/database.ts';
import {
  existingSessions,
  findOpenings,
  preventSessionDeletion,
  saveOpenings,
} from '../store/image-openings.ts';
import { recordApiTokenUse } from './api-token-uses.ts';
import type { AuditEntry, AuditRecorder, Origin } from './audit-recorder.ts';

export interface ImageOpenings {
  /** Answers from memory; false also for what another process has recorded. */
  isRecorded(session: ImageSession, imageId: string, source: PixelSource): boolean;
  /**
   * Resolves when the audit log has the entry, whichever process wrote it.
   *
   * @throws AppError session_invalid when the session has ended meanwhile, and what the database throws
   */
  record(session: ImageSession, image: OpenedImage, source: PixelSource, origin: Origin): Promise<void>;
  /** Writes the entries that an outage has delayed; logs those that it cannot write. */
  close(): Promise<void>;
}

interface OpenedImage {
  readonly id: string;
  readonly fileName: string;
}

interface Opening {
  readonly session: ImageSession;
  readonly image: OpenedImage;
  readonly source: PixelSource;
  readonly origin: Origin;
  readonly at: Date;
}

interface Waiting {
  readonly opening: Opening;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

const mostPerTransaction = 500;
const retryEveryMs = 1000;
/** While the database is down; beyond either, requests fail with 503. */
const mostDelayed = 10_000;
const mostDelayMs = 30_000;
const mostAttempts = 3;

interface Dependencies {
  readonly db: Database;
  readonly now: () => Date;
  readonly log: Logger;
  readonly audit: Pick<AuditRecorder, 'record' | 'recordAll'>;
}

/** One closure of more than 60 lines: waiting, delayed and retried openings share their state. */
export function createImageOpenings({ db, now, log, audit }: Dependencies): ImageOpenings {
  const running = new Map<string, Promise<void>>();
  let waiting: Waiting[] = [];
  let isWriting = false;
  let delayed: Opening[] = [];
  let isDown = false;
  let retrying: Promise<void> | null = null;
  let retryTimer: NodeJS.Timeout | null = null;

  function remember({ session, image, source }: Opening): void {
    if (!includesView(session.shownImages.get(image.id), viewKindOf(source))) {
      session.shownImages.set(image.id, viewKindOf(source));
    }
  }

  /** @returns whether the entry may be written later */
  function delay(opening: Opening): boolean {
    const oldest = delayed[0]?.at ?? opening.at;
    const isTooLong = opening.at.getTime() - oldest.getTime() >= mostDelayMs;
    if (delayed.length >= mostDelayed || isTooLong) return false;
    delayed.push(opening);
    remember(opening);
    log.warn(
      logFieldsOf(opening),
      'image opening not in the audit log yet: database unavailable; tried again until it is written',
    );
    retrySoon();
    return true;
  }

  function retrySoon(): void {
    retryTimer ??= setTimeout(() => {
      retryTimer = null;
      void writeDelayed();
    }, retryEveryMs).unref();
  }

  function writeDelayed(): Promise<void> {
    retrying ??= (async () => {
      while (delayed.length > 0) {
        const batch = delayed.slice(0, mostPerTransaction);
        try {
          await write(db, audit, batch, { evenEnded: true });
        } catch (error) {
          isDown = isDatabaseDown(error);
          retrySoon();
          return;
        }
        delayed = delayed.slice(batch.length);
      }
      isDown = false;
    })().finally(() => {
      retrying = null;
    });
    return retrying;
  }

  async function writeWaiting(): Promise<void> {
    if (isWriting) return;
    isWriting = true;
    while (waiting.length > 0) {
      const batch = waiting.slice(0, mostPerTransaction);
      waiting = waiting.slice(batch.length);
      await settle(batch);
    }
    isWriting = false;
  }

  async function settle(batch: readonly Waiting[]): Promise<void> {
    try {
      const openings = batch.map(({ opening }) => opening);
      const ended = await write(db, audit, openings, { evenEnded: false });
      for (const { opening, resolve, reject } of batch) {
        if (ended.has(opening.session.hash)) {
          reject(new AppError('session_invalid'));
        } else {
          remember(opening);
          resolve();
        }
      }
    } catch (error) {
      isDown = isDatabaseDown(error);
      for (const { opening, resolve, reject } of batch) {
        if (isDown && delay(opening)) resolve();
        else reject(error);
      }
    }
  }

  async function recordByToken(opening: Opening, token: ApiTokenName): Promise<void> {
    const { session, image, source, origin, at } = opening;
    await recordApiTokenUse(
      { db, audit },
      {
        token,
        uid: session.uid,
        imageId: image.id,
        kind: viewKindOf(source),
        action: session.shownImages.has(image.id) ? 'image-viewed' : 'image-opened',
        detail: { by: source, file_name: image.fileName },
        origin,
        at,
      },
    );
    remember(opening);
  }

  const isRecorded: ImageOpenings['isRecorded'] = ({ shownImages }, imageId, source) =>
    includesView(shownImages.get(imageId), viewKindOf(source));

  return {
    isRecorded,

    record(session, image, source, origin) {
      if (isRecorded(session, image.id, source)) return Promise.resolve();
      const key = `${session.hash} ${image.id} ${viewKindOf(source)}`;
      const known = running.get(key);
      if (known !== undefined) return known;
      const opening = { session, image, source, origin, at: now() };
      if (session.apiToken !== undefined) {
        const recordingUse = recordByToken(opening, session.apiToken).finally(() => running.delete(key));
        running.set(key, recordingUse);
        return recordingUse;
      }
      // While the database is down, no request waits for it again.
      if (isDown && delay(opening)) return Promise.resolve();
      const recording = new Promise<void>((resolve, reject) => {
        waiting.push({ opening, resolve, reject });
        void writeWaiting();
      }).finally(() => running.delete(key));
      running.set(key, recording);
      return recording;
    },

    async close() {
      if (retryTimer !== null) clearTimeout(retryTimer);
      await retrying;
      await writeDelayed();
      if (retryTimer !== null) clearTimeout(retryTimer);
      for (const opening of delayed)
        log.error(
          logFieldsOf(opening),
          'image opening missing in the audit log: the process stops before the database answers',
        );
    },
  };
}

function logFieldsOf({ session, image, source, origin, at }: Opening) {
  const { requestId, address } = origin;
  return {
    uid: actorOf(session),
    link: session.visitor?.linkId,
    imageId: image.id,
    by: source,
    at: at.toISOString(),
    requestId,
    address,
  };
}

/** @returns hashes of ended sessions; their openings are recorded only with `evenEnded` */
async function write(
  db: Database,
  audit: Dependencies['audit'],
  openings: readonly Opening[],
  { evenEnded }: { readonly evenEnded: boolean },
): Promise<ReadonlySet<string>> {
  const hashes = [...new Set(openings.map(({ session }) => session.hash))];
  const imageIds = [...new Set(openings.map(({ image }) => image.id))];
  // Another process has often recorded them already; finding that out takes no lock.
  if (notYetRecorded(openings, await findOpenings(db, hashes, imageIds)).entries.length === 0)
    return new Set();
  const attempt = () =>
    db.transaction().execute(async (tx) => {
      await preventSessionDeletion(tx, hashes);
      await acquireLock(tx, 'audit');
      const alive = await existingSessions(tx, hashes);
      const recordable = evenEnded ? openings : openings.filter(({ session }) => alive.has(session.hash));
      const { entries, rows } = notYetRecorded(recordable, await findOpenings(tx, hashes, imageIds));
      await saveOpenings(
        tx,
        rows.filter(({ session_hash }) => alive.has(session_hash)),
      );
      await audit.recordAll(tx, entries);
      return new Set(hashes.filter((hash) => !alive.has(hash)));
    });
  for (let attempts = 1; ; attempts++) {
    try {
      return await attempt();
    } catch (error) {
      if (!isDeadlock(error) || attempts === mostAttempts) throw error;
    }
  }
}

/** Null for a visitor: the maker of the link has not opened the slide. */
function actorOf({ uid, visitor }: ImageSession): string | null {
  return visitor === null ? uid : null;
}

interface Stored {
  readonly session_hash: string;
  readonly image_id: string;
  readonly is_viewed: 0 | 1;
}

/** Returns what is not recorded yet: events in the order of the openings, and one row per image and session. */
function notYetRecorded(
  openings: readonly Opening[],
  stored: readonly Stored[],
): { readonly entries: AuditEntry[]; readonly rows: Stored[] } {
  const keyOf = (row: Pick<Stored, 'session_hash' | 'image_id'>) => `${row.session_hash} ${row.image_id}`;
  const known = new Map<string, ViewKind>(
    stored.map((row) => [keyOf(row), row.is_viewed === 1 ? 'viewer' : 'thumbnail']),
  );
  const entries: AuditEntry[] = [];
  const rows = new Map<string, Stored>();
  for (const { session, image, source, origin, at } of openings) {
    const shown = viewKindOf(source);
    const place = { session_hash: session.hash, image_id: image.id };
    const before = known.get(keyOf(place));
    if (includesView(before, shown)) continue;
    known.set(keyOf(place), shown);
    rows.set(keyOf(place), { ...place, is_viewed: shown === 'viewer' ? 1 : 0 });
    entries.push({
      action: before === undefined ? 'image-opened' : 'image-viewed',
      actor: actorOf(session),
      target: image.id,
      detail: {
        by: source,
        file_name: image.fileName,
        ...(session.visitor !== null && { share_link: session.visitor.linkId }),
      }, // `by` comes first: see `thumbnailAlone` in store/audit.ts
      origin,
      at,
    });
  }
  return { entries, rows: [...rows.values()] };
}
