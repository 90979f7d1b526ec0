/**
 * Permissions of accounts. An active account has the permissions of its role; any other account has the permissions of its status.
 */
import { z } from 'zod';

/** `pending`: waits for approval; `suspended`: may only read its own account; `deactivated`: has no permissions. */
export const Status = z.enum(['pending', 'active', 'suspended', 'deactivated']);
export type Status = z.infer<typeof Status>;

/** `unassigned`: the role of a new account, which is pending. An approval replaces the role. */
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

/** `account.password` permits users to change their own password and two-step verification. */
const ownAccountPermissions = ['account.read', 'account.password', 'account.delete'] as const;
const viewerPermissions = [
  ...ownAccountPermissions,
  'catalogue.read',
  'image.view',
  'session.own', // image sessions: credentials with which browsers load pixels
  'api-tokens.own',
  'annotations.read',
] as const;

/**
 * `slides.download` permits downloads of original files from datasets for which downloads were granted to the account.
 * `sharing.own` permits creating collections, saved views and share links, and aligning (registering) the slides of a case.
 */
const userPermissions = [
  ...viewerPermissions,
  'sharing.own',
  'slides.download',
  'annotations.write',
] as const;

/** `annotations.manage` permits everything on layers of other owners, and changing the annotation classes of datasets. */
const permissionsByRole: Record<Role, readonly Permission[]> = {
  unassigned: ownAccountPermissions,
  viewer: viewerPermissions,
  user: userPermissions,
  admin: [...userPermissions, 'annotations.manage', 'catalogue.write', 'users.manage'],
};

const permissionsByInactiveStatus: Record<Exclude<Status, 'active'>, readonly Permission[]> = {
  pending: ['account.read', 'account.delete'],
  suspended: ['account.read'],
  deactivated: [],
};

/** Returns all permissions of an account with this status and role. */
export function permissionsOf(account: {
  readonly status: Status;
  readonly role: Role;
}): readonly Permission[] {
  // A status that this version does not know counts as suspended, and a role that it does not know as unassigned.
  if (account.status === 'active') return permissionsByRole[account.role] ?? permissionsByRole.unassigned;
  return permissionsByInactiveStatus[account.status] ?? permissionsByInactiveStatus.suspended;
}

/** Returns whether an account with this status and role has the permission. */
export function may(
  account: { readonly status: Status; readonly role: Role },
  permission: Permission,
): boolean {
  return permissionsOf(account).includes(permission);
}
