/**
 * Work that somebody asks for and that is done once, whichever process does it: in this process over the embedded
 * database, shared out by a queue in PostgreSQL where there is one.
 */

/** What each kind of work is told. */
export interface JobPayloads {
  /** Looks through the slide folders. At a start also reads again what could not be read. */
  readonly rescan: { readonly atStart: boolean };
  /** The same of the bucket. */
  readonly 'rescan-bucket': { readonly atStart: boolean };
  /** Reads the files of a catalogue entry that are new or have changed; `again`: even if nothing has changed. */
  readonly 'read-slide': { readonly imageId: string; readonly again: boolean };
  readonly 'draw-demo-slides': object;
  /** Tells administrators who waits for them. */
  readonly 'tell-who-waits': object;
  /** Removes image sessions that have ended. */
  readonly sweep: object;
  /** Gives up old entries of the audit trail. */
  readonly 'prune-audit': object;
}

export type JobName = keyof JobPayloads;
export type JobPayload = JobPayloads[JobName];

/** Thrown by a worker when nothing is wrong, but it has to be done once more a little later. */
export class NotYet extends Error {
  override readonly name = 'NotYet';
}

/** @param signal aborted when the process is about to end: leave off and throw, so that another one takes it up */
export type Worker<Name extends JobName> = (payload: JobPayloads[Name], signal: AbortSignal) => Promise<void>;

export interface Jobs {
  /** Who does it, one after the other in each process. Once for each name, before anybody asks. */
  on<Name extends JobName>(name: Name, worker: Worker<Name>): void;
  /**
   * Asks for it; what is waiting already is not asked for again. Never rejects, and resolves when it is kept: in
   * PostgreSQL when it is written down, for which it waits as long as the database is out of reach.
   *
   * @param afterMs not before that; until then the same is not asked for again
   */
  ask<Name extends JobName>(
    name: Name,
    payloads: JobPayloads[Name] | readonly JobPayloads[Name][],
    afterMs?: number,
  ): Promise<void>;
  /** This process takes part in the work, and asks for what is due from time to time. */
  start(): Promise<void>;
  /** Resolves when nothing with this name waits or is being done, in any process. */
  idle(name: JobName): Promise<void>;
  /** What is under way is told to leave off, and waited for. */
  close(): Promise<void>;
}

export interface JobKind {
  /**
   * Asked for while it is being done: `once` is nothing more to do, `again` does it once more afterwards. Either way
   * what waits waits once.
   */
  readonly whileDone: 'once' | 'again';
  /** What counts as the same; null: all of this kind. */
  readonly keyOf: ((payload: never) => string) | null;
  /** Asked for by itself; null: never. */
  readonly byItself: {
    readonly everySeconds: number;
    readonly payload: JobPayload;
    readonly atStart: boolean;
  } | null;
  /** After a failure. */
  readonly retry: { readonly times: number; readonly afterSeconds: number };
  /** Longer than this nobody works on it in earnest. */
  readonly longestSeconds: number;
}

const minute = 60;
const hour = 60 * minute;

export const jobKinds: Readonly<Record<JobName, JobKind>> = {
  // Some network file systems tell nobody of changes, so it is asked for by itself, too.
  rescan: {
    whileDone: 'again',
    keyOf: null,
    byItself: { everySeconds: 10 * minute, payload: { atStart: false }, atStart: false },
    retry: { times: 3, afterSeconds: 5 },
    longestSeconds: 6 * hour,
  },
  // By itself as often as the settings say.
  'rescan-bucket': {
    whileDone: 'again',
    keyOf: null,
    byItself: null,
    retry: { times: 3, afterSeconds: 5 },
    longestSeconds: 6 * hour,
  },
  // What could not be read for another reason than itself; a rescan asks for it again after the last time.
  'read-slide': {
    whileDone: 'once',
    keyOf: ({ imageId }: JobPayloads['read-slide']) => imageId,
    byItself: null,
    retry: { times: 20, afterSeconds: 5 },
    longestSeconds: hour,
  },
  'draw-demo-slides': {
    whileDone: 'once',
    keyOf: null,
    byItself: null,
    retry: { times: 3, afterSeconds: 5 },
    longestSeconds: hour,
  },
  'tell-who-waits': {
    whileDone: 'again',
    keyOf: null,
    byItself: null,
    retry: { times: 20, afterSeconds: 10 },
    longestSeconds: 10 * minute,
  },
  sweep: {
    whileDone: 'once',
    keyOf: null,
    byItself: { everySeconds: 10 * minute, payload: {}, atStart: true },
    retry: { times: 0, afterSeconds: 0 },
    longestSeconds: hour,
  },
  'prune-audit': {
    whileDone: 'once',
    keyOf: null,
    byItself: { everySeconds: 24 * hour, payload: {}, atStart: true },
    retry: { times: 3, afterSeconds: minute },
    longestSeconds: 6 * hour,
  },
};

export const jobNames = Object.keys(jobKinds) as JobName[];

/** A kind of which all count as the same has one key. */
export function keyOfJob<Name extends JobName>(name: Name, payload: JobPayloads[Name]): string {
  return jobKinds[name].keyOf?.(payload as never) ?? '';
}
