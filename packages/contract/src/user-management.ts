/** Endpoints with which administrators manage accounts. */
import { z } from 'zod';
import { endpoint } from './endpoint.ts';
import { GrantableRole, Role, Status } from './permissions.ts';
import { ExistingName, SingleLine } from './text.ts';
import { Timestamp } from './timestamp.ts';
import { Message, NewPassword, Reason, UserDetails } from './users.ts';

/** `changed`: last change first; `name`: by display name, else e-mail, in natural order. */
export const UserSort = z.enum(['newest', 'oldest', 'name', 'changed']);
export type UserSort = z.infer<typeof UserSort>;

export const peopleSearchMaxLength = 200;
export const PeopleSearch = ExistingName.max(peopleSearchMaxLength)
  .optional()
  .meta({ description: 'Words in name, e-mail, institution or id; case and diacritics do not matter' });
export const Offset = z.coerce.number().int().min(0).max(1_000_000).default(0);

/** Numbers of accounts by status. */
export const UserCounts = z.record(Status, z.number().int()).meta({ id: 'UserCounts' });
export type UserCounts = z.infer<typeof UserCounts>;

export const listUsers = endpoint({
  method: 'GET',
  path: '/admin/users',
  summary: 'Accounts, newest first; without a limit all of them',
  access: 'users.manage',
  language: 'tr',
  query: z.object({
    q: PeopleSearch,
    status: Status.optional(),
    role: Role.optional(),
    sort: UserSort.default('newest'),
    limit: z.coerce.number().int().min(1).max(200).optional(),
    offset: Offset,
  }),
  response: z.object({
    users: z.array(UserDetails),
    total: z.number().int().optional().meta({ description: 'Accounts that match, on this page or not' }),
    counts: UserCounts.optional().meta({
      description: 'Accounts that match search and role, by status',
    }),
    message: z.string(),
  }),
  status: 200,
  errors: [],
});

export const getUser = endpoint({
  method: 'GET',
  path: '/admin/users/:uid',
  summary: 'One account',
  access: 'users.manage',
  language: 'tr',
  response: z.object({ user: UserDetails }),
  status: 200,
  errors: ['not_found'],
});

export const countWaiting = endpoint({
  method: 'GET',
  path: '/admin/waiting',
  summary: 'Numbers of people and of dataset requests that wait for an administrator',
  access: 'users.manage',
  language: 'tr',
  response: z.object({ applications: z.number().int(), datasetRequests: z.number().int() }),
  status: 200,
  errors: [],
});

/** The terms of an account: what it may see, and how long. */
export const AccessTerms = {
  datasets: z
    .array(ExistingName.min(1).max(255))
    .max(1000)
    .optional()
    .meta({ description: 'Restricted datasets to be granted, in the place of earlier ones' }),
  expires_at: Timestamp.nullable()
    .optional()
    .meta({ description: 'When the account ends; in the future; null: never' }),
};

/**
 * Pending, suspended or deactivated → active. Without a role: the earlier one, else `user`. Without datasets the grants
 * stay; without an end date it stays too, unless it has passed.
 */
export const approveUser = endpoint({
  method: 'POST',
  path: '/admin/users/:uid/approve',
  summary: 'Make a pending, suspended or deactivated account active',
  access: 'users.manage',
  language: 'tr',
  body: z.object({ role: GrantableRole.optional(), ...AccessTerms }),
  response: Message,
  status: 200,
  errors: ['not_found', 'already_active'],
});

/**
 * Active → pending, within 10 minutes of the first approval: the account waits again, with neither a role nor datasets.
 * For an approval of the wrong person.
 */
export const withdrawApproval = endpoint({
  method: 'POST',
  path: '/admin/users/:uid/withdraw-approval',
  summary:
    'Withdraw an approval given less than 10 minutes ago; all sign-ins and sessions of the account end',
  access: 'users.manage',
  language: 'tr',
  response: Message,
  status: 200,
  errors: ['not_found', 'not_active', 'approval_settled'],
});

/** Pending → suspended, with a reason that the person reads. Approving it later opens the account. */
export const rejectUser = endpoint({
  method: 'POST',
  path: '/admin/users/:uid/reject',
  summary: 'Decline an application; the person reads the reason',
  access: 'users.manage',
  language: 'tr',
  body: z.object({ reason: Reason }),
  response: Message,
  status: 200,
  errors: ['not_found', 'not_pending'],
});

export const updateUserAccess = endpoint({
  method: 'PUT',
  path: '/admin/users/:uid/access',
  summary: 'Change what an active account may see and how long',
  access: 'users.manage',
  language: 'tr',
  body: z.object(AccessTerms),
  response: Message,
  status: 200,
  errors: ['not_found', 'not_active'],
});

export const suspendUser = endpoint({
  method: 'POST',
  path: '/admin/users/:uid/suspend',
  summary: 'Suspend an account; all its sign-ins and sessions end',
  access: 'users.manage',
  language: 'tr',
  response: Message,
  status: 200,
  errors: ['not_found', 'closed', 'self_change', 'last_admin'],
});

export const deactivateUser = endpoint({
  method: 'POST',
  path: '/admin/users/:uid/deactivate',
  summary: 'Deactivate an account: it can no longer sign in',
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

/** Sets the password of another account. For the own account, `changePassword` requires a recent sign-in or the current password. */
export const setUserPassword = endpoint({
  method: 'PUT',
  path: '/admin/users/:uid/password',
  summary: 'Set the password of an account; all its sign-ins and sessions end',
  access: 'users.manage',
  language: 'tr',
  body: z.object({ new_password: NewPassword }),
  response: Message,
  status: 200,
  errors: ['not_found', 'closed', 'self_change', 'password_elsewhere', 'unavailable'],
});

/** The counts on the first page of the administration. */
export const Statistics = z
  .object({
    usersByStatus: z.record(Status, z.number().int()),
    slides: z.number().int(),
    datasets: z.number().int(),
    storedBytes: z.number().int(),
    openImageSessions: z.number().int(),
    days: z
      .array(z.object({ day: z.iso.date(), signIns: z.number().int(), openedSlides: z.number().int() }))
      .meta({ description: 'The last 30 days, oldest first, today included' }),
  })
  .meta({ id: 'Statistics' });
export type Statistics = z.infer<typeof Statistics>;

export const getStatistics = endpoint({
  method: 'GET',
  path: '/admin/statistics',
  summary: 'Accounts by status, slides, datasets, stored bytes, open image sessions, and 30 days of use',
  access: 'users.manage',
  language: 'tr',
  query: z.object({
    zone: SingleLine.max(64)
      .optional()
      .meta({ description: 'IANA time zone in which days begin; UTC without it' }),
  }),
  response: Statistics,
  status: 200,
  errors: [],
});
