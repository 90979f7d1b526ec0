/** Runs the changes that an account makes to its own collections and saved views. */
import type { User } from '@lamina/contract';
import type { ActionLimiter } from '../audit/action-limiter.ts';
import type { Actor } from '../audit/actor.ts';
import type { AuditAction, AuditRecorder } from '../audit/audit-recorder.ts';
import { isLimited } from '../domain/action-limits.ts';
import { recheckCaller } from '../sessions/recheck-caller.ts';
import type { SignInService } from '../sessions/sign-in-service.ts';
import { type Database, type DatabaseTransaction, runLockedTransaction } from '../store/database.ts';

interface Dependencies {
  readonly db: Database;
  readonly audit: AuditRecorder;
  readonly signIn: Pick<SignInService, 'holderOf'>; // recheckCaller() reads the caller's account again with it
  readonly actionLimiter: ActionLimiter;
}

interface EditResult<T> {
  /** Id of the changed collection or saved view. */
  readonly target: string;
  /** Detail of the audit event. */
  readonly detail: Readonly<Record<string, string | number | boolean | null>>;
  /** Value that `editOwnResource` returns. */
  readonly result: T;
}

/**
 * Runs a change by the caller (`actor`), records its audit event in the same transaction, and returns the `result` of `work`.
 *
 * @throws AppError forbidden when the caller no longer has the permission `sharing.own`, rate_limited after too many changes, and the
 *   errors that `work` throws
 */
export function editOwnResource<T>(
  { db, audit, signIn, actionLimiter }: Dependencies,
  actor: Actor,
  action: AuditAction,
  work: (tx: DatabaseTransaction, user: User) => Promise<EditResult<T>>,
): Promise<T> {
  // The lock `accounts` keeps the permission of the caller, which recheckCaller() checks, unchanged until the commit.
  return runLockedTransaction(db, 'accounts', async (tx) => {
    const user = await recheckCaller(tx, signIn, actor, 'sharing.own'); // permits collections and saved views
    if (isLimited(action)) await actionLimiter.requireAllowed(tx, action, actor);
    const { target, detail, result } = await work(tx, user);
    await audit.record(tx, { action, actor: actor.uid, target, detail, origin: actor.origin });
    return result;
  });
}
