/**
 * A job queue in PostgreSQL (the library pg-boss, in its own schema) that several processes share. One process runs each job;
 * if that process dies, another one runs the job. An outage of the database neither loses a job nor ends a process.
 *
 * `createJobsInPostgres` is long because its functions share the connection, the workers and the timers.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { type Job, type JobInsert, PgBoss, type QueuePolicy } from 'pg-boss';
import type { Logger } from 'pino';
import { type MonitoredPool, openBackgroundPostgresPool, openPostgresPool } from '../store/postgres-pool.ts';
import {
  type JobKind,
  type JobName,
  type JobPayload,
  type Jobs,
  type JobWorker,
  jobKinds,
  jobNames,
  keyOfJob,
  nextRunOf,
  RetryLater,
  replacesWaitingJob,
} from './jobs.ts';

const schema = 'jobs';
/** Maximum number of connections of the queue, in addition to the other connections of the process, which the jobs use. */
const maxConnections = 3;
const pollEverySeconds = 1; // interval at which an idle process looks for jobs
/** A process without a heartbeat for this long is assumed dead, and another process runs its jobs. */
const heartbeatSeconds = 10;
const superviseEverySeconds = 5; // interval at which pg-boss looks for jobs of dead processes
/** Pause before a failed write to the database is repeated. */
const retryWriteAfterMs = 2000;
const logOutageEveryMs = 30_000; // minimum interval between two log lines about an outage
const closeWithinMs = 8000; // time that pg-boss gives to running jobs
/** Maximum wait for pg-boss in `close`: a graceful stop is impossible while the database does not respond. */
const forceCloseAfterMs = closeWithinMs + 2000;
/** Maximum number of jobs per insert statement. */
const jobsPerInsert = 500;

/**
 * The pg-boss policies for a job that is enqueued while a job with the same key runs: `exclusive` allows one job per key,
 * waiting or running; `stately` allows one waiting job in addition to a running one.
 */
const policies: Readonly<Record<JobKind['whenRunning'], QueuePolicy>> = {
  once: 'exclusive',
  again: 'stately',
};

interface PostgresJobsOptions {
  /** URL of the database: postgres://… */
  readonly url: string;
  readonly log: Logger;
  readonly kinds?: typeof jobKinds;
}

