/**
 * The rules of accounts: permissions.md section 5, one function per row of its table.
 *
 * Each answers with the account as it is afterwards. The very object that was given means "no change":
 * there is nothing to write, to revoke or to record.
 */
import { AppError, type GrantableRole, type InBothLanguages, type User } from '@lamina/contract';

/** Who asks for a change of somebody's account, and what else the rule has to know. */
interface Asked {
  /** Uid of the administrator who asks. */
  readonly by: string;
  /** Whether an active administrator is left when this account is not counted. */
  readonly otherActiveAdmin: boolean;
  /** ISO 8601, UTC. */
  readonly now: string;
}

/**
 * The account as it stands at this moment: one whose end date has passed counts as suspended. The only place that
 * says so; whoever reads an account to decide something reads it through here.
 */
export function standing<Account extends Pick<User, 'status' | 'expiresAt'>>(
  account: Account,
  now: Date,
): Account {
  return hasExpired(account, now) ? { ...account, status: 'suspended' } : account;
}

function hasExpired({ status, expiresAt }: Pick<User, 'status' | 'expiresAt'>, now: Date): boolean {
  return status === 'active' && expiresAt !== null && Date.parse(expiresAt) <= now.getTime();
}

/**
 * Whether what was issued at that moment is dead because the end date came after it. It stays so when a new date
 * is given (permissions.md P7), so approving sweeps it away.
 */
export function isFromBeforeExpiry(
  issuedAt: Date,
  { expiresAt }: Pick<User, 'expiresAt'>,
  now: Date,
): boolean {
  if (expiresAt === null) return false;
  const endedAt = Date.parse(expiresAt);
  return endedAt <= now.getTime() && issuedAt.getTime() < endedAt;
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
    expiresAt: null,
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

/**
 * Pending → suspended: the person can sign in, reads why, and can be approved later.
 *
 * @throws AppError not_pending: what somebody else has decided meanwhile stays
 */
export function reject(user: User, now: string): User {
  if (user.status !== 'pending') throw new AppError('not_pending');
  return { ...user, status: 'suspended', updatedAt: now };
}

/** What an active account may see, or how long, has changed. @throws AppError not_active, invalid_request */
export function changeAccess(user: User, expiresAt: string | null | undefined, now: string): User {
  if (user.status !== 'active') throw new AppError('not_active');
  return endingAt({ ...user, updatedAt: now }, expiresAt, now);
}

/**
 * The account with this end date; null: it never ends.
 *
 * @param expiresAt undefined: nothing was said, so that what was there stays, unless it has passed
 * @throws AppError invalid_request for a date that has passed, and for administrators: somebody must be able to approve
 */
export function endingAt(user: User, expiresAt: string | null | undefined, now: string): User {
  if (expiresAt === undefined) {
    return user.expiresAt !== null && user.expiresAt <= now ? { ...user, expiresAt: null } : user;
  }
  if (expiresAt === null) return { ...user, expiresAt };
  const at = new Date(expiresAt).toISOString();
  const refused = (message: InBothLanguages) =>
    new AppError('invalid_request', { message, field: 'expires_at' });
  if (at <= now)
    throw refused({ tr: 'Bitiş tarihi gelecekte olmalı.', en: 'The end date must be in the future.' });
  if (user.role === 'admin')
    throw refused({
      tr: 'Yönetici hesaplarının bitiş tarihi olamaz.',
      en: 'Accounts of administrators cannot have an end date.',
    });
  return { ...user, expiresAt: at };
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

/**
 * An active account becomes an administrator; there are no dormant ones, and none that ends by itself.
 *
 * @throws AppError not_active
 */
export function promote(user: User, now: string): User {
  if (user.status !== 'active') throw new AppError('not_active');
  if (user.role === 'admin') return user;
  return { ...user, role: 'admin', expiresAt: null, updatedAt: now };
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
    expiresAt: null,
    updatedAt: now,
  };
}
