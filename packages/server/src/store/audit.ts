/** The audit trail: rows are added, each chained to the one before it; none is changed, and only old ones go. */
import { sql } from 'kysely';
import { type ChainedEntry, type ChainPlace, chainHash, chainStart } from '../domain/audit-chain.ts';
import { type Change, type Connection, change, type Database, takeLock } from './database.ts';
import type { Row } from './schema.ts';

export type AuditRow = Row<'audit'>;
type NewAuditRow = Omit<AuditRow, 'seq' | 'previous_hash' | 'hash'>;

/** Both ends of the trail. */
export interface TrailEnds {
  /** The last entry that was given up; number 0 before any was. */
  readonly before: ChainPlace;
  readonly last: ChainPlace;
}

export async function findTrailEnds(db: Connection): Promise<TrailEnds> {
  const row = await db.selectFrom('audit_chain').selectAll().where('name', '=', 'audit').executeTakeFirst();
  if (row === undefined) {
    const start = { seq: 0, hash: chainStart };
    return { before: start, last: start };
  }
  return {
    before: { seq: row.before_seq, hash: row.before_hash },
    last: { seq: row.last_seq, hash: row.last_hash },
  };
}

/** Numbers the rows 1, 2, 3 … without a gap, in the order the changes commit, and chains each to the one before it. */
export async function insertAuditRows(tx: Change, rows: readonly NewAuditRow[]): Promise<ChainPlace> {
  await takeLock(tx, 'audit');
  // From what was last written, not from what is there: a row that was taken away leaves its gap.
  const { before, last } = await findTrailEnds(tx);
  let { seq, hash } = last;
  const chained = rows.map((row): AuditRow => {
    const previous = hash;
    seq += 1;
    hash = chainHash(previous, { seq, ...row });
    return { seq, ...row, previous_hash: previous, hash };
  });
  for (let from = 0; from < chained.length; from += rowsOfOneInsert) {
    await tx
      .insertInto('audit')
      .values(chained.slice(from, from + rowsOfOneInsert))
      .execute();
  }
  const ends = { last_seq: seq, last_hash: hash };
  await tx
    .insertInto('audit_chain')
    .values({ name: 'audit', before_seq: before.seq, before_hash: before.hash, ...ends })
    .onConflict((conflict) => conflict.column('name').doUpdateSet(ends))
    .execute();
  return { seq, hash };
}

/** Eleven parameters each; SQLite takes 32,766 in one statement. */
const rowsOfOneInsert = 500;

export function insertAuditRow(tx: Change, row: NewAuditRow): Promise<ChainPlace> {
  return insertAuditRows(tx, [row]);
}

/** In their order, behind this one. */
export function listChainedRows(db: Connection, afterSeq: number, limit: number): Promise<ChainedEntry[]> {
  return db.selectFrom('audit').selectAll().where('seq', '>', afterSeq).orderBy('seq').limit(limit).execute();
}

/** Rows that are deleted, or looked at, in one transaction: nobody waits long for the trail. */
const rowsAtOnce = 2000;

/**
 * Gives up the rows at the beginning of the trail that are older than `before`; the last row always stays.
 *
 * @param record writes the entry that says so, in the transaction in which they are given up
 * @returns how many were given up
 */
export async function giveUpRowsBefore(
  db: Database,
  before: string,
  record: (tx: Change, givenUp: { readonly upTo: ChainPlace; readonly entries: number }) => Promise<void>,
): Promise<number> {
  const { before: from, last } = await findTrailEnds(db);
  const upTo = await lastRowOlderThan(db, before, from, last.seq);
  const entries = upTo.seq - from.seq;
  if (entries === 0) return 0;
  const isGivenUp = await change(db, 'audit', async (tx) => {
    const { before: fromNow } = await findTrailEnds(tx);
    if (fromNow.seq !== from.seq) return false; // another process was first
    await record(tx, { upTo, entries });
    await tx
      .updateTable('audit_chain')
      .set({ before_seq: upTo.seq, before_hash: upTo.hash })
      .where('name', '=', 'audit')
      .execute();
    return true;
  });
  return isGivenUp ? entries : 0;
}

async function lastRowOlderThan(
  db: Connection,
  before: string,
  from: ChainPlace,
  lastSeq: number,
): Promise<ChainPlace> {
  let upTo = from;
  for (;;) {
    const rows = await db
      .selectFrom('audit')
      .select(['seq', 'hash', 'at'])
      .where('seq', '>', upTo.seq)
      .where('seq', '<', lastSeq)
      .orderBy('seq')
      .limit(rowsAtOnce)
      .execute();
    for (const { seq, hash, at } of rows) {
      if (at >= before) return upTo;
      upTo = { seq, hash };
    }
    if (rows.length < rowsAtOnce) return upTo;
  }
}

/** Deletes some of what was given up. @returns false when nothing is left to delete */
export async function deleteGivenUpRows(db: Database): Promise<boolean> {
  const { before } = await findTrailEnds(db);
  const { numDeletedRows } = await db
    .deleteFrom('audit')
    .where('seq', 'in', (eb) =>
      eb.selectFrom('audit').select('seq').where('seq', '<=', before.seq).orderBy('seq').limit(rowsAtOnce),
    )
    .executeTakeFirst();
  return numDeletedRows === BigInt(rowsAtOnce);
}

