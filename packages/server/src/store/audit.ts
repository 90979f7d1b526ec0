/**
 * Queries for the audit log, the record of who did what. Entries are only appended. Each contains the hash of the previous entry,
 * so that a check detects changed or deleted entries. Pruning removes the oldest entries in two steps: first it moves the recorded
 * start of the chain, and lists omit the entries before it; later a job deletes their rows.
 *
 * The file is long because appending, checking, pruning and listing depend on the same order of the entries.
 */
import { sessionActions } from '@lamina/contract';
import { sql } from 'kysely';
import { type ChainedEntry, type ChainPosition, chainHash, chainStart } from '../domain/audit-chain.ts';
import {
  acquireLock,
  type Connection,
  type Database,
  type DatabaseTransaction,
  runLockedTransaction,
} from './database.ts';
import type { Row } from './schema.ts';

export type AuditRow = Row<'audit'>;
type NewAuditRow = Omit<AuditRow, 'seq' | 'previous_hash' | 'hash'>;

/** Both ends of the hash chain. */
export interface AuditLogEnds {
  /** Number and hash of the last pruned entry; number 0 before the first pruning. */
  readonly lastPruned: ChainPosition;
  /** Number and hash of the newest entry. */
  readonly last: ChainPosition;
}

/** Returns both ends of the hash chain. In an empty log, both have the number 0. */
export async function findAuditLogEnds(db: Connection): Promise<AuditLogEnds> {
  const row = await db.selectFrom('audit_chain').selectAll().where('name', '=', 'audit').executeTakeFirst();
  if (row === undefined) {
    const start = { seq: 0, hash: chainStart };
    return { lastPruned: start, last: start };
  }
  return {
    lastPruned: { seq: row.before_seq, hash: row.before_hash },
    last: { seq: row.last_seq, hash: row.last_hash },
  };
}

/**
 * Appends entries. Numbers them 1, 2, 3 … without gaps in commit order, and chains each to the previous entry by its hash.
 *
 * @returns number and hash of the last appended entry
 */
export async function insertAuditRows(
  tx: DatabaseTransaction,
  rows: readonly NewAuditRow[],
): Promise<ChainPosition> {
  await acquireLock(tx, 'audit');
  // Numbering continues from the recorded end instead of the last row, so that a deleted last row leaves a detectable gap.
  const { lastPruned, last } = await findAuditLogEnds(tx);
  let { seq, hash } = last;
  const chainedRows = rows.map((row): AuditRow => {
    const previousHash = hash;
    seq += 1;
    hash = chainHash(previousHash, { seq, ...row });
    return { seq, ...row, previous_hash: previousHash, hash };
  });
  for (let start = 0; start < chainedRows.length; start += rowsPerInsert) {
    await tx
      .insertInto('audit')
      .values(chainedRows.slice(start, start + rowsPerInsert))
      .execute();
  }
  const newEnd = { last_seq: seq, last_hash: hash };
  await tx
    .insertInto('audit_chain')
    .values({ name: 'audit', before_seq: lastPruned.seq, before_hash: lastPruned.hash, ...newEnd })
    .onConflict((conflict) => conflict.column('name').doUpdateSet(newEnd))
    .execute();
  return { seq, hash };
}

/** Number of rows per statement. A row has eleven values, so the total stays below SQLite's limit of 32,766 parameters. */
const rowsPerInsert = 500;

/** Appends one entry (see `insertAuditRows`). */
export function insertAuditRow(tx: DatabaseTransaction, row: NewAuditRow): Promise<ChainPosition> {
  return insertAuditRows(tx, [row]);
}

/** Lists entries in the order of their numbers, starting after the number `afterSeq`. */
export function listChainedRows(db: Connection, afterSeq: number, limit: number): Promise<ChainedEntry[]> {
  return db.selectFrom('audit').selectAll().where('seq', '>', afterSeq).orderBy('seq').limit(limit).execute();
}

/** Number of rows that one statement reads or deletes, which limits how long it holds its locks. */
const rowsPerBatch = 2000;

/**
 * Prunes the entries at the start of the log that are older than `minTime` (ISO 8601). The last entry always stays. The rows
 * remain until `deletePrunedAuditRows` deletes them.
 *
 * @param record writes an audit entry about the pruning in the same transaction
 * @returns the number of pruned entries; 0 when no entry is old enough, or another process has pruned meanwhile
 */
