/**
 * Defines the background jobs. Each job runs once, in one process: with the embedded database in this process,
 * otherwise through a queue in PostgreSQL.
 */

/** Payload of each kind of job. */
export interface JobPayloads {
  /** Scans the slide folders. With `atStart` it also retries slides that could not be read. */
  readonly rescan: { readonly atStart: boolean };
  /** Scans the bucket, with the same option. */
  readonly 'rescan-bucket': { readonly atStart: boolean };
  /** Reads the files of a catalogue entry that are new or have changed; with `again` also unchanged ones. */
  readonly 'read-slide': { readonly imageId: string; readonly again: boolean };
  /** Imports the file of a result layer. */
  readonly 'import-result': { readonly layerId: string };
  /** Finds files of result layers beside slides. */
  readonly 'find-results': object;
  readonly 'draw-demo-slides': object;
  /** E-mails administrators a digest of waiting users and requests. */
  readonly 'tell-who-waits': object;
  /** Deletes expired image sessions. */
  readonly sweep: object;
  /** Prunes old entries of the audit log. */
  readonly 'prune-audit': object;
}

export type JobName = keyof JobPayloads;
export type JobPayload = JobPayloads[JobName];

/** Thrown by a worker that found no error but needs to run again a little later. */
export class RetryLater extends Error {
  override readonly name = 'RetryLater';
}

/**
 * @param signal aborted when the process ends; the worker then throws, so that another process runs the job
 */
export type JobWorker<Name extends JobName> = (
  payload: JobPayloads[Name],
  signal: AbortSignal,
) => Promise<void>;

export interface Jobs {
  /**
   * Sets the function that runs jobs of this name, one after the other in each process. Call it once per
   * name, before the first job.
   */
  setWorker<Name extends JobName>(name: Name, worker: JobWorker<Name>): void;
  /**
   * Enqueues jobs, except those with a key that is waiting already. Never rejects. With PostgreSQL it
   * resolves when the jobs are stored, and retries as long as the database is unavailable.
   *
   * @param afterMs delay in milliseconds; until then, jobs with the same key are not enqueued again
   */
  enqueue<Name extends JobName>(
    name: Name,
    payloads: JobPayloads[Name] | readonly JobPayloads[Name][],
    afterMs?: number,
  ): Promise<void>;
  /** Starts running jobs in this process, and enqueues scheduled ones. */
  start(): Promise<void>;
  /** Resolves when no job with this name waits or runs in any process. */
  idle(name: JobName): Promise<void>;
  /** Aborts running jobs and waits for them. */
  close(): Promise<void>;
}

export interface JobKind {
  /**
   * What happens when a job with the same key is enqueued while it runs: `once` ignores it, `again` runs it
   * once more afterwards.
   */
  readonly whenRunning: 'once' | 'again';
  /** Returns the key of a job; null: all jobs of this kind have the same key. */
  readonly keyOf: ((payload: never) => string) | null;
  /** Enqueues the job at an interval; null: never. */
  readonly schedule: {
    readonly everySeconds: number;
    readonly payload: JobPayload;
    readonly atStart: boolean;
  } | null;
  /** Retries after failures. */
  readonly retry: { readonly times: number; readonly afterSeconds: number };
  /** A job that runs longer counts as failed. */
  readonly timeoutSeconds: number;
}

const minute = 60;
const hour = 60 * minute;

export const jobKinds: Readonly<Record<JobName, JobKind>> = {
  // Some network file systems report no changes, so folders are also scanned at an interval.
  rescan: {
    whenRunning: 'again',
    keyOf: null,
    schedule: { everySeconds: 10 * minute, payload: { atStart: false }, atStart: false },
    retry: { times: 3, afterSeconds: 5 },
    timeoutSeconds: 6 * hour,
  },
  // The settings determine the interval.
  'rescan-bucket': {
    whenRunning: 'again',
    keyOf: null,
    schedule: null,
    retry: { times: 3, afterSeconds: 5 },
    timeoutSeconds: 6 * hour,
  },
  // Retries errors that are not the slide's own; after the last retry the next scan enqueues it again.
  'read-slide': {
    whenRunning: 'once',
    keyOf: ({ imageId }: JobPayloads['read-slide']) => imageId,
    schedule: null,
    retry: { times: 20, afterSeconds: 5 },
    timeoutSeconds: hour,
  },
  'import-result': {
    whenRunning: 'once',
    keyOf: ({ layerId }: JobPayloads['import-result']) => layerId,
    schedule: null,
    retry: { times: 5, afterSeconds: 5 },
    timeoutSeconds: 2 * hour,
  },
  'find-results': {
    whenRunning: 'again',
    keyOf: null,
    schedule: { everySeconds: 10 * minute, payload: {}, atStart: true },
    retry: { times: 3, afterSeconds: 5 },
    timeoutSeconds: hour,
  },
  'draw-demo-slides': {
    whenRunning: 'once',
    keyOf: null,
    schedule: null,
    retry: { times: 3, afterSeconds: 5 },
    timeoutSeconds: hour,
  },
  'tell-who-waits': {
    whenRunning: 'again',
    keyOf: null,
    schedule: null,
    retry: { times: 20, afterSeconds: 10 },
    timeoutSeconds: 10 * minute,
  },
  sweep: {
    whenRunning: 'once',
    keyOf: null,
    schedule: { everySeconds: 10 * minute, payload: {}, atStart: true },
    retry: { times: 0, afterSeconds: 0 },
    timeoutSeconds: hour,
  },
  'prune-audit': {
    whenRunning: 'once',
    keyOf: null,
    schedule: { everySeconds: 24 * hour, payload: {}, atStart: true },
    retry: { times: 3, afterSeconds: minute },
    timeoutSeconds: 6 * hour,
  },
};

export const jobNames = Object.keys(jobKinds) as JobName[];

/** Returns the key of a job; '' for kinds in which all jobs share a key. */
export function keyOfJob<Name extends JobName>(name: Name, payload: JobPayloads[Name]): string {
  return jobKinds[name].keyOf?.(payload as never) ?? '';
}
