/** Records audit events: who did what to whom, when, from where, with which result. */
import type { Activity, AuditAction, AuditResult } from '@lamina/contract';
import type { Logger } from 'pino';
import { networkOf } from '../domain/network-of.ts';
import { createRefusalLogLimit, type RefusalSummary } from '../domain/refusal-log-limit.ts';
import { insertAuditRow, insertAuditRows, listAccountEvents } from '../store/audit.ts';
import { type Change, change, type Database } from '../store/database.ts';

export type { AuditAction } from '@lamina/contract';

/** The origin of a call. */
export interface Origin {
  readonly address: string;
  /** Null for a summary of several requests. */
  readonly requestId: string | null;
  /** Short name of browser and system; null when unknown. */
  readonly browser?: string | null;
}

export interface AuditEntry {
  readonly action: AuditAction;
  /** Uid of the account; null without a sign-in, and for the server itself. */
  readonly actor: string | null;
  /** Uid of the affected account or id of the image; null without one. */
  readonly target: string | null;
  /** Default: done. */
  readonly result?: AuditResult;
  /** Further facts. Never a secret or personal data. */
  readonly detail?: Readonly<Record<string, string | number | boolean | null>>;
  /** Null for actions of the server or the command line. */
  readonly origin: Origin | null;
  /** Time of the action if it is recorded later; default: now. */
  readonly at?: Date;
}

export interface AuditRecorder {
  /** Records in the transaction of the change, so that both are committed together. */
  record(tx: Change, entry: AuditEntry): Promise<void>;
  /** Records several events in order. */
  recordAll(tx: Change, entries: readonly AuditEntry[]): Promise<void>;
  /**
   * Records in a transaction of its own, for actions that change nothing else, such as a rejected sign-in. The first
   * refusal of a kind gets an event; repetitions are counted and summed up in one event per minute and account or network.
   */
  note(entry: AuditEntry): Promise<void>;
  /** Like `note`, without waiting; also usable before the current transaction is rolled back. Failures are logged. */
  noteSoon(entry: AuditEntry): void;
  /** Returns the latest sign-ins, slides and approvals of an account, newest first, at most 20. */
  ownActivity(uid: string): Promise<Activity[]>;
  /** Writes the pending summaries. */
  close(): Promise<void>;
}

const activityLimit = 20;

/** Actions that the owner of an account sees, by their names there. */
const ownActions = {
  'sign-in': 'sign-in',
  'image-opened': 'image-opened',
  'image-viewed': 'image-opened',
} as const;
const actionsOnAccount = {
  registered: 'registered',
  approved: 'approved',
  promoted: 'promoted',
  'password-changed': 'password-changed',
  'password-set': 'password-changed',
  'password-reset': 'password-changed',
} as const;
const activityOf: Readonly<Record<string, Activity['action']>> = { ...ownActions, ...actionsOnAccount };

/** Delay between the first counted refusal and its summary. */
const summaryDelayMs = 60_000;

interface AuditRecorderDependencies {
  readonly db: Database;
  readonly now: () => Date;
  readonly log: Logger;
}

export function createAuditRecorder({ db, now, log }: AuditRecorderDependencies): AuditRecorder {
  const refusalLimit = createRefusalLogLimit();
  let summaryTimer: NodeJS.Timeout | null = null;
  let pendingWrites: Promise<void> = Promise.resolve();

  const rowOf = (entry: AuditEntry) => ({
    at: (entry.at ?? now()).toISOString(),
    action: entry.action,
    result: entry.result ?? 'done',
    actor_uid: entry.actor,
    target: entry.target,
    detail: JSON.stringify(entry.detail ?? {}),
    address: entry.origin?.address ?? null,
    request_id: entry.origin?.requestId ?? null,
  });

  async function record(tx: Change, entry: AuditEntry): Promise<void> {
    await insertAuditRow(tx, rowOf(entry));
  }

  const write = (entry: AuditEntry) => change(db, 'audit', (tx) => record(tx, entry));

  async function note(entry: AuditEntry): Promise<void> {
    const { action, actor, origin, result, target } = entry;
    if (result !== 'refused' || origin === null) return write(entry);
    const at = now();
    const isAccess = action === 'access-refused';
    const refused = { actor, network: networkOf(origin.address) };
    // An attempt to sign in to many accounts, or to change them, gets an event for each account.
    const isAllowed = refusalLimit.take(refused, kindOf(entry), at, isAccess ? '' : (target ?? ''));
    writeSummaries(refusalLimit.takeEnded(at));
    if (isAllowed) return write(entry);
    scheduleSummaries();
  }

  function writeSummaries(summaries: readonly RefusalSummary[]): void {
    pendingWrites = pendingWrites.then(async () => {
      try {
        for (const summary of summaries) await write(summaryOf(summary));
      } catch (error) {
        log.error(
          { err: error, summaries },
          'audit summary of repeated refusals not written; this line is its only record',
        );
      }
    });
  }

  function scheduleSummaries(): void {
    summaryTimer ??= setTimeout(() => {
      summaryTimer = null;
      writeSummaries(refusalLimit.takeAll());
    }, summaryDelayMs).unref();
  }

  return {
    record,
    async recordAll(tx, entries) {
      if (entries.length > 0) await insertAuditRows(tx, entries.map(rowOf));
    },
    note,
    noteSoon(entry) {
      pendingWrites = pendingWrites.then(() =>
        note(entry).catch((error: unknown) =>
          log.error(
            { err: error, action: entry.action },
            'audit event not written; it is missing in the audit log',
          ),
        ),
      );
    },

    async ownActivity(uid) {
      const events = await listAccountEvents(
        db,
        uid,
        { asActor: Object.keys(ownActions), asTarget: Object.keys(actionsOnAccount) },
        activityLimit,
      );
      return events.flatMap(({ at, action, detail, imageId, imageName }): Activity[] => {
        const known = activityOf[action];
        if (known === undefined) return [];
        if (known !== 'image-opened') return [{ at, action: known, subject: null, imageId: null }];
        const { file_name: recorded = null } = JSON.parse(detail) as { file_name?: string };
        return [{ at, action: known, subject: imageName ?? recorded, imageId }];
      });
    },

    async close() {
      if (summaryTimer !== null) clearTimeout(summaryTimer);
      summaryTimer = null;
      writeSummaries(refusalLimit.takeAll());
      await pendingWrites;
    },
  };
}

/** Returns the kind of a refusal: action and reason, for an account also the call. */
function kindOf({ action, actor, detail }: AuditEntry): string {
  const { code, what, call } = detail ?? {};
  return [action, code, what, actor === null ? undefined : call]
    .filter((part) => typeof part === 'string')
    .join(' ');
}

function summaryOf({ actor, network, count, kinds, first, last }: RefusalSummary): AuditEntry {
  return {
    action: 'refusals-summed-up',
    result: 'refused',
    actor,
    target: null,
    detail: {
      count,
      first_at: first.toISOString(),
      last_at: last.toISOString(),
      kinds: kinds
        .map(([kind, of]) => `${kind}: ${of}`)
        .join(', ')
        .slice(0, 1000),
    },
    origin: network === null ? null : { address: network, requestId: null },
  };
}