/** Creates the job queue in PostgreSQL. @throws an error when PostgreSQL cannot be reached */
export async function createJobsInPostgres({
  url,
  log,
  kinds = jobKinds,
}: PostgresJobsOptions): Promise<Jobs> {
  const closing = new AbortController();
  const workers = new Map<JobName, JobWorker<JobName>>();
  const timers: NodeJS.Timeout[] = [];
  let outageLoggedAt = Number.NEGATIVE_INFINITY;

  /** Logs an outage at most every 30 seconds, because every poll fails during it. */
  function logUnavailable(error: unknown): void {
    if (closing.signal.aborted || performance.now() - outageLoggedAt < logOutageEveryMs) return;
    outageLoggedAt = performance.now();
    log.warn(
      { err: error },
      'job queue in PostgreSQL unavailable; background jobs wait until PostgreSQL responds',
    );
  }

  const db = createConnections(url);
  const boss = new PgBoss({
    db,
    schema,
    schedule: false, // the timers of this module enqueue scheduled jobs
    superviseIntervalSeconds: superviseEverySeconds,
    monitorIntervalSeconds: superviseEverySeconds,
  });
  boss.on('error', logUnavailable);
  boss.on('warning', ({ message }) =>
    log.warn(
      { warning: message },
      'job queue (pg-boss) reported a warning (field `warning`); background jobs continue',
    ),
  );
  try {
    await boss.start();
    for (const name of jobNames) {
      const { policy, ...settings } = queueSettingsOf(kinds[name]);
      await boss.createQueue(name, { policy, ...settings });
      // An earlier version may have created the queue with other settings. pg-boss does not allow changing the policy.
      await boss.updateQueue(name, settings);
    }
    await db.useFailFastPool(); // from now on, queries fail fast during an outage
  } catch (error) {
    await boss.stop({ graceful: false }).catch(() => {});
    await db.end();
    throw error;
  }

  /** Repeats a write until it succeeds or the process ends. */
  async function writeWithRetry(write: () => Promise<unknown>): Promise<void> {
    while (!closing.signal.aborted) {
      try {
        await write();
        return;
      } catch (error) {
        logUnavailable(error);
        await wait(retryWriteAfterMs, undefined, { ref: false, signal: closing.signal }).catch(() => {}); // rejects on abort
      }
    }
  }

  /**
   * Stores jobs. If a job with the same key waits already, the new job replaces it (for kinds with `replacesWaiting`) or is dropped. If
   * the waiting job is delayed and the new one is not, the waiting one starts at once.
   *
   * @param startAfter time before which the jobs do not start; null: they start at once
   */
  async function insertJobs(
    name: JobName,
    payloads: readonly JobPayload[],
    startAfter: Date | null,
  ): Promise<void> {
    const jobs = payloads.map((data) => ({
      data,
      singletonKey: keyOfJob(name, data as never), // `never` fits the payload of every kind
      ...(startAfter !== null && { startAfter }),
    }));
    const replacing = jobs.filter(({ data }) => replacesWaitingJob(name, data as never));
    const others = jobs.filter((job) => !replacing.includes(job));
    if (others.length > 0) await boss.insert(name, others);
    for (const job of replacing) await insertOrReplace(name, job);
    if (startAfter === null)
      await startDelayedJobs(name, [...new Set(jobs.map(({ singletonKey }) => singletonKey))]);
  }

  /** Lets delayed jobs with these keys start at once, and for kinds with `whenRunning: 'once'` also jobs that wait for a retry. */
  async function startDelayedJobs(name: JobName, keys: readonly string[]): Promise<void> {
    const states = kinds[name].whenRunning === 'once' ? ['created', 'retry'] : ['created'];
    await db.executeSql(
      `update ${schema}.job set start_after = now()
       where name = $1 and state::text = any($2) and coalesce(singleton_key, '') = any($3) and start_after > now()`,
      [name, states, keys],
    );
  }

  /** Stores a job, or gives its payload to the waiting job with the same key. Tries again when that job has just started. */
  async function insertOrReplace(name: JobName, job: JobInsert & { readonly data: object }): Promise<void> {
    while (!closing.signal.aborted) {
      const insertedIds = await boss.insert(name, [job], { returnId: true });
      if (insertedIds !== null && insertedIds.length > 0) return;
      // The result also contains jobs that wait for a retry (state `retry`). They do not prevent the insertion of a new job.
      const waitingJobs = await boss.findJobs(name, { queued: true });
      const waitingJob = waitingJobs.find(
        ({ state, singletonKey }) => state === 'created' && (singletonKey ?? '') === job.singletonKey,
      );
      if (waitingJob !== undefined) {
        const { updated } = await boss.update(name, job.data, { id: waitingJob.id });
        if (updated > 0) return;
      }
    }
  }

  /** Enqueues a scheduled job, unless another process has already enqueued it in this interval (`singletonSeconds`). */
  function enqueueScheduled(
    name: JobName,
    { everySeconds, payload }: NonNullable<JobKind['schedule']>,
  ): void {
    boss.send(name, payload, { singletonSeconds: everySeconds }).catch(logUnavailable);
  }

  async function runJob(name: JobName, { data, signal }: Job<JobPayload>): Promise<void> {
    try {
      await workers.get(name)?.(data, AbortSignal.any([signal, closing.signal]));
    } catch (error) {
      const level = error instanceof RetryLater || closing.signal.aborted ? 'debug' : 'warn';
      log[level](
        { err: error, job: name, payload: data, nextRun: nextRunOf(name, kinds) },
        'background job failed; it is retried soon, or if this was its last attempt, when `nextRun` states',
      );
      throw error;
    }
  }

  async function close(): Promise<void> {
    closing.abort();
    for (const timer of timers) clearInterval(timer);
    const stopping = boss.stop({ graceful: true, timeout: closeWithinMs }).catch(() => {});
    await Promise.race([stopping, wait(forceCloseAfterMs, undefined, { ref: false })]);
    await db.end();
  }
  /** The call of `close` that has begun; later calls wait for the same one. */
  let closingCall: Promise<void> | null = null;

  return {
    setWorker(name, worker) {
      workers.set(name, worker as JobWorker<JobName>);
    },

    async enqueue(name, payloads, afterMs = 0) {
      const allPayloads = [payloads].flat() as JobPayload[];
      const startAfter = afterMs > 0 ? new Date(Date.now() + afterMs) : null;
      for (let start = 0; start < allPayloads.length; start += jobsPerInsert) {
        const batch = allPayloads.slice(start, start + jobsPerInsert);
        await writeWithRetry(() => insertJobs(name, batch, startAfter));
      }
    },

    async start() {
      for (const name of workers.keys()) {
        const id = await boss.work<JobPayload>(
          name,
          { pollingIntervalSeconds: pollEverySeconds },
          async ([job]) => {
            if (job === undefined) return;
            boss.notifyWorker(id); // poll for the next job immediately, without the pause of an idle worker
            await runJob(name, job);
          },
        );
      }
      for (const name of jobNames) {
        const { schedule } = kinds[name];
        if (schedule === null) continue;
        if (schedule.atStart) enqueueScheduled(name, schedule);
        timers.push(
          setInterval(() => enqueueScheduled(name, schedule), schedule.everySeconds * 1000).unref(),
        );
      }
    },

    async idle(name) {
      while (!closing.signal.aborted && (await hasOpenJobs(boss, name))) await wait(100); // polls every 100 ms
    },

    close() {
      closingCall ??= close();
      return closingCall;
    },
  };
}

