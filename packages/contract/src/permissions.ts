/**
 * The permission table of the product, as data.
 *
 * A permission is the combination of status and role. Only active accounts hold role permissions;
 * a pending or suspended account keeps the few of its status.
 */
import { z } from 'zod';

export const Status = z.enum(['pending', 'active', 'suspended', 'deactivated']);
export type Status = z.infer<typeof Status>;

export const Role = z.enum(['admin', 'user', 'viewer', 'unassigned']);
export type Role = z.infer<typeof Role>;

/** Roles that an approval may give. Only a promotion gives the role `admin`. */
export const GrantableRole = z.enum(['user', 'viewer']);
export type GrantableRole = z.infer<typeof GrantableRole>;

export const permissions = [
  'account.read',
  'account.password',
  'account.delete',
  'catalogue.read',
  'image.view',
  'session.own',
  'api-tokens.own',
  'sharing.own',
  'annotations.read',
  'annotations.write',
  'annotations.manage',
  'slides.download',
  'catalogue.write',
  'users.manage',
] as const;
export type Permission = (typeof permissions)[number];

const own = ['account.read', 'account.password', 'account.delete'] as const;
const looking = [
  ...own,
  'catalogue.read',
  'image.view',
  'session.own',
  'api-tokens.own',
  'annotations.read',
] as const;
/**
 * `slides.download`: original files of the datasets whose download was granted.
 * `sharing.own`: own collections, saved views and share links, and the registration of the slides of a case.
 */
const contributing = [...looking, 'sharing.own', 'slides.download', 'annotations.write'] as const;

const byRole: Record<Role, readonly Permission[]> = {
  unassigned: own,
  viewer: looking,
  // `user` may contribute; `viewer` may only look.
  user: contributing,
  admin: [...contributing, 'annotations.manage', 'catalogue.write', 'users.manage'],
};

const byBlockedStatus: Record<Exclude<Status, 'active'>, readonly Permission[]> = {
  pending: ['account.read', 'account.delete'],
  suspended: ['account.read'],
  deactivated: [],
};

/** Returns all permissions of an account with this status and role. */
export function permissionsOf(account: {
  readonly status: Status;
  readonly role: Role;
}): readonly Permission[] {
  // A status or role that this version does not know counts as suspended, or as unassigned.
  if (account.status === 'active') return byRole[account.role] ?? byRole.unassigned;
  return byBlockedStatus[account.status] ?? byBlockedStatus.suspended;
}

export function may(
  account: { readonly status: Status; readonly role: Role },
  permission: Permission,
): boolean {
  return permissionsOf(account).includes(permission);
}
