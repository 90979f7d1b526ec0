import { tmpdir } from 'node:os';
import type { SlideColour } from '../colour/slide-colour.ts';
import type { DeepZoomAddress } from '../deep-zoom/deep-zoom.ts';
import type { FolderLocation, Objects } from '../location/slide-place.ts';
import { SlideError, type SlideLocation } from '../model/slide.ts';
import type { TileColour } from '../render/render-tile.ts';
import type { View } from '../render/render-view.ts';
import type { SlideSummary } from '../render/slide-summary.ts';
import type { SlideGroup } from '../source/slide-files.ts';
import type { ExpectedSlide, RenderJob } from './messages.ts';
import { type JobRequest, RenderQueue, type RenderTask, type Requester } from './render-queue.ts';
import { RenderWorker } from './render-worker.ts';

/** Settings of a pool of render processes. */
export interface RenderPoolOptions {
  /** Number of render processes. */
  readonly processes: number;
  /** Requests of accounts that may wait for a process. The same bound holds for the server's own jobs. */
  readonly queueLimit: number;
  /** Waiting requests of one account; `queueLimit` by default. */
  readonly accountQueueLimit?: number;
  /** Waiting requests of one session; `queueLimit` by default. Further requests get BUSY. */
  readonly sessionQueueLimit?: number;
  /** A job that runs longer fails, and its process is killed. */
  readonly timeoutMs: number;
  /** A process without a job for this long is ended; 5 minutes by default. */
  readonly idleMs?: number;
  /**
   * Folder of the V8 compile cache, which makes later processes start in a third of the time. Absent: no
   * cache.
   */
  readonly compiledFolder?: string;
  /** Folder for temporary files of the processes; by default that of the system. */
  readonly scratchFolder?: string;
  /**
   * Folders that hold all slides. Where the system supports Landlock, render processes can open no other file
   * of the machine. Absent: they can open every file that this process may read.
   */
  readonly slideFolders?: readonly string[];
  /** Reads objects of an object store; absent when slides are local files. */
  readonly objects?: Objects;
}

interface Request extends JobRequest {
  readonly signal: AbortSignal | undefined;
}

interface Task extends RenderTask {
  /** Null until a process has the job, and after it is done. */
  cancel: (() => void) | null;
}

const IDLE_MS = 5 * 60_000;
/** A slide whose last tile took this long counts as slow until a tile of it is faster. */
const SLOW_MS = 2000;
const MAX_SLOW_SLIDES = 1000;

/**
 * Decodes pixels and reads headers in processes of lower priority, which are started on demand. A bad slide
 * can crash such a process, but not the server.
 *
 * Accounts take turns in the queue (`RenderQueue`). One process always remains free for tiles of slides that
 * are not slow. Identical concurrent jobs are done once. A job without waiting requests is cancelled.
 */
export class RenderPool {
  readonly #options: RenderPoolOptions;
  readonly #makers = new Set<RenderWorker>();
  readonly #tasks = new Map<string, Task>();
  readonly #queue: RenderQueue;
  /**
   * Paths of slides whose last tile took long. A few requests for such tiles must not occupy all processes.
   */
  readonly #slowSlides = new Set<string>();
  /** Running jobs that may take long: everything except tiles, and tiles of slow slides. */
  #longJobs = 0;
  #isClosed = false;
  #faults = 0;

  constructor(options: RenderPoolOptions) {
    this.#options = options;
    const { queueLimit: total, accountQueueLimit = total, sessionQueueLimit = total } = options;
    this.#queue = new RenderQueue({ total, account: accountQueueLimit, session: sessionQueueLimit });
  }

