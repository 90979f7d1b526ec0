/** Queries for account applications: affiliation and purpose of the applicants, and the reasons for rejections. */
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

/** Stores the reason for a rejection. @param reason null deletes the reason for an earlier rejection */
export async function setDecisionReason(db: Connection, uid: string, reason: string | null): Promise<void> {
  await db
    .insertInto('applications')
    .values({ uid, affiliation: null, purpose: null, decision_reason: reason })
    .onConflict((conflict) => conflict.column('uid').doUpdateSet({ decision_reason: reason }))
    .execute();
}

/** Finds the reason for the last rejection; null when the account was never rejected, or was approved afterwards. */
export async function findDecisionReason(db: Connection, uid: string): Promise<string | null> {
  const row = await db
    .selectFrom('applications')
    .select('decision_reason')
    .where('uid', '=', uid)
    .executeTakeFirst();
  return row?.decision_reason ?? null;
}
