/** Where jobs wait: in the database that several processes share, else in this process. */
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import { type Jobs, jobKinds } from './jobs.ts';
import { createJobsInPostgres } from './jobs-in-postgres.ts';
import { createJobsInProcess } from './jobs-in-process.ts';

type Settings = Pick<Config, 'databaseUrl' | 'objectStore' | 'objectRescanSeconds'>;

/** @throws when PostgreSQL cannot be reached */
export async function createJobs(settings: Settings, log: Logger): Promise<Jobs> {
  const { databaseUrl: url } = settings;
  const kinds = kindsBy(settings);
  return url === null ? createJobsInProcess({ log, kinds }) : createJobsInPostgres({ url, log, kinds });
}

/** A bucket that is named is looked through as often as the settings say. */
function kindsBy({ objectStore, objectRescanSeconds }: Settings): typeof jobKinds {
  if (objectStore === null) return jobKinds;
  const byItself = { everySeconds: objectRescanSeconds, payload: { atStart: false }, atStart: false };
  return { ...jobKinds, 'rescan-bucket': { ...jobKinds['rescan-bucket'], byItself } };
}
