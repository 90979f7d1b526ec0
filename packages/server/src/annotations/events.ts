/**
 * Sends changes of annotations to browsers as server-sent events. A change made in this process is sent at once. For changes
 * made in other processes, and for readers who lose access, the module reads the database every 400 ms while streams are open.
 */
import { may, type User } from '@lamina/contract';
import type { Logger } from 'pino';
import type { Actor } from '../audit/actor.ts';
import { inaccessibleDatasets } from '../datasets/inaccessible-datasets.ts';
import { changeNumbersOf } from '../store/annotation-layers.ts';
import type { Database } from '../store/database.ts';
import { findImages } from '../store/managed-images.ts';
import type { AuditForeignUse } from './audit-foreign-use.ts';
import { createChangeReader, type ImageChanges } from './event-changes.ts';
import { createEventQueue, type EventQueue } from './event-queue.ts';
import { isViewable, requireImage } from './layer-access.ts';

export interface AnnotationEvents {
  /**
   * Opens a stream. The caller aborts it when the client has gone.
   *
   * @param options.after number of changes that the client has seen; null: begin with the next change
   * @param options.waitMs ends the stream after this time; null: no limit
   * @throws AppError not_found
   */
  open(by: Actor, reader: User, imageId: string, options: StreamOptions): Promise<AsyncIterable<string>>;
  /** Sends the changes of a slide that have been committed. */
  committed(imageId: string): void;
  /** Ends all streams. */
  close(): void;
}

export interface StreamOptions {
  readonly after: number | null;
  readonly waitMs: number | null;
  readonly signal: AbortSignal;
}

interface Stream {
  readonly by: Actor;
  readonly imageId: string;
  readonly queue: EventQueue;
  /** Ids of the layers that the client may read. */
  readonly layers: Set<string>;
  changeNo: number;
}

interface Dependencies {
  readonly db: Database;
  readonly log: Logger;
  readonly currentHolder: (tokenHash: string) => Promise<User | null>;
  readonly foreignUse: Pick<AuditForeignUse, 'recordRead'>;
}

const checkEveryMs = 400;
const heartbeatEveryMs = 10_000;
/** When an account opens one more stream, the server ends its oldest stream. */
const maxStreamsPerAccount = 20;

export function createAnnotationEvents({
  db,
  log,
  currentHolder,
  foreignUse,
}: Dependencies): AnnotationEvents {
  const streams = new Set<Stream>();
  const changes = createChangeReader(db, foreignUse);
  let timer: NodeJS.Timeout | null = null;
  let checking: Promise<void> | null = null;
  let isCheckWanted = false;
  let lastHeartbeat = performance.now();

  function end(stream: Stream): void {
    streams.delete(stream);
    stream.queue.end();
    if (streams.size > 0 || timer === null) return;
    clearInterval(timer);
    timer = null;
  }

  /** Checks all streams. A call during a check starts another check after it. */
  function check(): Promise<void> {
    isCheckWanted = true;
    checking ??= (async () => {
      while (isCheckWanted) {
        isCheckWanted = false;
        await checkOnce();
      }
    })().finally(() => {
      checking = null;
    });
    return checking;
  }

  async function checkOnce(): Promise<void> {
    const checked = [...streams];
    if (checked.length === 0) return;
    try {
      const readers = await endWithoutAccess(checked);
      await sendChanges(checked, readers);
    } catch (error) {
      // Without the database the server cannot check access. The clients reconnect and resume after their last event.
      log.warn(
        { err: error },
        'annotation events ended: access could not be checked; browsers connect again',
      );
      for (const stream of checked) end(stream);
    }
    if (performance.now() - lastHeartbeat < heartbeatEveryMs) return;
    lastHeartbeat = performance.now();
    for (const { queue } of streams) queue.push(': \n\n');
  }

  /** Ends the streams whose access has ended. Returns the accounts of the others, by token. */
  async function endWithoutAccess(checked: readonly Stream[]): Promise<ReadonlyMap<string, User>> {
    const readers = new Map<string, User>();
    const restricted = new Map<string, ReadonlySet<string>>();
    for (const tokenHash of new Set(checked.map(({ by }) => by.tokenHash))) {
      const user = await currentHolder(tokenHash);
      if (user === null) continue;
      readers.set(tokenHash, user);
      restricted.set(tokenHash, await inaccessibleDatasets(db, user));
    }
    const ids = [...new Set(checked.map(({ imageId }) => imageId))];
    const images = new Map((await findImages(db, ids)).map((image) => [image.id, image]));
    for (const stream of checked) {
      const reader = readers.get(stream.by.tokenHash);
      const image = images.get(stream.imageId);
      const closed = restricted.get(stream.by.tokenHash);
      const hasAccess =
        reader && image && closed && may(reader, 'annotations.read') && isViewable(image, reader, closed);
      if (!hasAccess || stream.queue.isFull()) end(stream);
    }
    return readers;
  }

  async function sendChanges(checked: readonly Stream[], readers: ReadonlyMap<string, User>): Promise<void> {
    const open = checked.filter((stream) => streams.has(stream));
    const numbers = await changeNumbersOf(db, [...new Set(open.map(({ imageId }) => imageId))]);
    /** Changes read from the database, by image and number of the last change sent: streams at the same number share them. */
    const changesByStart = new Map<string, ImageChanges>();
    for (const stream of open) {
      const changeNo = numbers.get(stream.imageId) ?? 0;
      const reader = readers.get(stream.by.tokenHash);
      if (changeNo === stream.changeNo || reader === undefined) continue;
      const key = `${stream.imageId} ${stream.changeNo}`;
      const since = changesByStart.get(key) ?? (await changes.since(stream.imageId, stream.changeNo));
      changesByStart.set(key, since);
      for (const event of await changes.eventsFor(stream.by, reader, since, stream.layers)) {
        stream.queue.push(
          `event: ${event.type}\nid: ${since.changeNo}\ndata: ${JSON.stringify(event.data)}\n\n`,
        );
      }
      stream.changeNo = since.changeNo;
    }
  }

  return {
    async open(by, reader, imageId, { after, waitMs, signal }) {
      await requireImage(db, reader, imageId);
      const current = (await changeNumbersOf(db, [imageId])).get(imageId) ?? 0;
      const layers = await changes.readableLayers(reader, imageId);
      // A number above the current one comes from another database, such as one before a restore.
      const changeNo = after === null || after > current ? current : after;
      const stream: Stream = { by, imageId, queue: createEventQueue(), layers, changeNo };
      const streamsOfAccount = [...streams].filter((each) => each.by.uid === by.uid);
      if (streamsOfAccount.length >= maxStreamsPerAccount && streamsOfAccount[0] !== undefined)
        end(streamsOfAccount[0]);
      streams.add(stream);
      timer ??= setInterval(() => void check(), checkEveryMs).unref();
      stream.queue.push('retry: 2000\n: \n\n');
      if (signal.aborted) end(stream);
      signal.addEventListener('abort', () => end(stream), { once: true });
      const checked = check();
      if (waitMs === 0) void checked.then(() => end(stream));
      else if (waitMs !== null) setTimeout(() => end(stream), waitMs).unref();
      return stream.queue.texts();
    },

    committed(imageId) {
      if ([...streams].some((stream) => stream.imageId === imageId)) void check();
    },

    close() {
      for (const stream of [...streams]) end(stream);
    },
  };
}
