/**
 * Records in the audit log that an image session (the credential with which a viewer loads pixels) has loaded pixels of
 * an image. Every code path that sends pixels (the pixel routes, and the fast path, which answers tile requests before
 * the HTTP framework) calls this module before it responds.
 *
 * - `image-opened`: once per image and session, at the first request for pixels. `detail.by` names the kind of request.
 * - `image-viewed`: once per image and session, when only the thumbnail was loaded before and other pixels are requested.
 * - An API token acts as one session for each hour (audit/api-token-uses.ts).
 *
 * The response waits until the audit event is committed. Requests that arrive during a write share the next transaction, so a page
 * of thumbnails costs two commits: one for the first, one for all others. If the event cannot be written, the request fails with
 * 503. The exception is an unavailable database: the server then continues to send pixels for at most 30 s (REL-5 in
 * docs/requirements.md). It logs each delayed event, keeps it in memory, and writes it when the database is available again.
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
import { acquireLock, type Database, isDatabaseDown, runTransaction } from '../store/database.ts';
import {
  existingSessions,
  findOpenings,
  preventSessionDeletion,
  saveOpenings,
} from '../store/image-openings.ts';
import { recordApiTokenUse } from './api-token-uses.ts';
import type { AuditEntry, AuditRecorder, Origin } from './audit-recorder.ts';

export interface ImageOpenings {
  /** Whether this process knows that the view is recorded. May be false for a view that another process has recorded. */
  isRecorded(session: ImageSession, imageId: string, source: PixelSource): boolean;
  /**
   * Resolves when the audit log contains the event, whichever process wrote it, or when the event is delayed by an outage.
   *
   * @throws AppError session_invalid or token_invalid when the session has ended; database errors
   */
  record(session: ImageSession, image: OpenedImage, source: PixelSource, origin: Origin): Promise<void>;
  /** Writes the events that an outage has delayed, and logs those that it cannot write. */
  close(): Promise<void>;
}

interface OpenedImage {
  readonly id: string;
  readonly fileName: string;
}

/** A request for pixels that the audit log may have to contain. */
interface Opening {
  readonly session: ImageSession;
  readonly image: OpenedImage;
  readonly source: PixelSource;
  readonly origin: Origin;
  readonly at: Date;
}

