/** The audit log for administrators: paginated lists, CSV export, verification of the hash chain, and deletion of old events. */
import { Readable } from 'node:stream';
import type {
  AuditChain,
  AuditEntry,
  AuditFilter,
  Language,
  listAudit,
  QueryOf,
  ResponseOf,
} from '@lamina/contract';
import type { Logger } from 'pino';
import type { Jobs } from '../jobs/jobs.ts';
import type { Background } from '../platform/background-tasks.ts';
import type { Config } from '../platform/config.ts';
import { csvByteOrderMark } from '../platform/csv.ts';
import {
  type AuditQuery,
  type AuditRow,
  deletePrunedAuditRows,
  findAuditLogEnds,
  listAuditRows,
  pruneAuditRowsBefore,
} from '../store/audit.ts';
import type { Database } from '../store/database.ts';
import { listImageNames } from '../store/images.ts';
import { findUserByEmail, listUsersByUid } from '../store/users.ts';
import { csvHeader, csvLine } from './audit-csv.ts';
import { decodeAuditCursor, encodeAuditCursor } from './audit-cursor.ts';
import type { AuditRecorder, Origin } from './audit-recorder.ts';
import { checkChain } from './chain-check.ts';

export interface AuditLog {
  /** Returns a page of matching events, newest first. @throws AppError invalid_request for an invalid cursor */
  list(query: QueryOf<typeof listAudit>): Promise<ResponseOf<typeof listAudit>>;
  /** Returns all matching events up to now as CSV. The export itself is recorded before it starts. */
  exportCsv(
    filter: AuditFilter,
    actor: { readonly uid: string; readonly origin: Origin },
    language: Language,
  ): Promise<Readable>;
  /** Returns the last verification's result. Starts another verification if the result is older than ten minutes. */
  chain(): AuditChain;
  /** Starts a verification unless one is running, and returns the last result. */
  checkChain(): AuditChain;
  /** Deletes events that are older than the retention period. */
  prune(): Promise<void>;
  close(): Promise<void>;
}

interface AuditLogDependencies {
  readonly config: Pick<Config, 'auditRetentionDays'>;
  readonly db: Database;
  readonly now: () => Date;
  readonly log: Logger;
  readonly audit: AuditRecorder;
  readonly background: Background;
  readonly jobs: Jobs;
}

const dayMs = 24 * 60 * 60_000;
/** Age of a result at which another verification starts. It is high, because verifying a million events takes seconds. */
const verificationTtlMs = 10 * 60_000;
const csvChunkRows = 500;

