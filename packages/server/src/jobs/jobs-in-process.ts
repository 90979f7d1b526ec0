/**
 * A job queue in memory, used with the embedded database. Jobs are not stored, because their callers enqueue them again at the next
 * start of the server.
 *
 * `createJobsInProcess` is long because its functions share the queues.
 */
import type { Logger } from 'pino';
import {
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

interface WaitingJob {
  readonly payload: JobPayload;
  /** Number of failed attempts. */
  readonly failures: number;
}

/** Key of scheduled jobs. They share one key, so that a job is not enqueued while the previous one of its kind still waits. */
const keyOfScheduledJobs = '';

/** The queue of one kind of job. */
interface JobQueue {
  worker: JobWorker<JobName> | null;
  /** Waiting jobs by key, in the order in which they were enqueued. */
  readonly waiting: Map<string, WaitingJob>;
  /** Timers of jobs that were enqueued with a delay, by key. */
  readonly delayed: Map<string, NodeJS.Timeout>;
  /** Timers of failed jobs that wait for their next attempt, by key. */
  readonly retries: Map<string, NodeJS.Timeout>;
  /** Key of the running job; null while no job runs. */
  runningKey: string | null;
  /** Resolves when no job waits or runs any longer; null while `processQueue` does not run. */
  processing: Promise<void> | null;
}

interface ProcessJobsOptions {
  readonly log: Logger;
  readonly kinds?: typeof jobKinds; // default: `jobKinds`
}

/** Creates the job queue in memory. */
export function createJobsInProcess({ log, kinds = jobKinds }: ProcessJobsOptions): Jobs {
  const closing = new AbortController();
  const timers: NodeJS.Timeout[] = [];
  const queues = new Map<JobName, JobQueue>();
  for (const name of jobNames) {
    queues.set(name, {
      worker: null,
      waiting: new Map(),
      delayed: new Map(),
      retries: new Map(),
      runningKey: null,
      processing: null,
    });
  }
  const queueOf = (name: JobName): JobQueue => queues.get(name) as JobQueue;

  const runsOnce = (name: JobName) => kinds[name].whenRunning === 'once';

  /**
   * Enqueues a job. If a job with the same key waits already, the new job replaces it (for kinds with `replacesWaiting`) or is dropped.
   * It is also dropped if a job with the same key runs, for kinds with `whenRunning: 'once'`. Otherwise it takes the place of a delayed
   * job with the same key, and for kinds with `once` also of a job that waits for a retry.
   */
  function enqueueNow(name: JobName, key: string, job: WaitingJob): void {
    const queue = queueOf(name);
    if (closing.signal.aborted) return;
    if (queue.waiting.has(key) && !replacesWaitingJob(name, job.payload as never)) return; // `never` fits any payload
    if (queue.runningKey === key && runsOnce(name)) return;
    removeTimer(queue.delayed, key);
    if (runsOnce(name)) removeTimer(queue.retries, key);
    queue.waiting.set(key, job);
    queue.processing ??= processQueue(name, queue);
  }

  /** Enqueues a job after a delay, unless another job with the same key makes it unnecessary. */
  function enqueueLater(name: JobName, key: string, job: WaitingJob, delayMs: number): void {
    const { waiting, delayed, retries, runningKey } = queueOf(name);
    if (waiting.has(key) || delayed.has(key)) return;
    if (runsOnce(name) && (runningKey === key || retries.has(key))) return;
    startTimer(delayed, name, key, job, delayMs);
  }

  /** Enqueues the job when the delay has passed. @param jobTimers the map that holds the timer until then */
  function startTimer(
    jobTimers: Map<string, NodeJS.Timeout>,
    name: JobName,
    key: string,
    job: WaitingJob,
    delayMs: number,
  ): void {
    if (closing.signal.aborted || jobTimers.has(key)) return;
    const timer = setTimeout(() => {
      jobTimers.delete(key);
      enqueueNow(name, key, job);
    }, delayMs).unref();
    jobTimers.set(key, timer);
  }

  async function processQueue(name: JobName, queue: JobQueue): Promise<void> {
    await Promise.resolve(); // lets the caller continue before the first job starts
    for (;;) {
      const [next] = queue.waiting; // the entry that has waited longest
      if (next === undefined || closing.signal.aborted) {
        // Set without an `await` after the check, so that `enqueueNow` starts this function again for a job that comes later.
        queue.processing = null;
        return;
      }
      const [key, job] = next;
      queue.waiting.delete(key);
      queue.runningKey = key;
      try {
        await queue.worker?.(job.payload, closing.signal);
      } catch (error) {
        retryOrGiveUp(name, key, job, error);
      } finally {
        queue.runningKey = null;
      }
    }
  }

  function retryOrGiveUp(name: JobName, key: string, job: WaitingJob, error: unknown): void {
    if (closing.signal.aborted) return;
    const { payload, failures } = job;
    const { retry } = kinds[name];
    const { times, afterSeconds } = retry;
    if (failures >= times) {
      log.error(
        { err: error, job: name, payload, nextRun: nextRunOf(name, kinds) },
        'background job failed at its last attempt; `nextRun` states when its work is tried again',
      );
      return;
    }
    const level = error instanceof RetryLater ? 'debug' : 'warn';
    log[level]({ err: error, job: name, payload }, 'background job failed; it will be retried');
    const nextAttempt = { payload, failures: failures + 1 };
    startTimer(queueOf(name).retries, name, key, nextAttempt, afterSeconds * 1000);
  }

  return {
    setWorker(name, worker) {
      queueOf(name).worker = worker as JobWorker<JobName>;
    },

    async enqueue(name, payloads, afterMs = 0) {
      for (const payload of [payloads].flat() as JobPayload[]) {
        const key = keyOfJob(name, payload as never); // `never` fits the payload of every kind
        const job = { payload, failures: 0 };
        if (afterMs > 0) enqueueLater(name, key, job, afterMs);
        else enqueueNow(name, key, job);
      }
    },

    async start() {
      for (const name of jobNames) {
        const { schedule } = kinds[name];
        if (schedule === null) continue;
        const enqueueScheduled = () =>
          enqueueNow(name, keyOfScheduledJobs, { payload: schedule.payload, failures: 0 });
        if (schedule.atStart) enqueueScheduled();
        timers.push(setInterval(enqueueScheduled, schedule.everySeconds * 1000).unref());
      }
    },

    async idle(name) {
      const queue = queueOf(name);
      while (queue.processing !== null) await queue.processing; // jobs may be enqueued meanwhile
    },

    async close() {
      closing.abort();
      for (const timer of timers) clearInterval(timer);
      for (const { delayed, retries } of queues.values()) {
        for (const timer of [...delayed.values(), ...retries.values()]) clearTimeout(timer);
      }
      await Promise.all([...queues.values()].flatMap(({ processing }) => processing ?? []));
    },
  };
}

/** Removes the timer of a job that no longer has to run. */
function removeTimer(jobTimers: Map<string, NodeJS.Timeout>, key: string): void {
  clearTimeout(jobTimers.get(key));
  jobTimers.delete(key);
}
