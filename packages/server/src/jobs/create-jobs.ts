/** Creates the job queue: in PostgreSQL when several processes share it, otherwise in the memory of this process. */
import type { Logger } from 'pino';
import type { Config } from '../platform/config.ts';
import { type Jobs, jobKinds } from './jobs.ts';
import { createJobsInPostgres } from './jobs-in-postgres.ts';
import { createJobsInProcess } from './jobs-in-process.ts';

type Settings = Pick<Config, 'databaseUrl' | 'objectStore' | 'objectRescanSeconds'>;

/** Creates the job queue. @throws an error when PostgreSQL cannot be reached */
export async function createJobs(settings: Settings, log: Logger): Promise<Jobs> {
  const { databaseUrl: url } = settings;
  const kinds = jobKindsOf(settings);
  return url === null ? createJobsInProcess({ log, kinds }) : createJobsInPostgres({ url, log, kinds });
}

/** Returns the kinds of jobs; with a bucket, its scan is scheduled at the interval that the settings state. */
function jobKindsOf({ objectStore, objectRescanSeconds }: Settings): typeof jobKinds {
  if (objectStore === null) return jobKinds;
  // The last `atStart` is false, because the catalogue, not the queue, enqueues the scan at the start of the process.
  const schedule = { everySeconds: objectRescanSeconds, payload: { atStart: false }, atStart: false };
  return { ...jobKinds, 'rescan-bucket': { ...jobKinds['rescan-bucket'], schedule } };
}
