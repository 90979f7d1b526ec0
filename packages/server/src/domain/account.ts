/**
 * The rules of accounts: permissions.md section 5, one function per row of its table.
 *
 * Each answers with the account as it is afterwards. The very object that was given means "no change":
 * there is nothing to write, to revoke or to record.
 */
import { AppError, type GrantableRole, type User } from '@lamina/contract';

/** Who asks for a change of somebody's account, and what else the rule has to know. */
interface Asked {
  /** Uid of the administrator who asks. */
  readonly by: string;
  /** Whether an active administrator is left when this account is not counted. */
  readonly otherActiveAdmin: boolean;
  /** ISO 8601, UTC. */
  readonly now: string;
}

/** A new account waits for an administrator and has no role until one gives it. */
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
  };
}

/**
 * Pending, suspended or deactivated → active.
 *
 * Without a role it is the earlier one where that can be granted, else `user`: reactivating never
 * brings the admin role back silently. The date of the first approval stays.
 *
 * @throws AppError already_active: on an active admin the default role would be a hidden demotion
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

/** Active or pending → suspended. @throws AppError self_change, closed, last_admin */
export function suspend(user: User, { by, otherActiveAdmin, now }: Asked): User {
  if (user.uid === by) throw new AppError('self_change');
  if (user.status === 'suspended') return user;
  if (user.status === 'deactivated') throw new AppError('closed');
  requireAdminLeft(user, otherActiveAdmin);
  return { ...user, status: 'suspended', updatedAt: now };
}

/** Any other status → deactivated. @throws AppError self_change, last_admin */
export function deactivate(user: User, { by, otherActiveAdmin, now }: Asked): User {
  if (user.uid === by) throw new AppError('self_change');
  if (user.status === 'deactivated') return user;
  requireAdminLeft(user, otherActiveAdmin);
  return { ...user, status: 'deactivated', updatedAt: now };
}

/** An active account becomes an administrator; there are no dormant ones. @throws AppError not_active */
export function promote(user: User, now: string): User {
  if (user.status !== 'active') throw new AppError('not_active');
  if (user.role === 'admin') return user;
  return { ...user, role: 'admin', updatedAt: now };
}

/** Another password, set by an administrator. @throws AppError closed */
export function replacePassword(user: User, now: string): User {
  if (user.status === 'deactivated') throw new AppError('closed');
  return { ...user, updatedAt: now };
}

/** Whether the account may be erased by its owner. @throws AppError last_admin */
export function leave(user: User, otherActiveAdmin: boolean): void {
  requireAdminLeft(user, otherActiveAdmin);
}

/** Someone must be able to approve. */
function requireAdminLeft(user: User, otherActiveAdmin: boolean): void {
  if (user.status === 'active' && user.role === 'admin' && !otherActiveAdmin)
    throw new AppError('last_admin');
}

/** An active administrator: the first one, or one that the command line brings back. */
export function makeAdmin(user: User, now: string): User {
  return {
    ...user,
    status: 'active',
    role: 'admin',
    adminApproved: true,
    approvalDate: user.approvalDate ?? now,
    updatedAt: now,
  };
}
