/** The queue of jobs that wait for a render process: their order, and the requests that wait for each job. */
import { SlideError } from '../model/slide.ts';
import { FairQueue, type Ticket } from '../scheduling/fair-queue.ts';
import type { RenderJob } from './messages.ts';

/**
 * Who waits for a job: an account and one of its image sessions (the credentials with which browsers request tiles).
 * Accounts take turns; within an account, its sessions take turns.
 */
export interface Requester {
  readonly account: string;
  readonly session: string;
}

/** Who requests a job, and for what. */
export interface JobRequest {
  /**
   * Null for a job without an account, such as reading a slide that a scan found. Without an account, a tile job counts as a
   * viewer's request, and any other job as a job of the server itself.
   */
  readonly requester: Requester | null;
  /** Whether the job renders a tile before a viewer requests it. Such a job runs only when no other job waits. */
  readonly isPrerendering?: boolean;
}

/** Limits of waiting requests. Requests of one session for the same job count as one. */
export interface RenderQueueLimits {
  /** Maximum for all accounts together. The server's own jobs and prerendering have queues of their own with the same limit. */
  readonly total: number;
  /** Maximum for one account. */
  readonly account: number;
  /** Maximum for one image session. */
  readonly session: number;
}

/** One job, for all requests that wait for it. */
export interface RenderTask {
  readonly job: RenderJob;
  readonly result: PromiseWithResolvers<unknown>;
  /** The places of the task by `Place.key`, one for each requester. The job starts at the first turn of any place. */
  readonly places: Map<string, Place>;
  /** Whether a process is running the job or has replied to it. */
  isStarted: boolean;
}

/** A requester's position in a queue, for one task. Several requests of the requester share it. */
export interface Place {
  readonly task: RenderTask;
  /** Key in `RenderTask.places`. */
  readonly key: string;
  readonly queue: FairQueue<Place>;
  /** Start of the wait, by `performance.now()`. */
  readonly waitingSince: number;
  /** Rejects with BUSY when another place displaces this one, because the queue is full (see `FairQueue`). */
  readonly displaced: PromiseWithResolvers<never>;
  /** The entry of this place in `queue`; null when the task did not have to wait, after its start, and after a displacement. */
  ticket: Ticket<Place> | null;
  /** Number of requests that wait here. */
  waiters: number;
}

/** A job of the server itself that has waited longer than this goes before requests that arrived after the job. */
const MAX_INTERNAL_WAIT_MS = 2000;

/**
 * Orders jobs; `RenderPool` starts them. Requests of accounts take turns (`FairQueue`). Within a session, all other
 * jobs go before thumbnails. The server's own jobs, such as reading new files, go after jobs of accounts unless they
 * have waited long. Prerendering goes last. A task that several requesters wait for has a place for each of them and
 * starts at the earliest of their turns.
 */
export class RenderQueue {
  readonly #requested: FairQueue<Place>;
  readonly #internal: FairQueue<Place>;
  readonly #prerendering: FairQueue<Place>;
  /** Tasks of which at least one place has a ticket. */
  readonly #waiting = new Set<RenderTask>();

  constructor({ total, account, session }: RenderQueueLimits) {
    this.#requested = new FairQueue({ total, perKey: [account, session] }); // key path of a place: account, session
    this.#internal = new FairQueue({ total });
    this.#prerendering = new FairQueue({ total });
  }

  /** Number of waiting tasks. */
  get length(): number {
    return this.#waiting.size;
  }

  /**
   * Adds a request to the requester's place for a task.
   *
   * @param mustWait false when a process is free: the caller then calls `start` immediately afterwards
   * @throws SlideError BUSY when the queue is full
   */
  join(task: RenderTask, { requester, isPrerendering = false }: JobRequest, mustWait: boolean): Place {
    const isInternal = requester === null && task.job.kind !== 'tile';
    const regularQueue = isInternal ? this.#internal : this.#requested;
    const queue = isPrerendering ? this.#prerendering : regularQueue;
    // All viewers' requests without a requester share one account and one session, both named ''.
    const keyPath = queue === this.#requested ? [requester?.account ?? '', requester?.session ?? ''] : [];
    const key = JSON.stringify([isPrerendering, isInternal, ...keyPath]);
    const existing = task.places.get(key);
    // A place without a ticket whose task has not started was displaced; it is replaced by a new one.
    if (existing && (existing.ticket !== null || task.isStarted)) {
      existing.waiters++;
      return existing;
    }
    const displaced = Promise.withResolvers<never>();
    displaced.promise.catch(() => {}); // The requests that wait at the place handle the error.
    const waitingSince = performance.now();
    const place: Place = { task, key, queue, waitingSince, displaced, ticket: null, waiters: 1 };
    if (mustWait && !task.isStarted) this.#enqueue(place, keyPath);
    task.places.set(key, place);
    return place;
  }

  /** Removes a request from its place. @returns false when no request waits for the task any longer */
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

  /** Returns the next place whose job may start now (`mayStart`), without removing its task; null if there is none. */
  next(mayStart: (job: RenderJob) => boolean): Place | null {
    const mayStartPlace = ({ task }: Place) => mayStart(task.job);
    const requested = this.#requested.next(mayStartPlace)?.job ?? null;
    const internal = this.#internal.next(mayStartPlace)?.job ?? null;
    if (requested && internal) {
      const hasWaitedLong = performance.now() - internal.waitingSince > MAX_INTERNAL_WAIT_MS;
      return hasWaitedLong && internal.waitingSince < requested.waitingSince ? internal : requested;
    }
    return requested ?? internal ?? this.#prerendering.next(mayStartPlace)?.job ?? null;
  }

  /** Removes a task that starts now from all queues. @param turn the place whose turn it was; null when the task did not wait */
  start(task: RenderTask, turn: Place | null): void {
    if (turn?.ticket) turn.queue.start(turn.ticket); // ends the account's turn; `remove` below then ignores this ticket
    for (const place of task.places.values()) {
      if (place.ticket !== null) place.queue.remove(place.ticket);
      place.ticket = null;
    }
    task.isStarted = true;
    this.#waiting.delete(task);
  }

  /** Whether a request other than prerendering waits for the task. */
  hasWaitingRequests(task: RenderTask): boolean {
    for (const { queue } of task.places.values()) if (queue !== this.#prerendering) return true;
    return false;
  }

  clear(): void {
    this.#waiting.clear();
    for (const queue of [this.#requested, this.#internal, this.#prerendering]) queue.clear();
  }

  /** Adds a place to its queue, which may displace another one. @throws SlideError BUSY when the queue does not accept it */
  #enqueue(place: Place, keyPath: readonly string[]): void {
    const busyError = () => new SlideError('BUSY', 'The render queue is full');
    const priority = place.task.job.kind === 'thumbnail' ? 1 : 0; // 0 goes first
    const added = place.queue.add(place, keyPath, priority);
    if (added === null) throw busyError();
    place.ticket = added.ticket;
    this.#waiting.add(place.task);
    if (added.displaced === null) return;
    const displacedPlace = added.displaced.job;
    displacedPlace.ticket = null;
    this.#removeUnlessWaiting(displacedPlace.task);
    displacedPlace.displaced.reject(busyError());
  }

  /** Removes the task from the set of waiting tasks, unless one of its places still has a ticket. */
  #removeUnlessWaiting(task: RenderTask): void {
    for (const { ticket } of task.places.values()) if (ticket !== null) return;
    this.#waiting.delete(task);
  }
}
