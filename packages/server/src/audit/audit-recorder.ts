/** Writes audit events: who did what to whom, when, from where and with which result. Every module that changes data uses it. */
import type { Activity, AuditAction, AuditResult } from '@lamina/contract';
import type { Logger } from 'pino';
import { networkOf } from '../domain/network-of.ts';
import { createRefusalLogLimit, type RefusalSummary } from '../domain/refusal-log-limit.ts';
import { insertAuditRow, insertAuditRows, listAccountEvents } from '../store/audit.ts';
import { type Database, type DatabaseTransaction, runLockedTransaction } from '../store/database.ts';

export type { AuditAction } from '@lamina/contract';

/** The client and the request that caused an event. */
export interface Origin {
  /** IP address of the client. */
  readonly address: string;
  /** Null for a summary of several requests. */
  readonly requestId: string | null;
  /** Name of browser and operating system, such as `Firefox · Windows`; null when unknown. */
  readonly browser?: string | null;
}

export interface AuditEntry {
  readonly action: AuditAction;
  /** Uid of the account; null if there is no sign-in, and for the server itself. */
  readonly actor: string | null;
  /** Uid of the affected account, or id of the affected image, case, collection, saved view or share link; null if there is none. */
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
  /** Records an event in the transaction of the change, so that both are committed together. */
  record(tx: DatabaseTransaction, entry: AuditEntry): Promise<void>;
  /** Records several events in order. */
  recordAll(tx: DatabaseTransaction, entries: readonly AuditEntry[]): Promise<void>;
  /**
   * Records an event in a separate transaction, for actions that change nothing else, such as a rejected sign-in. Repeated
   * refusals (rejected requests) of an account or network are only counted, and recorded in one summary event each minute.
   */
  recordSeparately(entry: AuditEntry): Promise<void>;
  /** Like `recordSeparately`, but returns immediately and logs failures. A transaction that will be rolled back can call it. */
  recordInBackground(entry: AuditEntry): void;
  /** Returns at most 20 recent events of an account for its owner (sign-ins, slides, changes of the account), newest first. */
  ownActivity(uid: string): Promise<Activity[]>;
  /** Writes the pending summaries and background events. */
  close(): Promise<void>;
}

const activityLimit = 20;

/** Actions whose actor is the account, with the names by which its list of recent activity shows them. */
const ownActions = {
  'sign-in': 'sign-in',
  'image-opened': 'image-opened',
  'image-viewed': 'image-opened',
} as const;
/** Actions whose target is the account, with the names by which its list of recent activity shows them. */
const actionsOnAccount = {
  registered: 'registered',
  approved: 'approved',
  promoted: 'promoted',
  'password-changed': 'password-changed',
  'password-set': 'password-changed',
  'password-reset': 'password-changed',
} as const;
const activityNames: Readonly<Record<string, Activity['action']>> = { ...ownActions, ...actionsOnAccount };

/** Time from the first counted refusal until its summary is written. */
const summaryDelayMs = 60_000;

interface AuditRecorderDependencies {
  readonly db: Database;
  readonly now: () => Date;
  readonly log: Logger;
}

export function createAuditRecorder({ db, now, log }: AuditRecorderDependencies): AuditRecorder {
  const refusalLimit = createRefusalLogLimit();
  let summaryTimer: NodeJS.Timeout | null = null;
  /** Resolves when all summaries and background events so far have been written, one after the other. */
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

  async function record(tx: DatabaseTransaction, entry: AuditEntry): Promise<void> {
    await insertAuditRow(tx, rowOf(entry));
  }

  const write = (entry: AuditEntry) => runLockedTransaction(db, 'audit', (tx) => record(tx, entry));

  async function recordSeparately(entry: AuditEntry): Promise<void> {
    const { action, actor, origin, result, target } = entry;
    if (result !== 'refused' || origin === null) return write(entry);
    const at = now();
    const requester = { actor, network: networkOf(origin.address) };
    // The first refusal for each target, such as the account of a sign-in, gets its own event. Refusals with the action
    // `access-refused` are counted without their targets.
    const countedTarget = action === 'access-refused' ? '' : (target ?? '');
    const getsOwnEvent = refusalLimit.count(requester, refusalKindOf(entry), at, countedTarget);
    writeSummaries(refusalLimit.takeEndedSummaries(at));
    if (getsOwnEvent) return write(entry);
    scheduleSummaries();
  }

  function writeSummaries(summaries: readonly RefusalSummary[]): void {
    pendingWrites = pendingWrites.then(async () => {
      let writtenCount = 0;
      try {
        for (const summary of summaries) {
          await write(summaryOf(summary));
          writtenCount++;
        }
      } catch (error) {
        log.error(
          { err: error, summaries: summaries.slice(writtenCount) },
          'numbers of rejected requests (field `summaries`) could not be written to the audit log; this log line is their only record',
        );
      }
    });
  }

  function scheduleSummaries(): void {
    summaryTimer ??= setTimeout(() => {
      summaryTimer = null;
      writeSummaries(refusalLimit.takeAllSummaries());
    }, summaryDelayMs).unref();
  }

  return {
    record,
    async recordAll(tx, entries) {
      if (entries.length > 0) await insertAuditRows(tx, entries.map(rowOf));
    },
    recordSeparately,
    recordInBackground(entry) {
      pendingWrites = pendingWrites.then(() =>
        recordSeparately(entry).catch((error: unknown) =>
          log.error(
            { err: error, action: entry.action, uid: entry.actor, target: entry.target },
            'audit event could not be written to the audit log; this log line is its only record',
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
        const name = activityNames[action];
        if (name === undefined) return [];
        if (name !== 'image-opened') return [{ at, action: name, subject: null, imageId: null }];
        const { file_name: recordedFileName = null } = JSON.parse(detail) as { file_name?: string };
        return [{ at, action: name, subject: imageName ?? recordedFileName, imageId }];
      });
    },

    async close() {
      if (summaryTimer !== null) clearTimeout(summaryTimer);
      summaryTimer = null;
      writeSummaries(refusalLimit.takeAllSummaries());
      await pendingWrites;
    },
  };
}

/** Returns what repetitions of a refusal have in common: action, reason and, for an account, the endpoint (`call`). */
function refusalKindOf({ action, actor, detail }: AuditEntry): string {
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
        .map(([kind, kindCount]) => `${kind}: ${kindCount}`)
        .join(', ')
        .slice(0, 1000), // limits the size of the event
    },
    origin: network === null ? null : { address: network, requestId: null }, // a network instead of one IP address
  };
}
