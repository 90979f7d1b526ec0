/**
 * The rules for changing accounts, such as suspension: one function for each row of the table in docs/permissions.md, section 5.
 *
 * Each function for a change returns the account after the change. If a function returns the same object that it received,
 * nothing has changed: the caller then does not write to the database, revoke tokens or record an audit event.
 *
 * `now` (if it is a string) and the times in an account are ISO 8601 in UTC with milliseconds, so that comparing strings compares times.
 */
import { AppError, type GrantableRole, type User } from '@lamina/contract';

/** The facts on which the rules depend besides the account itself. */
interface ChangeContext {
  /** Uid of the administrator who changes the account. */
  readonly actor: string;
  /** Whether an administrator other than the changed account is active. */
  readonly isOtherAdminActive: boolean;
  readonly now: string;
}

/**
 * Returns the account with its effective status: an account whose end date has passed counts as suspended. Every decision about
 * an account must use this status.
 */
export function effectiveAccount<Account extends Pick<User, 'status' | 'expiresAt'>>(
  account: Account,
  now: Date,
): Account {
  return hasExpired(account, now) ? { ...account, status: 'suspended' } : account;
}

function hasExpired({ status, expiresAt }: Pick<User, 'status' | 'expiresAt'>, now: Date): boolean {
  return status === 'active' && expiresAt !== null && Date.parse(expiresAt) <= now.getTime();
}

/**
 * Whether a token or session is invalid because the account's end date passed after the token was issued. Such a token never
 * becomes valid again (rule P7 of docs/permissions.md): the approval that reactivates the account deletes the token.
 */
export function wasIssuedBeforeExpiry(
  issuedAt: Date,
  { expiresAt }: Pick<User, 'expiresAt'>,
  now: Date,
): boolean {
  if (expiresAt === null) return false;
  const endedAt = Date.parse(expiresAt);
  return endedAt <= now.getTime() && issuedAt.getTime() < endedAt;
}

/** Returns a new account: pending and without a role. */
export function register(
  person: { readonly uid: string; readonly email: string; readonly displayName: string | null },
  now: string,
): User {
  return {
    ...person,
    status: 'pending',
    role: 'unassigned',
    adminApproved: false,
    createdAt: now,
    updatedAt: now,
    approvalDate: null,
    expiresAt: null,
  };
}

/**
 * Activates a pending, suspended or deactivated account and keeps the date of its first approval.
 *
 * @param role undefined: a viewer stays `viewer`, every other account becomes `user`. Reactivating therefore never restores
 *   administrator rights silently.
 * @throws AppError already_active, because the default role would silently demote an active administrator
 */
export function approve(user: User, role: GrantableRole | undefined, now: string): User {
  if (user.status === 'active') throw new AppError('already_active');
  const defaultRole = user.role === 'viewer' ? 'viewer' : 'user';
  return {
    ...user,
    status: 'active',
    role: role ?? defaultRole,
    adminApproved: true,
    approvalDate: user.approvalDate ?? now,
    updatedAt: now,
  };
}

/** Time after an approval within which an administrator can withdraw it. */
const withdrawalPeriodMs = 10 * 60_000;

/**
 * Makes an active account pending again, as before its first approval. Reactivating an account keeps the date of the first
 * approval, so only the first approval can be withdrawn.
 *
 * @throws AppError not_active; approval_settled for administrators and after ten minutes
 */
export function withdrawApproval(user: User, now: string): User {
  if (user.status !== 'active') throw new AppError('not_active');
  // Without a date of approval, `isRecent` is false, because every comparison with NaN is false.
  const approvedAt = user.approvalDate === null ? Number.NaN : Date.parse(user.approvalDate);
  const isRecent = Date.parse(now) - approvedAt <= withdrawalPeriodMs;
  if (user.role === 'admin' || !isRecent) throw new AppError('approval_settled');
  return {
    ...user,
    status: 'pending',
    role: 'unassigned',
    adminApproved: false,
    approvalDate: null,
    expiresAt: null,
    updatedAt: now,
  };
}

/**
 * Suspends a pending account: the applicant can still sign in and read the reason, and can be approved later.
 *
 * @throws AppError not_pending when another administrator has already approved or rejected the account
 */