export async function pruneAuditRowsBefore(
  db: Database,
  minTime: string,
  record: (
    tx: DatabaseTransaction,
    pruned: { readonly upTo: ChainPosition; readonly entries: number },
  ) => Promise<void>,
): Promise<number> {
  const { lastPruned, last } = await findAuditLogEnds(db);
  const upTo = await findLastRowOlderThan(db, minTime, lastPruned, last.seq);
  const entries = upTo.seq - lastPruned.seq;
  if (entries === 0) return 0;
  const isPruned = await runLockedTransaction(db, 'audit', async (tx) => {
    const { lastPruned: currentLastPruned } = await findAuditLogEnds(tx);
    if (currentLastPruned.seq !== lastPruned.seq) return false; // another process has pruned meanwhile
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

/**
 * Returns the last entry that may be pruned: all entries after `lastPruned` up to this one are older than `minTime`.
 * Returns `lastPruned` when there is none. The search ends before the entry `lastSeq`, which always stays.
 */
async function findLastRowOlderThan(
  db: Connection,
  minTime: string,
  lastPruned: ChainPosition,
  lastSeq: number,
): Promise<ChainPosition> {
  let upTo = lastPruned;
  for (;;) {
    const rows = await db
      .selectFrom('audit')
      .select(['seq', 'hash', 'at'])
      .where('seq', '>', upTo.seq)
      .where('seq', '<', lastSeq)
      .orderBy('seq')
      .limit(rowsPerBatch)
      .execute();
    for (const { seq, hash, at } of rows) {
      if (at >= minTime) return upTo;
      upTo = { seq, hash };
    }
    if (rows.length < rowsPerBatch) return upTo;
  }
}

/** Deletes up to `rowsPerBatch` rows of pruned entries. @returns false when no such row is left */
export async function deletePrunedAuditRows(db: Database): Promise<boolean> {
  const { lastPruned } = await findAuditLogEnds(db);
  const { numDeletedRows } = await db
    .deleteFrom('audit')
    .where('seq', 'in', (eb) =>
      eb
        .selectFrom('audit')
        .select('seq')
        .where('seq', '<=', lastPruned.seq)
        .orderBy('seq')
        .limit(rowsPerBatch),
    )
    .executeTakeFirst();
  return numDeletedRows === BigInt(rowsPerBatch);
}

/** Filters for entries; undefined fields do not filter. */
export interface AuditQuery {
  /** Account that is the actor (who did something) or the target (whom it concerned) of the entry. */
  readonly uid?: string | undefined;
  readonly action?: string | undefined;
  readonly result?: AuditRow['result'] | undefined;
  readonly target?: string | undefined;
  /** ISO 8601, inclusive. */
  readonly from?: string | undefined;
  /** ISO 8601, exclusive. */
  readonly to?: string | undefined;
  /** `sessions` omits the frequent entries about creating and revoking image sessions (credentials for pixels). */
  readonly hide?: 'sessions' | undefined;
  /** Last entry of the previous page; the list continues with older entries. */
  readonly after?: AuditPosition | undefined;
  /** Highest number to list, so that entries added while a client reads the pages do not appear. */
  readonly upToSeq?: number | undefined;
}

/** Position of an entry in lists, which are sorted by time and then by number, newest first. */
export interface AuditPosition {
  readonly at: string;
  readonly seq: number;
}

/** Lists the entries that match a query, newest first, without pruned ones. */
export async function listAuditRows(db: Connection, query: AuditQuery, limit: number): Promise<AuditRow[]> {
  const { lastPruned } = await findAuditLogEnds(db);
  const { uid, action, result, target, from, to, hide, after, upToSeq } = query;
  // Each index serves one filter (uid, target, action or result) in the order of the list. The database must use the index of the
  // first of these filters that the query contains. The other conditions wrap their column in coalesce(), which rules out an index.
  const hasUidOrTarget = uid !== undefined || target !== undefined;
  const listRows = (uidColumn: 'actor_uid' | 'target' | null) => {
    let select = db.selectFrom('audit').selectAll().where('seq', '>', lastPruned.seq);
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
      // The first condition repeats a part of the second, so that the database starts to read its index at this position.
      select = select.where('at', '<=', at).where((eb) => eb.or([eb('at', '<', at), eb('seq', '<', seq)]));
    }
    return select.orderBy('at', 'desc').orderBy('seq', 'desc').limit(limit).execute();
  };
  if (uid === undefined) return listRows(null); // null: no condition on the account
  // Two queries, because no single index serves the condition that the account is the actor or the target.
  const [asActor, asTarget] = await Promise.all([listRows('actor_uid'), listRows('target')]);
  const bySeq = new Map([...asActor, ...asTarget].map((row) => [row.seq, row]));
  return [...bySeq.values()].sort(compareNewestFirst).slice(0, limit);
}

function compareNewestFirst(a: AuditPosition, b: AuditPosition): number {
  if (a.at !== b.at) return a.at < b.at ? 1 : -1;
  return b.seq - a.seq;
}

/** Finds the newest entry with this action; null when there is none. */
export async function findLastAuditRow(db: Connection, action: string): Promise<AuditRow | null> {
  const [row] = await listAuditRows(db, { action }, 1);
  return row ?? null;
}

/**
 * Condition that excludes entries about slides of which only a thumbnail was shown, because lists show many thumbnails.
 * The `detail` of such an entry starts with these 17 characters, because audit/image-openings.ts writes `by` first.
 */
const isNotThumbnailOnly = sql<boolean>`substr(detail, 1, 17) <> '{"by":"thumbnail"'`;

/**
 * Counts the completed entries (result `done`) of an action in each time span. `from` is inclusive, `to` exclusive (ISO 8601).
 * Openings of slides of which only a thumbnail was shown do not count.
 *
 * @returns the counts in the order of the spans
 */
export async function countAuditActions(
  db: Connection,
  action: string,
  spans: readonly { readonly from: string; readonly to: string }[],
): Promise<number[]> {
  const spanQueries = spans.map(({ from, to }, spanIndex) =>
    db
      .selectFrom('audit')
      .select((eb) => [sql<number>`${sql.lit(spanIndex)}`.as('span_index'), eb.fn.countAll().as('count')])
      .where('action', '=', action)
      .where('at', '>=', from)
      .where('at', '<', to)
      .where(sql<boolean>`coalesce(result, '') = 'done'`) // coalesce() rules out an index (see `listAuditRows`)
      .$if(action === 'image-opened', (query) => query.where(isNotThumbnailOnly)),
  );
  const [firstQuery, ...otherQueries] = spanQueries;
  if (firstQuery === undefined) return [];
  const rows = await otherQueries.reduce((union, query) => union.unionAll(query), firstQuery).execute();
  const countBySpan = new Map(rows.map(({ span_index, count }) => [span_index, Number(count)]));
  return spans.map((_, spanIndex) => countBySpan.get(spanIndex) ?? 0);
}

/**
 * Lists the times (ISO 8601) at which an account completed an action, newest first.
 *
 * @param query `since` is exclusive, `upTo` inclusive (ISO 8601)
 */
export async function listActionTimes(
  db: Connection,
  query: { readonly uid: string; readonly action: string; readonly since: string; readonly upTo: string },
  limit: number,
): Promise<string[]> {
  const rows = await db
    .selectFrom('audit')
    .select('at')
    .where('actor_uid', '=', query.uid)
    .where('at', '>', query.since)
    .where('at', '<=', query.upTo)
    .where(sql<boolean>`coalesce(action, '') = ${query.action}`) // coalesce() rules out an index (see `listAuditRows`)
    .where(sql<boolean>`coalesce(result, '') = 'done'`)
    .orderBy('at', 'desc')
    .limit(limit)
    .execute();
  return rows.map(({ at }) => at);
}

/** An event that an account sees in its own history. */
export interface AccountEvent {
  readonly at: string;
  readonly action: string;
  /** JSON with further facts. */
  readonly detail: string;
  /** Image that the event is about; null for other events, and when the image is removed, missing or hidden. */
  readonly imageId: string | null;
  readonly imageName: string | null;
}

/**
 * Lists completed events of an account, newest first, without images of which it saw only a thumbnail.
 *
 * @param actions the actions to list when the account is the actor, and when it is the target
 */
export async function listAccountEvents(
  db: Connection,
  uid: string,
  actions: { readonly asActor: readonly string[]; readonly asTarget: readonly string[] },
  limit: number,
): Promise<AccountEvent[]> {
  const doneEvents = db.selectFrom('audit').select(['at', 'seq']).where('result', '=', 'done');
  const positions = await doneEvents
    .where('actor_uid', '=', uid)
    .where('action', 'in', [...actions.asActor])
    .where(isNotThumbnailOnly)
    .unionAll(doneEvents.where('target', '=', uid).where('action', 'in', [...actions.asTarget]))
    .orderBy('at', 'desc')
    .orderBy('seq', 'desc')
    .limit(limit)
    .execute();
  if (positions.length === 0) return [];
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
      positions.map(({ seq }) => seq),
    )
    .orderBy('audit.at', 'desc')
    .orderBy('audit.seq', 'desc')
    .execute();
}
