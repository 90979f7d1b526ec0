import { sql } from 'kysely';
import { expect, vi } from 'vitest';
import type { Database, DatabaseTransaction } from '../database.ts';

/** Waits until queries of `count` connections to this PostgreSQL database wait for locks. */
export async function waitForBlockedQuery(db: Database, count = 1): Promise<void> {
  await vi.waitFor(async () => {
    const { rows } = await sql`select 1 from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`.execute(db);
    expect(rows.length).toBeGreaterThanOrEqual(count);
  });
}

/** Makes statements of this PostgreSQL transaction fail that wait for a lock for 500 ms: earlier than PostgreSQL detects a deadlock (1 s). */
export async function limitLockWait(tx: DatabaseTransaction): Promise<void> {
  await sql`set local lock_timeout = '500ms'`.execute(tx);
}
