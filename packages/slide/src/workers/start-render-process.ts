/** The server's side of a render process: starts the process with limited rights, sends it jobs, and kills it when it exceeds a limit. */
import { type ChildProcess, fork } from 'node:child_process';
import { mkdirSync, mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Confinement } from '../confinement/confinement.ts';
import type { OptionalObjectReader } from '../location/open-slide-files.ts';
import { SlideError } from '../model/slide.ts';
import type {
  QuestionReply,
  RenderJob,
  RenderReply,
  RenderRequest,
  WorkerMessage,
  WorkerQuestion,
} from './messages.ts';
import { answerObjectQuestion } from './object-questions.ts';
import { readProcessState } from './process-state.ts';
import { errorOf } from './worker-failure.ts';

/** Interval of the checks of a busy process. A process that two consecutive checks find suspended by a signal is killed. */
const CHECK_EVERY_MS = 250;
/**
 * Memory for the data of a process in addition to what Node takes at its start. The kernel enforces it. The largest image
 * that is decoded at once needs 400 MB (docs/operate.md, "Limits of render processes").
 */
const MAX_DATA_BYTES = 512 * 2 ** 20;
/** Maximum resident memory of a process. It includes memory-mapped files, which the kernel does not count as data. */
const MAX_RESIDENT_BYTES = 640 * 2 ** 20;

/** The program of a render process, and the program that confines the process and then executes the first one. */
const program = fileURLToPath(new URL('./render-process.ts', import.meta.url));
const starter = fileURLToPath(new URL('../confinement/start-confined.ts', import.meta.url));

/** The files that a process may open, and its kind. */
export interface RenderAccess {
  /** Files, and folders with everything below them; null for every file of the machine. */
  readonly slides: readonly string[] | null;
  /**
   * A `shared` process reads many slides, with TypeScript code only. An `own` process reads one slide, also with a C library
   * (openslide/access.ts).
   */
  readonly kind: 'shared' | 'own';
}

export interface RenderProcessOptions {
  /** A job that takes longer fails, and the process is killed. A job that groups files has this time for every 1000 files. */
  readonly timeoutMs: number;
  /** Ends the process after this time without a job. */
  readonly idleMs: number;
  /**
   * Folder of the V8 compile cache; null for no cache. Only render processes use it, because a compromised render process can
   * write to it.
   */
  readonly compiledFolder: string | null;
  /** Folder for temporary files, which may be as large as a decoded image. */
  readonly scratchFolder: string;
  /** Reads objects for the process; null when slides are local files. */
  readonly objects: OptionalObjectReader;
}

/**
 * How long a job has waited for object storage. `finishedMs`: milliseconds of ended waits. `unanswered`: number of questions
 * without an answer. `since`: start of the current wait by `performance.now()`.
 */
interface StoreWait {
  finishedMs: number;
  unanswered: number;
  since: number;
}

/** The current job of the process. */
interface CurrentJob {
  readonly id: number;
  readonly job: RenderJob;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: SlideError | OwnProcessRequired) => void;
  readonly storeWait: StoreWait;
}

/** Thrown when the shared process cannot run a job, because a C library must read the slide in a process of its own. */
export class OwnProcessRequired extends Error {}

/**
 * A render process, which runs one job at a time. A job that crashes the process or exceeds the time or memory limit ends it; the
 * owner then starts another one.
 */
export class RenderProcess {
  readonly #child: ChildProcess;
  readonly #options: RenderProcessOptions;
  #idleTimer: NodeJS.Timeout | null = null;
  readonly #ended: Promise<void>;
  #current: CurrentJob | null = null;
  #nextJobId = 0;
  #isEnding = false;
  #isDismissed = false;
  /** Messages to send when the process is ready; null when it is ready. */
  #unsent: (RenderRequest | QuestionReply)[] | null = [];

