/**
 * Presentations of collections: the owner shows a field of view of a slide, and all followers receive it as a server-sent event.
 *
 * The current state of each presentation is in the database. While a process has followers, it reads the states of all followed
 * presentations with one query every 60 ms; a change by a presenter in the same process reaches its followers directly. The rights
 * of a follower are checked every second.
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
   * after `waitMs`, and when the process stops. `mayFollow` is called once a second, also while events are being sent.
   */
  follow(
    collectionId: string,
    options: {
      readonly signal: AbortSignal;
      /** Maximum duration of the stream; Infinity means no limit. */
      readonly waitMs: number;
      readonly mayFollow: () => Promise<boolean>;
    },
  ): AsyncGenerator<string, void, undefined>;
  /** Ends all streams and stops reading from the database. */
  close(): void;
}

interface Dependencies {
  readonly db: Database;
  readonly now: () => Date;
  readonly log: Logger;
  readonly collections: Pick<Collections, 'findOwn'>;
}

/**
 * Interval at which a process reads the changes that presenters made in other processes. A field of view must reach the followers
 * within 200 ms; this interval leaves more than half of that for the query and the transfer.
 */
const readIntervalMs = 60;
const rightsCheckIntervalMs = 1000;
/** After this time without an event, a comment is sent, because proxies close connections on which nothing is sent. */
const keepAliveMs = 15_000;

/** A presentation that has followers in this process. */
interface Channel {
  /** Number of followers. */
  followers: number;
  /** Sequence number of the state, which grows with every change; 0 before the first state is read. */
  seq: number;
  /** State of the presentation as JSON; null before the first state is read. */
  state: string | null;
  /** Functions that wake the waiting followers, when the state changes or the process stops. */
  readonly waiting: Set<() => void>;
}

/** This function is longer than 60 lines because showing and following share the channels. */
export function createPresentations({ db, now, log, collections }: Dependencies): Presentations {
  const channels = new Map<string, Channel>(); // by collection id
  let readTimer: NodeJS.Timeout | null = null;
  let isClosed = false;

  /** Sets the state of a channel, unless the channel has a newer one. */
  function updateChannel(channel: Channel, seq: number, state: string): void {
    if (seq <= channel.seq) return;
    channel.seq = seq;
    channel.state = state;
    wakeFollowers(channel);
  }

  function wakeFollowers(channel: Channel): void {
    for (const wake of channel.waiting) wake();
  }

  /** Reads the states of presentations from the database, and updates their channels. @param ids ids of collections */
  async function readStates(ids: readonly string[]): Promise<void> {
    for (const { collection_id, seq, state } of await findPresentations(db, ids)) {
      const channel = channels.get(collection_id);
      if (channel !== undefined) updateChannel(channel, seq, state);
    }
  }

  /** Starts the reads at intervals, which continue as long as this process has followers. */
  function scheduleRead(): void {
    if (readTimer !== null || channels.size === 0 || isClosed) return;
    readTimer = setTimeout(() => {
      readStates([...channels.keys()])
        .catch((error: unknown) =>
          log.warn(
            { err: error, presentations: channels.size },
            'live presentations could not be read from the database; people who follow a presenter get no updates until a read succeeds',
          ),
        )
        .finally(() => {
          readTimer = null;
          scheduleRead();
        });
    }, readIntervalMs).unref();
  }

  /** Adds a follower to the channel of a collection, which it creates for the first follower. */
  function joinChannel(id: string): Channel {
    const channel = channels.get(id) ?? { followers: 0, seq: 0, state: null, waiting: new Set() };
    channels.set(id, channel);
    channel.followers++;
    scheduleRead();
    return channel;
  }

  /** Removes a follower from a channel, and deletes the channel when it has no followers left. */
  function leaveChannel(id: string, channel: Channel): void {
    channel.followers--;
    if (channel.followers === 0) channels.delete(id);
  }

  return {
    async show(uid, collectionId, state) {
      await collections.findOwn(uid, collectionId);
      const stateJson = JSON.stringify(state);
      const seq = await db.transaction().execute((tx) =>
        savePresentation(tx, {
          collection_id: collectionId,
          state: stateJson,
          updated_at: now().toISOString(),
        }),
      );
      const channel = channels.get(collectionId);
      if (channel !== undefined) updateChannel(channel, seq, stateJson);
    },

    async *follow(collectionId, { signal, waitMs, mayFollow }) {
      const channel = joinChannel(collectionId);
      const endsAt = performance.now() + waitMs;
      let sentSeq = 0;
      let lastSentAt = performance.now();
      let rightsCheckedAt = performance.now(); // the caller has checked the rights before this call
      try {
        yield 'retry: 2000\n\n'; // browsers reconnect after 2 s
        await readStates([collectionId]);
        while (!signal.aborted && !isClosed) {
          if (performance.now() - rightsCheckedAt >= rightsCheckIntervalMs) {
            if (!(await mayFollow())) return;
            rightsCheckedAt = performance.now();
          }
          // The state may change while an event is being sent: after each event, the loop compares the sequence numbers again.
          if (channel.seq > sentSeq) {
            sentSeq = channel.seq;
            lastSentAt = performance.now();
            yield `id: ${sentSeq}\ndata: ${channel.state}\n\n`;
            continue;
          }
          if (performance.now() - lastSentAt >= keepAliveMs) {
            lastSentAt = performance.now();
            yield ': keep-alive\n\n'; // a comment, which clients ignore
            continue;
          }
          const remainingMs = endsAt - performance.now();
          if (remainingMs <= 0) return;
          await waitForChange(channel, Math.min(remainingMs, rightsCheckIntervalMs), signal);
        }
      } finally {
        leaveChannel(collectionId, channel);
      }
    },

    close() {
      isClosed = true;
      if (readTimer !== null) clearTimeout(readTimer);
      for (const channel of channels.values()) wakeFollowers(channel);
    },
  };
}

/** Waits until the followers of the channel are woken, at most `timeoutMs` and only while the client is connected. */
function waitForChange(channel: Channel, timeoutMs: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timeout = setTimeout(resolve, timeoutMs);
  const stop = () => resolve();
  signal.addEventListener('abort', stop, { once: true });
  // A set, because reactions to a promise that is never settled would stay in memory.
  channel.waiting.add(stop);
  return promise.finally(() => {
    clearTimeout(timeout);
    signal.removeEventListener('abort', stop);
    channel.waiting.delete(stop);
  });
}
