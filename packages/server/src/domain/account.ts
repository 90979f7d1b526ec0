/**
 * The rules of accounts: section 5 of permissions.md, one function per row of its table.
 *
 * Each function returns the account after the change. If it returns the very object it received, nothing changes: the caller
 * writes, revokes and records nothing.
 */
import { AppError, type GrantableRole, type User } from '@lamina/contract';

/** The administrator who changes an account, and the facts that the rules need. */
interface ChangeContext {
  /** Uid of the administrator. */
  readonly actor: string;
  /** Whether there is another active administrator. */
  readonly otherActiveAdmin: boolean;
  /** ISO 8601, UTC. */
  readonly now: string;
}

/**
 * Returns the account with its effective status: an account whose end date has passed counts as suspended. Every decision about
 * an account must go through this function.
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
 * Whether a token or session is invalid because the account's end date passed after it was issued. A new end date does not
 * make it valid again (permissions.md P7), so that approving deletes it.
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
 * Pending, suspended or deactivated → active.
 *
 * Without `role` the account gets its earlier role, or `user` if that was admin: reactivating never restores
 * administrator rights silently. The date of the first approval stays.
 *
 * @throws AppError already_active: for an active administrator, the default role would be a hidden demotion
 */
export function approve(user: User, role: GrantableRole | undefined, now: string): User {
  if (user.status === 'active') throw new AppError('already_active');
  const earlier = user.role === 'viewer' ? 'viewer' : 'user';
  return {
    ...user,
    status: 'active',
    role: role ?? earlier,
    adminApproved: true,
    approvalDate: user.approvalDate ?? now,
    updatedAt: now,
  };
}

/** An approval can be withdrawn for this long, in case it was a mistake. */
const withdrawalMs = 10 * 60_000;

/**
 * Active → pending, as before the first approval. Reactivating keeps the date of the first approval, so that only a
 * first approval can be withdrawn.
 *
 * @throws AppError not_active; approval_settled for administrators and after ten minutes
 */
export function withdrawApproval(user: User, now: string): User {
  if (user.status !== 'active') throw new AppError('not_active');
  const approvedAt = user.approvalDate === null ? Number.NaN : Date.parse(user.approvalDate);
  const isRecent = Date.parse(now) - approvedAt <= withdrawalMs;
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
 * Pending → suspended: the person can sign in and read the reason, and can be approved later.
 *
 * @throws AppError not_pending when another administrator has decided meanwhile
 */
export function reject(user: User, now: string): User {
  if (user.status !== 'pending') throw new AppError('not_pending');
  return { ...user, status: 'suspended', updatedAt: now };
}

/** Changes the end date of an active account, and its time stamp. @throws AppError not_active, invalid_request */
export function changeAccess(user: User, expiresAt: string | null | undefined, now: string): User {
  if (user.status !== 'active') throw new AppError('not_active');
  return withEndDate({ ...user, updatedAt: now }, expiresAt, now);
}

/**
 * Returns the account with this end date; null: no end date.
 *
 * @param expiresAt undefined: keep the end date, unless it has passed
 * @throws AppError invalid_request for a date in the past, and for administrators: an administrator must remain
 */
export function withEndDate(user: User, expiresAt: string | null | undefined, now: string): User {
  if (expiresAt === undefined) {
    return user.expiresAt !== null && user.expiresAt <= now ? { ...user, expiresAt: null } : user;
  }
  if (expiresAt === null) return { ...user, expiresAt };
  const at = new Date(expiresAt).toISOString();
  const field = 'expires_at';
  if (at <= now) throw new AppError('invalid_request', { reason: 'expiry_in_past', field });
  if (user.role === 'admin') throw new AppError('invalid_request', { reason: 'expiry_of_admin', field });
  return { ...user, expiresAt: at };
}

/** Active or pending → suspended. @throws AppError self_change, closed, last_admin */
export function suspend(user: User, { actor, otherActiveAdmin, now }: ChangeContext): User {
  if (user.uid === actor) throw new AppError('self_change');
  if (user.status === 'suspended') return user;
  if (user.status === 'deactivated') throw new AppError('closed');
  requireAdminLeft(user, otherActiveAdmin);
  return { ...user, status: 'suspended', updatedAt: now };
}

/** Any other status → deactivated. @throws AppError self_change, last_admin */
export function deactivate(user: User, { actor, otherActiveAdmin, now }: ChangeContext): User {
  if (user.uid === actor) throw new AppError('self_change');
  if (user.status === 'deactivated') return user;
  requireAdminLeft(user, otherActiveAdmin);
  return { ...user, status: 'deactivated', updatedAt: now };
}

/**
 * Active → administrator. Administrators have no end date.
 *
 * @throws AppError not_active
 */
export function promote(user: User, now: string): User {
  if (user.status !== 'active') throw new AppError('not_active');
  if (user.role === 'admin') return user;
  return { ...user, role: 'admin', expiresAt: null, updatedAt: now };
}

/**
 * Another administrator sets the password. For the own password there is another call, which requires a recent sign-in or the
 * current password.
 *
 * @throws AppError self_change, closed
 */
export function replacePassword(user: User, { actor, now }: Pick<ChangeContext, 'actor' | 'now'>): User {
  if (user.uid === actor) throw new AppError('self_change');
  if (user.status === 'deactivated') throw new AppError('closed');
  return { ...user, updatedAt: now };
}

/** Checks that the owner may delete the account. @throws AppError last_admin */
export function checkMayLeave(user: User, otherActiveAdmin: boolean): void {
  requireAdminLeft(user, otherActiveAdmin);
}

/** An active administrator must remain, who can approve accounts. */
function requireAdminLeft(user: User, otherActiveAdmin: boolean): void {
  if (user.status === 'active' && user.role === 'admin' && !otherActiveAdmin)
    throw new AppError('last_admin');
}

/** Returns the account as an active administrator: the first one, or one restored on the command line. */
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
