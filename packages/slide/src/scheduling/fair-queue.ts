/**
 * A bounded queue that shares a resource fairly between accounts, sessions or networks. The render queue and the password
 * hashing queue use it.
 *
 * Every job waits under a path of keys, from the widest group to the narrowest, for example `[account, session]` or
 * `[network, account]`. All paths of one queue have the same length. A *party* is all jobs under one key.
 *
 * - **Turns.** At each level of the path the keys take turns (round robin). A party with a thousand waiting jobs delays a
 *   party with one waiting job by one turn.
 * - **Priorities.** Among the jobs of one path, the lowest priority number goes first; equal ones go in order of arrival.
 * - **Bounds.** Each level may bound the jobs of one key, and the queue bounds the jobs of all. When the queue is full, a new
 *   job displaces a job of the party with the most waiting jobs: the newest of its least urgent ones. That party must have at
 *   least two more than the new job's own party. Therefore one party cannot fill the queue and block the jobs of others.
 * - **Cancellation.** `remove` removes a job whose caller no longer waits. Its party does not lose its turn.
 *
 * The queue does not run jobs and has no timers: its user asks for the `next` job whenever it can start one.
 * This module imports nothing, so that the server can use it without the slide readers (`@lamina/slide/fair-queue`).
 */

export interface FairQueueLimits {
  /** Maximum number of waiting jobs. */
  readonly total: number;
  /** Maximum number of waiting jobs under one key, for each level of the path; a missing level has no bound. */
  readonly perKey?: readonly number[];
}

/** One waiting job. */
export interface Ticket<T> {
  readonly job: T;
  readonly priority: number;
  readonly path: readonly string[];
}

/** The waiting jobs of a key: a tree along the path. Only the parties of a path's last key have tickets themselves. */
interface Party<T> {
  /** Number of waiting jobs of this key and of all keys below it. */
  size: number;
  /** The parties of the next key, in order of their turns. */
  readonly children: Map<string, Party<T>>;
  /** The waiting jobs of each priority, in order of arrival. */
  readonly ticketsByPriority: Map<number, Set<Ticket<T>>>;
}

export class FairQueue<T> {
  readonly #limits: FairQueueLimits;
  readonly #all: Party<T> = newParty();

  constructor(limits: FairQueueLimits) {
    this.#limits = limits;
  }

  /** Number of waiting jobs. */
  get size(): number {
    return this.#all.size;
  }

