/** Limits how often an account may take an action, by counting the audit events of the action (limits: domain/action-limits.ts). */
import { AppError } from '@lamina/contract';
import { actionLimits, type LimitedAction, msUntilAllowed } from '../domain/action-limits.ts';
import { listActionTimes } from '../store/audit.ts';
import type { DatabaseTransaction } from '../store/database.ts';
import type { AuditRecorder, Origin } from './audit-recorder.ts';

export interface ActionLimiter {
  /**
   * Checks that the account may take the action now. Must run in the transaction that records the action, under a lock that all
   * actions of this kind take.
   *
   * @throws AppError rate_limited with the seconds to wait
   */
  requireAllowed(
    tx: DatabaseTransaction,
    action: LimitedAction,
    actor: { readonly uid: string; readonly origin: Origin },
  ): Promise<void>;
}

interface Dependencies {
  readonly now: () => Date;
  readonly audit: Pick<AuditRecorder, 'recordInBackground'>;
  /** False with the setting THROTTLE=off, which load tests use. */
  readonly isOn: boolean;
}

export function createActionLimiter({ now, audit, isOn }: Dependencies): ActionLimiter {
  return {
    async requireAllowed(tx, action, { uid, origin }) {
      if (!isOn) return;
      const at = now();
      const limit = actionLimits[action];
      const since = new Date(at.getTime() - limit.withinMs).toISOString();
      const times = await listActionTimes(tx, { uid, action, since, upTo: at.toISOString() }, limit.maxCount);
      const waitMs = msUntilAllowed(
        limit,
        times.map((time) => new Date(time)),
        at,
      );
      if (waitMs === 0) return;
      // Records the event outside this transaction, because the error below rolls the transaction back.
      audit.recordInBackground({
        action: 'throttled',
        result: 'refused',
        actor: uid,
        target: null,
        detail: { what: action },
        origin,
      });
      throw new AppError('rate_limited', { retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)) });
    },
  };
}
