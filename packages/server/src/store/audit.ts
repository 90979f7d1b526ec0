/**
 * The audit log: entries are only appended, each with the hash of the one before it; only old entries are
 * pruned.
 */
import { sessionActions } from '@lamina/contract';
import { sql } from 'kysely';
import { type ChainedEntry, type ChainPosition, chainHash, chainStart } from '../domain/audit-chain.ts';
import { acquireLock, type Change, type Connection, change, type Database } from './database.ts';
import type { Row } from './schema.ts';

export type AuditRow = Row<'audit'>;
type NewAuditRow = Omit<AuditRow, 'seq' | 'previous_hash' | 'hash'>;

/** Both ends of the hash chain. */
export interface AuditLogEnds {
  /** The last pruned entry; number 0 before the first pruning. */
  readonly before: ChainPosition;
  readonly last: ChainPosition;
}

export async function findAuditLogEnds(db: Connection): Promise<AuditLogEnds> {
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

/**
 * Appends entries. Numbers them 1, 2, 3 … without gaps in commit order, and chains each to the one before it.
 */
export async function insertAuditRows(tx: Change, rows: readonly NewAuditRow[]): Promise<ChainPosition> {
  await acquireLock(tx, 'audit');
  // Continues from the recorded end, not from the last row, so a deleted row leaves a detectable gap.
  const { before, last } = await findAuditLogEnds(tx);
  let { seq, hash } = last;
  const chained = rows.map((row): AuditRow => {
    const previous = hash;
    seq += 1;
    hash = chainHash(previous, { seq, ...row });
    return { seq, ...row, previous_hash: previous, hash };
  });
  for (let from = 0; from < chained.length; from += rowsPerInsert) {
    await tx
      .insertInto('audit')
      .values(chained.slice(from, from + rowsPerInsert))
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

/** Eleven parameters per row; SQLite accepts 32,766 per statement. */
const rowsPerInsert = 500;

export function insertAuditRow(tx: Change, row: NewAuditRow): Promise<ChainPosition> {
  return insertAuditRows(tx, [row]);
}

/** Lists entries in order, starting after a number. */
export function listChainedRows(db: Connection, afterSeq: number, limit: number): Promise<ChainedEntry[]> {
  return db.selectFrom('audit').selectAll().where('seq', '>', afterSeq).orderBy('seq').limit(limit).execute();
}

/** Rows read or deleted per transaction, which bounds how long the lock is held. */
const rowsPerTransaction = 2000;

/**
 * Prunes the entries at the start of the log that are older than `before`. The last entry always stays.
 *
 * @param record writes the entry about the pruning in the same transaction
 * @returns the number of pruned entries
 */
export async function pruneAuditRowsBefore(
  db: Database,
  before: string,
  record: (tx: Change, givenUp: { readonly upTo: ChainPosition; readonly entries: number }) => Promise<void>,
): Promise<number> {
  const { before: from, last } = await findAuditLogEnds(db);
  const upTo = await lastRowOlderThan(db, before, from, last.seq);
  const entries = upTo.seq - from.seq;
  if (entries === 0) return 0;
  const isPruned = await change(db, 'audit', async (tx) => {
    const { before: fromNow } = await findAuditLogEnds(tx);
    if (fromNow.seq !== from.seq) return false; // another process was first
    await record(tx, { upTo, entries });
    await tx
      .updateTable('audit_chain')
      .set({ before_seq: upTo.seq, before_hash: upTo.hash })
      .where('name', '=', 'audit')
      .execute();
    return true;
  });
  return isPruned ? entries : 0;
}

async function lastRowOlderThan(
  db: Connection,
  before: string,
  from: ChainPosition,
  lastSeq: number,
): Promise<ChainPosition> {
  let upTo = from;
  for (;;) {
    const rows = await db
      .selectFrom('audit')
      .select(['seq', 'hash', 'at'])
      .where('seq', '>', upTo.seq)
      .where('seq', '<', lastSeq)
      .orderBy('seq')
      .limit(rowsPerTransaction)
      .execute();
    for (const { seq, hash, at } of rows) {
      if (at >= before) return upTo;
      upTo = { seq, hash };
    }
    if (rows.length < rowsPerTransaction) return upTo;
  }
}

/** Deletes some of the pruned rows. @returns false when none is left */
export async function deletePrunedAuditRows(db: Database): Promise<boolean> {
  const { before } = await findAuditLogEnds(db);
  const { numDeletedRows } = await db
    .deleteFrom('audit')
    .where('seq', 'in', (eb) =>
      eb
        .selectFrom('audit')
        .select('seq')
        .where('seq', '<=', before.seq)
        .orderBy('seq')
        .limit(rowsPerTransaction),
    )
    .executeTakeFirst();
  return numDeletedRows === BigInt(rowsPerTransaction);
}

/** Filters for entries; absent fields do not filter. */
export interface AuditQuery {
  /** Actor or target of the entry. */
  readonly uid?: string | undefined;
  readonly action?: string | undefined;
  readonly result?: AuditRow['result'] | undefined;
  readonly target?: string | undefined;
  /** ISO 8601, inclusive. */
  readonly from?: string | undefined;
  /** ISO 8601, exclusive. */
  readonly to?: string | undefined;
  readonly hide?: 'sessions' | undefined;
  /** Continues after this entry, newest first. */
  readonly after?: AuditPosition | undefined;
  /** Only entries up to this number. */
  readonly upToSeq?: number | undefined;
}

/** Position of an entry in the list, newest first. */
export interface AuditPosition {
  readonly at: string;
  readonly seq: number;
}

/** Lists entries, newest first, without pruned ones. */
export async function listAuditRows(db: Connection, query: AuditQuery, limit: number): Promise<AuditRow[]> {
  const { before } = await findAuditLogEnds(db);
  const { uid, action, result, target, from, to, hide, after, upToSeq } = query;
  // One condition selects the index: actor or target, otherwise the action, otherwise the result. The other
  // conditions use coalesce(), so that the database does not use an index for them.
  const hasUidOrTarget = uid !== undefined || target !== undefined;
  const rows = (uidColumn: 'actor_uid' | 'target' | null) => {
    let select = db.selectFrom('audit').selectAll().where('seq', '>', before.seq);
    if (uid !== undefined && uidColumn !== null) select = select.where(uidColumn, '=', uid);
    if (target !== undefined) {
      select =
        uid === undefined
          ? select.where('target', '=', target)
          : select.where(sql<boolean>`coalesce(target, '') = ${target}`);
    }
    if (action !== undefined) {
      select = hasUidOrTarget
        ? select.where(sql<boolean>`coalesce(action, '') = ${action}`)
        : select.where('action', '=', action);
    }
    if (result !== undefined) {
      select =
        hasUidOrTarget || action !== undefined
          ? select.where(sql<boolean>`coalesce(result, '') = ${result}`)
          : select.where('result', '=', result);
    }
    if (from !== undefined) select = select.where('at', '>=', from);
    if (to !== undefined) select = select.where('at', '<', to);
    if (hide === 'sessions') {
      select = select.where(sql<boolean>`coalesce(action, '') not in (${sql.join(sessionActions)})`);
    }
    if (upToSeq !== undefined) select = select.where('seq', '<=', upToSeq);
    if (after !== undefined) {
      const { at, seq } = after;
      select = select.where('at', '<=', at).where((eb) => eb.or([eb('at', '<', at), eb('seq', '<', seq)]));
    }
    return select.orderBy('at', 'desc').orderBy('seq', 'desc').limit(limit).execute();
  };
  if (uid === undefined) return rows(null);
  const [asActor, asTarget] = await Promise.all([rows('actor_uid'), rows('target')]);
  const bySeq = new Map([...asActor, ...asTarget].map((row) => [row.seq, row]));
  return [...bySeq.values()].sort(newestFirst).slice(0, limit);
}

function newestFirst(a: AuditPosition, b: AuditPosition): number {
  if (a.at !== b.at) return a.at < b.at ? 1 : -1;
  return b.seq - a.seq;
}

/** Finds the newest entry with this action; null when there is none. */
export async function findLastAuditRow(db: Connection, action: string): Promise<AuditRow | null> {
  const [row] = await listAuditRows(db, { action }, 1);
  return row ?? null;
}

/**
 * Whether an entry records more than a shown thumbnail; lists of slides produce those by the dozen. The text
 * is the `JSON.stringify` output of the detail that audit/image-openings.ts writes.
 */
const isNotThumbnailOnly = sql<boolean>`substr(detail, 1, 17) <> '{"by":"thumbnail"'`;

/**
 * Counts an action in time spans, the start inclusive and the end exclusive; results in the order of the
 * spans.
 */
export async function countAuditActions(
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
      .where(sql<boolean>`coalesce(result, '') = 'done'`)
      .$if(action === 'image-opened', (counted) => counted.where(isNotThumbnailOnly)),
  );
  const [first, ...others] = counts;
  if (first === undefined) return [];
  const rows = await others.reduce((all, query) => all.unionAll(query), first).execute();
  const byPlace = new Map(rows.map(({ place, count }) => [place, Number(count)]));
  return spans.map((_, place) => byPlace.get(place) ?? 0);
}

/**
 * Lists the times at which an account did this action after `since` and up to `upTo` (ISO 8601), newest
 * first.
 */
export async function listActionTimes(
  db: Connection,
  of: { readonly uid: string; readonly action: string; readonly since: string; readonly upTo: string },
  limit: number,
): Promise<string[]> {
  const rows = await db
    .selectFrom('audit')
    .select('at')
    .where('actor_uid', '=', of.uid)
    .where('at', '>', of.since)
    .where('at', '<=', of.upTo)
    .where(sql<boolean>`coalesce(action, '') = ${of.action}`)
    .where(sql<boolean>`coalesce(result, '') = 'done'`)
    .orderBy('at', 'desc')
    .limit(limit)
    .execute();
  return rows.map(({ at }) => at);
}

export interface AccountEvent {
  readonly at: string;
  readonly action: string;
  readonly detail: string;
  /** The catalogue entry of the event while it is listed; null otherwise. */
  readonly imageId: string | null;
  readonly imageName: string | null;
}

/** Lists events with these actions that an account did or was the target of, newest first. */
export async function listAccountEvents(
  db: Connection,
  uid: string,
  actions: { readonly asActor: readonly string[]; readonly asTarget: readonly string[] },
  limit: number,
): Promise<AccountEvent[]> {
  const doneEvents = db.selectFrom('audit').select(['at', 'seq']).where('result', '=', 'done');
  const places = await doneEvents
    .where('actor_uid', '=', uid)
    .where('action', 'in', [...actions.asActor])
    .where(isNotThumbnailOnly)
    .unionAll(doneEvents.where('target', '=', uid).where('action', 'in', [...actions.asTarget]))
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