  /** Starts the process. @param onEnd called once at the end of the process; `isFault` is false only after `dismiss` */
  constructor(options: RenderProcessOptions, access: RenderAccess, onEnd: (isFault: boolean) => void) {
    this.#options = options;
    // The folder with the temporary files of the process and its libraries is removed when the process ends.
    const folder = createTemporaryFolder(options.scratchFolder);
    const { compiledFolder } = options;
    // After a failure, the process runs without the compile cache.
    if (compiledFolder !== null) nullOnError(() => mkdirSync(compiledFolder, { recursive: true }));
    this.#child = startConfined(confinementOf(options, access, folder));
    this.#ended = new Promise((resolve) => {
      const handleEnd = (cause: string) => {
        this.#isEnding = true;
        this.#fail(new SlideError('DECODE_FAILED', 'The render process ended unexpectedly', { cause }));
        onEnd(!this.#isDismissed);
        // If the folder cannot be removed, the operating system's cleanup of temporary files removes it later.
        if (folder === null) resolve();
        else void rm(folder, { recursive: true, force: true }).then(resolve, () => resolve());
      };
      this.#child.once('exit', (code, signal) => handleEnd(`exit ${code ?? signal}`));
      this.#child.once('error', (error) => {
        if (this.#child.pid === undefined) handleEnd(error.message); // the process could not be started
      });
    });
    this.#child.on('message', (message: WorkerMessage) => {
      if ('isReady' in message) this.#sendAll();
      else if ('question' in message) void this.#answerQuestion(message);
      else this.#receive(message);
    });
    this.#keepServerAlive(false);
    this.#startIdleTimer();
  }

  get processId(): number | undefined {
    return this.#child.pid;
  }

  get isFree(): boolean {
    return this.#current === null && !this.#isEnding;
  }

  /**
   * Starts a job; the process must be free.
   *
   * @returns a function that cancels the job, and the result, which rejects with SlideError DECODE_FAILED or STORE_TIMEOUT (time
   *   limit), errors of the job, or OwnProcessRequired
   */
  run(job: RenderJob): { result: Promise<unknown>; cancel: () => void } {
    const id = this.#nextJobId++;
    this.#keepServerAlive(true);
    clearTimeout(this.#idleTimer ?? undefined);
    const timeoutMs = this.#options.timeoutMs * timeoutFactorOf(job);
    const timer = setTimeout(() => void this.end(this.#timeoutError(timeoutMs)), timeoutMs);
    const watch = this.#watch();
    const result = new Promise<unknown>((resolve, reject) => {
      const storeWait = { finishedMs: 0, unanswered: 0, since: 0 };
      this.#current = { id, job, resolve, reject, storeWait };
    }).finally(() => {
      clearTimeout(timer);
      clearInterval(watch);
      this.#keepServerAlive(false);
      this.#startIdleTimer();
    });
    this.#send({ id, job });
    return { result, cancel: () => this.#send({ id, job: null }) }; // null cancels the job with this id
  }

  /** Kills the process; its job fails with `error`. */
  async end(error: SlideError): Promise<void> {
    this.#isEnding = true;
    this.#fail(error);
    this.#keepServerAlive(true); // so that the end of the process can be awaited
    this.#child.kill('SIGKILL');
    await this.#ended;
  }

  /** Ends the process unless it has a job. */
  async dismiss(): Promise<void> {
    if (!this.isFree) return;
    this.#isDismissed = true;
    await this.end(new SlideError('DECODE_FAILED', 'The render process was idle and was ended'));
  }

  #startIdleTimer(): void {
    this.#idleTimer = setTimeout(() => void this.dismiss(), this.#options.idleMs).unref();
  }

  /**
   * Starts checks that kill the process when a signal has suspended it, which would block its job until the timeout, or
   * when it exceeds the memory limit. The caller clears the returned timer after the job.
   */
  #watch(): NodeJS.Timeout {
    let suspendedChecks = 0; // consecutive checks that found the process suspended
    const check = async () => {
      const { pid } = this.#child;
      const state = pid === undefined ? null : await readProcessState(pid);
      if (!state || this.#isEnding) return;
      suspendedChecks = state.isSuspended ? suspendedChecks + 1 : 0;
      if (suspendedChecks >= 2) {
        await this.end(new SlideError('DECODE_FAILED', 'A signal suspended the render process'));
      } else if (state.residentBytes > MAX_RESIDENT_BYTES) {
        await this.end(new SlideError('DECODE_FAILED', 'The render process exceeded its memory limit'));
      }
    };
    return setInterval(() => void check(), CHECK_EVERY_MS).unref();
  }

  #send(request: RenderRequest | QuestionReply): void {
    if (this.#unsent) this.#unsent.push(request);
    // A process that has just ended cannot receive messages. Errors of `send` are ignored: the `exit` event fails the job.
    else if (this.#child.connected) this.#child.send(request, () => {});
  }

  /**
   * Sends the waiting messages. They wait until the render program runs, because the program that confines the process
   * (start-confined.ts) does not read messages.
   */
  #sendAll(): void {
    const unsent = this.#unsent ?? [];
    this.#unsent = null;
    for (const request of unsent) this.#send(request);
  }

  /** Returns STORE_TIMEOUT when the job spent more than half of the time waiting for object storage, else DECODE_FAILED. */
  #timeoutError(timeoutMs: number): SlideError {
    const wait = this.#current?.storeWait ?? { finishedMs: 0, unanswered: 0, since: 0 };
    const waitedMs = wait.finishedMs + (wait.unanswered > 0 ? performance.now() - wait.since : 0);
    return waitedMs > timeoutMs / 2
      ? new SlideError('STORE_TIMEOUT', 'Waiting for object storage took most of the time limit')
      : new SlideError('DECODE_FAILED', `Rendering took longer than ${timeoutMs} ms`);
  }

  /** Answers a question of the process for an object, and measures how long the job waits for the answers. */
  async #answerQuestion({ questionId, question }: WorkerQuestion): Promise<void> {
    const wait = this.#current?.storeWait ?? { finishedMs: 0, unanswered: 0, since: 0 };
    if (wait.unanswered === 0) wait.since = performance.now();
    wait.unanswered++;
    const job = this.#current?.job ?? null;
    this.#send(await answerObjectQuestion(questionId, question, job, this.#options.objects));
    wait.unanswered--;
    if (wait.unanswered === 0) wait.finishedMs += performance.now() - wait.since;
  }

  #receive(reply: RenderReply): void {
    const current = this.#current;
    if (current?.id !== reply.id) return; // a late reply: the job has failed already
    this.#current = null;
    if ('value' in reply) current.resolve(reply.value);
    else if ('needsOwnProcess' in reply) current.reject(new OwnProcessRequired());
    else current.reject(errorOf(reply.failure));
  }

  #fail(error: SlideError): void {
    this.#current?.reject(error);
    this.#current = null;
  }

  /**
   * Keeps the server's event loop alive only while the process has a job, so that a program that does not close the pool
   * can end.
   */
  #keepServerAlive(isNeeded: boolean): void {
    const { channel } = this.#child;
    if (isNeeded) {
      this.#child.ref();
      channel?.ref();
    } else {
      this.#child.unref();
      channel?.unref();
    }
  }
}

