/**
 * Rate limits of actions that have no other limit. Each action writes an audit event, and audit/action-limiter.ts counts the events of
 * the account in a sliding window. The audit log is in the database, so the count covers all processes and survives restarts.
 */
import type { AuditAction } from '@lamina/contract';

/** An account may take the action `maxCount` times in any period of `withinMs` milliseconds. */
export interface ActionLimit {
  readonly maxCount: number;
  readonly withinMs: number;
}

const minute = 60_000;
const hour = 60 * minute;

export const actionLimits = {
  /** The web app creates an image session (a credential for pixels) at each page load. */
  'image-session-created': { maxCount: 30, withinMs: minute },
  /** A script that creates a token for each run would fill the list of tokens. */
  'api-token-created': { maxCount: 60, withinMs: hour },
  /** Each request for a dataset may notify administrators. */
  'dataset-requested': { maxCount: 20, withinMs: hour },
  'share-link-created': { maxCount: 200, withinMs: hour },
  // These limits are far above what a person does, even in an editor that saves automatically. Without them, a script could fill the
  // database and the audit log.
  'saved-view-created': { maxCount: 600, withinMs: hour },
  'saved-view-changed': { maxCount: 600, withinMs: hour },
  'collection-created': { maxCount: 600, withinMs: hour },
  'collection-changed': { maxCount: 600, withinMs: hour },
  'case-registered': { maxCount: 600, withinMs: hour },
  /** Each change sends an e-mail and hashes a password. */
  'password-changed': { maxCount: 10, withinMs: hour },
  'second-factor-on': { maxCount: 10, withinMs: hour },
} as const satisfies Partial<Record<AuditAction, ActionLimit>>;

export type LimitedAction = keyof typeof actionLimits;

export function isLimited(action: AuditAction): action is LimitedAction {
  return Object.hasOwn(actionLimits, action);
}

/**
 * Returns the milliseconds until the action is allowed again; 0 when it is allowed now.
 *
 * @param times times of the earlier actions within the limit's window, newest first
 */
export function msUntilAllowed(
  { maxCount, withinMs }: ActionLimit,
  times: readonly Date[],
  now: Date,
): number {
  // The next action is allowed when this action is older than the window, which then contains fewer than `maxCount` actions.
  const blockingTime = times[maxCount - 1];
  return blockingTime === undefined ? 0 : Math.max(0, blockingTime.getTime() + withinMs - now.getTime());
}
