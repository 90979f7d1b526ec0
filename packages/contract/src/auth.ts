/** Endpoints for registration, sign-in, sign-out and password reset. */
import { z } from 'zod';
import { endpoint } from './endpoint.ts';
import { reason } from './error-reasons.ts';
import { SecondFactorCode } from './second-factor.ts';
import { isSingleLine, SingleLine } from './text.ts';
import { Affiliation, Message, NewPassword, Password, Purpose, User } from './users.ts';

const emailRequired = reason('email_required');
const emailFormat = reason('email_format');

/** Replaces İ, which a Turkish keyboard types as the capital of i, and which no e-mail address contains. */
export function withPlainCapitalI(email: string): string {
  return email.replaceAll('İ', 'I');
}

/**
 * An e-mail address, from which surrounding white space is removed. It has at most 254 characters: RFC 5321 section 4.5.3.1.3 allows
 * 256 including the angle brackets.
 */
export const Email = z
  .string(emailRequired)
  .refine(isSingleLine, emailFormat)
  .trim()
  .overwrite(withPlainCapitalI)
  .min(1, emailRequired)
  .max(254, emailFormat)
  .pipe(z.email(emailFormat));

/** Treats an empty name as absent. */
const DisplayName = SingleLine.max(100).transform((name) => name || undefined);

export const register = endpoint({
  method: 'POST',
  path: '/auth/register',
  summary: 'Register; an administrator approves the account',
  access: 'anyone',
  defaultMessageLanguage: 'tr',
  body: z.object({
    email: Email,
    password: NewPassword,
    displayName: DisplayName.optional(),
    affiliation: Affiliation.optional(),
    purpose: Purpose.optional(),
  }),
  response: z.object({ user: User, message: z.string() }),
  status: 201,
  errors: ['forbidden', 'email_taken', 'rate_limited', 'unavailable'],
});

/**
 * Creates the account of a registration if the setting REGISTRATION_HIDE_EXISTING is on. With this setting, `register` does not reveal
 * whether an e-mail address has an account: it only sends an e-mail with a link, and this endpoint accepts the code of the link.
 * Registering again sends another link.
 */
export const confirmRegistration = endpoint({
  method: 'POST',
  path: '/auth/register/confirm',
  summary: 'Confirm a registration within 24 hours with its password and the code from the e-mail',
  access: 'anyone',
  defaultMessageLanguage: 'tr',
  body: z.object({ code: SingleLine.min(1).max(200), password: Password }),
  response: Message,
  status: 200,
  errors: [
    'forbidden',
    'confirmation_link_invalid',
    'credentials_invalid',
    'email_taken',
    'rate_limited',
    'unavailable',
  ],
});

/**
 * Signs in with the embedded sign-in service. The response contains a bearer token of the API, whose account `verifyToken` returns.
 *
 * For an account with two-step verification, the response to a correct password without `code` is the error
 * `second_factor_required`. The client then sends the same request with `code`.
 */
export const signIn = endpoint({
  method: 'POST',
  path: '/auth/login',
  summary: 'Sign in with e-mail and password',
  access: 'anyone',
  defaultMessageLanguage: 'tr',
  body: z.object({ email: Email, password: Password, code: SecondFactorCode.optional() }),
  response: z.object({
    token: z.string(),
    expires_in: z.number().int().meta({ description: 'Seconds until the token expires; it can end earlier' }),
  }),
  status: 200,
  errors: [
    'forbidden',
    'credentials_invalid',
    'second_factor_required',
    'second_factor_invalid',
    'account_not_active',
    'rate_limited',
    'unavailable',
  ],
});

/**
 * Returns the account of an identity token: the ID token of an external provider, which is valid for one sign-in and for which the
 * server issues a bearer token, or a bearer token of the API (from `signIn`), which is returned unchanged.
 */
export const verifyToken = endpoint({
  method: 'POST',
  path: '/auth/verify',
  summary: 'Exchange an identity token for the bearer token of the API; the response contains the account',
  access: 'anyone',
  defaultMessageLanguage: 'tr',
  body: z.object({
    token: z.string().min(1).max(8192),
    nonce: SingleLine.max(200).optional().meta({
      description: 'With an ID token: the nonce that was sent to the provider, which the token must contain',
    }),
  }),
  response: z.object({
    user: User,
    token: z
      .string()
      .optional()
      .meta({ description: 'The bearer token of the API; without it, the token of the request is one' }),
  }),
  status: 200,
  errors: ['token_invalid', 'token_unverifiable', 'account_not_active', 'email_taken'],
});

export const signOut = endpoint({
  method: 'POST',
  path: '/auth/logout',
  summary: 'End this sign-in and its image sessions',
  access: 'account.read', // the permission of every account that is not deactivated
  defaultMessageLanguage: 'tr',
  response: null,
  status: 204,
  errors: [],
});

export const requestPasswordReset = endpoint({
  method: 'POST',
  path: '/auth/password-reset',
  summary: 'E-mail a link for a new password; the response is the same if the address has no account',
  access: 'anyone',
  defaultMessageLanguage: 'tr',
  body: z.object({ email: Email }),
  response: Message,
  status: 202,
  errors: ['forbidden', 'rate_limited'],
});

/** Checks a reset link without using it, so that the page can report an invalid link before a user types a new password. */
export const checkPasswordReset = endpoint({
  method: 'POST',
  path: '/auth/password-reset/check',
  summary: 'Check that the code of a reset link is still valid',
  access: 'anyone',
  defaultMessageLanguage: 'tr',
  body: z.object({ code: SingleLine.min(1).max(200) }),
  response: null,
  status: 204,
  errors: ['reset_link_invalid', 'rate_limited'],
});

export const confirmPasswordReset = endpoint({
  method: 'POST',
  path: '/auth/password-reset/confirm',
  summary: 'Set a new password with the code of a reset link, which is valid once and for 30 minutes',
  access: 'anyone',
  defaultMessageLanguage: 'tr',
  body: z.object({ code: SingleLine.min(1).max(200), new_password: NewPassword }),
  response: Message,
  status: 200,
  errors: ['forbidden', 'reset_link_invalid', 'rate_limited', 'unavailable'],
});
