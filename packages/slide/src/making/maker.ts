import { type ChildProcess, fork } from 'node:child_process';
import { mkdirSync, mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SlideError } from '../slide.ts';
import type { Objects } from '../source/slide-place.ts';
import { answerAboutObjects } from './answer-about-objects.ts';
import { isStopped } from './is-stopped.ts';
import { errorOf } from './maker-failure.ts';
import type { MakerJob, MakerQuestion, MakerReply, MakerRequest, QuestionReply } from './maker-message.ts';

/** A process that works is looked at so often; one that is seen to be held still twice in a row is ended. */
const LOOK_EVERY_MS = 500;

const program = fileURLToPath(new URL('./maker-process.ts', import.meta.url));

interface MakerPlan {
  /** A job that takes longer ends the process. */
  readonly timeoutMs: number;
  /** Without a job for so long it ends. */
  readonly idleMs: number;
  /** Where compiled code is kept; null: nowhere. Only making processes read it: what they leave there is as hostile as they. */
  readonly compiledFolder: string | null;
  /** Where the process writes what it needs for a while, which may be as large as a picture. */
  readonly scratchFolder: string;
  /** Through which objects are read for the process. */
  readonly objects: Objects;
}

/** What the process is doing, for whoever waits for it. */
interface Current {
  readonly id: number;
  readonly job: MakerJob;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: SlideError) => void;
  /** Milliseconds that it has waited for the object store so far, and since when it waits now. */
  readonly storeWait: { ms: number; questions: number; since: number };
}

/**
 * One making process, which does one job after the other. It ends with the first job that takes too long or brings it
 * down; then it is of no more use.
 */
export class Maker {
  readonly #child: ChildProcess;
  readonly #plan: MakerPlan;
  #idle: NodeJS.Timeout | null = null;
  readonly #ended: Promise<void>;
  #current: Current | null = null;
  #jobs = 0;
  #lastPath: string | null = null;
  #isEnding = false;
  #isDismissed = false;

