/** The audit trail as administrators read it: pages of it, the file for spreadsheets, and whether it is intact. */
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
import type { Audit, Origin } from '../audit.ts';
import type { Background } from '../background.ts';
import type { Config } from '../config.ts';
import type { Jobs } from '../jobs/jobs.ts';
import { csvStart } from '../spreadsheet.ts';
import {
  type AuditQuery,
  type AuditRow,
  deleteGivenUpRows,
  findTrailEnds,
  giveUpRowsBefore,
  listAuditRows,
} from '../store/audit.ts';
import type { Database } from '../store/database.ts';
import { listImageNames } from '../store/images.ts';
import { findUserByEmail, listUsersByUid } from '../store/users.ts';
import { checkChain } from './chain-check.ts';
import { csvHeader, csvLine } from './csv.ts';
import { decodePlace, encodePlace } from './cursor.ts';

export interface AuditTrail {
  /** Newest first. @throws AppError invalid_request for a cursor that is none */
  list(query: QueryOf<typeof listAudit>): Promise<ResponseOf<typeof listAudit>>;
  /** The whole of what the filter lets through, as it is now; that it was asked for is on record before it begins. */
  exportCsv(
    filter: AuditFilter,
    by: { readonly uid: string; readonly origin: Origin },
    language: Language,
  ): Promise<Readable>;
  /** What the last check found. Begins another when that is old. */
  chain(): AuditChain;
  /** Begins a check, unless one is under way. */
  checkChain(): AuditChain;
  /** Gives up what is older than the retention; resolves when it is deleted. */
  prune(): Promise<void>;
  close(): Promise<void>;
}

interface Ground {
  readonly config: Pick<Config, 'auditRetentionDays'>;
  readonly db: Database;
  readonly now: () => Date;
  readonly log: Logger;
  readonly audit: Audit;
  readonly background: Background;
  readonly jobs: Jobs;
}

const dayMs = 24 * 60 * 60_000;
/** A look at the whole trail takes seconds of the database's time where there are a million entries. */
const checkAgainAfterMs = 10 * 60_000;
const csvRowsAtOnce = 500;

export function createAuditTrail({ config, db, now, log, audit, background, jobs }: Ground): AuditTrail {
  let found: Pick<AuditChain, 'state' | 'checkedAt' | 'entries' | 'brokenAt'> = {
    state: 'unchecked',
    checkedAt: null,
    entries: null,
    brokenAt: null,
  };
  let isChecking = false;
  const closing = new AbortController();

  /** Null when the filter asks for somebody whom nobody knows. */
  async function queryOf({ who, ...filter }: AuditFilter): Promise<AuditQuery | null> {
    if (who === undefined) return filter;
    if (!who.includes('@')) return { ...filter, uid: who };
    const user = await findUserByEmail(db, who);
    return user === null ? null : { ...filter, uid: user.uid };
  }

  async function entriesOf(rows: readonly AuditRow[]): Promise<AuditEntry[]> {
    const ids = [...new Set(rows.flatMap(({ actor_uid, target }) => [actor_uid ?? [], target ?? []].flat()))];
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
          const recorded = typeof detail.file_name === 'string' ? detail.file_name : null;
          return {
            kind: 'image',
            id,
            fileName: image?.fileName ?? recorded,
            isListed: image?.isListed ?? false,
          };
        }
        if (users.has(id) || isUid.test(id)) return { kind: 'account', ...personOf(id) };
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
    yield csvStart + csvHeader(language);
    if (query === null) return;
    // What is written meanwhile is not in the file: it has an end.
    const upToSeq = (await findTrailEnds(db)).last.seq;
    let after: AuditQuery['after'];
    for (;;) {
      const rows = await listAuditRows(db, { ...query, upToSeq, after }, csvRowsAtOnce);
      const entries = await entriesOf(rows);
      if (entries.length > 0) yield entries.map((entry) => csvLine(entry, language)).join('');
      const last = rows.at(-1);
      if (last === undefined || rows.length < csvRowsAtOnce) return;
      after = last;
    }
  }

  function beginCheck(): void {
    if (isChecking) return;
    isChecking = true;
    background.run('the check of the audit trail', async () => {
      try {
        const { state, entries, brokenAt, lastHash } = await checkChain(db, closing.signal);
        found = { state, entries, brokenAt, checkedAt: now().toISOString() };
        // The log usually lies elsewhere: whoever writes the whole trail anew does not change it there.
        log[state === 'intact' ? 'info' : 'error'](
          { entries, brokenAt, lastHash },
          `the audit trail is ${state}`,
        );
      } finally {
        isChecking = false;
      }
    });
  }

  const chainNow = (): AuditChain => ({ ...found, isChecking });

  async function prune(): Promise<void> {
    const before = new Date(now().getTime() - config.auditRetentionDays * dayMs).toISOString();
    const entries = await giveUpRowsBefore(db, before, (tx, { upTo, entries }) =>
      audit.record(tx, {
        action: 'audit-pruned',
        actor: null,
        target: null,
        detail: { entries, before_seq: upTo.seq, before_hash: upTo.hash, before },
        origin: null,
      }),
    );
    if (entries > 0) log.info({ entries, before }, 'old entries of the audit trail are given up');
    // Also what an earlier pruning was interrupted in.
    while (!closing.signal.aborted && (await deleteGivenUpRows(db)));
  }

  jobs.on('prune-audit', prune);

  return {
    async list({ limit, cursor, ...filter }) {
      const query = await queryOf(filter);
      if (query === null) return { entries: [], next_cursor: null };
      const after = cursor === undefined ? undefined : decodePlace(cursor);
      const rows = await listAuditRows(db, { ...query, after }, limit + 1); // one more tells of a next page
      const page = rows.slice(0, limit);
      const last = page.at(-1);
      return {
        entries: await entriesOf(page),
        next_cursor: rows.length > limit && last !== undefined ? encodePlace(last) : null,
      };
    },

    async exportCsv(filter, { uid, origin }, language) {
      const query = await queryOf(filter);
      const { who: _, ...asked } = filter; // as it was typed it may be somebody's address
      const detail = { ...asked, ...(filter.who !== undefined && { uid: query?.uid ?? null }) };
      await audit.note({
        action: 'audit-exported',
        actor: uid,
        target: null,
        detail: withoutGaps(detail),
        origin,
      });
      return Readable.from(csvOf(query, language), { objectMode: false });
    },

    chain() {
      const age = found.checkedAt === null ? Infinity : now().getTime() - Date.parse(found.checkedAt);
      if (age >= checkAgainAfterMs) beginCheck();
      return chainNow();
    },

    checkChain() {
      beginCheck();
      return chainNow();
    },

    prune,

    async close() {
      closing.abort();
    },
  };
}

/** As JSON has it: what is not asked for is not there. */
function withoutGaps(
  detail: Readonly<Record<string, string | null | undefined>>,
): Record<string, string | null> {
  return Object.fromEntries(
    Object.entries(detail).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

const isUid = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/;

/** Entries about a slide stay so when it has left the catalogue. */
function isAboutImage(action: string): boolean {
  return action.startsWith('image-') && !action.startsWith('image-session-');
}
