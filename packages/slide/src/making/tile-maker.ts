import { tmpdir } from 'node:os';
import type { DeepZoomAddress } from '../deep-zoom.ts';
import { SlideError, type SlideLocation } from '../slide.ts';
import type { SlideGroup } from '../source/slide-files.ts';
import type { FolderLocation, Objects } from '../source/slide-place.ts';
import { Maker } from './maker.ts';
import type { ExpectedSlide, MakerJob } from './maker-message.ts';
import type { SlideSummary } from './slide-summary.ts';

export interface TileMakerOptions {
  /** How many processes make tiles side by side. */
  readonly processes: number;
  /** How many jobs may wait for a process, less urgent ones not counted; one more is refused with BUSY. */
  readonly queueLimit: number;
  /** A job that runs longer is ended together with its process. */
  readonly timeoutMs: number;
  /** A process that has had nothing to do for so long is ended; five minutes where it is not said. */
  readonly idleMs?: number;
  /** Where the first process leaves its compiled code to the next: they start in a third of the time. Absent: nowhere. */
  readonly compiledFolder?: string;
  /** Where processes write what they need for a while; the system's folder where it is not said. */
  readonly scratchFolder?: string;
  /** Through which objects of a store are read; absent: slides are files. */
  readonly objects?: Objects;
}

/** What goes first: 0 somebody looks at this tile now, 1 somebody waits for it, 2 nobody has asked for it yet. */
type Urgency = 0 | 1 | 2;

/** One job, for all who wait for it. */
interface Task {
  readonly key: string;
  readonly job: MakerJob;
  /** Of whoever has most need of it. */
  urgency: Urgency;
  /** When it began to wait, by `performance.now`. */
  readonly since: number;
  readonly answer: PromiseWithResolvers<unknown>;
  waiters: number;
  /** Null before a process has it, and after it is done. */
  cancel: (() => void) | null;
}

/** What somebody has waited for so long is as urgent as a tile. */
const PATIENCE_MS = 2000;
const IDLE_MS = 5 * 60_000;

/**
 * Decodes, and reads headers for the first time, in processes of lower priority that a bad slide may bring down
 * without harm to anything else. Processes start when they are first needed.
 *
 * Tiles go before everything else, and one process is always left to them; else jobs are done in the order they came.
 * The same job asked for twice at once is done once; one that nobody waits for any more is dropped.
 */
export class TileMaker {
  readonly #options: TileMakerOptions;
  readonly #makers = new Set<Maker>();
  readonly #tasks = new Map<string, Task>();
  /** What waits for a process, by urgency; each in the order it came. */
  readonly #waiting: Readonly<Record<Urgency, Set<Task>>> = { 0: new Set(), 1: new Set(), 2: new Set() };
  /** Jobs under way that are no tiles: a file may take its time over them. */
  #others = 0;
  #isClosed = false;
  #faults = 0;

  constructor(options: TileMakerOptions) {
    this.#options = options;
  }

