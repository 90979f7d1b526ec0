/** Where jobs wait: in the database that several processes share, else in this process. */
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import type { Jobs } from './jobs.ts';
import { createJobsInPostgres } from './jobs-in-postgres.ts';
import { createJobsInProcess } from './jobs-in-process.ts';

/** @throws when PostgreSQL cannot be reached */
export async function createJobs({ databaseUrl }: Pick<Config, 'databaseUrl'>, log: Logger): Promise<Jobs> {
  return databaseUrl === null
    ? createJobsInProcess({ log })
    : createJobsInPostgres({ url: databaseUrl, log });
}
