/** Accounts: the profile, the own account's calls and the administrator's. */
import { z } from 'zod';
import { endpoint } from './endpoint.ts';
import type { InBothLanguages } from './errors.ts';
import { GrantableRole, Role, Status } from './permissions.ts';
import { rule } from './rules.ts';

export const passwordMinLength = 8;
export const passwordMaxLength = 128;
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
    expiresAt: Timestamp.nullable()
      .default(null)
      .meta({ description: 'When access ends by itself: from then on the status is suspended; null: never' }),
  })
  .meta({ id: 'User' });
export type User = z.infer<typeof User>;

/** Free text of one or several lines; databases refuse the NUL character, and no sentence needs another control character. */
function sentence(max: number) {
  return z
    .string()
    .trim()
    .max(max, rule('tr', `En fazla ${max} karakter olabilir.`, `It may have at most ${max} characters.`))
    .regex(
      /^(?:[^\p{Cc}]|[\n\r\t])*$/u,
      rule('tr', 'Metin geçersiz karakter içeriyor.', 'The text has characters that are not allowed.'),
    );
}

export const affiliationMaxLength = 200;
export const purposeMaxLength = 1000;
export const reasonMaxLength = 1000;
/** Said, or not, with a registration; an empty text is none. */
export const Affiliation = sentence(affiliationMaxLength).transform((text) => text || undefined);
export const Purpose = sentence(purposeMaxLength).transform((text) => text || undefined);
/** Why somebody decides or asks so. */
export const Reason = sentence(reasonMaxLength).min(
  1,
  rule('tr', 'Gerekçe gerekli.', 'A reason is required.'),
);

const noteOrNull = z.string().nullable().default(null);

/** The account as its owner sees it. */
export const Profile = User.extend({
  decisionReason: noteOrNull.meta({ description: 'Why the application was refused, while it is' }),
}).meta({ id: 'Profile' });
export type Profile = z.infer<typeof Profile>;

/** An account as an administrator sees it: with what its owner wrote, and how far its access goes. */
export const UserDetails = Profile.extend({
  affiliation: noteOrNull,
  purpose: noteOrNull,
  secondFactor: z.boolean().default(false).meta({ description: 'Whether two-step verification is on' }),
  datasets: z
    .array(z.string())
    .default([])
    .meta({ description: 'Restricted datasets that are granted to it' }),
}).meta({ id: 'UserDetails' });
export type UserDetails = z.infer<typeof UserDetails>;

export const Message = z.object({ message: z.string() }).meta({ id: 'Message' });

function passwordCalled({ tr, en }: InBothLanguages) {
  const required = rule('tr', `${tr} gerekli.`, `${en} is required.`);
  return z
    .string(required)
    .min(1, required)
    .refine(
      (text) => new TextEncoder().encode(text).length <= passwordMaxBytes,
      rule('tr', `${tr} çok uzun.`, `${en} is too long.`),
    );
}

/** Characters (Unicode code points) of a password as it is compared: normalised, whichever keyboard composed it. */
export function passwordLength(text: string): number {
  return [...text.normalize('NFKC')].length;
}

function chosenPasswordCalled({ tr, en }: InBothLanguages) {
  return passwordCalled({ tr, en })
    .refine(
      (text) => passwordLength(text) >= passwordMinLength,
      rule(
        'tr',
        `${tr} en az ${passwordMinLength} karakter olmalı.`,
        `${en} must have at least ${passwordMinLength} characters.`,
      ),
    )
    .refine(
      (text) => passwordLength(text) <= passwordMaxLength,
      rule(
        'tr',
        `${tr} en fazla ${passwordMaxLength} karakter olabilir.`,
        `${en} may have at most ${passwordMaxLength} characters.`,
      ),
    );
}

const password = { tr: 'Şifre', en: 'The password' };

/** Any length passes here: a wrong password is refused as wrong, not as badly formed. */
export const Password = passwordCalled(password);
export const CurrentPassword = passwordCalled({ tr: 'Mevcut şifre', en: 'The current password' });
/** Chosen at registration. */
export const NewPassword = chosenPasswordCalled(password);
/** Takes the place of another one. */
export const ReplacementPassword = chosenPasswordCalled({ tr: 'Yeni şifre', en: 'The new password' });

export const getProfile = endpoint({
  method: 'GET',
  path: '/user/profile',
  summary: "The caller's own account",
  access: 'account.read',
  language: 'tr',
  response: z.object({ user: Profile }),
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
  errors: ['reauth_required', 'password_elsewhere', 'rate_limited', 'unavailable'],
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
  errors: ['reauth_required', 'last_admin', 'rate_limited', 'unavailable'],
});

export const listUsers = endpoint({
  method: 'GET',
  path: '/admin/users',
  summary: 'Every account, newest first',
  access: 'users.manage',
  language: 'tr',
  response: z.object({ users: z.array(UserDetails), message: z.string() }),
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

/** An account that may be the same person's as one that waits, and why it may be. */
export const LikelyDuplicate = z
  .object({
    uid: z.string(),
    email: z.string(),
    displayName: z.string().nullable(),
    status: lenient(Status),
    why: z.enum(['same-name', 'same-mailbox', 'similar-email']),
  })
  .meta({ id: 'LikelyDuplicate' });
export type LikelyDuplicate = z.infer<typeof LikelyDuplicate>;

/** At most so many applications come at once, the longest waiting first. */
export const applicationsAtOnce = 200;

export const listApplications = endpoint({
  method: 'GET',
  path: '/admin/applications',
  summary: 'Who waits for approval, longest first, with accounts that may be the same person',
  access: 'users.manage',
  language: 'tr',
  response: z.object({
    applications: z.array(
      z.object({
        user: UserDetails,
        duplicates: z.array(LikelyDuplicate).meta({ description: 'The likeliest first, at most 5' }),
      }),
    ),
    waiting: z.number().int().meta({ description: 'All of them, also those that do not come along' }),
  }),
  status: 200,
  errors: [],
});

export const countWaiting = endpoint({
  method: 'GET',
  path: '/admin/waiting',
  summary: 'How many people and how many dataset requests wait for an administrator',
  access: 'users.manage',
  language: 'tr',
  response: z.object({ applications: z.number().int(), datasetRequests: z.number().int() }),
  status: 200,
  errors: [],
});

const Access = {
  datasets: z
    .array(z.string().min(1).max(255))
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
  body: z.object({ role: GrantableRole.optional(), ...Access }),
  response: Message,
  status: 200,
  errors: ['not_found', 'already_active'],
});

/** Pending → suspended, with a reason that the person reads. Approving it later opens the account. */
export const rejectUser = endpoint({
  method: 'POST',
  path: '/admin/users/:uid/reject',
  summary: 'Refuse an application; the person is told why',
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
  body: z.object(Access),
  response: Message,
  status: 200,
  errors: ['not_found', 'not_active'],
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
  errors: ['not_found', 'closed', 'password_elsewhere', 'unavailable'],
});

/** What the administrator's first page counts. */
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
    zone: z
      .string()
      .max(64)
      .optional()
      .meta({ description: 'IANA time zone in which days begin; UTC without it' }),
  }),
  response: Statistics,
  status: 200,
  errors: [],
});
