/**
 * Sends changes to annotations to browsers as server-sent events, in one stream for each slide that a browser shows.
 * The module sends a change made in this process immediately. While streams are open, it also reads the database every
 * 400 ms, to send changes made in other processes, and to end the streams of accounts that have lost access.
 */
import { may, type User } from '@lamina/contract';
import type { Logger } from 'pino';
import type { Actor } from '../audit/actor.ts';
import { findInaccessibleDatasets } from '../datasets/inaccessible-datasets.ts';
import type { Translate } from '../domain/translate.ts';
import { changeNumbersOf } from '../store/annotation-layers.ts';
import type { Database } from '../store/database.ts';
import { findImages } from '../store/managed-images.ts';
import type { AdminAccessAudit } from './admin-access-audit.ts';
import { createChangeReader, type EventClient, type ImageChanges } from './event-changes.ts';
import { createEventQueue, type EventQueue } from './event-queue.ts';
import { isViewable, requireImage } from './layer-access.ts';

export interface AnnotationEvents {
  /**
   * Opens a stream. The caller aborts the signal of the options when the client closes the connection.
   *
   * @param actor sign-in of the client; the stream ends when it is no longer valid
   * @param reader account of the client when the stream is opened
   * @param options.after change number of the last event that the client has received; null: begin with the next change
   * @param options.waitMs time after which the stream ends; 0: after the first check; null: never
   * @param options.translate translates strings of the events into the language of the request
   * @throws AppError not_found
   */
  open(actor: Actor, reader: User, imageId: string, options: StreamOptions): Promise<AsyncIterable<string>>;
  /** Sends the latest annotation changes of a slide to its open streams. Call it after the changes are committed. */
  sendCommittedChanges(imageId: string): void;
  close(): void;
}

export interface StreamOptions {
  readonly after: number | null;
  readonly waitMs: number | null;
  readonly translate: Translate;
  readonly signal: AbortSignal;
}

/** An open stream and its client; the account of the client is read again at each check. */
interface Stream extends Omit<EventClient, 'reader'> {
  readonly imageId: string;
  readonly queue: EventQueue;
  changeNo: number; // number of the slide's last change that was sent
}

interface Dependencies {
  readonly db: Database;
  readonly log: Logger;
  /** Returns the account of a bearer token; null when the token is no longer valid. */
  readonly currentHolder: (tokenHash: string) => Promise<User | null>;
  readonly adminAccessAudit: Pick<AdminAccessAudit, 'recordRead'>;
}

const checkIntervalMs = 400;
/** Interval at which a comment is sent, because proxies close connections on which nothing is sent. */
const heartbeatIntervalMs = 10_000;
/** A comment of the event-stream format, which clients ignore. */
const emptyComment = ': \n\n';
/** When an account with this many streams opens another stream, the server ends the oldest stream of the account. */
const maxStreamsPerAccount = 20;

