/** The audit trail: rows are added, never changed and never removed. */
import { type Change, type Connection, takeLock } from './database.ts';
import type { Row } from './schema.ts';

/** Numbers the row: 1, 2, 3 … without a gap, in the order the changes commit. */
export async function insertAuditRow(tx: Change, row: Omit<Row<'audit'>, 'seq'>): Promise<void> {
  await takeLock(tx, 'audit');
  const last = await tx.selectFrom('audit').select('seq').orderBy('seq', 'desc').limit(1).executeTakeFirst();
  await tx
    .insertInto('audit')
    .values({ seq: (last?.seq ?? 0) + 1, ...row })
    .execute();
}

export interface AccountEvent {
  readonly at: string;
  readonly action: string;
  readonly detail: string;
  /** The catalogue entry the event is about, while it is in the catalogue; null otherwise. */
  readonly imageId: string | null;
  readonly imageName: string | null;
}

/** What an account did itself, and what was done to it, with one of these actions; newest first. */
export async function listEventsOf(
  db: Connection,
  uid: string,
  actions: { readonly asActor: readonly string[]; readonly asTarget: readonly string[] },
  limit: number,
): Promise<AccountEvent[]> {
  const done = db.selectFrom('audit').select('seq').where('result', '=', 'done');
  const seqs = await done
    .where('actor_uid', '=', uid)
    .where('action', 'in', [...actions.asActor])
    .unionAll(done.where('target', '=', uid).where('action', 'in', [...actions.asTarget]))
    .orderBy('seq', 'desc')
    .limit(limit)
    .execute();
  if (seqs.length === 0) return [];
  return db
    .selectFrom('audit')
    .leftJoin('images', (join) =>
      join
        .onRef('images.id', '=', 'audit.target')
        .on('images.removed_at', 'is', null)
        .on('images.missing_since', 'is', null),
    )
    .select([
      'audit.at',
      'audit.action',
      'audit.detail',
      'images.id as imageId',
      'images.file_name as imageName',
    ])
    .where(
      'audit.seq',
      'in',
      seqs.map(({ seq }) => seq),
    )
    .orderBy('audit.seq', 'desc')
    .execute();
}
