/** The pool of render processes, in which the server decodes pixels and reads slides that it does not trust. */
import { tmpdir } from 'node:os';
import type { SlideColour } from '../colour/slide-colour.ts';
import type { DeepZoomAddress } from '../deep-zoom/deep-zoom.ts';
import type { FolderLocation, OptionalObjectReader } from '../location/open-slide-files.ts';
import { SlideError, type SlideLocation } from '../model/slide.ts';
import type { TileColour } from '../render/render-tile.ts';
import type { View } from '../render/render-view.ts';
import type { SlideSummary } from '../render/slide-summary.ts';
import type { SlideGroup } from '../source/slide-files.ts';
import type { ExpectedSlide, RenderJob } from './messages.ts';
import { type JobRequest, RenderQueue, type RenderTask, type Requester } from './render-queue.ts';
import { RenderWorker } from './render-worker.ts';
import { SlowSlides } from './slow-slides.ts';

/** Settings of a pool of render processes. */
export interface RenderPoolOptions {
  /** Maximum number of jobs that run at once. Each needs one process, or two for a slide that a C library must read. */
  readonly processes: number;
  /** Maximum number of waiting requests of all accounts. The server's own jobs and prerendering have queues with the same limit. */
  readonly queueLimit: number;
  /** Maximum number of waiting requests of one account; `queueLimit` by default. */
  readonly accountQueueLimit?: number;
  /**
   * Maximum number of waiting requests of one image session (a browser's credential for tiles); `queueLimit` by default.
   * Requests beyond any of the three limits fail with BUSY.
   */
  readonly sessionQueueLimit?: number;
  /** A job that runs longer fails, and its process is killed. */
  readonly timeoutMs: number;
  /** A process without a job for this long is ended; 5 minutes by default. */
  readonly idleMs?: number;
  /** Folder of the V8 compile cache, with which later processes start faster. If absent, there is no cache. */
  readonly compiledFolder?: string;
  /** Folder for temporary files of the processes; by default the system's folder. */
  readonly scratchFolder?: string;
  /**
   * Folders that contain all slides. If the system supports Landlock (file access rules in the kernel), render
   * processes can open no other files of the machine. If absent, they can open every file that this process may read.
   */
  readonly slideFolders?: readonly string[];
  /** Reads objects in object storage; absent when slides are local files. */
  readonly objects?: OptionalObjectReader;
}

/** One call of the pool: who requests the job, and the signal that aborts the wait for its result. */
interface PoolRequest extends JobRequest {
  readonly signal: AbortSignal | undefined;
}

interface Task extends RenderTask {
  /** Cancels the job; null unless a process is running it. */
  cancel: (() => void) | null;
}

const IDLE_MS = 5 * 60_000;

/**
 * Decodes pixels and reads headers in processes of lower priority, which are started on demand. A damaged or hostile slide can
 * crash such a process, but not the server.
 *
 * Accounts take turns in the queue (`RenderQueue`). If there are several processes, one of them is reserved for tiles of
 * slides that are not slow. Identical concurrent jobs run once. A job is cancelled when no request waits for it.
 *
 * The parameter `requester` is the account and session that wait for a result; null when no account waits
 * (`JobRequest.requester`).
 */
export class RenderPool {
  readonly #options: RenderPoolOptions;
  readonly #workers = new Set<RenderWorker>();
  readonly #tasks = new Map<string, Task>();
  readonly #queue: RenderQueue;
  readonly #slowSlides = new SlowSlides();
  /** Number of running jobs that may take long (`#mayTakeLong`). */
  #longJobs = 0;
  #isClosed = false;
  #faultCount = 0;

  constructor(options: RenderPoolOptions) {
    this.#options = options;
    const { queueLimit: total, accountQueueLimit = total, sessionQueueLimit = total } = options;
    this.#queue = new RenderQueue({ total, account: accountQueueLimit, session: sessionQueueLimit });
  }