/** An opening whose request waits for the commit. */
interface WaitingOpening {
  readonly opening: Opening;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

const maxOpeningsPerTransaction = 500;
const retryIntervalMs = 1000;
/** During an outage, requests fail with 503 when this many events are delayed, or `maxDelayMs` after the oldest one. */
const maxDelayedOpenings = 10_000;
const maxDelayMs = 30_000;

interface Dependencies {
  readonly db: Database;
  readonly now: () => Date;
  readonly log: Logger;
  readonly audit: Pick<AuditRecorder, 'record' | 'recordAll'>;
}

/** This function is longer than 60 lines because waiting, delayed and retried openings share their state. */
export function createImageOpenings({ db, now, log, audit }: Dependencies): ImageOpenings {
  /** Recordings in progress, by session, image and kind of view: concurrent requests share one. */
  const runningRecordings = new Map<string, Promise<void>>();
  let waitingOpenings: WaitingOpening[] = [];
  let isWriting = false;
  let delayedOpenings: Opening[] = [];
  let isDatabaseUnavailable = false;
  let lastDatabaseError: unknown; // of the last failed write, for the log
  let runningRetry: Promise<void> | null = null;
  let retryTimer: NodeJS.Timeout | null = null;

  /** Notes in the session that the audit log contains the view, or will contain it after an outage. */
  function markRecorded({ session, image, source }: Opening): void {
    if (!includesView(session.auditedViews.get(image.id), viewKindOf(source))) {
      session.auditedViews.set(image.id, viewKindOf(source));
    }
  }

  /** Keeps the opening in memory until the database is available. @returns false when the limits of delayed events are reached */
  function delay(opening: Opening): boolean {
    const oldestTime = delayedOpenings[0]?.at ?? opening.at;
    const isDelayTooLong = opening.at.getTime() - oldestTime.getTime() >= maxDelayMs;
    if (delayedOpenings.length >= maxDelayedOpenings || isDelayTooLong) return false;
    delayedOpenings.push(opening);
    markRecorded(opening);
    log.warn(
      { err: lastDatabaseError, ...logFieldsOf(opening) },
      'audit event of an image opening delayed: database unavailable; retrying until it is written',
    );
    scheduleRetry();
    return true;
  }

  function scheduleRetry(): void {
    retryTimer ??= setTimeout(() => {
      retryTimer = null;
      void writeDelayed();
    }, retryIntervalMs).unref();
  }

  function writeDelayed(): Promise<void> {
    runningRetry ??= (async () => {
      while (delayedOpenings.length > 0) {
        const batch = delayedOpenings.slice(0, maxOpeningsPerTransaction);
        try {
          await writeOpenings(db, audit, batch, { includesEndedSessions: true });
        } catch (error) {
          isDatabaseUnavailable = isDatabaseDown(error);
          lastDatabaseError = error;
          scheduleRetry();
          return;
        }
        delayedOpenings = delayedOpenings.slice(batch.length);
      }
      isDatabaseUnavailable = false;
    })().finally(() => {
      runningRetry = null;
    });
    return runningRetry;
  }

  async function writeWaiting(): Promise<void> {
    if (isWriting) return;
    isWriting = true;
    while (waitingOpenings.length > 0) {
      const batch = waitingOpenings.slice(0, maxOpeningsPerTransaction);
      waitingOpenings = waitingOpenings.slice(batch.length);
      await writeAndSettle(batch);
    }
    isWriting = false;
  }

  async function writeAndSettle(batch: readonly WaitingOpening[]): Promise<void> {
    try {
      const openings = batch.map(({ opening }) => opening);
      const endedSessions = await writeOpenings(db, audit, openings, { includesEndedSessions: false });
      for (const { opening, resolve, reject } of batch) {
        if (endedSessions.has(opening.session.hash)) {
          reject(new AppError('session_invalid'));
        } else {
          markRecorded(opening);
          resolve();
        }
      }
    } catch (error) {
      isDatabaseUnavailable = isDatabaseDown(error);
      lastDatabaseError = error;
      for (const { opening, resolve, reject } of batch) {
        if (isDatabaseUnavailable && delay(opening)) resolve();
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
        action: session.auditedViews.has(image.id) ? 'image-viewed' : 'image-opened',
        detail: { by: source, file_name: image.fileName },
        origin,
        at,
      },
    );
    markRecorded(opening);
  }

  const isRecorded: ImageOpenings['isRecorded'] = ({ auditedViews }, imageId, source) =>
    includesView(auditedViews.get(imageId), viewKindOf(source));

  return {
    isRecorded,

    record(session, image, source, origin) {
      if (isRecorded(session, image.id, source)) return Promise.resolve();
      const key = `${session.hash} ${image.id} ${viewKindOf(source)}`;
      const runningRecording = runningRecordings.get(key);
      if (runningRecording !== undefined) return runningRecording;
      const opening = { session, image, source, origin, at: now() };
      if (session.apiToken !== undefined) {
        const tokenRecording = recordByToken(opening, session.apiToken).finally(() =>
          runningRecordings.delete(key),
        );
        runningRecordings.set(key, tokenRecording);
        return tokenRecording;
      }
      // While the database is known to be unavailable, requests do not wait for it.
      if (isDatabaseUnavailable && delay(opening)) return Promise.resolve();
      const recording = new Promise<void>((resolve, reject) => {
        waitingOpenings.push({ opening, resolve, reject });
        void writeWaiting();
      }).finally(() => runningRecordings.delete(key));
      runningRecordings.set(key, recording);
      return recording;
    },

    async close() {
      if (retryTimer !== null) clearTimeout(retryTimer);
      await runningRetry;
      await writeDelayed();
      if (retryTimer !== null) clearTimeout(retryTimer); // set again if the write has failed
      for (const opening of delayedOpenings)
        log.error(
          { err: lastDatabaseError, ...logFieldsOf(opening) },
          'audit event of an image opening lost: the process stopped while the database was unavailable; this log line is the only record of it',
        );
    },
  };
}

/** Returns the log fields that describe an opening. */
function logFieldsOf({ session, image, source, origin: { requestId, address }, at }: Opening) {
  const shareLinkId = session.visitor?.linkId;
  const openedAt = at.toISOString();
  return {
    image: image.id,
    uid: actorOf(session),
    shareLinkId,
    pixelSource: source,
    openedAt,
    requestId,
    address,
  };
}

/**
 * Writes the audit events of the openings that are not recorded yet, in one transaction.
 *
 * @returns the hashes of sessions that have ended; their openings are recorded only with `includesEndedSessions`
 */
async function writeOpenings(
  db: Database,
  audit: Dependencies['audit'],
  openings: readonly Opening[],
  { includesEndedSessions }: { readonly includesEndedSessions: boolean },
): Promise<ReadonlySet<string>> {
  const hashes = [...new Set(openings.map(({ session }) => session.hash))];
  const imageIds = [...new Set(openings.map(({ image }) => image.id))];
  // Often another process has already recorded all these openings. This query takes no lock.
  if (notYetRecorded(openings, await findOpenings(db, hashes, imageIds)).entries.length === 0)
    return new Set();
  return runTransaction(db, async (tx) => {
    await preventSessionDeletion(tx, hashes);
    await acquireLock(tx, 'audit'); // until the commit, no other process can record the same openings
    const activeHashes = await existingSessions(tx, hashes);
    const recordable = includesEndedSessions
      ? openings
      : openings.filter(({ session }) => activeHashes.has(session.hash));
    const { entries, rows } = notYetRecorded(recordable, await findOpenings(tx, hashes, imageIds));
    // A row references its session, so no row can be saved for a session that has ended.
    await saveOpenings(
      tx,
      rows.filter(({ session_hash }) => activeHashes.has(session_hash)),
    );
    await audit.recordAll(tx, entries);
    return new Set(hashes.filter((hash) => !activeHashes.has(hash)));
  });
}

/** Returns the uid for the audit event; null for a visitor, because the creator of the share link has not opened the slide. */
function actorOf({ uid, visitor }: ImageSession): string | null {
  return visitor === null ? uid : null;
}

interface OpeningRow {
  readonly session_hash: string;
  readonly image_id: string;
  /** 0: only the thumbnail was loaded. */
  readonly is_viewed: 0 | 1;
}

/** Returns the audit events that are missing, in the order of the openings, and one row to save for each image and session. */
function notYetRecorded(
  openings: readonly Opening[],
  storedRows: readonly OpeningRow[],
): { readonly entries: AuditEntry[]; readonly rows: OpeningRow[] } {
  const keyOf = (row: Pick<OpeningRow, 'session_hash' | 'image_id'>) => `${row.session_hash} ${row.image_id}`;
  const recordedViews = new Map<string, ViewKind>(
    storedRows.map((row) => [keyOf(row), row.is_viewed === 1 ? 'viewer' : 'thumbnail']),
  );
  const entries: AuditEntry[] = [];
  const rows = new Map<string, OpeningRow>();
  for (const { session, image, source, origin, at } of openings) {
    const view = viewKindOf(source);
    const ids = { session_hash: session.hash, image_id: image.id };
    const earlierView = recordedViews.get(keyOf(ids));
    if (includesView(earlierView, view)) continue;
    recordedViews.set(keyOf(ids), view);
    rows.set(keyOf(ids), { ...ids, is_viewed: view === 'viewer' ? 1 : 0 });
    entries.push({
      action: earlierView === undefined ? 'image-opened' : 'image-viewed',
      actor: actorOf(session),
      target: image.id,
      detail: {
        by: source,
        file_name: image.fileName,
        ...(session.visitor !== null && { share_link: session.visitor.linkId }),
      }, // `by` must come first, because a query of store/audit.ts compares the start of the stored JSON
      origin,
      at,
    });
  }
  return { entries, rows: [...rows.values()] };
}
