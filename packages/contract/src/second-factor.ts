/**
 * Endpoints for two-step verification, which requires a code of an authenticator app in addition to the password. Users
 * with the permission `account.password` turn it on and off for their own account; administrators can turn it off for other
 * accounts. The current password may be omitted within 15 minutes after a sign-in.
 */
import { z } from 'zod';
import { endpoint } from './endpoint.ts';
import { reason } from './error-reasons.ts';
import { SingleLine } from './text.ts';
import { Message, Password } from './users.ts';

/** Six digits from the authenticator app, or a recovery code. Spaces and hyphens are ignored. */
export const SecondFactorCode = SingleLine.max(64, reason('second_factor_code_format'))
  .transform((code) => code.replaceAll(/[\s-]/g, '').toLowerCase())
  .pipe(z.string().min(1, reason('second_factor_code_required')));

export const SecondFactor = z
  .object({
    enabled: z.boolean(),
    recovery_codes_left: z.number().int(),
  })
  .meta({ id: 'SecondFactor' });
export type SecondFactor = z.infer<typeof SecondFactor>;

export const getSecondFactor = endpoint({
  method: 'GET',
  path: '/user/second-factor',
  summary: 'Whether two-step verification is on for the caller',
  access: 'account.password',
  defaultMessageLanguage: 'tr',
  response: SecondFactor,
  status: 200,
  errors: [],
});

/** Creates a secret, which replaces an earlier secret that has not been confirmed. */
export const startSecondFactor = endpoint({
  method: 'POST',
  path: '/user/second-factor',
  summary:
    'Begin to set up two-step verification; the response contains the secret for the authenticator app',
  access: 'account.password',
  needsFreshSignIn: true,
  defaultMessageLanguage: 'tr',
  body: z.object({ current_password: Password.optional() }),
  response: z.object({
    secret: z.string().meta({ description: 'Base32, to be typed into the app' }),
    uri: z.string().meta({ description: 'otpauth://…, to be shown as a QR code' }),
  }),
  status: 201,
  errors: ['reauth_required', 'second_factor_on', 'rate_limited', 'unavailable'],
});

export const confirmSecondFactor = endpoint({
  method: 'POST',
  path: '/user/second-factor/confirm',
  summary: 'Turn two-step verification on with a first code; only this response contains the recovery codes',
  access: 'account.password',
  defaultMessageLanguage: 'tr',
  body: z.object({ code: SecondFactorCode }),
  response: z.object({ recovery_codes: z.array(z.string()), message: z.string() }),
  status: 200,
  errors: ['second_factor_on', 'second_factor_invalid', 'rate_limited'],
});

export const removeSecondFactor = endpoint({
  method: 'DELETE',
  path: '/user/second-factor',
  summary: 'Turn two-step verification of the caller off',
  access: 'account.password',
  needsFreshSignIn: true,
  defaultMessageLanguage: 'tr',
  body: z.object({ current_password: Password.optional() }),
  response: Message,
  status: 200,
  errors: ['reauth_required', 'rate_limited', 'unavailable'],
});

/** Administrators send this request when a user has lost both the device and the recovery codes. */
export const resetSecondFactor = endpoint({
  method: 'DELETE',
  path: '/admin/users/:uid/second-factor',
  summary: "Turn another account's two-step verification off",
  access: 'users.manage',
  defaultMessageLanguage: 'tr',
  response: Message,
  status: 200,
  errors: ['not_found', 'self_change'],
});