export function createAnnotationEvents({
  db,
  log,
  currentHolder,
  adminAccessAudit,
}: Dependencies): AnnotationEvents {
  const streams = new Set<Stream>();
  const changeReader = createChangeReader(db, adminAccessAudit);
  let checkTimer: NodeJS.Timeout | null = null;
  let runningCheck: Promise<void> | null = null;
  let isCheckRequested = false;
  let lastHeartbeat = performance.now();

  function end(stream: Stream): void {
    streams.delete(stream);
    stream.queue.end();
    if (streams.size > 0 || checkTimer === null) return;
    clearInterval(checkTimer);
    checkTimer = null;
  }

  /** Ends streams without access and sends changes. If a check is running already, another check follows it. */
  function checkStreams(): Promise<void> {
    isCheckRequested = true;
    runningCheck ??= (async () => {
      while (isCheckRequested) {
        isCheckRequested = false;
        await checkStreamsOnce();
      }
    })().finally(() => {
      runningCheck = null;
    });
    return runningCheck;
  }

  async function checkStreamsOnce(): Promise<void> {
    const checkedStreams = [...streams];
    if (checkedStreams.length === 0) return;
    try {
      const readersByToken = await endStreamsWithoutAccess(checkedStreams);
      await sendChanges(checkedStreams, readersByToken);
    } catch (error) {
      // Without the database the server cannot check access. The clients reconnect and resume after their last event.
      log.warn(
        { err: error, closedStreams: checkedStreams.length },
        'annotation event streams closed: access rights or changes could not be read from the database; browsers reconnect',
      );
      for (const stream of checkedStreams) end(stream);
    }
    if (performance.now() - lastHeartbeat < heartbeatIntervalMs) return;
    lastHeartbeat = performance.now();
    for (const { queue } of streams) queue.push(emptyComment);
  }

  /** Ends streams without access, and streams of slow clients. Returns the accounts of valid bearer tokens by hash of the token. */
  async function endStreamsWithoutAccess(
    checkedStreams: readonly Stream[],
  ): Promise<ReadonlyMap<string, User>> {
    const readersByToken = new Map<string, User>();
    const inaccessibleDatasetsByToken = new Map<string, ReadonlySet<string>>();
    for (const tokenHash of new Set(checkedStreams.map(({ actor }) => actor.tokenHash))) {
      const user = await currentHolder(tokenHash);
      if (user === null) continue;
      readersByToken.set(tokenHash, user);
      inaccessibleDatasetsByToken.set(tokenHash, await findInaccessibleDatasets(db, user));
    }
    const ids = [...new Set(checkedStreams.map(({ imageId }) => imageId))];
    const images = new Map((await findImages(db, ids)).map((image) => [image.id, image]));
    for (const stream of checkedStreams) {
      const reader = readersByToken.get(stream.actor.tokenHash);
      const image = images.get(stream.imageId);
      const inaccessibleDatasets = inaccessibleDatasetsByToken.get(stream.actor.tokenHash);
      const hasAccess =
        reader &&
        image &&
        inaccessibleDatasets &&
        may(reader, 'annotations.read') &&
        isViewable(image, reader, inaccessibleDatasets);
      // A queue is full when the client reads too slowly. The client then reconnects and resumes after its last event.
      if (!hasAccess || stream.queue.isFull()) end(stream);
    }
    return readersByToken;
  }

  async function sendChanges(
    checkedStreams: readonly Stream[],
    readersByToken: ReadonlyMap<string, User>,
  ): Promise<void> {
    const openStreams = checkedStreams.filter((stream) => streams.has(stream));
    const changeNumbers = await changeNumbersOf(db, [...new Set(openStreams.map(({ imageId }) => imageId))]);
    /** Changes by image and change number. Streams that have sent the same changes share one query. */
    const changesByStart = new Map<string, ImageChanges>();
    for (const stream of openStreams) {
      const changeNo = changeNumbers.get(stream.imageId) ?? 0;
      const reader = readersByToken.get(stream.actor.tokenHash);
      if (changeNo === stream.changeNo || reader === undefined) continue;
      const key = `${stream.imageId} ${stream.changeNo}`;
      const imageChanges =
        changesByStart.get(key) ?? (await changeReader.readSince(stream.imageId, stream.changeNo));
      changesByStart.set(key, imageChanges);
      const client = { ...stream, reader }; // shares the set `sentLayerIds` with `stream`; eventsFor() updates the set
      for (const event of await changeReader.eventsFor(client, imageChanges)) {
        stream.queue.push(
          `event: ${event.type}\nid: ${imageChanges.changeNo}\ndata: ${JSON.stringify(event.data)}\n\n`,
        );
      }
      stream.changeNo = imageChanges.changeNo;
    }
  }

  return {
    async open(actor, reader, imageId, { after, waitMs, translate, signal }) {
      await requireImage(db, reader, imageId);
      const currentChangeNo = (await changeNumbersOf(db, [imageId])).get(imageId) ?? 0;
      // A number above the current one comes from another database, for example from before a backup was restored.
      const changeNo = after === null || after > currentChangeNo ? currentChangeNo : after;
      // The client loads these layers with other requests, or has loaded them before the event `after`.
      const sentLayerIds = await changeReader.knownLayerIds(reader, imageId, changeNo);
      const queue = createEventQueue();
      const stream: Stream = { actor, translate, imageId, queue, sentLayerIds, changeNo };
      const streamsOfAccount = [...streams].filter((existing) => existing.actor.uid === actor.uid);
      if (streamsOfAccount.length >= maxStreamsPerAccount && streamsOfAccount[0] !== undefined)
        end(streamsOfAccount[0]);
      streams.add(stream);
      checkTimer ??= setInterval(() => void checkStreams(), checkIntervalMs).unref();
      stream.queue.push(`retry: 2000\n${emptyComment}`); // browsers reconnect after 2 s
      if (signal.aborted) end(stream);
      signal.addEventListener('abort', () => end(stream), { once: true });
      const firstCheck = checkStreams();
      if (waitMs === 0) void firstCheck.then(() => end(stream));
      else if (waitMs !== null) setTimeout(() => end(stream), waitMs).unref();
      return stream.queue.texts();
    },

    sendCommittedChanges(imageId) {
      if ([...streams].some((stream) => stream.imageId === imageId)) void checkStreams();
    },

    close() {
      for (const stream of [...streams]) end(stream);
    },
  };
}