  /** @throws SlideError what opening the slide throws, and BUSY, DECODE_FAILED */
  async inspect(location: SlideLocation, signal?: AbortSignal): Promise<SlideSummary> {
    return (await this.#request({ kind: 'inspect', location }, signal)) as SlideSummary;
  }

  /**
   * `groupSlideFiles` where a bad file can hurt nobody.
   *
   * @throws SlideError BUSY, DECODE_FAILED when one of the files brought the process down or it took too long
   */
  async group(
    folder: FolderLocation,
    names: readonly string[],
    folders: readonly string[],
    signal?: AbortSignal,
  ): Promise<readonly SlideGroup[]> {
    return (await this.#request({ kind: 'group', folder, names, folders }, signal)) as readonly SlideGroup[];
  }

  /**
   * @returns a complete JPEG, of the size that the descriptor promises for the address
   * @throws SlideError FILE_CHANGED, what opening, reading and decoding throw, and BUSY, DECODE_FAILED
   */
  async tile(location: ExpectedSlide, address: DeepZoomAddress, signal?: AbortSignal): Promise<Uint8Array> {
    return (await this.#request({ kind: 'tile', location, address }, signal)) as Uint8Array;
  }

  /** The same, before somebody asks for it: when nothing else is to be done. */
  async tileAhead(
    location: ExpectedSlide,
    address: DeepZoomAddress,
    signal?: AbortSignal,
  ): Promise<Uint8Array> {
    return (await this.#request({ kind: 'tile', location, address }, signal, 2)) as Uint8Array;
  }

  /** `firstTilesToMake`, when nothing else is to be done. @throws SlideError as `inspect` does, and FILE_CHANGED */
  async tilesToMake(
    location: ExpectedSlide,
    most: number,
    signal?: AbortSignal,
  ): Promise<readonly DeepZoomAddress[]> {
    return (await this.#request({ kind: 'list', location, most }, signal, 2)) as readonly DeepZoomAddress[];
  }

  /** Whether somebody waits for a picture or an answer; what nobody has asked for does not count. */
  get isWanted(): boolean {
    for (const { urgency } of this.#tasks.values()) if (urgency < 2) return true;
    return false;
  }

  /**
   * @returns the whole slide as a JPEG, its longer side at most `maxSide` pixels; never label or macro
   * @throws SlideError as `tile` does
   */
  async thumbnail(location: ExpectedSlide, maxSide: number, signal?: AbortSignal): Promise<Uint8Array> {
    return (await this.#request({ kind: 'thumbnail', location, maxSide }, signal)) as Uint8Array;
  }

  /** Jobs that wait for a process. */
  get queueLength(): number {
    return this.#lines.reduce((sum, line) => sum + line.size, 0);
  }

  /** Processes that a job brought down, or that took too long over one; each was replaced when the next was needed. */
  get faults(): number {
    return this.#faults;
  }

  /** Of the processes that run now: for measuring them. */
  get processIds(): readonly number[] {
    return [...this.#makers].flatMap(({ processId }) => processId ?? []);
  }

  /** Ends every process; whoever still waits is refused with BUSY. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const closing = new SlideError('BUSY', 'No more tiles are made: the program is ending');
    for (const { answer } of this.#tasks.values()) answer.reject(closing);
    this.#tasks.clear();
    for (const line of this.#lines) line.clear();
    await Promise.all([...this.#makers].map((maker) => maker.end(closing)));
  }

  async #request(
    job: MakerJob,
    signal?: AbortSignal,
    urgency: Urgency = job.kind === 'tile' ? 0 : 1,
  ): Promise<unknown> {
    signal?.throwIfAborted();
    const key = JSON.stringify(job);
    const task = this.#tasks.get(key) ?? this.#enqueue(key, job, urgency);
    if (urgency < task.urgency) this.#hasten(task, urgency);
    task.waiters++;
    const { promise: aborted, reject } = Promise.withResolvers<never>();
    const abort = () => reject(signal?.reason);
    signal?.addEventListener('abort', abort);
    try {
      return await Promise.race([task.answer.promise, aborted]);
    } finally {
      signal?.removeEventListener('abort', abort);
      task.waiters--;
      if (task.waiters === 0) this.#drop(task);
    }
  }

  #enqueue(key: string, job: MakerJob, urgency: Urgency): Task {
    const before = this.#lines.slice(0, urgency + 1).reduce((sum, { size }) => sum + size, 0);
    const isFull = before >= this.#options.queueLimit && this.#freeMaker(job) === null;
    if (this.#isClosed || isFull) throw new SlideError('BUSY', 'Too many tiles are waiting to be made');
    const task: Task = {
      key,
      job,
      urgency,
      since: performance.now(),
      answer: Promise.withResolvers(),
      waiters: 0,
      cancel: null,
    };
    // When everyone has stopped waiting, nobody hears of a failure, and nobody needs to.
    task.answer.promise.catch(() => {});
    this.#tasks.set(key, task);
    this.#waiting[urgency].add(task);
    this.#startWaiting();
    return task;
  }

  get #lines(): readonly Set<Task>[] {
    return [this.#waiting[0], this.#waiting[1], this.#waiting[2]];
  }

  #hasten(task: Task, urgency: Urgency): void {
    if (this.#waiting[task.urgency].delete(task)) this.#waiting[urgency].add(task);
    task.urgency = urgency;
  }

  #drop(task: Task): void {
    if (this.#tasks.get(task.key) === task) this.#tasks.delete(task.key);
    this.#waiting[task.urgency].delete(task);
    task.cancel?.();
  }

  #startWaiting(): void {
    while (!this.#isClosed) {
      const task = this.#nextTask();
      const maker = task && this.#freeMaker(task.job);
      if (!maker) return;
      this.#waiting[task.urgency].delete(task);
      this.#start(maker, task);
    }
  }

  /** The most urgent that may be started, and of equals what came first. Looks at few: thousands may wait. */
  #nextTask(): Task | null {
    const [tile] = this.#waiting[0];
    const [other] = this.#mayStartOthers ? this.#waiting[1] : [];
    if (tile && other) {
      const isOutOfPatience = performance.now() - other.since > PATIENCE_MS && other.since < tile.since;
      return isOutOfPatience ? other : tile;
    }
    if (tile || other) return tile ?? other ?? null;
    for (const ahead of this.#waiting[2]) {
      if (ahead.job.kind === 'tile' || this.#mayStartOthers) return ahead;
    }
    return null;
  }

  /** One process is always left to tiles. */
  get #mayStartOthers(): boolean {
    return this.#others < Math.max(1, this.#options.processes - 1);
  }

  #start(maker: Maker, task: Task): void {
    const { answer, cancel } = maker.run(task.job);
    task.cancel = cancel;
    if (task.job.kind !== 'tile') this.#others++;
    void answer
      .finally(() => {
        task.cancel = null;
        if (task.job.kind !== 'tile') this.#others--;
      })
      .then(task.answer.resolve, task.answer.reject)
      .finally(() => this.#startWaiting());
  }

  /**
   * Preferably one that has the slide open. Starts a process when all are busy and there may be more.
   *
   * @returns null when none is free, or the last one is left to tiles
   */
  #freeMaker(job: MakerJob): Maker | null {
    if (job.kind !== 'tile' && !this.#mayStartOthers) return null;
    const free = [...this.#makers].filter((maker) => maker.isFree);
    const path = job.kind === 'group' ? null : job.location.path;
    const best = free.find((maker) => maker.lastPath === path) ?? free[0];
    if (best || this.#makers.size >= this.#options.processes) return best ?? null;
    const { timeoutMs, idleMs = IDLE_MS, compiledFolder = null, objects = null } = this.#options;
    const { scratchFolder = tmpdir() } = this.#options;
    const maker = new Maker({ timeoutMs, idleMs, compiledFolder, scratchFolder, objects }, (isFault) => {
      if (isFault && !this.#isClosed) this.#faults++;
      this.#makers.delete(maker);
      this.#startWaiting();
    });
    this.#makers.add(maker);
    return maker;
  }
}