  /** Starts a process if none runs, so that the next job does not wait for its start. */
  startProcess(): void {
    if (!this.#isClosed && this.#workers.size === 0) this.#addWorker();
  }

  /** Reads the metadata of a slide. @throws SlideError BUSY, DECODE_FAILED; errors of opening the slide */
  async inspect(
    location: SlideLocation,
    signal?: AbortSignal,
    requester: Requester | null = null,
  ): Promise<SlideSummary> {
    return (await this.#request({ kind: 'inspect', location }, { signal, requester })) as SlideSummary;
  }

  /**
   * Groups the files of a folder into slides (`groupSlideFiles`) in a render process, where a hostile file cannot harm the server.
   *
   * @param names names of the files in the folder
   * @param folders names of its subfolders
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
   * Renders a tile.
   *
   * @param colour by default the colours of the scan
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
   * Renders a view.
   *
   * @returns a JPEG or PNG
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
   * Reads the colour profile of the slide and converts it to a colour table.
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

  /** Renders a tile as `tile` does, before a viewer requests it. The job runs when no other job waits. */
  async prerenderTile(
    location: ExpectedSlide,
    address: DeepZoomAddress,
    signal?: AbortSignal,
  ): Promise<Uint8Array> {
    const request = { signal, requester: null, isPrerendering: true };
    return (await this.#request({ kind: 'tile', location, address }, request)) as Uint8Array;
  }

  /**
   * Returns the tiles to prerender (`tilesToPrerender`). The job runs when no other job waits.
   *
   * @throws SlideError FILE_CHANGED, and the errors of `inspect`
   */
  async tilesToPrerender(
    location: ExpectedSlide,
    maxTiles: number,
    signal?: AbortSignal,
  ): Promise<readonly DeepZoomAddress[]> {
    const request = { signal, requester: null, isPrerendering: true };
    return (await this.#request({ kind: 'list', location, maxTiles }, request)) as readonly DeepZoomAddress[];
  }

  /** Whether a request other than prerendering waits for a result. */
  get hasWaitingRequests(): boolean {
    for (const task of this.#tasks.values()) if (this.#queue.hasWaitingRequests(task)) return true;
    return false;
  }

  /**
   * Renders a thumbnail from the levels of the slide, never from the label or macro image.
   *
   * @returns the whole slide as a JPEG whose longer side has at most `maxSide` pixels
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

  /** Number of jobs that wait for a process. */
  get queueLength(): number {
    return this.#queue.length;
  }

  /** Number of workers that ended because a job crashed a process or exceeded a limit (time, memory). The next job starts a new one. */
  get faults(): number {
    return this.#faultCount;
  }

  /** Process ids of the running processes, for measurements and tests. */
  get processIds(): readonly number[] {
    return [...this.#workers].flatMap(({ processIds }) => processIds);
  }

  /** Ends every process. Waiting requests fail with BUSY. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const closedError = new SlideError('BUSY', 'The render pool is closed');
    for (const { result } of this.#tasks.values()) result.reject(closedError);
    this.#tasks.clear();
    this.#queue.clear();
    await Promise.all([...this.#workers].map((worker) => worker.end(closedError)));
  }

  /** Joins the running or waiting task with the same job, or creates it, and waits for its result. */
  async #request(job: RenderJob, { signal, ...request }: PoolRequest): Promise<unknown> {
    signal?.throwIfAborted();
    if (this.#isClosed) throw new SlideError('BUSY', 'The render pool is closed');
    const key = JSON.stringify(job);
    const task = this.#tasks.get(key) ?? newTask(job);
    const worker = task.isStarted ? null : this.#findFreeWorker(job);
    // `place` is the request's position in the queue. `place.displaced` rejects when a full queue gives the position to another requester.
    const place = this.#queue.join(task, request, worker === null);
    this.#tasks.set(key, task);
    // Without a free worker, the task waits in the queue until `#startWaitingTasks` starts it.
    if (worker !== null) {
      this.#queue.start(task, null); // null: the task did not wait
      this.#start(worker, task);
    }
    const { promise: aborted, reject } = Promise.withResolvers<never>();
    const abort = () => reject(signal?.reason);
    signal?.addEventListener('abort', abort);
    try {
      return await Promise.race([task.result.promise, place.displaced.promise, aborted]);
    } finally {
      signal?.removeEventListener('abort', abort);
      const hasOtherRequests = this.#queue.leave(place);
      if (!hasOtherRequests) {
        if (this.#tasks.get(key) === task) this.#tasks.delete(key);
        task.cancel?.();
      }
    }
  }

  /** Starts waiting tasks while there are free workers. */
  #startWaitingTasks(): void {
    while (!this.#isClosed) {
      const nextPlace = this.#queue.next((job) => !this.#mayTakeLong(job) || this.#mayStartLongJobs);
      const worker = nextPlace && this.#findFreeWorker(nextPlace.task.job);
      if (!worker) return;
      this.#queue.start(nextPlace.task, nextPlace);
      this.#start(worker, nextPlace.task as Task);
    }
  }

  /** Whether a job may take long: true for all jobs except tiles of slides that are not slow. */
  #mayTakeLong(job: RenderJob): boolean {
    return job.kind !== 'tile' || this.#slowSlides.has(job.location.path);
  }

  /** Whether a process stays free for short jobs if one more long job starts. A pool of one process keeps none free. */
  get #mayStartLongJobs(): boolean {
    return this.#longJobs < Math.max(1, this.#options.processes - 1);
  }

  #start(worker: RenderWorker, task: Task): void {
    const mayTakeLong = this.#mayTakeLong(task.job);
    if (mayTakeLong) this.#longJobs++;
    const startedAt = performance.now();
    const { result, cancel } = worker.run(task.job);
    task.cancel = cancel;
    const end = (isCompleted: boolean) => {
      task.cancel = null;
      if (mayTakeLong) this.#longJobs--;
      if (task.job.kind !== 'tile') return;
      this.#slowSlides.recordTile(task.job.location.path, performance.now() - startedAt, isCompleted);
    };
    void result
      .then(
        (value) => {
          end(true);
          task.result.resolve(value);
        },
        (error: unknown) => {
          end(false);
          task.result.reject(error);
        },
      )
      .finally(() => this.#startWaitingTasks());
  }

  /**
   * Finds a free worker for the job, preferably one that has the slide open. Starts a new one when all are
   * busy and the limit allows it.
   *
   * @returns null when no worker is free, or the last free one is reserved for tiles
   */
  #findFreeWorker(job: RenderJob): RenderWorker | null {
    if (this.#mayTakeLong(job) && !this.#mayStartLongJobs) return null;
    const free = [...this.#workers].filter((worker) => worker.isFree);
    const path = job.kind === 'group' ? null : job.location.path;
    const best = free.find((worker) => worker.lastPath === path) ?? free[0];
    if (best || this.#workers.size >= this.#options.processes) return best ?? null;
    return this.#addWorker();
  }

  #addWorker(): RenderWorker {
    const { timeoutMs, idleMs = IDLE_MS, compiledFolder = null, objects = null } = this.#options;
    const { scratchFolder = tmpdir(), slideFolders = null } = this.#options;
    const options = { timeoutMs, idleMs, compiledFolder, scratchFolder, slideFolders, objects };
    const worker = new RenderWorker(options, (isFault) => {
      if (isFault && !this.#isClosed) this.#faultCount++;
      this.#workers.delete(worker);
      this.#startWaitingTasks();
    });
    this.#workers.add(worker);
    return worker;
  }
}

function newTask(job: RenderJob): Task {
  const result = Promise.withResolvers<unknown>();
  // If no request waits for the task, a failure is ignored.
  result.promise.catch(() => {});
  return { job, result, places: new Map(), isStarted: false, cancel: null };
}