  /** @param onEnd called once, when the process has ended, told whether that was a fault: nobody had dismissed it */
  constructor(plan: MakerPlan, onEnd: (isFault: boolean) => void) {
    this.#plan = plan;
    // All that is written on the way, by libraries too, goes away with the process, however it ends.
    const folder = makeFolder(plan.scratchFolder);
    // No other environment: what reads hostile files shall not know the server's passwords.
    this.#child = fork(program, [folder ?? ''], {
      env: {
        ...(folder !== null && { TMPDIR: folder, TEMP: folder, TMP: folder }),
        // glibc keeps freed memory apart for each thread, and pictures come and go in several: 120 MB instead of 90.
        MALLOC_ARENA_MAX: '1',
        ...(plan.compiledFolder !== null && { NODE_COMPILE_CACHE: plan.compiledFolder }),
      },
      // Pictures are not in V8's memory; the little that is young needs no 64 MB.
      execArgv: ['--max-semi-space-size=2'],
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    this.#ended = new Promise((resolve) => {
      const end = (cause: string) => {
        this.#isEnding = true;
        this.#fail(new SlideError('DECODE_FAILED', 'The decoding process ended', { cause }));
        onEnd(!this.#isDismissed);
        // What cannot be removed is left to the system, whose folder it is.
        if (folder === null) resolve();
        else void rm(folder, { recursive: true, force: true }).then(resolve, () => resolve());
      };
      this.#child.once('exit', (code, signal) => end(`exit ${code ?? signal}`));
      this.#child.once('error', (error) => {
        if (this.#child.pid === undefined) end(error.message);
      });
    });
    this.#child.on('message', (message: MakerReply | MakerQuestion) => {
      if ('question' in message) void this.#answer(message);
      else this.#receive(message);
    });
    this.#keepProgramAlive(false);
  }

  get processId(): number | undefined {
    return this.#child.pid;
  }

  get isFree(): boolean {
    return this.#current === null && !this.#isEnding;
  }

  /** The slide of the last job, which is probably still open. */
  get lastPath(): string | null {
    return this.#lastPath;
  }

  /**
   * @returns the answer, and a function that says that nobody waits for it any more
   * @throws SlideError DECODE_FAILED, and what the job throws
   */
  run(job: MakerJob): { answer: Promise<unknown>; cancel: () => void } {
    const id = this.#jobs++;
    this.#lastPath = job.kind === 'group' ? null : job.location.path;
    this.#keepProgramAlive(true);
    clearTimeout(this.#idle ?? undefined);
    const timeoutMs = this.#plan.timeoutMs * sharesOf(job);
    const timer = setTimeout(() => void this.end(this.#tooLong(timeoutMs)), timeoutMs);
    const watch = this.#endWhenStopped();
    const answer = new Promise<unknown>((resolve, reject) => {
      const storeWait = { ms: 0, questions: 0, since: 0 };
      this.#current = { id, job, resolve, reject, storeWait };
    }).finally(() => {
      clearTimeout(timer);
      clearInterval(watch);
      this.#keepProgramAlive(false);
      this.#idle = setTimeout(() => void this.#endIdle(), this.#plan.idleMs).unref();
    });
    this.#send({ id, job });
    return { answer, cancel: () => this.#send({ id, job: null }) };
  }

  /** Ends the process at once, and what it is doing with this error. */
  async end(error: SlideError): Promise<void> {
    this.#isEnding = true;
    this.#fail(error);
    this.#keepProgramAlive(true);
    this.#child.kill('SIGKILL');
    await this.#ended;
  }

  /** One that is held still would keep whoever waits until the time is over. */
  #endWhenStopped(): NodeJS.Timeout {
    let timesSeen = 0;
    const look = async () => {
      const { pid } = this.#child;
      timesSeen = pid !== undefined && (await isStopped(pid)) ? timesSeen + 1 : 0;
      if (timesSeen < 2 || this.#isEnding) return;
      await this.end(new SlideError('DECODE_FAILED', 'The decoding process was held still'));
    };
    return setInterval(() => void look(), LOOK_EVERY_MS).unref();
  }

  async #endIdle(): Promise<void> {
    if (!this.isFree) return;
    this.#isDismissed = true;
    await this.end(new SlideError('DECODE_FAILED', 'The decoding process was not needed'));
  }

  #send(request: MakerRequest | QuestionReply): void {
    // A process that has just ended cannot be told anything; its end is dealt with where it is noticed.
    if (this.#child.connected) this.#child.send(request, () => {});
  }

  /** Whose fault it is that a job takes too long: the slide's, or that of the store it lies in. */
  #tooLong(timeoutMs: number): SlideError {
    const wait = this.#current?.storeWait ?? { ms: 0, questions: 0, since: 0 };
    const waitedMs = wait.ms + (wait.questions > 0 ? performance.now() - wait.since : 0);
    return waitedMs > timeoutMs / 2
      ? new SlideError('STORE_TIMEOUT', 'Reading from the object store took too long')
      : new SlideError('DECODE_FAILED', `Decoding took longer than ${timeoutMs} ms`);
  }

  async #answer({ questionId, question }: MakerQuestion): Promise<void> {
    const wait = this.#current?.storeWait ?? { ms: 0, questions: 0, since: 0 };
    if (wait.questions === 0) wait.since = performance.now();
    wait.questions++;
    const job = this.#current?.job ?? null;
    this.#send(await answerAboutObjects(questionId, question, job, this.#plan.objects));
    wait.questions--;
    if (wait.questions === 0) wait.ms += performance.now() - wait.since;
  }

  #receive(reply: MakerReply): void {
    const current = this.#current;
    if (current?.id !== reply.id) return;
    this.#current = null;
    if ('value' in reply) current.resolve(reply.value);
    else current.reject(errorOf(reply.failure));
  }

  #fail(error: SlideError): void {
    this.#current?.reject(error);
    this.#current = null;
  }

  /** A process that waits for work must not keep a program running that has forgotten to close it. */
  #keepProgramAlive(isNeeded: boolean): void {
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

/** @returns null when there is no room for it: most jobs write nothing, and are done without */
function makeFolder(scratchFolder: string): string | null {
  try {
    mkdirSync(scratchFolder, { recursive: true });
    return mkdtempSync(join(scratchFolder, 'slide-maker-'));
  } catch {
    return null;
  }
}

/** Files whose headers are read in the time that one slide is given. */
const FILES_PER_SHARE = 1000;

function sharesOf(job: MakerJob): number {
  return job.kind === 'group' ? Math.max(1, Math.ceil(job.names.length / FILES_PER_SHARE)) : 1;
}
