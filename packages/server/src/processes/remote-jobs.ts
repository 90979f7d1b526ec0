/**
 * Client with which an HTTP worker process enqueues background jobs in the primary process. With the embedded database the queue is in
 * the memory of one process; if each process had a queue, several processes would run the same job, such as a scan, at the same time.
 */
import type { Logger } from 'pino';
import type { JobName, JobPayload, Jobs } from '../jobs/jobs.ts';
import type { Caller, CallTable } from '../tiles/process-calls.ts';

/** Returns the functions that the primary process runs for the HTTP worker processes. `createRemoteJobs` calls them by name. */
export function jobCalls(jobs: Pick<Jobs, 'enqueue' | 'idle'>) {
  return {
    enqueueJobs: (_: AbortSignal, name: JobName, payloads: readonly JobPayload[], afterMs: number) =>
      jobs.enqueue(name, payloads as never, afterMs), // `never` fits the payloads of every kind
    waitForJobs: (_: AbortSignal, name: JobName) => jobs.idle(name),
  } satisfies CallTable;
}

export type JobCalls = ReturnType<typeof jobCalls>;

/** Creates the job queue of an HTTP worker process, which runs no jobs itself. */
export function createRemoteJobs(caller: Caller<JobCalls>, log: Logger): Jobs {
  return {
    setWorker() {}, // the primary process has the workers
    async enqueue(name, payloads, afterMs = 0) {
      try {
        await caller.call('enqueueJobs', [name, [payloads].flat() as JobPayload[], afterMs]);
      } catch (error) {
        log.warn(
          { err: error, job: name },
          'background jobs could not be enqueued: the primary process has ended or cannot be reached; the next start of the server enqueues them',
        );
      }
    },
    async start() {},
    idle: (name) => caller.call('waitForJobs', [name]),
    async close() {},
  };
}
