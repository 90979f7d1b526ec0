/** Who did what to whom, when, from where, with which result. */
import type { Activity } from '@lamina/contract';
import { insertAuditRow, listEventsOf } from './store/audit.ts';
import { type Change, change, type Database } from './store/database.ts';

export type AuditAction =
  | 'registered'
  | 'sign-in'
  | 'sign-out'
  | 'approved'
  | 'suspended'
  | 'deactivated'
  | 'promoted'
  | 'password-changed'
  | 'password-set'
  | 'password-reset-requested'
  | 'password-reset'
  | 'account-deleted'
  | 'first-admin-made'
  | 'admin-restored'
  | 'image-session-created'
  | 'image-session-revoked'
  | 'image-opened'
  | 'image-edited'
  | 'image-removed'
  | 'image-restored';

/** Where a call came from. */
export interface Origin {
  readonly address: string;
  readonly requestId: string;
}

export interface AuditEntry {
  readonly action: AuditAction;
  /** Who did it; null for a stranger, and for the server itself. */
  readonly actor: string | null;
  /** Whom or what it was done to: an account's uid or an image's id; null where there is none. */
  readonly target: string | null;
  /** Done, when nothing is said. */
  readonly result?: 'done' | 'refused';
  /** What else is worth knowing later. Never a secret, and nothing that names a person. */
  readonly detail?: Readonly<Record<string, string | number | boolean | null>>;
  /** Null for what the server or the command line did. */
  readonly origin: Origin | null;
}

export interface Audit {
  /** In the transaction of the change it records, so that neither is without the other. */
  record(tx: Change, entry: AuditEntry): Promise<void>;
  /** On its own, for what changed nothing else: a refused sign-in, an opened slide. */
  note(entry: AuditEntry): Promise<void>;
  /** The account's own last sign-ins, slides and approvals, newest first, at most 20. */
  ownActivity(uid: string): Promise<Activity[]>;
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

export function createAudit({ db, now }: { db: Database; now: () => Date }): Audit {
  const record = (tx: Change, entry: AuditEntry) =>
    insertAuditRow(tx, {
      at: now().toISOString(),
      action: entry.action,
      result: entry.result ?? 'done',
      actor_uid: entry.actor,
      target: entry.target,
      detail: JSON.stringify(entry.detail ?? {}),
      address: entry.origin?.address ?? null,
      request_id: entry.origin?.requestId ?? null,
    });

  return {
    record,
    note: (entry) => change(db, 'audit', (tx) => record(tx, entry)),

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
  };
}