/** What may be asked of the trail; what is left out does not matter. */
export interface AuditQuery {
  /** Did it, or had it done. */
  readonly uid?: string | undefined;
  readonly action?: string | undefined;
  readonly result?: AuditRow['result'] | undefined;
  readonly target?: string | undefined;
  /** ISO 8601; this time is in. */
  readonly from?: string | undefined;
  /** ISO 8601; this time is out. */
  readonly to?: string | undefined;
  /** Only what comes behind this row, newest first. */
  readonly after?: AuditPlace | undefined;
  /** Only rows up to this number. */
  readonly upToSeq?: number | undefined;
}

/** Where a row stands when the newest comes first. */
export interface AuditPlace {
  readonly at: string;
  readonly seq: number;
}

/** Newest first. Rows that were given up are not among them. */
export async function listAuditRows(db: Connection, query: AuditQuery, limit: number): Promise<AuditRow[]> {
  const { before } = await findTrailEnds(db);
  const { uid, action, result, target, from, to, after, upToSeq } = query;
  // One condition chooses the index: whose or what it is, else the action, else the result. To the others
  // the database comes row by row, so they are told in a way that no index answers.
  const isOfSomething = uid !== undefined || target !== undefined;
  const rows = (asked: 'actor_uid' | 'target' | null) => {
    let select = db.selectFrom('audit').selectAll().where('seq', '>', before.seq);
    if (uid !== undefined && asked !== null) select = select.where(asked, '=', uid);
    if (target !== undefined) {
      select =
        uid === undefined
          ? select.where('target', '=', target)
          : select.where(sql<boolean>`coalesce(target, '') = ${target}`);
    }
    if (action !== undefined) {
      select = isOfSomething
        ? select.where(sql<boolean>`coalesce(action, '') = ${action}`)
        : select.where('action', '=', action);
    }
    if (result !== undefined) {
      select =
        isOfSomething || action !== undefined
          ? select.where(sql<boolean>`coalesce(result, '') = ${result}`)
          : select.where('result', '=', result);
    }
    if (from !== undefined) select = select.where('at', '>=', from);
    if (to !== undefined) select = select.where('at', '<', to);
    if (upToSeq !== undefined) select = select.where('seq', '<=', upToSeq);
    if (after !== undefined) {
      const { at, seq } = after;
      select = select.where('at', '<=', at).where((eb) => eb.or([eb('at', '<', at), eb('seq', '<', seq)]));
    }
    return select.orderBy('at', 'desc').orderBy('seq', 'desc').limit(limit).execute();
  };
  if (uid === undefined) return rows(null);
  const [done, had] = await Promise.all([rows('actor_uid'), rows('target')]);
  const bySeq = new Map([...done, ...had].map((row) => [row.seq, row]));
  return [...bySeq.values()].sort(newestFirst).slice(0, limit);
}

function newestFirst(a: AuditPlace, b: AuditPlace): number {
  if (a.at !== b.at) return a.at < b.at ? 1 : -1;
  return b.seq - a.seq;
}

/** The last row with this action; null when there is none. */
export async function findLastAuditRow(db: Connection, action: string): Promise<AuditRow | null> {
  const [row] = await listAuditRows(db, { action }, 1);
  return row ?? null;
}

/** How often each was done between two times, the first in and the second out; in the order of the spans. */
export async function countDone(
  db: Connection,
  action: string,
  spans: readonly { readonly from: string; readonly to: string }[],
): Promise<number[]> {
  const counts = spans.map(({ from, to }, place) =>
    db
      .selectFrom('audit')
      .select((eb) => [sql<number>`${sql.lit(place)}`.as('place'), eb.fn.countAll().as('count')])
      .where('action', '=', action)
      .where('at', '>=', from)
      .where('at', '<', to)
      .where(sql<boolean>`coalesce(result, '') = 'done'`),
  );
  const [first, ...others] = counts;
  if (first === undefined) return [];
  const rows = await others.reduce((all, each) => all.unionAll(each), first).execute();
  const byPlace = new Map(rows.map(({ place, count }) => [place, Number(count)]));
  return spans.map((_, place) => byPlace.get(place) ?? 0);
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
  const done = db.selectFrom('audit').select(['at', 'seq']).where('result', '=', 'done');
  const places = await done
    .where('actor_uid', '=', uid)
    .where('action', 'in', [...actions.asActor])
    .unionAll(done.where('target', '=', uid).where('action', 'in', [...actions.asTarget]))
    .orderBy('at', 'desc')
    .orderBy('seq', 'desc')
    .limit(limit)
    .execute();
  if (places.length === 0) return [];
  return db
    .selectFrom('audit')
    .leftJoin('images', (join) =>
      join
        .onRef('images.id', '=', 'audit.target')
        .on('images.removed_at', 'is', null)
        .on('images.missing_since', 'is', null)
        .on('images.hidden_at', 'is', null),
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
      places.map(({ seq }) => seq),
    )
    .orderBy('audit.at', 'desc')
    .orderBy('audit.seq', 'desc')
    .execute();
}
