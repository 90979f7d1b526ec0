/** What people say when they ask for an account, and why one was refused. */
import type { Connection } from './database.ts';
import type { Row } from './schema.ts';

export async function insertApplication(
  db: Connection,
  application: Pick<Row<'applications'>, 'uid' | 'affiliation' | 'purpose'>,
): Promise<void> {
  await db
    .insertInto('applications')
    .values({ ...application, decision_reason: null })
    .execute();
}

/** Null takes an earlier reason away. */
export async function setDecisionReason(db: Connection, uid: string, reason: string | null): Promise<void> {
  await db
    .insertInto('applications')
    .values({ uid, affiliation: null, purpose: null, decision_reason: reason })
    .onConflict((conflict) => conflict.column('uid').doUpdateSet({ decision_reason: reason }))
    .execute();
}

/** Null when it was not refused, or has been approved since. */
export async function findDecisionReason(db: Connection, uid: string): Promise<string | null> {
  const row = await db
    .selectFrom('applications')
    .select('decision_reason')
    .where('uid', '=', uid)
    .executeTakeFirst();
  return row?.decision_reason ?? null;
}
