/**
 * Presentations of collections: the owner shows a field of view of a slide, and all followers receive it as a server-sent event.
 *
 * The current state of each presentation is in the database. While a process has followers, it reads the states of all followed
 * presentations with one query every 60 ms. A change by a presenter in the same process reaches the followers without this query.
 * The rights of a follower are checked every second.
 *
 * The web app of the presenter repeats the current state. Without repetitions the presentation ends, because a browser may close the
 * page without an event that ends the presentation. The presentation also ends when its presenter may no longer present.
 */
import { type BodyOf, may, type present as presentEndpoint } from '@lamina/contract';
import type { Logger } from 'pino';
import { effectiveAccount } from '../domain/account.ts';
import { findPresentations, savePresentation } from '../store/collections.ts';
import type { Database } from '../store/database.ts';
import type { Collections } from './collections.ts';

export interface Presentations {
  /** Changes the state of a presentation. @throws AppError not_found for a collection of another account */
  show(uid: string, collectionId: string, state: BodyOf<typeof presentEndpoint>): Promise<void>;
  /**
   * Returns events in the format text/event-stream. The stream ends when `mayFollow` returns false, when the signal is aborted,
   * after `waitMs`, when the follower opens too many further streams, and when the process stops. `mayFollow` is called once a second,
   * also while events are being sent.
   */
  follow(
    collectionId: string,
    options: {
      /** Identifies the account or the visitor that follows. */
      readonly follower: string;
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
/** Maximum number of streams of an account or visitor in this process. A further one ends the oldest. */
const maxStreamsPerFollower = 20;
/** After this time without an event, a comment is sent, because proxies close connections on which nothing is sent. */
const keepAliveMs = 15_000;

/**
 * Time after which a presentation ends if the presenter does not repeat its state. The web app repeats the state every 20 s, and
 * browsers run the timers of a hidden tab at least once a minute.
 */
const maxStateAgeMs = 90_000;
/** The state that ends a presentation. */
const endState = JSON.stringify({ field: null, item: null });

/** A presentation that has followers in this process. */
interface Channel {
  /** Number of followers. */
  followers: number;
  /** Sequence number of the state, which grows with every change; 0 before the first state is read. */
  seq: number;
  /** State of the presentation as JSON; null before the first state is read. */
  state: string | null;
  /** Time of the last call of the presenter, in milliseconds since the epoch. */
  updatedAt: number;
  /** Whether the owner of the collection may present now. */
  isPermitted: boolean;
  /** Functions that wake the waiting followers, when the state changes or the process stops. */
  readonly waiting: Set<() => void>;
}

/** This function is longer than 60 lines because showing and following share the channels. */
export function createPresentations({ db, now, log, collections }: Dependencies): Presentations {
  const channels = new Map<string, Channel>(); // by collection id
  /** Controllers that end the open streams of each account or visitor, oldest first. */
  const openStreams = new Map<string, Set<AbortController>>();
  let readTimer: NodeJS.Timeout | null = null;
  let isReadFailing = false; // whether the last read of the database failed
  let isClosed = false;

  /** Sets the state of a channel, unless the channel has a newer one. */
  function updateChannel(
    channel: Channel,
    { seq, ...current }: Pick<Channel, 'seq' | 'state' | 'updatedAt' | 'isPermitted'>,
  ): void {
    if (seq < channel.seq) return;
    const isChanged = seq > channel.seq || shownStateOf({ ...channel, ...current }) !== shownStateOf(channel);
    Object.assign(channel, current, { seq, updatedAt: Math.max(channel.updatedAt, current.updatedAt) });
    if (isChanged) wakeFollowers(channel);
  }

  /** Returns the state that followers see now; null before the first state is read. */
  function shownStateOf({ state, updatedAt, isPermitted }: Channel): string | null {
    if (state === null) return null;
    const hasEnded = !isPermitted || now().getTime() - updatedAt > maxStateAgeMs;
    return hasEnded ? endState : state;
  }

  function wakeFollowers(channel: Channel): void {
    for (const wake of channel.waiting) wake();
  }

  /** Reads the states of presentations from the database, and updates their channels. @param ids ids of collections */
  async function readStates(ids: readonly string[]): Promise<void> {
    for (const { collection_id, seq, state, updated_at, presenter } of await findPresentations(db, ids)) {
      const channel = channels.get(collection_id);
      if (channel === undefined) continue;
      const isPermitted = may(effectiveAccount(presenter, now()), 'sharing.own');
      updateChannel(channel, { seq, state, updatedAt: Date.parse(updated_at), isPermitted });
    }
  }

  /** Starts the reads at intervals, which continue as long as this process has followers. */
  function scheduleRead(): void {
    if (readTimer !== null || channels.size === 0 || isClosed) return;
    readTimer = setTimeout(() => {
      readStates([...channels.keys()])
        .then(
          () => {
            isReadFailing = false;
          },
          (error: unknown) => {
            if (!isReadFailing)
              log.warn(
                { err: error, presentations: channels.size },
                'live presentations could not be read from the database; people who follow a presenter get no updates until a read succeeds; further failures until then are not logged',
              );
            isReadFailing = true;
          },
        )
        .finally(() => {
          readTimer = null;
          scheduleRead();
        });
    }, readIntervalMs).unref();
  }

  /** Adds a follower to the channel of a collection. Creates the channel for the first follower. */
  function joinChannel(id: string): Channel {
    const channel = channels.get(id) ?? {
      followers: 0,
      seq: 0,
      state: null,
      updatedAt: 0,
      isPermitted: true,
      waiting: new Set(),
    };
    channels.set(id, channel);
    channel.followers++;
    scheduleRead();
    return channel;
  }

  /** Registers a stream. Ends the oldest stream of a follower that has too many. @returns the controller that ends the new stream */
  function registerStream(follower: string): AbortController {
    const streams = openStreams.get(follower) ?? new Set();
    openStreams.set(follower, streams);
    const [oldest] = streams;
    if (streams.size >= maxStreamsPerFollower && oldest !== undefined) {
      streams.delete(oldest);
      oldest.abort();
    }
    const opened = new AbortController();
    streams.add(opened);
    return opened;
  }

  function unregisterStream(follower: string, stream: AbortController): void {
    const streams = openStreams.get(follower);
    streams?.delete(stream);
    if (streams?.size === 0) openStreams.delete(follower);
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
      const updatedAt = now();
      const seq = await db.transaction().execute((tx) =>
        savePresentation(tx, {
          collection_id: collectionId,
          state: stateJson,
          updated_at: updatedAt.toISOString(),
        }),
      );
      const channel = channels.get(collectionId);
      if (channel === undefined) return;
      // The access check of the request has shown that the owner may present.
      updateChannel(channel, { seq, state: stateJson, updatedAt: updatedAt.getTime(), isPermitted: true });
    },

    async *follow(collectionId, { follower, signal: requestSignal, waitMs, mayFollow }) {
      const stream = registerStream(follower);
      const signal = AbortSignal.any([requestSignal, stream.signal]);
      const channel = joinChannel(collectionId);
      const endsAt = performance.now() + waitMs;
      let sentSeq = 0;
      let sentState: string | null = null;
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
          // The state may change while an event is being sent: after each event, the loop compares sequence number and state again.
          const shownState = shownStateOf(channel);
          if (channel.seq > sentSeq || shownState !== sentState) {
            sentSeq = channel.seq;
            sentState = shownState;
            lastSentAt = performance.now();
            yield `id: ${sentSeq}\ndata: ${shownState}\n\n`;
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
        unregisterStream(follower, stream);
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