  /** @throws SlideError BUSY, DECODE_FAILED; errors of opening the slide */
  async inspect(
    location: SlideLocation,
    signal?: AbortSignal,
    requester: Requester | null = null,
  ): Promise<SlideSummary> {
    return (await this.#request({ kind: 'inspect', location }, { signal, requester })) as SlideSummary;
  }

  /**
   * `groupSlideFiles` in a render process, where a bad file cannot harm the server.
   *
   * @throws SlideError BUSY; DECODE_FAILED when a file crashed the process or the job took too long
   */
  async group(
    folder: FolderLocation,
    names: readonly string[],
    folders: readonly string[],
    signal?: AbortSignal,
  ): Promise<readonly SlideGroup[]> {
    const job = { kind: 'group', folder, names, folders } as const;
    return (await this.#request(job, { signal, requester: null })) as readonly SlideGroup[];
  }

  /**
   * @param colour absent: as scanned
   * @returns a complete JPEG of the size that the Deep Zoom descriptor implies for the address
   * @throws SlideError FILE_CHANGED, BUSY, DECODE_FAILED; errors of opening, reading and decoding
   */
  async tile(
    location: ExpectedSlide,
    address: DeepZoomAddress,
    signal?: AbortSignal,
    requester: Requester | null = null,
    colour?: TileColour,
  ): Promise<Uint8Array> {
    const job = { kind: 'tile', location, address, ...(colour && { colour }) } as const;
    return (await this.#request(job, { signal, requester })) as Uint8Array;
  }

  /**
   * @returns a JPEG or PNG of the view
   * @throws SlideError LIMIT_EXCEEDED, and the errors of `tile`
   */
  async view(
    location: ExpectedSlide,
    view: View,
    signal?: AbortSignal,
    requester: Requester | null = null,
  ): Promise<Uint8Array> {
    return (await this.#request({ kind: 'view', location, view }, { signal, requester })) as Uint8Array;
  }

  /**
   * Reads the colour profile of the slide and computes its table.
   *
   * @throws SlideError FILE_CHANGED, BUSY, DECODE_FAILED; errors of opening the slide
   */
  async colour(
    location: ExpectedSlide,
    signal?: AbortSignal,
    requester: Requester | null = null,
  ): Promise<SlideColour> {
    return (await this.#request({ kind: 'colour', location }, { signal, requester })) as SlideColour;
  }

  /** `tile` before a request for it, when no other job waits. */
  async prerenderTile(
    location: ExpectedSlide,
    address: DeepZoomAddress,
    signal?: AbortSignal,
  ): Promise<Uint8Array> {
    const request = { signal, requester: null, isPrerendering: true };
    return (await this.#request({ kind: 'tile', location, address }, request)) as Uint8Array;
  }

  /**
   * Runs `tilesToPrerender` when no other job waits. @throws SlideError FILE_CHANGED, and the errors of
   * `inspect`
   */
  async tilesToRender(
    location: ExpectedSlide,
    most: number,
    signal?: AbortSignal,
  ): Promise<readonly DeepZoomAddress[]> {
    const request = { signal, requester: null, isPrerendering: true };
    return (await this.#request({ kind: 'list', location, most }, request)) as readonly DeepZoomAddress[];
  }

  /** Whether a request waits for a result; prerendering does not count. */
  get hasWaitingRequests(): boolean {
    for (const task of this.#tasks.values()) if (this.#queue.hasWaitingRequests(task)) return true;
    return false;
  }

  /**
   * @returns the whole slide as a JPEG, its longer side at most `maxSide` pixels; never the label or macro
   * image
   * @throws SlideError the errors of `tile`
   */
  async thumbnail(
    location: ExpectedSlide,
    maxSide: number,
    signal?: AbortSignal,
    requester: Requester | null = null,
  ): Promise<Uint8Array> {
    const job = { kind: 'thumbnail', location, maxSide } as const;
    return (await this.#request(job, { signal, requester })) as Uint8Array;
  }

  /** Jobs that wait for a process. */
  get queueLength(): number {
    return this.#queue.length;
  }

  /** Processes that a job crashed or that exceeded the time limit. The next job starts a new one. */
  get faults(): number {
    return this.#faults;
  }

  /** Process ids of the running processes, for measurements and tests. */
  get processIds(): readonly number[] {
    return [...this.#makers].flatMap(({ processIds }) => processIds);
  }

  /** Ends every process. Waiting requests fail with BUSY. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const closing = new SlideError('BUSY', 'The render pool is closed');
    for (const { answer } of this.#tasks.values()) answer.reject(closing);
    this.#tasks.clear();
    this.#queue.clear();
    await Promise.all([...this.#makers].map((worker) => worker.end(closing)));
  }

  async #request(job: RenderJob, { signal, ...request }: Request): Promise<unknown> {
    signal?.throwIfAborted();
    if (this.#isClosed) throw new SlideError('BUSY', 'The render pool is closed');
    const key = JSON.stringify(job);
    const task = this.#tasks.get(key) ?? newTask(job);
    const worker = task.isStarted ? null : this.#findFreeWorker(job);
    const place = this.#queue.join(task, request, worker === null);
    this.#tasks.set(key, task);
    if (worker !== null) {
      this.#queue.start(task, null);
      this.#start(worker, task);
    }
    const { promise: aborted, reject } = Promise.withResolvers<never>();
    const abort = () => reject(signal?.reason);
    signal?.addEventListener('abort', abort);
    try {
      return await Promise.race([task.answer.promise, place.displaced.promise, aborted]);
    } finally {
      signal?.removeEventListener('abort', abort);
      if (!this.#queue.leave(place)) {
        if (this.#tasks.get(key) === task) this.#tasks.delete(key);
        task.cancel?.();
      }
    }
  }

  #startWaiting(): void {
    while (!this.#isClosed) {
      const next = this.#queue.next((job) => !this.#mayTakeLong(job) || this.#mayStartLongJobs);
      const worker = next && this.#findFreeWorker(next.task.job);
      if (!worker) return;
      this.#queue.start(next.task, next);
      this.#start(worker, next.task as Task);
    }
  }

  #mayTakeLong(job: RenderJob): boolean {
    return job.kind !== 'tile' || this.#slowSlides.has(job.location.path);
  }

  /** Whether a process remains free for short jobs. */
  get #mayStartLongJobs(): boolean {
    return this.#longJobs < Math.max(1, this.#options.processes - 1);
  }

  #start(worker: RenderWorker, task: Task): void {
    const mayTakeLong = this.#mayTakeLong(task.job);
    if (mayTakeLong) this.#longJobs++;
    const since = performance.now();
    const { answer, cancel } = worker.run(task.job);
    task.cancel = cancel;
    void answer
      .finally(() => {
        task.cancel = null;
        if (mayTakeLong) this.#longJobs--;
        this.#noteDuration(task.job, performance.now() - since);
      })
      .then(task.answer.resolve, task.answer.reject)
      .finally(() => this.#startWaiting());
  }

  #noteDuration(job: RenderJob, ms: number): void {
    if (job.kind !== 'tile') return;
    this.#slowSlides.delete(job.location.path);
    if (ms < SLOW_MS) return;
    this.#slowSlides.add(job.location.path);
    const [oldest] = this.#slowSlides;
    if (this.#slowSlides.size > MAX_SLOW_SLIDES && oldest !== undefined) {
      this.#slowSlides.delete(oldest);
    }
  }

  /**
   * Finds a free worker for the job, preferably one that has the slide open. Starts a new one when all are
   * busy and the limit allows it.
   *
   * @returns null when no worker is free, or the last free one is reserved for tiles
   */
  #findFreeWorker(job: RenderJob): RenderWorker | null {
    if (this.#mayTakeLong(job) && !this.#mayStartLongJobs) return null;
    const free = [...this.#makers].filter((worker) => worker.isFree);
    const path = job.kind === 'group' ? null : job.location.path;
    const best = free.find((worker) => worker.lastPath === path) ?? free[0];
    if (best || this.#makers.size >= this.#options.processes) return best ?? null;
    const { timeoutMs, idleMs = IDLE_MS, compiledFolder = null, objects = null } = this.#options;
    const { scratchFolder = tmpdir(), slideFolders = null } = this.#options;
    const options = { timeoutMs, idleMs, compiledFolder, scratchFolder, slideFolders, objects };
    const worker = new RenderWorker(options, (isFault) => {
      if (isFault && !this.#isClosed) this.#faults++;
      this.#makers.delete(worker);
      this.#startWaiting();
    });
    this.#makers.add(worker);
    return worker;
  }
}

function newTask(job: RenderJob): Task {
  const answer = Promise.withResolvers<unknown>();
  // Without waiting requests a failure has no recipient.
  answer.promise.catch(() => {});
  return { job, answer, places: new Map(), isStarted: false, cancel: null };
}
