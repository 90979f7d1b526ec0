/** The jobs that wait for a render process, and who waits for each. The queue starts no job. */

import { SlideError } from '../model/slide.ts';
import { FairQueue, type Ticket } from '../scheduling/fair-queue.ts';
import type { RenderJob } from './messages.ts';

/** Who waits for a job. Accounts take turns, and so do the sessions of one account. */
export interface Requester {
  readonly account: string;
  readonly session: string;
}

/** The origin of a job. */
export interface JobRequest {
  /** Null: the server itself. */
  readonly requester: Requester | null;
  /** A job that no request waits for: it runs when nothing else waits. */
  readonly isPrerendering?: boolean;
}

export interface RenderQueueLimits {
  /** Requests of accounts that may wait; the same bound holds for jobs of the server itself. */
  readonly total: number;
  /** Waiting requests of one account. */
  readonly account: number;
  /** Waiting requests of one session. */
  readonly session: number;
}

/** One job, for all requests that wait for it. */
export interface RenderTask {
  readonly job: RenderJob;
  readonly answer: PromiseWithResolvers<unknown>;
  /** One place for each requester, by queue and path. The job starts at the first turn of any of them. */
  readonly places: Map<string, Place>;
  /** A process runs the job, or has replied to it. */
  isStarted: boolean;
}

/** One requester's place in a queue for a task. */
export interface Place {
  readonly task: RenderTask;
  /** Its key among the places of the task. */
  readonly key: string;
  readonly queue: FairQueue<Place>;
  /** Start of the wait, by `performance.now()`. */
  readonly since: number;
  /** Rejects with BUSY when another requester displaces the place. */
  readonly displaced: PromiseWithResolvers<never>;
  /** Null once the task has started, and after the place was displaced. */
  ticket: Ticket<Place> | null;
  /** Number of requests that wait here. */
  waiters: number;
}

/** After this wait, a job of the server itself goes before requests that came later. */
const MAX_INTERNAL_WAIT_MS = 2000;

/**
 * Orders jobs. Requests of accounts take turns (`FairQueue`). Within a session, header reads and tiles go
 * before thumbnails. The server's own jobs, such as reading new files, go after those of accounts, and
 * prerendering goes last. A task that several requesters wait for has a place under each and starts at the
 * earliest of their turns.
 */
export class RenderQueue {
  readonly #requested: FairQueue<Place>;
  readonly #internal: FairQueue<Place>;
  readonly #ahead: FairQueue<Place>;
  readonly #waiting = new Set<RenderTask>();

  constructor({ total, account, session }: RenderQueueLimits) {
    this.#requested = new FairQueue({ total, perKey: [account, session] });
    this.#internal = new FairQueue({ total });
    this.#ahead = new FairQueue({ total });
  }

  /** Number of waiting tasks. */
  get length(): number {
    return this.#waiting.size;
  }

  /**
   * Adds a request to the requester's place for a task.
   *
   * @param mustWait false when a process takes the task immediately
   * @throws SlideError BUSY
   */
  join(task: RenderTask, { requester, isPrerendering = false }: JobRequest, mustWait: boolean): Place {
    const isInternal = requester === null && task.job.kind !== 'tile';
    const queue = isPrerendering ? this.#ahead : isInternal ? this.#internal : this.#requested;
    const path = queue === this.#requested ? [requester?.account ?? '', requester?.session ?? ''] : [];
    const key = JSON.stringify([isPrerendering, isInternal, ...path]);
    const known = task.places.get(key);
    if (known && (known.ticket !== null || task.isStarted)) {
      known.waiters++;
      return known;
    }
    const displaced = Promise.withResolvers<never>();
    displaced.promise.catch(() => {}); // the requests that wait at the place get the error
    const since = performance.now();
    const place: Place = { task, key, queue, since, displaced, ticket: null, waiters: 1 };
    if (mustWait && !task.isStarted) this.#enqueue(place, path);
    task.places.set(key, place);
    return place;
  }

  /** Removes a request from its place. @returns false when no request waits for the task any more */
  leave(place: Place): boolean {
    const { task, key } = place;
    place.waiters--;
    if (place.waiters > 0) return true;
    if (task.places.get(key) === place) task.places.delete(key);
    if (place.ticket !== null) place.queue.remove(place.ticket);
    place.ticket = null;
    this.#removeUnlessWaiting(task);
    return task.places.size > 0;
  }

  /** Finds the place whose turn it is, and leaves its task in the queue. */
  next(mayStart: (job: RenderJob) => boolean): Place | null {
    const mayStartPlace = ({ task }: Place) => mayStart(task.job);
    const requested = this.#requested.next(mayStartPlace)?.job ?? null;
    const internal = this.#internal.next(mayStartPlace)?.job ?? null;
    if (requested && internal) {
      const hasWaitedLong = performance.now() - internal.since > MAX_INTERNAL_WAIT_MS;
      return hasWaitedLong && internal.since < requested.since ? internal : requested;
    }
    return requested ?? internal ?? this.#ahead.next(mayStartPlace)?.job ?? null;
  }

  /**
   * Removes the task from all queues. @param turn the place whose turn it was; null when the task did not
   * wait
   */
  start(task: RenderTask, turn: Place | null): void {
    if (turn?.ticket) turn.queue.start(turn.ticket);
    for (const place of task.places.values()) {
      if (place.ticket !== null) place.queue.remove(place.ticket);
      place.ticket = null;
    }
    task.isStarted = true;
    this.#waiting.delete(task);
  }

  /** Whether a request waits for the task; prerendering does not count. */
  hasWaitingRequests(task: RenderTask): boolean {
    for (const { queue } of task.places.values()) if (queue !== this.#ahead) return true;
    return false;
  }

  clear(): void {
    this.#waiting.clear();
    for (const queue of [this.#requested, this.#internal, this.#ahead]) queue.clear();
  }

  #enqueue(place: Place, path: readonly string[]): void {
    const busy = () => new SlideError('BUSY', 'The render queue is full');
    const added = place.queue.add(place, path, place.task.job.kind === 'thumbnail' ? 1 : 0);
    if (added === null) throw busy();
    place.ticket = added.ticket;
    this.#waiting.add(place.task);
    if (added.displaced === null) return;
    const displacedPlace = added.displaced.job;
    displacedPlace.ticket = null;
    this.#removeUnlessWaiting(displacedPlace.task);
    displacedPlace.displaced.reject(busy());
  }

  #removeUnlessWaiting(task: RenderTask): void {
    for (const { ticket } of task.places.values()) if (ticket !== null) return;
    this.#waiting.delete(task);
  }
}
