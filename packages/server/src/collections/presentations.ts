/**
 * Presentations of collections: the owner shows a field of view of a slide, and all followers receive it as a server-sent event.
 *
 * The current state of each presentation is in the database. While a process has followers, it reads the states of all followed
 * presentations with one query every 60 ms; a change by a presenter in the same process reaches its followers at once. The rights of
 * a follower are checked every second.
 */
import type { BodyOf, present as presentEndpoint } from '@lamina/contract';
import type { Logger } from 'pino';
import { findPresentations, savePresentation } from '../store/collections.ts';
import type { Database } from '../store/database.ts';
import type { Collections } from './collections.ts';

export interface Presentations {
  /** Changes the state of a presentation. @throws AppError not_found for a collection of another account */
  show(uid: string, collectionId: string, state: BodyOf<typeof presentEndpoint>): Promise<void>;
  /**
   * Returns events in the format text/event-stream. The stream ends when `mayFollow` returns false, when the signal is aborted,
   * after `waitMs`, and when the process stops.
   */
  follow(
    collectionId: string,
    options: {
      readonly signal: AbortSignal;
      /** Infinity: no limit. */
      readonly waitMs: number;
      readonly mayFollow: () => Promise<boolean>;
    },
  ): AsyncGenerator<string, void, undefined>;
  close(): void;
}

interface Dependencies {
  readonly db: Database;
  readonly now: () => Date;
  readonly log: Logger;
  readonly collections: Pick<Collections, 'own'>;
}

/** Interval at which changes by other processes are read: a third of the time within which a field must arrive. */
const readIntervalMs = 60;
const rightsCheckIntervalMs = 1000;
/** A comment is sent after this time without an event, because proxies close connections on which nothing is sent. */
const keepAliveMs = 15_000;

/** A presentation that has followers in this process. */
interface Channel {
  followers: number;
  /** Sequence number of the state, which grows with every change; 0 before the first state is read. */
  seq: number;
  /** JSON. */
  state: string | null;
  /** Resolved when the state changes, which wakes the followers. */
  changed: PromiseWithResolvers<void>;
}

/** Longer than 60 lines, because showing and following share the channels. */
export function createPresentations({ db, now, log, collections }: Dependencies): Presentations {
  const channels = new Map<string, Channel>();
  let timer: NodeJS.Timeout | null = null;
  let isClosed = false;

  function update(channel: Channel, seq: number, state: string): void {
    if (seq <= channel.seq) return;
    channel.seq = seq;
    channel.state = state;
    wake(channel);
  }

  function wake(channel: Channel): void {
    const { changed } = channel;
    channel.changed = Promise.withResolvers<void>();
    changed.resolve();
  }

  async function readStates(ids: readonly string[]): Promise<void> {
    for (const { collection_id, seq, state } of await findPresentations(db, ids)) {
      const channel = channels.get(collection_id);
      if (channel !== undefined) update(channel, seq, state);
    }
  }

  function scheduleRead(): void {
    if (timer !== null || channels.size === 0 || isClosed) return;
    timer = setTimeout(() => {
      readStates([...channels.keys()])
        .catch((error: unknown) =>
          log.warn(
            { err: error },
            'live presentations could not be read from the database; people who follow a presenter get no updates until a read succeeds',
          ),
        )
        .finally(() => {
          timer = null;
          scheduleRead();
        });
    }, readIntervalMs).unref();
  }

  function join(id: string): Channel {
    const channel = channels.get(id) ?? {
      followers: 0,
      seq: 0,
      state: null,
      changed: Promise.withResolvers<void>(),
    };
    channels.set(id, channel);
    channel.followers++;
    scheduleRead();
    return channel;
  }

  function leave(id: string, channel: Channel): void {
    channel.followers--;
    if (channel.followers === 0) channels.delete(id);
  }

  return {
    async show(uid, collectionId, state) {
      await collections.own(uid, collectionId);
      const stateJson = JSON.stringify(state);
      const seq = await db.transaction().execute((tx) =>
        savePresentation(tx, {
          collection_id: collectionId,
          state: stateJson,
          updated_at: now().toISOString(),
        }),
      );
      const channel = channels.get(collectionId);
      if (channel !== undefined) update(channel, seq, stateJson);
    },

    async *follow(collectionId, { signal, waitMs, mayFollow }) {
      const channel = join(collectionId);
      const endsAt = performance.now() + waitMs;
      let sentSeq = 0;
      let lastSentAt = performance.now();
      try {
        yield 'retry: 2000\n\n'; // browsers reconnect after 2 s
        await readStates([collectionId]);
        while (!signal.aborted && !isClosed) {
          if (channel.seq > sentSeq) {
            sentSeq = channel.seq;
            lastSentAt = performance.now();
            yield `id: ${sentSeq}\ndata: ${channel.state}\n\n`;
            continue; // the state may have changed while it was sent
          }
          const remainingMs = endsAt - performance.now();
          if (remainingMs <= 0) return;
          const isChanged = await waitForChange(
            channel,
            Math.min(remainingMs, rightsCheckIntervalMs),
            signal,
          );
          if (isChanged) continue;
          if (!(await mayFollow())) return;
          if (performance.now() - lastSentAt < keepAliveMs) continue;
          lastSentAt = performance.now();
          yield ': still here\n\n'; // a comment, which clients ignore
        }
      } finally {
        leave(collectionId, channel);
      }
    },

    close() {
      isClosed = true;
      if (timer !== null) clearTimeout(timer);
      for (const channel of channels.values()) wake(channel);
    },
  };
}

/** Waits for a change of the channel. @returns false after `timeoutMs`, or when the client has disconnected */
function waitForChange(channel: Channel, timeoutMs: number, signal: AbortSignal): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const stop = () => resolve(false);
  const timer = setTimeout(stop, timeoutMs);
  signal.addEventListener('abort', stop, { once: true });
  void channel.changed.promise.then(() => resolve(true));
  return promise.finally(() => {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
  });
}
