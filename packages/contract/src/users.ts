/** Accounts: the profile, the own account's calls and the administrator's. */
import { z } from 'zod';
import { endpoint } from './endpoint.ts';
import { GrantableRole, Role, Status } from './permissions.ts';

export const passwordMinLength = 8;
/** Above this many bytes (UTF-8) a password is refused before any hashing. */
export const passwordMaxBytes = 1024;

const Timestamp = z.iso.datetime().meta({ description: 'UTC, ISO 8601' });

/**
 * Accepts a word that this version does not know, so that one odd account never hides all others. It is shown as
 * unknown and opens nothing (see `permissionsOf`), hence the type may go on naming the known ones alone.
 */
function lenient<Known extends z.ZodEnum>(known: Known): Known {
  return z.union([known, z.string()]) as unknown as Known;
}

export const User = z
  .object({
    uid: z.string().meta({ description: 'Opaque, stable; not the e-mail address' }),
    email: z.string(),
    displayName: z.string().nullable(),
    status: lenient(Status),
    role: lenient(Role),
    adminApproved: z.boolean(),
    createdAt: Timestamp,
    updatedAt: Timestamp,
    approvalDate: Timestamp.nullable().meta({ description: 'The first approval; null before it' }),
  })
  .meta({ id: 'User' });
export type User = z.infer<typeof User>;

export const Message = z.object({ message: z.string() }).meta({ id: 'Message' });

function passwordCalled(name: 'Şifre' | 'Yeni şifre' | 'Mevcut şifre') {
  return z
    .string(`${name} gerekli.`)
    .min(1, `${name} gerekli.`)
    .refine((text) => new TextEncoder().encode(text).length <= passwordMaxBytes, `${name} çok uzun.`);
}

function chosenPasswordCalled(name: 'Şifre' | 'Yeni şifre') {
  return passwordCalled(name).refine(
    (text) => [...text].length >= passwordMinLength,
    `${name} en az ${passwordMinLength} karakter olmalı.`,
  );
}

/** Any length passes here: a wrong password is refused as wrong, not as badly formed. */
export const Password = passwordCalled('Şifre');
const CurrentPassword = passwordCalled('Mevcut şifre');
/** Chosen at registration. */
export const NewPassword = chosenPasswordCalled('Şifre');
/** Takes the place of another one. */
export const ReplacementPassword = chosenPasswordCalled('Yeni şifre');

export const getProfile = endpoint({
  method: 'GET',
  path: '/user/profile',
  summary: "The caller's own account",
  access: 'account.read',
  language: 'tr',
  response: z.object({ user: User }),
  status: 200,
  errors: [],
});

/** What an account did lately, as its own owner sees it. */
export const Activity = z
  .object({
    at: Timestamp,
    action: z.enum(['sign-in', 'image-opened', 'password-changed', 'registered', 'approved', 'promoted']),
    /** The slide's name, for image-opened; null otherwise. */
    subject: z.string().nullable(),
    /** The slide's id, for image-opened while it is still in the catalogue; null otherwise. */
    imageId: z.string().nullable(),
  })
  .meta({ id: 'Activity' });
export type Activity = z.infer<typeof Activity>;

export const getActivity = endpoint({
  method: 'GET',
  path: '/user/activity',
  summary: "The account's own last sign-ins and opened slides, newest first, at most 20",
  access: 'account.read',
  language: 'tr',
  response: z.object({ activity: z.array(Activity) }),
  status: 200,
  errors: [],
});

export const changePassword = endpoint({
  method: 'PUT',
  path: '/user/password',
  summary: 'Change the own password; every other sign-in of the account ends',
  access: 'account.password',
  freshSignIn: true,
  language: 'tr',
  body: z.object({ new_password: ReplacementPassword, current_password: CurrentPassword.optional() }),
  response: Message,
  status: 200,
  errors: ['reauth_required', 'unavailable'],
});

export const deleteAccount = endpoint({
  method: 'DELETE',
  path: '/user/account',
  summary: 'Erase the own account at once',
  access: 'account.delete',
  freshSignIn: true,
  language: 'tr',
  body: z.object({ current_password: CurrentPassword.optional() }),
  response: Message,
  status: 200,
  errors: ['reauth_required', 'last_admin', 'unavailable'],
});

export const listUsers = endpoint({
  method: 'GET',
  path: '/admin/users',
  summary: 'Every account, newest first',
  access: 'users.manage',
  language: 'tr',
  response: z.object({ users: z.array(User), message: z.string() }),
  status: 200,
  errors: [],
});

export const getUser = endpoint({
  method: 'GET',
  path: '/admin/users/:uid',
  summary: 'One account',
  access: 'users.manage',
  language: 'tr',
  response: z.object({ user: User }),
  status: 200,
  errors: ['not_found'],
});

/** Pending, suspended or deactivated → active. Without a role: the earlier one, else `user`. */
export const approveUser = endpoint({
  method: 'POST',
  path: '/admin/users/:uid/approve',
  summary: 'Make a pending, suspended or deactivated account active',
  access: 'users.manage',
  language: 'tr',
  body: z.object({ role: GrantableRole.optional() }),
  response: Message,
  status: 200,
  errors: ['not_found', 'already_active'],
});

export const suspendUser = endpoint({
  method: 'POST',
  path: '/admin/users/:uid/suspend',
  summary: 'Take access away for now; everything issued to the account ends',
  access: 'users.manage',
  language: 'tr',
  response: Message,
  status: 200,
  errors: ['not_found', 'closed', 'self_change', 'last_admin'],
});

export const deactivateUser = endpoint({
  method: 'POST',
  path: '/admin/users/:uid/deactivate',
  summary: 'Close an account: it can no longer sign in',
  access: 'users.manage',
  language: 'tr',
  response: Message,
  status: 200,
  errors: ['not_found', 'self_change', 'last_admin'],
});

export const promoteUser = endpoint({
  method: 'POST',
  path: '/admin/users/:uid/promote',
  summary: 'Make an active account an administrator',
  access: 'users.manage',
  language: 'tr',
  response: Message,
  status: 200,
  errors: ['not_found', 'not_active'],
});

export const setUserPassword = endpoint({
  method: 'PUT',
  path: '/admin/users/:uid/password',
  summary: "Set someone's password; everything issued to the account ends",
  access: 'users.manage',
  language: 'tr',
  body: z.object({ new_password: ReplacementPassword }),
  response: Message,
  status: 200,
  errors: ['not_found', 'closed', 'unavailable'],
});

/** What the administrator's first page counts. */
export const Statistics = z
  .object({
    usersByStatus: z.record(Status, z.number().int()),
    slides: z.number().int(),
    datasets: z.number().int(),
    storedBytes: z.number().int(),
    openImageSessions: z.number().int(),
  })
  .meta({ id: 'Statistics' });
export type Statistics = z.infer<typeof Statistics>;

export const getStatistics = endpoint({
  method: 'GET',
  path: '/admin/statistics',
  summary: 'Accounts by status, slides, datasets, stored bytes and open image sessions',
  access: 'users.manage',
  language: 'tr',
  response: Statistics,
  status: 200,
  errors: [],
});
  query: z.object({
    zone: z
      .string()
      .max(64)
      .optional()
      .meta({ description: 'IANA time zone in which days begin; UTC without it' }),
  }),