  /**
   * Adds a job as the last one of its path and priority.
   *
   * @returns null when the queue does not accept the job; otherwise the job's ticket, and the ticket of the job that it displaced
   *   (null if none). The caller must reject the displaced job
   */
  add(
    job: T,
    path: readonly string[],
    priority = 0,
  ): { readonly ticket: Ticket<T>; readonly displaced: Ticket<T> | null } | null {
    if (this.#isAtKeyLimit(path)) return null;
    const isFull = this.#all.size >= this.#limits.total;
    const displaced = isFull ? this.#ticketToDisplace(path) : null;
    if (isFull && displaced === null) return null;
    if (displaced !== null) this.remove(displaced);

    const ticket: Ticket<T> = { job, priority, path };
    let party = this.#all;
    party.size++;
    for (const key of path) {
      const child = party.children.get(key) ?? newParty();
      party.children.set(key, child);
      party = child;
      party.size++;
    }
    const tickets = party.ticketsByPriority.get(priority) ?? new Set();
    party.ticketsByPriority.set(priority, tickets.add(ticket));
    return { ticket, displaced };
  }

  /**
   * Returns the job whose turn it is, without removing it; null when no job can start.
   *
   * @param mayStart whether a job can start now; a party that is skipped because none of its jobs can start keeps its turn
   */
  next(mayStart: (job: T) => boolean = () => true): Ticket<T> | null {
    return nextOf(this.#all, mayStart);
  }

  /** Removes a job that starts now, and moves each key of its path to the end of the turns. */
  start(ticket: Ticket<T>): void {
    if (!this.remove(ticket)) return;
    let party = this.#all;
    for (const key of ticket.path) {
      const child = party.children.get(key);
      if (child === undefined) return; // The key had no other job, so `remove` has removed its party.
      party.children.delete(key);
      party.children.set(key, child);
      party = child;
    }
  }

  /** Removes a job that will not start. @returns false when it no longer waits */
  remove(ticket: Ticket<T>): boolean {
    const parties = [this.#all];
    for (const key of ticket.path) {
      const child = parties.at(-1)?.children.get(key);
      if (child === undefined) return false;
      parties.push(child);
    }
    const last = parties.at(-1);
    const tickets = last?.ticketsByPriority.get(ticket.priority);
    if (!tickets?.delete(ticket)) return false;
    if (tickets.size === 0) last?.ticketsByPriority.delete(ticket.priority);
    // `parties[0]` is the whole queue, so the key of `parties[level]` is `path[level - 1]`.
    for (const [level, party] of parties.entries()) {
      party.size--;
      const key = ticket.path[level - 1];
      if (party.size === 0 && key !== undefined) parties[level - 1]?.children.delete(key);
    }
    return true;
  }

  clear(): void {
    this.#all.size = 0;
    this.#all.children.clear();
    this.#all.ticketsByPriority.clear();
  }

  #isAtKeyLimit(path: readonly string[]): boolean {
    let party: Party<T> | undefined = this.#all;
    for (const [level, key] of path.entries()) {
      party = party?.children.get(key);
      if (party !== undefined && party.size >= (this.#limits.perKey?.[level] ?? Number.POSITIVE_INFINITY)) {
        return true;
      }
    }
    return false;
  }

  /**
   * Returns the job that a new job with this path displaces; null when there is none. The function takes it from the first level
   * of the path where another party has at least two more waiting jobs than the path's own party.
   */
  #ticketToDisplace(path: readonly string[]): Ticket<T> | null {
    let party: Party<T> | undefined = this.#all;
    for (const key of path) {
      const largest = largestChildOf(party);
      const ownParty: Party<T> | undefined = party.children.get(key);
      if (largest !== null && largest.size > (ownParty?.size ?? 0) + 1) return newestLeastUrgentOf(largest);
      if (ownParty === undefined) return null;
      party = ownParty;
    }
    return null;
  }
}

function newParty<T>(): Party<T> {
  return { size: 0, children: new Map(), ticketsByPriority: new Map() };
}

/** Returns the first job that may start, in the order of the turns; null when there is none. */
function nextOf<T>(party: Party<T>, mayStart: (job: T) => boolean): Ticket<T> | null {
  for (const child of party.children.values()) {
    const found = nextOf(child, mayStart);
    if (found !== null) return found;
  }
  for (const priority of [...party.ticketsByPriority.keys()].sort((a, b) => a - b)) {
    for (const ticket of party.ticketsByPriority.get(priority) ?? []) if (mayStart(ticket.job)) return ticket;
  }
  return null;
}

/** Returns the child with the most waiting jobs; null when there are no children. */
function largestChildOf<T>(party: Party<T>): Party<T> | null {
  let largest: Party<T> | null = null;
  for (const child of party.children.values()) {
    if (largest === null || child.size > largest.size) largest = child;
  }
  return largest;
}

/** Descends to the last key along the parties with the most waiting jobs; returns the newest of its least urgent jobs. */
function newestLeastUrgentOf<T>(party: Party<T>): Ticket<T> | null {
  const largest = largestChildOf(party);
  if (largest !== null) return newestLeastUrgentOf(largest);
  const leastUrgent = party.ticketsByPriority.get(Math.max(...party.ticketsByPriority.keys()));
  return leastUrgent === undefined ? null : ([...leastUrgent].at(-1) ?? null);
}
