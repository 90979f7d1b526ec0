/** The schemas of accounts, and the endpoints with which people manage their own account. */
import { z } from 'zod';
import { endpoint } from './endpoint.ts';
import { reason } from './error-reasons.ts';
import { Language } from './languages.ts';
import { Role, Status } from './permissions.ts';
import { isSingleLine, MultiLine, SingleLine } from './text.ts';
import { Timestamp } from './timestamp.ts';

/** Limits of the length of a new password in Unicode code points (see `passwordLength`). */
export const passwordMinLength = 8;
export const passwordMaxLength = 128;
/** Maximum length of a password in bytes (UTF-8). Longer passwords are rejected without hashing. */
export const passwordMaxBytes = 1024;

/**
 * Returns a schema that also accepts values which this version does not know. Otherwise one account with an unknown status would
 * make a whole list of accounts invalid. The type contains only the known values. An unknown status counts as suspended, and an unknown
 * role as unassigned (see `permissionsOf`).
 */
export function withUnknownValues<Known extends z.ZodEnum>(known: Known): Known {
  return z.union([known, z.string()]) as unknown as Known;
}

export const User = z
  .object({
    uid: z.string().meta({ description: 'Opaque, stable; not the e-mail address' }),
    email: z.string(),
    displayName: z.string().nullable().default(null),
    status: withUnknownValues(Status),
    role: withUnknownValues(Role),
    adminApproved: z.boolean(), // true from an approval until it is withdrawn, also while the account is suspended or deactivated
    // `catch` replaces an invalid or missing date by an empty text, so that clients still show the account.
    createdAt: Timestamp.catch(''),
    updatedAt: Timestamp.catch(''),
    approvalDate: Timestamp.nullable()
      .default(null)
      .meta({ description: 'The first approval; null before it' }),
    expiresAt: Timestamp.nullable()
      .default(null)
      .meta({ description: 'From this time on, the status is suspended; null: no end date' }),
  })
  .meta({ id: 'User' });
export type User = z.infer<typeof User>;

export const affiliationMaxLength = 200;
export const purposeMaxLength = 1000;
export const reasonMaxLength = 1000;
/** Institution of the applicant, optional in a registration. An empty text counts as none. */
export const Affiliation = SingleLine.max(affiliationMaxLength, reason('text_too_long')).transform(
  (text) => text || undefined,
);
/** Purpose of use, optional in a registration. An empty text counts as none. */
export const Purpose = MultiLine.max(purposeMaxLength, reason('text_too_long')).transform(
  (text) => text || undefined,
);
/** The reason that an administrator gives for a decision. */
export const Reason = MultiLine.max(reasonMaxLength, reason('text_too_long')).min(
  1,
  reason('decision_reason_required'),
);

const textOrNull = z.string().nullable().default(null);

/** The account as its owner sees it. */
export const Profile = User.extend({
  decisionReason: textOrNull.meta({
    description: 'Why the application was rejected; null once it is approved',
  }),
}).meta({ id: 'Profile' });
export type Profile = z.infer<typeof Profile>;

/** An account as administrators see it, with its application and its granted datasets. */
export const UserDetails = Profile.extend({
  affiliation: textOrNull,
  purpose: textOrNull,
  secondFactor: z.boolean().default(false).meta({ description: 'Whether two-step verification is on' }),
  datasets: z
    .array(z.string())
    .default([])
    .meta({ description: 'Restricted datasets that are granted to the account' }),
}).meta({ id: 'UserDetails' });
export type UserDetails = z.infer<typeof UserDetails>;

/** A response that contains only a text for the user. */
export const Message = z.object({ message: z.string() }).meta({ id: 'Message' });

/**
 * A password with which a user signs in or confirms a change. It has no minimum length, so that the error for a short password is that
 * it is wrong, not that it is too short. Error messages name the field: `password`, `current_password` or `new_password`.
 */
export const Password = z
  .string(reason('password_required'))
  .min(1, reason('password_required'))
  // `abort`: the server does not normalise a text of any length.
  .refine((text) => new TextEncoder().encode(text).length <= passwordMaxBytes, {
    error: reason('password_too_many_bytes'),
    abort: true,
  });

/** Returns the length of a password in Unicode code points after NFKC normalisation. Passwords are also normalised before hashing. */
export function passwordLength(text: string): number {
  return [...text.normalize('NFKC')].length;
}

/** A password that a user or an administrator chooses. */
export const NewPassword = Password.refine(isSingleLine, reason('text_characters'))
  .refine((text) => passwordLength(text) >= passwordMinLength, {
    error: reason('password_too_short'),
    params: { limit: passwordMinLength },
  })
  .refine((text) => passwordLength(text) <= passwordMaxLength, {
    error: reason('password_too_long'),
    params: { limit: passwordMaxLength },
  });

export const getProfile = endpoint({
  method: 'GET',
  path: '/user/profile',
  summary: "The caller's own account",
  access: 'account.read',
  defaultMessageLanguage: 'tr',
  response: z.object({ user: Profile }),
  status: 200,
  errors: [],
});

/** A recent event of an account, as its owner sees it. */
export const Activity = z
  .object({
    at: Timestamp,
    action: z.enum(['sign-in', 'image-opened', 'password-changed', 'registered', 'approved', 'promoted']),
    /** File name of the slide, for image-opened; null otherwise. */
    subject: z.string().nullable(),
    /** Id of the image, for image-opened while it is in the catalogue; null otherwise. */
    imageId: z.string().nullable(),
  })
  .meta({ id: 'Activity' });
export type Activity = z.infer<typeof Activity>;

export const getActivity = endpoint({
  method: 'GET',
  path: '/user/activity',
  summary: "The caller's latest sign-ins, opened slides and changes of the account, newest first, at most 20",
  access: 'account.read',
  defaultMessageLanguage: 'tr',
  response: z.object({ activity: z.array(Activity) }),
  status: 200,
  errors: [],
});

export const changePassword = endpoint({
  method: 'PUT',
  path: '/user/password',
  summary: "Change the caller's password; every other sign-in of the account ends",
  access: 'account.password',
  needsFreshSignIn: true,
  defaultMessageLanguage: 'tr',
  body: z.object({ new_password: NewPassword, current_password: Password.optional() }),
  response: Message,
  status: 200,
  errors: ['reauth_required', 'password_elsewhere', 'rate_limited', 'unavailable'],
});

export const changeLanguage = endpoint({
  method: 'PUT',
  path: '/user/language',
  summary: 'Change the language of e-mails to the caller',
  access: 'account.read', // the permission of every account that is not deactivated
  defaultMessageLanguage: 'tr',
  body: z.object({ language: Language }),
  response: null,
  status: 204,
  errors: [],
});

export const deleteAccount = endpoint({
  method: 'DELETE',
  path: '/user/account',
  summary: "Delete the caller's account immediately",
  access: 'account.delete',
  needsFreshSignIn: true,
  defaultMessageLanguage: 'tr',
  body: z.object({ current_password: Password.optional() }),
  response: Message,
  status: 200,
  errors: ['reauth_required', 'last_admin', 'rate_limited', 'unavailable'],
});