export function createAuditLog(dependencies: AuditLogDependencies): AuditLog {
  const { config, db, now, log, audit, background, jobs } = dependencies;
  let lastResult: Pick<AuditChain, 'state' | 'checkedAt' | 'entries' | 'brokenAt'> = {
    state: 'unchecked',
    checkedAt: null,
    entries: null,
    brokenAt: null,
  };
  let isVerifying = false;
  const closing = new AbortController();

  /** Resolves the account of a filter (`who`: uid or e-mail address); returns null for an e-mail address without an account. */
  async function queryOf({ who, ...filter }: AuditFilter): Promise<AuditQuery | null> {
    if (who === undefined) return filter;
    if (!who.includes('@')) return { ...filter, uid: who };
    const user = await findUserByEmail(db, who);
    return user === null ? null : { ...filter, uid: user.uid };
  }

  /** Adds the current names of accounts and images to stored events. */
  async function entriesOf(rows: readonly AuditRow[]): Promise<AuditEntry[]> {
    const actorsAndTargets = rows.flatMap(({ actor_uid, target }) => [actor_uid, target]);
    const ids = [...new Set(actorsAndTargets.filter((id) => id !== null))];
    const users = new Map((await listUsersByUid(db, ids)).map((user) => [user.uid, user]));
    const images = new Map((await listImageNames(db, ids)).map((image) => [image.id, image]));

    const personOf = (uid: string) => {
      const user = users.get(uid);
      return { uid, email: user?.email ?? null, displayName: user?.displayName ?? null };
    };
    return rows.map((row): AuditEntry => {
      const detail = JSON.parse(row.detail) as AuditEntry['detail'];
      const targetOf = (id: string): AuditEntry['target'] => {
        const image = images.get(id);
        if (image !== undefined || isAboutImage(row.action)) {
          const recordedFileName = typeof detail.file_name === 'string' ? detail.file_name : null;
          return {
            kind: 'image',
            id,
            fileName: image?.fileName ?? recordedFileName,
            isListed: image?.isListed ?? false,
          };
        }
        // Without a user, the id can be the uid of a deleted account.
        if (users.has(id) || (uidPattern.test(id) && !isAboutSharedItem(row.action)))
          return { kind: 'account', ...personOf(id) };
        return { kind: 'other', id };
      };
      return {
        seq: row.seq,
        at: row.at,
        action: row.action,
        result: row.result,
        actor: row.actor_uid === null ? null : personOf(row.actor_uid),
        target: row.target === null ? null : targetOf(row.target),
        detail,
        address: row.address,
        requestId: row.request_id,
        hash: row.hash,
      };
    });
  }

  async function* csvOf(query: AuditQuery | null, language: Language): AsyncGenerator<string> {
    yield csvByteOrderMark + csvHeader(language);
    if (query === null) return; // no account has the e-mail address of the filter
    // Leaves out events that are written during the export; otherwise the export might never end.
    const upToSeq = (await findAuditLogEnds(db)).last.seq;
    let after: AuditQuery['after'];
    for (;;) {
      const rows = await listAuditRows(db, { ...query, upToSeq, after }, csvChunkRows);
      const entries = await entriesOf(rows);
      if (entries.length > 0) yield entries.map((entry) => csvLine(entry, language)).join('');
      const last = rows.at(-1);
      if (last === undefined || rows.length < csvChunkRows) return;
      after = last;
    }
  }

  function startVerification(): void {
    if (isVerifying) return;
    isVerifying = true;
    background.run(
      // the log message if the work below fails
      'audit log verification stopped by an error; "npm run audit:verify" starts it again',
      async () => {
        try {
          const { state, entries, brokenAt, lastEntryHash } = await checkChain(db, closing.signal);
          lastResult = { state, entries, brokenAt, checkedAt: now().toISOString() };
          // Operators usually store the server's log outside the database. The hashes in the server's log therefore reveal an audit log
          // that was rewritten completely.
          if (state === 'intact')
            log.info({ entries, lastEntryHash }, 'audit log verified: no entry was changed or removed');
          else
            log.error(
              { intactEntries: entries, brokenAtEntry: brokenAt, lastEntryHash },
              'audit log verification failed: entry number `brokenAtEntry` was changed or removed, the entries before it are intact; compare it with a backup; the server continues to record events; "npm run audit:verify" checks again',
            );
        } finally {
          isVerifying = false;
        }
      },
    );
  }

  const chainState = (): AuditChain => ({ ...lastResult, isChecking: isVerifying });

  async function prune(): Promise<void> {
    const before = new Date(now().getTime() - config.auditRetentionDays * dayMs).toISOString();
    const prunedCount = await pruneAuditRowsBefore(db, before, (tx, { upTo, entries }) =>
      audit.record(tx, {
        action: 'audit-pruned',
        actor: null,
        target: null,
        detail: { entries, before_seq: upTo.seq, before_hash: upTo.hash, before },
        origin: null,
      }),
    );
    if (prunedCount > 0)
      log.info(
        { deletedEntries: prunedCount, olderThan: before },
        'audit log entries older than AUDIT_RETENTION_DAYS deleted',
      );
    // Until now, only the start of the hash chain has moved. The rows before the start are deleted here in batches, together with rows
    // that an interrupted earlier run has left.
    let hasMoreRows = true;
    while (hasMoreRows && !closing.signal.aborted) hasMoreRows = await deletePrunedAuditRows(db);
  }

  jobs.setWorker('prune-audit', prune);

  return {
    async list({ limit, cursor, ...filter }) {
      const query = await queryOf(filter);
      if (query === null) return { entries: [], next_cursor: null };
      const after = cursor === undefined ? undefined : decodeAuditCursor(cursor);
      const rows = await listAuditRows(db, { ...query, after }, limit + 1); // one more row shows that there is a next page
      const page = rows.slice(0, limit);
      const last = page.at(-1);
      return {
        entries: await entriesOf(page),
        next_cursor: rows.length > limit && last !== undefined ? encodeAuditCursor(last) : null,
      };
    },

    async exportCsv(filter, { uid, origin }, language) {
      const query = await queryOf(filter);
      // `who` may contain an e-mail address, which an audit event must not; the event names the uid instead.
      const { who: _, ...recordedFilter } = filter;
      const detail = { ...recordedFilter, ...(filter.who !== undefined && { uid: query?.uid ?? null }) };
      await audit.recordSeparately({
        action: 'audit-exported',
        actor: uid,
        target: null,
        detail: withoutUndefined(detail),
        origin,
      });
      return Readable.from(csvOf(query, language), { objectMode: false });
    },

    chain() {
      const age =
        lastResult.checkedAt === null ? Infinity : now().getTime() - Date.parse(lastResult.checkedAt);
      if (age >= verificationTtlMs) startVerification();
      return chainState();
    },

    checkChain() {
      startVerification();
      return chainState();
    },

    prune,

    async close() {
      closing.abort();
    },
  };
}

function withoutUndefined(
  detail: Readonly<Record<string, string | null | undefined>>,
): Record<string, string | null> {
  return Object.fromEntries(
    Object.entries(detail).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

const uidPattern = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/;

/** Whether the target of the action is a case, collection, saved view or share link, whose ids look like uids of accounts. */
function isAboutSharedItem(action: string): boolean {
  return /^(case|collection|saved-view|share-link)-/.test(action);
}

/** Whether the target of the action is an image, even if the catalogue no longer lists it. */
function isAboutImage(action: string): boolean {
  return action.startsWith('image-') && !action.startsWith('image-session-');
}