/**
 * Creates the connections of the queue. Until `useFailFastPool` is called, queries wait without a short timeout, because
 * another process may be creating the tables; afterwards, queries fail fast during an outage.
 */
function createConnections(url: string) {
  const patientPool = openBackgroundPostgresPool(url);
  let failFastPool: MonitoredPool | null = null;
  return {
    async executeSql(text: string, values: unknown[] = []) {
      if (failFastPool === null) return patientPool.query(text, values);
      const client = await failFastPool.connect();
      try {
        // A plain query, because pg-boss sends several statements in one string and needs the results of all of them.
        return await client.query<unknown>(text, values);
      } finally {
        client.release();
      }
    },
    async useFailFastPool() {
      failFastPool = openPostgresPool(url, maxConnections);
      await patientPool.end();
    },
    async end() {
      await (failFastPool ?? patientPool).end();
    },
  };
}

/** Returns whether a job waits or runs. pg-boss orders the states: the states of waiting and running jobs come before `completed`. */
async function hasOpenJobs(boss: PgBoss, name: JobName): Promise<boolean> {
  const { rows } = await boss
    .getDb()
    .executeSql(`select 1 from ${schema}.job where name = $1 and state < 'completed' limit 1`, [name]);
  return rows.length > 0;
}

function queueSettingsOf({ whenRunning, retry, timeoutSeconds, schedule }: JobKind) {
  return {
    policy: policies[whenRunning],
    retryLimit: retry.times,
    retryDelay: retry.afterSeconds,
    expireInSeconds: timeoutSeconds,
    heartbeatSeconds,
    // Keeps a completed job for two intervals (at least two hours), so that no other process enqueues the scheduled job again.
    deleteAfterSeconds: 2 * Math.max(3600, schedule?.everySeconds ?? 0),
  };
}
