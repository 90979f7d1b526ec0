/** Query for the states of background jobs in the queue of the library pg-boss, which all processes of a PostgreSQL database share. */
import { sql } from 'kysely';
import type { Database } from '../database.ts';

/** Returns the states of all jobs with this name: created, retry, active, completed, cancelled or failed. */
export async function statesOfJobs(db: Database, name: string): Promise<string[]> {
  const { rows } = await sql<{ state: string }>`select state from jobs.job where name = ${name}`.execute(db);
  return rows.map(({ state }) => state);
}