export function reject(user: User, now: string): User {
  if (user.status !== 'pending') throw new AppError('not_pending');
  return { ...user, status: 'suspended', updatedAt: now };
}

/** Returns an active account with a new end date (see `withEndDate`) and `updatedAt`. @throws AppError not_active, invalid_request */
export function changeAccess(user: User, expiresAt: string | null | undefined, now: string): User {
  if (user.status !== 'active') throw new AppError('not_active');
  return withEndDate({ ...user, updatedAt: now }, expiresAt, now);
}

/**
 * Returns the account with another end date.
 *
 * @param expiresAt null: no end date; undefined: keeps a future end date and removes one that has passed
 * @throws AppError invalid_request for a date in the past, and for an administrator: the last one must not lose access
 */
export function withEndDate(user: User, expiresAt: string | null | undefined, now: string): User {
  if (expiresAt === undefined) {
    return user.expiresAt !== null && user.expiresAt <= now ? { ...user, expiresAt: null } : user;
  }
  if (expiresAt === null) return { ...user, expiresAt };
  const endDate = new Date(expiresAt).toISOString(); // adds milliseconds if they are missing
  const field = 'expires_at';
  if (endDate <= now) throw new AppError('invalid_request', { reason: 'expiry_in_past', field });
  if (user.role === 'admin') throw new AppError('invalid_request', { reason: 'expiry_of_admin', field });
  return { ...user, expiresAt: endDate };
}

/** Suspends an active or pending account. @throws AppError self_change, closed (the account is deactivated), last_admin */
export function suspend(user: User, { actor, isOtherAdminActive, now }: ChangeContext): User {
  if (user.uid === actor) throw new AppError('self_change');
  if (user.status === 'suspended') return user;
  if (user.status === 'deactivated') throw new AppError('closed');
  requireRemainingAdmin(user, isOtherAdminActive);
  return { ...user, status: 'suspended', updatedAt: now };
}

/** Deactivates an account of any other status. @throws AppError self_change, last_admin */
export function deactivate(user: User, { actor, isOtherAdminActive, now }: ChangeContext): User {
  if (user.uid === actor) throw new AppError('self_change');
  if (user.status === 'deactivated') return user;
  requireRemainingAdmin(user, isOtherAdminActive);
  return { ...user, status: 'deactivated', updatedAt: now };
}

/**
 * Makes an active account an administrator and removes its end date, because administrators have none.
 *
 * @throws AppError not_active
 */
export function promote(user: User, now: string): User {
  if (user.status !== 'active') throw new AppError('not_active');
  if (user.role === 'admin') return user;
  return { ...user, role: 'admin', expiresAt: null, updatedAt: now };
}

/**
 * Returns the account with a new `updatedAt` when an administrator sets its password, which is stored separately. Administrators
 * change their own password through another call, which requires a recent sign-in or the current password.
 *
 * @throws AppError self_change, closed (the account is deactivated)
 */
export function replacePassword(user: User, { actor, now }: Pick<ChangeContext, 'actor' | 'now'>): User {
  if (user.uid === actor) throw new AppError('self_change');
  if (user.status === 'deactivated') throw new AppError('closed');
  return { ...user, updatedAt: now };
}

/** Checks that a user may delete their own account. @throws AppError last_admin */
export function checkMayDeleteOwnAccount(user: User, isOtherAdminActive: boolean): void {
  requireRemainingAdmin(user, isOtherAdminActive);
}

/** Checks that an active administrator, who can approve accounts, remains after the change. @throws AppError last_admin */
function requireRemainingAdmin(user: User, isOtherAdminActive: boolean): void {
  if (user.status === 'active' && user.role === 'admin' && !isOtherAdminActive)
    throw new AppError('last_admin');
}

/** Returns the account as an active administrator. Used for the first account, and by the command that restores administrators. */
export function makeAdmin(user: User, now: string): User {
  return {
    ...user,
    status: 'active',
    role: 'admin',
    adminApproved: true,
    approvalDate: user.approvalDate ?? now,
    expiresAt: null,
    updatedAt: now,
  };
}
