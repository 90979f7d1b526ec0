/** Registration, sign-in with the embedded sign-in service, and exchange of identity tokens. */
import { z } from 'zod';
import { endpoint } from './endpoint.ts';
import { reason } from './error-reasons.ts';
import { SecondFactorCode } from './second-factor.ts';
import { isSingleLine, SingleLine } from './text.ts';
import { Affiliation, Message, NewPassword, Password, Purpose, User } from './users.ts';

const emailRequired = reason('email_required');
const emailFormat = reason('email_format');

/** Trimmed; at most 254 characters (RFC 5321 section 4.5.3.1.3, less the angle brackets). */
export const Email = z
  .string(emailRequired)
  .refine(isSingleLine, emailFormat)
  .trim()
  .min(1, emailRequired)
  .max(254, emailFormat)
  .pipe(z.email(emailFormat));

const DisplayName = SingleLine.max(100).transform((name) => name || undefined);

export const register = endpoint({
  method: 'POST',
  path: '/auth/register',
  summary: 'Register; an administrator approves the account',
  access: 'anyone',
  language: 'tr',
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
 * Where existing addresses are hidden (`REGISTRATION_HIDE_EXISTING=on`), `register` only mails a link, and this call
 * makes the account that then waits for approval. Registering again mails another link.
 */
export const confirmRegistration = endpoint({
  method: 'POST',
  path: '/auth/register/confirm',
  summary: 'Confirm the e-mail address of a registration with the mailed code and its password: 24 hours',
  access: 'anyone',
  language: 'tr',
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
 * The sign-in service's own call: e-mail and password against an identity token.
 * The token is opaque; it becomes the bearer token once `verifyToken` has accepted it.
 *
 * An account with two-step verification is answered `second_factor_required` after the right password; the same
 * call with `code` besides then signs in.
 */
export const signIn = endpoint({
  method: 'POST',
  path: '/auth/login',
  summary: 'Sign in with e-mail and password',
  access: 'anyone',
  language: 'tr',
  body: z.object({ email: Email, password: Password, code: SecondFactorCode.optional() }),
  response: z.object({
    token: z.string(),
    expires_in: z.number().int().meta({ description: 'Seconds, at most' }),
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
 * With the embedded service the token that goes in is the one that comes back. The ID token of an external provider
 * is good for one sign-in, and the token that comes back is ours.
 */
export const verifyToken = endpoint({
  method: 'POST',
  path: '/auth/verify',
  summary: 'Hand in an identity token; answers with the account and the bearer token of the API',
  access: 'anyone',
  language: 'tr',
  body: z.object({
    token: z.string().min(1).max(8192),
    nonce: SingleLine.max(200)
      .optional()
      .meta({ description: 'With an ID token: what was sent along to the provider, and must stand in it' }),
  }),
  response: z.object({ user: User, token: z.string() }),
  status: 200,
  errors: ['token_invalid', 'token_unverifiable', 'account_not_active', 'email_taken'],
});

export const signOut = endpoint({
  method: 'POST',
  path: '/auth/logout',
  summary: 'End this sign-in and its image sessions',
  access: 'account.read',
  language: 'tr',
  response: null,
  status: 204,
  errors: [],
});

export const requestPasswordReset = endpoint({
  method: 'POST',
  path: '/auth/password-reset',
  summary: 'Mail a link for a new password; the same answer whether or not the address is known',
  access: 'anyone',
  language: 'tr',
  body: z.object({ email: Email }),
  response: Message,
  status: 202,
  errors: ['forbidden', 'rate_limited'],
});

/** Checks a reset link without using it, so that the page can report an invalid link before a new password is typed. */
export const checkPasswordReset = endpoint({
  method: 'POST',
  path: '/auth/password-reset/check',
  summary: 'Whether a mailed code can still set a new password',
  access: 'anyone',
  language: 'tr',
  body: z.object({ code: SingleLine.min(1).max(200) }),
  response: null,
  status: 204,
  errors: ['reset_link_invalid', 'rate_limited'],
});

export const confirmPasswordReset = endpoint({
  method: 'POST',
  path: '/auth/password-reset/confirm',
  summary: 'Set a new password with the mailed code: single use, 30 minutes',
  access: 'anyone',
  language: 'tr',
  body: z.object({ code: SingleLine.min(1).max(200), new_password: NewPassword }),
  response: Message,
  status: 200,
  errors: ['forbidden', 'reset_link_invalid', 'rate_limited', 'unavailable'],
});
