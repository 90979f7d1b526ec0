/**
 * The kinds of background jobs and the interface of the job queue. With the embedded database, one process runs all jobs (with
 * `WORKERS` the primary process); with PostgreSQL, several processes share the queue, and one of them runs each job.
 */

/** Payload of each kind of job. The names are stored in the database, so they must not change. */
export interface JobPayloads {
  /** Scans the slide folders. With `atStart` it also retries slides that could not be read. */
  readonly rescan: { readonly atStart: boolean };
  /** Scans the bucket; `atStart` has the same effect as in `rescan`. */
  readonly 'rescan-bucket': { readonly atStart: boolean };
  /** Reads the files of a catalogue entry if they are new or have changed; with `again` even if they have not. */
  readonly 'read-slide': { readonly imageId: string; readonly again: boolean };
  /** Imports the file of a result layer (objects or a raster that an analysis program has computed). */
  readonly 'import-result': { readonly layerId: string };
  /** Finds the files of results that are stored beside slides in folders, and reconciles the result layers with them. */
  readonly 'find-results': object;
  /** Writes the slides of the demonstration dataset. */
  readonly 'draw-demo-slides': object;
  /** Sends administrators an e-mail with the numbers of waiting applicants and dataset requests. */
  readonly 'tell-who-waits': object;
  /** Deletes expired rows and files: image sessions, API tokens, registrations, deleted annotations and abandoned uploads. */
  readonly sweep: object;
  /** Prunes old entries of the audit log. */
  readonly 'prune-audit': object;
}

export type JobName = keyof JobPayloads;
export type JobPayload = JobPayloads[JobName];

/** Thrown by a job's worker when the job must run again later although nothing failed. The queue logs such a retry at level debug. */
export class RetryLater extends Error {
  override readonly name = 'RetryLater';
}

/** Runs a job. @param signal aborted when the process ends; the worker then throws, so that another process runs the job */
export type JobWorker<Name extends JobName> = (
  payload: JobPayloads[Name],
  signal: AbortSignal,
) => Promise<void>;

export interface Jobs {
  /**
   * Sets the function that runs jobs of this name, one after the other in each process. Call it once per name, before the
   * first job.
   */
  setWorker<Name extends JobName>(name: Name, worker: JobWorker<Name>): void;
  /**
   * Enqueues jobs. If a job with the same key is already waiting, it stays and the new one is dropped, unless the new one
   * replaces it (`JobKind.replacesWaiting`). Never rejects. With PostgreSQL, it resolves when the jobs are stored, and retries
   * while the database is unavailable.
   *
   * @param afterMs delay before the jobs may start. A job without a delay lets a delayed one with the same key start at once instead of
   *   running in addition to it; for kinds with `whenRunning: 'once'` also one that waits for a retry
   */
  enqueue<Name extends JobName>(
    name: Name,
    payloads: JobPayloads[Name] | readonly JobPayloads[Name][],
    afterMs?: number,
  ): Promise<void>;
  /** Starts running jobs in this process, and enqueues scheduled ones. */
  start(): Promise<void>;
  /** Resolves when no job with this name waits or runs in any process. The queue in memory does not count delayed jobs. */
  idle(name: JobName): Promise<void>;
  /** Aborts running jobs and waits for them. */
  close(): Promise<void>;
}

/** The properties of a kind of job. */
export interface JobKind {
  /**
   * What happens to a job that is enqueued while a job with the same key runs: `once` drops the new job, `again` runs it afterwards.
   */
  readonly whenRunning: 'once' | 'again';
  /**
   * Returns the key of a job; null when all jobs of this kind have the same key. The parameter type `never` accepts functions for any
   * payload type.
   */
  readonly keyOf: ((payload: never) => string) | null;
  /**
   * Returns whether a job replaces a waiting job with the same key, because it does more. Absent: no job replaces another. Only for
   * kinds with `whenRunning: 'again'`.
   */
  readonly replacesWaiting?: (payload: never) => boolean;
  /** When the queue itself enqueues the job: at an interval, and if `atStart` also at the start of the process; null: never. */
  readonly schedule: {
    readonly everySeconds: number;
    readonly payload: JobPayload;
    readonly atStart: boolean;
  } | null;
  /** Number of retries after failures, and the pause before each. */
  readonly retry: { readonly times: number; readonly afterSeconds: number };
  /** What tries the work of a job again after its last attempt has failed: a scheduled job, or an event in words; for the log. */
  readonly triedAgainBy: { readonly job: JobName } | { readonly event: string };
  /** Maximum duration; a job that runs longer counts as failed. */
  readonly timeoutSeconds: number;
}

// Durations in seconds.
const minute = 60;
const hour = 60 * minute;

