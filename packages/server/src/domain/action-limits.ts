/**
 * Limits of actions that write an audit event each and have no other limit. The audit log is the counter: the window
 * slides, and holds across processes and restarts.
 */
import type { AuditAction } from '@lamina/contract';

export interface ActionLimit {
  readonly maxCount: number;
  readonly withinMs: number;
}

const minute = 60_000;
const hour = 60 * minute;

export const actionLimits = {
  /** The web app opens one for each page load. */
  'image-session-created': { maxCount: 30, withinMs: minute },
  /** A script that makes one for each run would fill the list. */
  'api-token-created': { maxCount: 60, withinMs: hour },
  /** Each may notify administrators. */
  'dataset-requested': { maxCount: 20, withinMs: hour },
  'share-link-created': { maxCount: 200, withinMs: hour },
  /** Each sends an e-mail and hashes a password. */
  'password-changed': { maxCount: 10, withinMs: hour },
  'second-factor-on': { maxCount: 10, withinMs: hour },
} as const satisfies Partial<Record<AuditAction, ActionLimit>>;

export type LimitedAction = keyof typeof actionLimits;

/**
 * Returns the milliseconds until the action is allowed again; 0 when it is allowed now.
 *
 * @param times of earlier actions in the window, newest first
 */
export function msUntilAllowed(
  { maxCount, withinMs }: ActionLimit,
  times: readonly Date[],
  now: Date,
): number {
  const blocking = times[maxCount - 1];
  return blocking === undefined ? 0 : Math.max(0, blocking.getTime() + withinMs - now.getTime());
}
