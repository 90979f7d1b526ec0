/**
 * Presentations: the owner of a collection shows a field, and everybody who follows gets it as a server-sent event.
 *
 * The database has the present state. A process reads it while it has followers, for all of them with one query, and its own
 * presenter's changes reach its followers at once. A follower's right is checked again every second.
 */
import type { BodyOf, present as presentEndpoint } from '@lamina/contract';
import type { Logger } from 'pino';
import { findPresentations, savePresentation } from '../store/collections.ts';
import type { Database } from '../store/database.ts';
import type { Collections } from './collections.ts';

export interface Presentations {
  /** @throws AppError not_found for a collection of another account */
  show(uid: string, collectionId: string, state: BodyOf<typeof presentEndpoint>): Promise<void>;
  /**
   * Returns the events as text in the form of text/event-stream. Ends when `mayFollow` returns false, when the signal is
   * aborted, after `waitMs`, and with the process.
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

/** How often the changes of other processes are read: a third of the time in which a field has to arrive. */
const readEveryMs = 60;
const checkEveryMs = 1000;
/** Proxies close a connection on which nothing is sent. */
const keepAliveMs = 15_000;

interface Channel {
  followers: number;
  seq: number;
  state: string | null;
  /** Wakes the followers. */
  changed: PromiseWithResolvers<void>;
}

/** One closure of more than 60 lines: showing and following share the channels. */
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

  async function read(ids: readonly string[]): Promise<void> {
    for (const { collection_id, seq, state } of await findPresentations(db, ids)) {
      const channel = channels.get(collection_id);
      if (channel !== undefined) update(channel, seq, state);
    }
  }

  function readSoon(): void {
    if (timer !== null || channels.size === 0 || isClosed) return;
    timer = setTimeout(() => {
      read([...channels.keys()])
        .catch((error: unknown) =>
          log.warn(
            { err: error },
            'presentations of collections could not be read from the database; followers wait until the next attempt',
          ),
        )
        .finally(() => {
          timer = null;
          readSoon();
        });
    }, readEveryMs).unref();
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
    readSoon();
    return channel;
  }

  function leave(id: string, channel: Channel): void {
    channel.followers--;
    if (channel.followers === 0) channels.delete(id);
  }

  return {
    async show(uid, collectionId, state) {
      await collections.own(uid, collectionId);
      const text = JSON.stringify(state);
      const seq = await db
        .transaction()
        .execute((tx) =>
          savePresentation(tx, { collection_id: collectionId, state: text, updated_at: now().toISOString() }),
        );
      const channel = channels.get(collectionId);
      if (channel !== undefined) update(channel, seq, text);
    },

    async *follow(collectionId, { signal, waitMs, mayFollow }) {
      const channel = join(collectionId);
      const endsAt = performance.now() + waitMs;
      let seen = 0;
      let sentAt = performance.now();
      try {
        yield 'retry: 2000\n\n';
        await read([collectionId]);
        while (!signal.aborted && !isClosed) {
          if (channel.seq > seen) {
            seen = channel.seq;
            sentAt = performance.now();
            yield `id: ${seen}\ndata: ${channel.state}\n\n`;
            continue; // the state may have changed while it was sent
          }
          const left = endsAt - performance.now();
          if (left <= 0) return;
          const isChanged = await wait(channel, Math.min(left, checkEveryMs), signal);
          if (isChanged) continue;
          if (!(await mayFollow())) return;
          if (performance.now() - sentAt < keepAliveMs) continue;
          sentAt = performance.now();
          yield ': still here\n\n';
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

/** @returns whether the channel has changed; false after `ms`, or when the client has disconnected */
function wait(channel: Channel, ms: number, signal: AbortSignal): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const stop = () => resolve(false);
  const timer = setTimeout(stop, ms);
  signal.addEventListener('abort', stop, { once: true });
  void channel.changed.promise.then(() => resolve(true));
  return promise.finally(() => {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
  });
}