/** A scan at the start of a process does all that other scans do, and also retries slides that could not be read. */
const isScanAtStart = ({ atStart }: JobPayloads['rescan']) => atStart;

export const jobKinds: Readonly<Record<JobName, JobKind>> = {
  // Some network file systems report no changes, so folders are also scanned at an interval.
  rescan: {
    whenRunning: 'again',
    keyOf: null,
    replacesWaiting: isScanAtStart,
    schedule: { everySeconds: 10 * minute, payload: { atStart: false }, atStart: false },
    retry: { times: 3, afterSeconds: 5 },
    triedAgainBy: { job: 'rescan' },
    timeoutSeconds: 6 * hour,
  },
  // With a bucket, `createJobs` adds a schedule with the interval that the settings state.
  'rescan-bucket': {
    whenRunning: 'again',
    keyOf: null,
    replacesWaiting: isScanAtStart,
    schedule: null,
    retry: { times: 3, afterSeconds: 5 },
    triedAgainBy: { job: 'rescan-bucket' },
    timeoutSeconds: 6 * hour,
  },
  // Retries after errors that the slide itself did not cause, such as storage errors. After the last retry, the next scan
  // enqueues the job again.
  'read-slide': {
    whenRunning: 'once',
    keyOf: ({ imageId }: JobPayloads['read-slide']) => imageId,
    schedule: null,
    retry: { times: 20, afterSeconds: 5 },
    triedAgainBy: { event: 'next scan that finds the slide unread' },
    timeoutSeconds: hour,
  },
  'import-result': {
    whenRunning: 'once',
    keyOf: ({ layerId }: JobPayloads['import-result']) => layerId,
    schedule: null,
    retry: { times: 5, afterSeconds: 5 },
    triedAgainBy: { job: 'sweep' },
    timeoutSeconds: 2 * hour,
  },
  'find-results': {
    whenRunning: 'again',
    keyOf: null,
    schedule: { everySeconds: 10 * minute, payload: {}, atStart: true },
    retry: { times: 3, afterSeconds: 5 },
    triedAgainBy: { job: 'find-results' },
    timeoutSeconds: hour,
  },
  'draw-demo-slides': {
    whenRunning: 'once',
    keyOf: null,
    schedule: null,
    retry: { times: 3, afterSeconds: 5 },
    triedAgainBy: { event: 'next start of the server' },
    timeoutSeconds: hour,
  },
  'tell-who-waits': {
    whenRunning: 'again',
    keyOf: null,
    schedule: null,
    retry: { times: 20, afterSeconds: 10 },
    triedAgainBy: { event: 'next registration or dataset request' },
    timeoutSeconds: 10 * minute,
  },
  sweep: {
    whenRunning: 'once',
    keyOf: null,
    schedule: { everySeconds: 10 * minute, payload: {}, atStart: true },
    retry: { times: 0, afterSeconds: 0 },
    triedAgainBy: { job: 'sweep' },
    timeoutSeconds: hour,
  },
  'prune-audit': {
    whenRunning: 'once',
    keyOf: null,
    schedule: { everySeconds: 24 * hour, payload: {}, atStart: true },
    retry: { times: 3, afterSeconds: minute },
    triedAgainBy: { job: 'prune-audit' },
    timeoutSeconds: 6 * hour,
  },
};

export const jobNames = Object.keys(jobKinds) as JobName[];

/** Returns the key of a job; '' for kinds whose jobs all have the same key. */
export function keyOfJob<Name extends JobName>(name: Name, payload: JobPayloads[Name]): string {
  return jobKinds[name].keyOf?.(payload as never) ?? '';
}

/** Returns whether a job replaces a waiting job with the same key. */
export function replacesWaitingJob<Name extends JobName>(name: Name, payload: JobPayloads[Name]): boolean {
  return jobKinds[name].replacesWaiting?.(payload as never) ?? false;
}

/** Returns when the work of a job is tried again after its last attempt has failed; for the log. */
export function nextRunOf(name: JobName, kinds: typeof jobKinds): string {
  const { triedAgainBy } = kinds[name];
  if ('event' in triedAgainBy) return triedAgainBy.event;
  const { schedule } = kinds[triedAgainBy.job];
  const next = `next scheduled job "${triedAgainBy.job}"`;
  return schedule === null ? next : `${next}, within ${durationText(schedule.everySeconds)}`;
}

/** Returns a duration in the largest unit of which it is a multiple, such as `10 minutes`. */
function durationText(seconds: number): string {
  const units = [
    [hour, 'hours'],
    [minute, 'minutes'],
  ] as const;
  const [unitSeconds, unit] = units.find(([length]) => seconds > length && seconds % length === 0) ?? [
    1,
    'seconds',
  ];
  return `${seconds / unitSeconds} ${unit}`;
}
