/** Endpoints with which administrators list accounts, decide about them, change their access, and read statistics. */
import { z } from 'zod';
import { endpoint } from './endpoint.ts';
import { GrantableRole, Role, Status } from './permissions.ts';
import { ComparedName, SearchText, SingleLine } from './text.ts';
import { Timestamp } from './timestamp.ts';
import { Message, NewPassword, Reason, UserDetails } from './users.ts';

/**
 * `newest`, `oldest`: by the time of registration; `changed`: most recently changed first; `name`: in natural order of
 * display names, with the e-mail address in place of a missing name.
 */
export const UserSort = z.enum(['newest', 'oldest', 'name', 'changed']);
export type UserSort = z.infer<typeof UserSort>;

export const PeopleSearch = SearchText.optional().meta({
  description: 'Words in name, e-mail, institution or id; case and diacritics do not matter',
});
/** Number of matching accounts before the first one in the response. */
export const Offset = z.coerce.number().int().min(0).max(1_000_000).default(0);

export const UserCounts = z.record(Status, z.number().int()).meta({ id: 'UserCounts' });
export type UserCounts = z.infer<typeof UserCounts>;

export const listUsers = endpoint({
  method: 'GET',
  path: '/admin/users',
  summary: 'Accounts, newest first by default; without a limit all of them',
  access: 'users.manage',
  defaultMessageLanguage: 'tr',
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
    total: z.number().int().optional().meta({ description: 'Accounts that match, on all pages' }),
    counts: UserCounts.optional().meta({
      description: 'Accounts that match search and role, by status',
    }),
    message: z.string().optional(),
  }),
  status: 200,
  errors: [],
});

export const getUser = endpoint({
  method: 'GET',
  path: '/admin/users/:uid',
  summary: 'One account',
  access: 'users.manage',
  defaultMessageLanguage: 'tr',
  response: z.object({ user: UserDetails }),
  status: 200,
  errors: ['not_found'],
});

export const countWaiting = endpoint({
  method: 'GET',
  path: '/admin/waiting',
  summary: 'Numbers of applications and dataset requests that wait for an administrator',
  access: 'users.manage',
  defaultMessageLanguage: 'tr',
  response: z.object({ applications: z.number().int(), datasetRequests: z.number().int() }),
  status: 200,
  errors: [],
});

/** The terms of an account: the restricted datasets that it may see, and its end date. */
export const AccessTerms = {
  datasets: z
    .array(ComparedName.min(1).max(255))
    .max(1000)
    .optional()
    .meta({ description: 'Restricted datasets to grant, which replace the earlier grants' }),
  expires_at: Timestamp.nullable()
    .optional()
    .meta({ description: 'End date of the account, in the future; null: no end date' }),
};

/**
 * Activates a pending, suspended or deactivated account. Without `role`, a viewer stays `viewer` and any other account becomes `user`.
 * Without `datasets`, the grants of the account stay. Without `expires_at`, its end date stays unless that date has passed.
 */
export const approveUser = endpoint({
  method: 'POST',
  path: '/admin/users/:uid/approve',
  summary: 'Make a pending, suspended or deactivated account active',
  access: 'users.manage',
  defaultMessageLanguage: 'tr',
  body: z.object({ role: GrantableRole.optional(), ...AccessTerms }),
  response: Message,
  status: 200,
  errors: ['not_found', 'already_active'],
});

/** Undoes a mistaken first approval within 10 minutes: the account is pending again, without role and datasets. */
export const withdrawApproval = endpoint({
  method: 'POST',
  path: '/admin/users/:uid/withdraw-approval',
  summary:
    'Withdraw an approval given less than 10 minutes ago; all sign-ins and sessions of the account end',
  access: 'users.manage',
  defaultMessageLanguage: 'tr',
  response: Message,
  status: 200,
  errors: ['not_found', 'not_active', 'approval_settled'],
});

/** Suspends a pending account with a reason that the applicant can read. The account can be approved later. */
export const rejectUser = endpoint({
  method: 'POST',
  path: '/admin/users/:uid/reject',
  summary: 'Reject an application; the applicant can read the reason',
  access: 'users.manage',
  defaultMessageLanguage: 'tr',
  body: z.object({ reason: Reason }),
  response: Message,
  status: 200,
  errors: ['not_found', 'not_pending'],
});

export const updateUserAccess = endpoint({
  method: 'PUT',
  path: '/admin/users/:uid/access',
  summary: 'Change the datasets and the end date of an active account',
  access: 'users.manage',
  defaultMessageLanguage: 'tr',
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
  defaultMessageLanguage: 'tr',
  response: Message,
  status: 200,
  errors: ['not_found', 'closed', 'self_change', 'last_admin'],
});

export const deactivateUser = endpoint({
  method: 'POST',
  path: '/admin/users/:uid/deactivate',
  summary: 'Deactivate an account: it can no longer sign in',
  access: 'users.manage',
  defaultMessageLanguage: 'tr',
  response: Message,
  status: 200,
  errors: ['not_found', 'self_change', 'last_admin'],
});

export const promoteUser = endpoint({
  method: 'POST',
  path: '/admin/users/:uid/promote',
  summary: 'Make an active account an administrator',
  access: 'users.manage',
  defaultMessageLanguage: 'tr',
  response: Message,
  status: 200,
  errors: ['not_found', 'not_active'],
});

/** Sets the password of another account. Administrators change their own password with `changePassword`. */
export const setUserPassword = endpoint({
  method: 'PUT',
  path: '/admin/users/:uid/password',
  summary: 'Set the password of an account; all its sign-ins and sessions end',
  access: 'users.manage',
  defaultMessageLanguage: 'tr',
  body: z.object({ new_password: NewPassword }),
  response: Message,
  status: 200,
  errors: ['not_found', 'closed', 'self_change', 'password_elsewhere', 'unavailable'],
});

/** The numbers on the first page of the admin panel. */
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
  defaultMessageLanguage: 'tr',
  query: z.object({
    zone: SingleLine.max(64).optional().meta({ description: 'IANA time zone of the days; default: UTC' }),
  }),
  response: Statistics,
  status: 200,
  errors: [],
});
