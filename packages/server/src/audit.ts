/** Who did what to whom, when, from where, with which result. */
import type { Activity, AuditAction, AuditResult } from '@lamina/contract';
import type { Logger } from 'pino';
import { networkOf } from './domain/network-of.ts';
import { createRefusalAllowance, type SummedUp } from './domain/refusal-allowance.ts';
import { insertAuditRow, insertAuditRows, listEventsOf } from './store/audit.ts';
import { type Change, change, type Database } from './store/database.ts';

export type { AuditAction } from '@lamina/contract';

/** Where a call came from. */
export interface Origin {
  readonly address: string;
  /** Null for several requests together. */
  readonly requestId: string | null;
  /** Browser and system in a few words; null where they are not known. */
  readonly browser?: string | null;
}

export interface AuditEntry {
  readonly action: AuditAction;
  /** Who did it; null for a stranger, and for the server itself. */
  readonly actor: string | null;
  /** Whom or what it was done to: an account's uid or an image's id; null where there is none. */
  readonly target: string | null;
  /** Done, when nothing is said. */
  readonly result?: AuditResult;
  /** What else is worth knowing later. Never a secret, and nothing that names a person. */
  readonly detail?: Readonly<Record<string, string | number | boolean | null>>;
  /** Null for what the server or the command line did. */
  readonly origin: Origin | null;
}

export interface Audit {
  /** In the transaction of the change it records, so that neither is without the other. */
  record(tx: Change, entry: AuditEntry): Promise<void>;
  /** The same for many at once, in their order. */
  recordAll(tx: Change, entries: readonly AuditEntry[]): Promise<void>;
  /**
   * On its own, for what changed nothing else: a refused sign-in, an opened slide. What strangers are refused has
   * entries of its own only so often; beyond that it is counted, and told in one entry for each minute and address.
   */
  note(entry: AuditEntry): Promise<void>;
  /** The account's own last sign-ins, slides and approvals, newest first, at most 20. */
  ownActivity(uid: string): Promise<Activity[]>;
  /** Writes down what has been counted and not been told yet. */
  close(): Promise<void>;
}

const activityLimit = 20;

/** What the owner of an account is shown of the trail, and what it is called there. */
const ownDeeds = { 'sign-in': 'sign-in', 'image-opened': 'image-opened' } as const;
const eventsOfAccount = {
  registered: 'registered',
  approved: 'approved',
  promoted: 'promoted',
  'password-changed': 'password-changed',
  'password-set': 'password-changed',
  'password-reset': 'password-changed',
} as const;
const activityOf: Readonly<Record<string, Activity['action']>> = { ...ownDeeds, ...eventsOfAccount };

/** So long after the first refusal that was only counted, the counts are told. */
const tellAfterMs = 60_000;

interface Ground {
  readonly db: Database;
  readonly now: () => Date;
  readonly log: Logger;
}

export function createAudit({ db, now, log }: Ground): Audit {
  const allowance = createRefusalAllowance();
  let telling: NodeJS.Timeout | null = null;
  let told: Promise<void> = Promise.resolve();

  const rowOf = (entry: AuditEntry) => ({
    at: now().toISOString(),
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

  function tell(counted: readonly SummedUp[]): void {
    told = told.then(async () => {
      try {
        for (const each of counted) await write(summaryOf(each));
      } catch (error) {
        log.error({ err: error, counted }, 'refusals could not be written to the audit trail');
      }
    });
  }

  function tellSoon(): void {
    telling ??= setTimeout(() => {
      telling = null;
      tell(allowance.rest());
    }, tellAfterMs).unref();
  }

  return {
    record,
    async recordAll(tx, entries) {
      if (entries.length > 0) await insertAuditRows(tx, entries.map(rowOf));
    },
    async note(entry) {
      if (!isRefusedToStranger(entry) || entry.origin === null) return write(entry);
      const at = now();
      const kind =
        typeof entry.detail?.code === 'string' ? `${entry.action} ${entry.detail.code}` : entry.action;
      const isCommon = entry.action === 'access-refused' && entry.actor === null;
      const isOwn = allowance.take(networkOf(entry.origin.address), kind, at, isCommon);
      tell(allowance.due(at));
      if (isOwn) return write(entry);
      tellSoon();
    },

    async ownActivity(uid) {
      const events = await listEventsOf(
        db,
        uid,
        { asActor: Object.keys(ownDeeds), asTarget: Object.keys(eventsOfAccount) },
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
      if (telling !== null) clearTimeout(telling);
      telling = null;
      tell(allowance.rest());
      await told;
    },
  };
}

/** Whoever is turned away at the door costs no more than a line now and then. */
function isRefusedToStranger({ action, actor, result }: AuditEntry): boolean {
  return result === 'refused' && (actor === null || action === 'access-refused');
}

function summaryOf({ address, count, kinds }: SummedUp): AuditEntry {
  return {
    action: 'refusals-summed-up',
    result: 'refused',
    actor: null,
    target: null,
    detail: {
      count,
      kinds: kinds
        .map(([kind, of]) => `${kind}: ${of}`)
        .join(', ')
        .slice(0, 1000),
    },
    origin: address === null ? null : { address, requestId: null },
  };
}
