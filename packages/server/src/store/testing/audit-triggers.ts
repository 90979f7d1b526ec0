/** Removes the protection of the audit log, as a database owner could, so that tests can change its rows. */
import { sql } from 'kysely';
import type { Database } from '../database.ts';
import type { DatabaseKind } from './test-database.ts';

/**
 * Removes the triggers that prevent updates and deletions of rows in the audit log.
 *
 * @returns a function that restores the triggers of a PostgreSQL database, which other tests use afterwards
 */
export async function removeAuditTriggers(db: Database, kind: DatabaseKind): Promise<() => Promise<void>> {
  if (kind === 'PostgreSQL') {
    await sql`alter table audit disable trigger user`.execute(db);
    return async () => {
      await sql`alter table audit enable trigger user`.execute(db);
    };
  }
  await sql`drop trigger audit_rows_never_change`.execute(db);
  await sql`drop trigger audit_rows_stay`.execute(db);
  return async () => {}; // the SQLite database is in memory, and deleted with the test
}
