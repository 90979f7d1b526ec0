/**
 * A bounded queue for work that several parties compete for. The render queue and the password hashing queue use it.
 *
 * Every job waits under a path of keys, from the widest party to the narrowest, for example `[account, session]` or
 * `[network, account]`. All paths of one queue have the same length.
 *
 * - **Turns.** At each level of the path the keys take turns (round robin). A party with a thousand waiting jobs delays a
 *   party with one waiting job by one turn.
 * - **Priorities.** Among the jobs of one path, the lowest priority number goes first; equal ones go in order of arrival.
 * - **Bounds.** Each level may bound the jobs of one key, and the queue bounds the jobs of all. When the queue is full, a
 *   new job displaces the newest job of the party that has the most waiting, if that party has at least two more
 *   than the new job's own party. A party therefore cannot fill the queue and have the others refused.
 * - **Cancellation.** `remove` takes out a job whose caller no longer waits. It costs the caller no turn.
 *
 * The queue starts nothing and keeps no time: its user asks for the `next` job whenever it can start one.
 * This module imports nothing, so that the server can use it without the slide readers (`@lamina/slide/fair-queue`).
 */

export interface FairQueueLimits {
  /** Jobs that may wait in all. */
  readonly total: number;
  /** Jobs that may wait under one key, for each level of the path; a missing level has no bound. */
  readonly perKey?: readonly number[];
}

/** One waiting job. */
export interface Ticket<T> {
  readonly job: T;
  readonly priority: number;
  readonly path: readonly string[];
}

/** A key's waiting jobs: in `children` down to the last key of a path, there in `lines`. */
interface Party<T> {
  /** Waiting jobs of this key and of all keys below it. */
  size: number;
  /** The key whose turn it is stands first. */
  readonly children: Map<string, Party<T>>;
  /** By priority; each in order of arrival. */
  readonly lines: Map<number, Set<Ticket<T>>>;
}

export class FairQueue<T> {
  readonly #limits: FairQueueLimits;
  readonly #all: Party<T> = newParty();

  constructor(limits: FairQueueLimits) {
    this.#limits = limits;
  }

  /** Waiting jobs. */
  get size(): number {
    return this.#all.size;
  }

  /**
   * Adds a job as the last one of its path and priority.
   *
   * @returns the job's ticket, and the ticket that had to leave for it, which the caller refuses; null when the new job
   *   may not wait
   */
  add(
    job: T,
    path: readonly string[],
    priority = 0,
  ): { readonly ticket: Ticket<T>; readonly displaced: Ticket<T> | null } | null {
    if (this.#isAtKeyLimit(path)) return null;
    const isFull = this.#all.size >= this.#limits.total;
    const displaced = isFull ? this.#displacedFor(path) : null;
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
    const line = party.lines.get(priority) ?? new Set();
    party.lines.set(priority, line.add(ticket));
    return { ticket, displaced };
  }

  /**
   * Finds the job whose turn it is, and leaves it in the queue.
   *
   * @param mayStart skips jobs that cannot be started now; a party with no other job keeps its turn
   */
  next(mayStart: (job: T) => boolean = () => true): Ticket<T> | null {
    return nextOf(this.#all, mayStart);
  }

  /** Takes out a job that is started: each key of its path has had its turn. */
  start(ticket: Ticket<T>): void {
    if (!this.remove(ticket)) return;
    let party = this.#all;
    for (const key of ticket.path) {
      const child = party.children.get(key);
      if (child === undefined) return;
      party.children.delete(key);
      party.children.set(key, child);
      party = child;
    }
  }

  /** Takes out a job that is not to be started. @returns false when it does not wait any more */
  remove(ticket: Ticket<T>): boolean {
    const parties = [this.#all];
    for (const key of ticket.path) {
      const child = parties.at(-1)?.children.get(key);
      if (child === undefined) return false;
      parties.push(child);
    }
    const last = parties.at(-1);
    const line = last?.lines.get(ticket.priority);
    if (!line?.delete(ticket)) return false;
    if (line.size === 0) last?.lines.delete(ticket.priority);
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
    this.#all.lines.clear();
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

  /** Compares the path's keys with their neighbours, level by level. @returns null when no party has two more waiting */
  #displacedFor(path: readonly string[]): Ticket<T> | null {
    let party: Party<T> | undefined = this.#all;
    for (const key of path) {
      const heaviest = heaviestOf(party);
      const own: Party<T> | undefined = party.children.get(key);
      if (heaviest !== null && heaviest.size > (own?.size ?? 0) + 1) return newestOf(heaviest);
      if (own === undefined) return null;
      party = own;
    }
    return null;
  }
}

function newParty<T>(): Party<T> {
  return { size: 0, children: new Map(), lines: new Map() };
}

function nextOf<T>(party: Party<T>, mayStart: (job: T) => boolean): Ticket<T> | null {
  for (const child of party.children.values()) {
    const found = nextOf(child, mayStart);
    if (found !== null) return found;
  }
  for (const priority of [...party.lines.keys()].sort((a, b) => a - b)) {
    for (const ticket of party.lines.get(priority) ?? []) if (mayStart(ticket.job)) return ticket;
  }
  return null;
}

function heaviestOf<T>(party: Party<T>): Party<T> | null {
  let heaviest: Party<T> | null = null;
  for (const child of party.children.values()) {
    if (heaviest === null || child.size > heaviest.size) heaviest = child;
  }
  return heaviest;
}

/** The newest of the least urgent jobs of the keys that have the most waiting. */
function newestOf<T>(party: Party<T>): Ticket<T> | null {
  const heaviest = heaviestOf(party);
  if (heaviest !== null) return newestOf(heaviest);
  const least = party.lines.get(Math.max(...party.lines.keys()));
  return least === undefined ? null : ([...least].at(-1) ?? null);
}
