/**
 * A worker that runs one job at a time. Its shared process serves all slides but runs TypeScript readers only. For a slide that a C
 * library must read, the worker starts a second one, the slide's own process, which may open only the files of this slide.
 */
import { stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { SlideError, type SlideLocation } from '../model/slide.ts';
import type { RenderJob } from './messages.ts';
import {
  OwnProcessRequired,
  type RenderAccess,
  RenderProcess,
  type RenderProcessOptions,
} from './start-render-process.ts';

interface RenderWorkerOptions extends RenderProcessOptions {
  /** Folders of all slides: the shared process can read no other files of the machine. With null, it can read every file. */
  readonly slideFolders: readonly string[] | null;
}

/** Maximum size of `slidesWithOwnProcess`. An evicted slide is detected again at its next job. */
const MAX_SLIDES_WITH_OWN_PROCESS = 1000;
/** Idle limit of a process for one slide; shorter than the limit of the shared process, because it serves no other slide. */
const OWN_IDLE_MS = 60_000;

/** A running job: its result, and a function that cancels it. */
interface Run {
  readonly result: Promise<unknown>;
  readonly cancel: () => void;
}

interface OwnProcess {
  readonly process: RenderProcess;
  /** Key of the slide that the process may read. */
  readonly slideKey: string;
  /** Fingerprint that the jobs of the process expect; null when they expect none. */
  readonly fingerprint: string | null;
}

/** Keys of slides that a C library must read, in a process that reads no other slide. All workers share this set. */
const slidesWithOwnProcess = new Set<string>();

export class RenderWorker {
  readonly #options: RenderWorkerOptions;
  readonly #onEnd: (isFault: boolean) => void;
  #shared: RenderProcess;
  /** Identities (device and inode) of the slide folders when the shared process was started. */
  #folderIdentities: Promise<string>;
  #own: OwnProcess | null = null;
  #lastPath: string | null = null;
  #isBusy = false;
  #isEnding = false;
  #hasEnded = false;

  /** @param onEnd called once, when the shared process ends or the own process fails; `isFault` is false only if the process was idle */
  constructor(options: RenderWorkerOptions, onEnd: (isFault: boolean) => void) {
    this.#options = options;
    this.#onEnd = onEnd;
    this.#folderIdentities = identitiesOf(options.slideFolders);
    this.#shared = this.#startShared();
  }

  get processIds(): readonly number[] {
    return [this.#shared, this.#own?.process].flatMap((process) => process?.processId ?? []);
  }

  get isFree(): boolean {
    return !this.#isBusy && !this.#isEnding && this.#shared.isFree;
  }

  /** Path of the last job's slide, which is probably still open. */
  get lastPath(): string | null {
    return this.#lastPath;
  }

  /**
   * Starts a job; the worker must be free.
   *
   * @returns a function that cancels the job, and the result, which rejects with SlideError DECODE_FAILED or errors of the job
   */
  run(job: RenderJob): Run {
    this.#isBusy = true;
    this.#lastPath = job.kind === 'group' ? null : job.location.path;
    const running: { cancel: (() => void) | null; isCancelled: boolean } = {
      cancel: null,
      isCancelled: false,
    };
    // A job may run in one process after another. A cancellation reaches the current process, or the next one at its start.
    const trackRun = ({ result, cancel }: Run): Promise<unknown> => {
      running.cancel = cancel;
      if (running.isCancelled) cancel();
      return result;
    };
    return {
      result: this.#perform(job, trackRun).finally(() => {
        this.#isBusy = false;
      }),
      cancel() {
        running.isCancelled = true;
        running.cancel?.();
      },
    };
  }

  /** Ends both processes immediately; their jobs fail with `error`. */
  async end(error: SlideError): Promise<void> {
    this.#isEnding = true;
    await Promise.all([this.#shared.end(error), this.#own?.process.end(error)]);
  }

  /** Runs a job in the process that it needs. @param trackRun lets `cancel` reach the process, and returns the result */
  async #perform(job: RenderJob, trackRun: (run: Run) => Promise<unknown>): Promise<unknown> {
    if (job.kind !== 'group' && slidesWithOwnProcess.has(keyOf(job.location)))
      return trackRun(this.#runInOwnProcess(job));
    // A `group` job groups the files of a folder into slides. If a slide folder was replaced, the process would see an empty
    // folder and return wrong groups instead of an error.
    if (job.kind === 'group') await this.#renewShared();
    try {
      return await trackRun(this.#shared.run(job));
    } catch (error) {
      if (error instanceof OwnProcessRequired && job.kind !== 'group') {
        rememberOwnProcess(keyOf(job.location));
        return trackRun(this.#runInOwnProcess(job));
      }
      // A file that the process may not open counts as missing. It may exist in a folder that has replaced a slide folder.
      const isMissing = error instanceof SlideError && error.code === 'FILE_MISSING';
      if (isMissing && (await this.#renewShared())) return trackRun(this.#shared.run(job));
      throw error;
    }
  }

  /**
   * Replaces the shared process when a slide folder is no longer the same folder, for example after a mount.
   * Landlock, which restricts file access in the kernel, binds permissions to the folders that existed at the start.
   *
   * @returns whether the process was replaced
   */
  async #renewShared(): Promise<boolean> {
    const { slideFolders } = this.#options;
    if (slideFolders === null) return false;
    const currentIdentities = identitiesOf(slideFolders);
    if ((await currentIdentities) === (await this.#folderIdentities) || this.#isEnding) return false;
    const old = this.#shared;
    this.#folderIdentities = currentIdentities;
    this.#shared = this.#startShared();
    await old.dismiss();
    return true;
  }

  #startShared(): RenderProcess {
    const access: RenderAccess = { kind: 'shared', slides: this.#options.slideFolders };
    const sharedProcess = new RenderProcess(this.#options, access, (isFault) => {
      // The end of a process that `#renewShared` has replaced does not end the worker.
      if (sharedProcess === this.#shared) this.#handleProcessEnd(isFault);
    });
    return sharedProcess;
  }

  /** Runs the job in its slide's own process. Replaces a process that belongs to another slide or version. */
  #runInOwnProcess(job: Exclude<RenderJob, { kind: 'group' }>): Run {
    const key = keyOf(job.location);
    // The location of a job of the kind `inspect` has no fingerprint.
    const fingerprint = 'fingerprint' in job.location ? (job.location.fingerprint ?? null) : null;
    const isSame = this.#own?.slideKey === key && this.#own.fingerprint === fingerprint;
    if (!this.#own?.process.isFree || !isSame) {
      void this.#own?.process.dismiss();
      this.#own = { process: this.#startOwn(job.location), slideKey: key, fingerprint };
    }
    return this.#own.process.run(job);
  }

  #startOwn(location: SlideLocation): RenderProcess {
    const options = { ...this.#options, idleMs: Math.min(OWN_IDLE_MS, this.#options.idleMs) };
    const ownProcess = new RenderProcess(options, { kind: 'own', slides: filesOf(location) }, (isFault) => {
      if (ownProcess !== this.#own?.process) return; // another process has replaced it
      this.#own = null;
      if (isFault) this.#handleProcessEnd(true);
    });
    return ownProcess;
  }

  /** Ends the worker after one of its processes has ended. */
  #handleProcessEnd(isFault: boolean): void {
    if (!this.#isEnding) {
      this.#isEnding = true;
      void this.end(new SlideError('DECODE_FAILED', 'The render process ended unexpectedly'));
    }
    if (!this.#hasEnded) this.#onEnd(isFault);
    this.#hasEnded = true;
  }
}

/** Returns the files of a slide; its whole folder when its members (the files beside the main file) are unknown. */
function filesOf({ path, members }: SlideLocation): readonly string[] {
  const folder = dirname(path);
  return members ? [path, ...members.map((member) => join(folder, member))] : [folder];
}

function keyOf({ path, isObject }: SlideLocation): string {
  return `${isObject ? 'object' : 'file'} ${path}`;
}

function rememberOwnProcess(key: string): void {
  slidesWithOwnProcess.add(key);
  const [oldest] = slidesWithOwnProcess;
  if (slidesWithOwnProcess.size > MAX_SLIDES_WITH_OWN_PROCESS && oldest !== undefined)
    slidesWithOwnProcess.delete(oldest);
}

/** Returns device and inode of each folder. They change when a mount or a rename puts another folder at its path. */
async function identitiesOf(folders: readonly string[] | null): Promise<string> {
  const identities = (folders ?? []).map((folder) =>
    stat(folder, { bigint: true }).then(
      ({ dev, ino }) => `${dev}:${ino}`,
      () => 'missing',
    ),
  );
  return (await Promise.all(identities)).join(' ');
}