/** Returns the permissions of a render process. @param folder folder for its temporary files; null for none */
export function confinementOf(
  { compiledFolder }: Pick<RenderProcessOptions, 'compiledFolder'>,
  { slides, kind }: RenderAccess,
  folder: string | null,
): Confinement {
  return {
    slides,
    // Shared processes trust the compile cache, so a process that ran a C library must not write to it.
    compiled: compiledFolder === null ? null : { folder: compiledFolder, isWritable: kind === 'shared' },
    scratch: folder,
    memoryBytes: MAX_DATA_BYTES,
    program,
    args: [folder ?? '', kind],
    // The process gets no other variables, because code that reads hostile files must not know the server's secrets.
    environment: {
      ...(folder !== null && { TMPDIR: folder, TEMP: folder, TMP: folder }),
      // By default glibc keeps freed memory for each thread, and several threads allocate images. With one arena, the process
      // takes 90 MB instead of 120 MB.
      MALLOC_ARENA_MAX: '1',
      ...(compiledFolder !== null && { NODE_COMPILE_CACHE: compiledFolder }),
    },
  };
}

/** Starts a confined process. The caller must send no message before it has received one from the process. */
export function startConfined(confinement: Confinement): ChildProcess {
  return fork(starter, [JSON.stringify(confinement)], {
    env: confinement.environment,
    // Images are stored outside V8's heap, so its young generation does not need the default of up to 64 MB.
    execArgv: ['--max-semi-space-size=2'],
    serialization: 'advanced', // structured clone, which sends bytes efficiently; the default is JSON
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
}

/** Creates the temporary folder of a process. @returns its path; null after an error: most jobs write no files and do not need it */
function createTemporaryFolder(scratchFolder: string): string | null {
  return nullOnError(() => {
    mkdirSync(scratchFolder, { recursive: true });
    return mkdtempSync(join(scratchFolder, 'render-process-'));
  });
}

function nullOnError<T>(create: () => T): T | null {
  try {
    return create();
  } catch {
    return null;
  }
}

/** Number of files for which a grouping job (it finds out which files form a slide) gets the time limit of one job. */
const FILES_PER_TIMEOUT = 1000;

/** Returns the time limit of a job as a multiple of `timeoutMs`. */
function timeoutFactorOf(job: RenderJob): number {
  return job.kind === 'group' ? Math.max(1, Math.ceil(job.names.length / FILES_PER_TIMEOUT)) : 1;
}
