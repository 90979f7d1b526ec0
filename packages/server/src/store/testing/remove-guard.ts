/** What the owner of a database can do to the audit trail, for tests of what shows afterwards. */
import { sql } from 'kysely';
import type { Database } from '../database.ts';
import type { DatabaseKind } from './test-database.ts';

/**
 * Takes away what refuses to change rows of the trail.
 *
 * @returns a function that puts it back, for a database that another test goes on using
 */
export async function removeGuard(db: Database, kind: DatabaseKind): Promise<() => Promise<void>> {
  if (kind === 'PostgreSQL') {
    await sql`alter table audit disable trigger user`.execute(db);
    return async () => {
      await sql`alter table audit enable trigger user`.execute(db);
    };
  }
  await sql`drop trigger audit_rows_never_change`.execute(db);
  await sql`drop trigger audit_rows_stay`.execute(db);
  return async () => {}; // in memory, and gone with the test
}
