/** Two-step verification: a code of an authenticator app besides the password. */
import { z } from 'zod';
import { endpoint } from './endpoint.ts';
import { rule } from './rules.ts';
import { CurrentPassword, Message } from './users.ts';

/** Six digits of the app, or a recovery code; spaces and hyphens do not count. */
export const SecondFactorCode = z
  .string()
  .max(64, rule('tr', 'Doğrulama kodu geçersiz.', 'The verification code is not valid.'))
  .transform((code) => code.replaceAll(/[\s-]/g, '').toLowerCase())
  .pipe(z.string().min(1, rule('tr', 'Doğrulama kodu gerekli.', 'A verification code is required.')));

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
  summary: 'Whether two-step verification is on for the own account',
  access: 'account.password',
  language: 'tr',
  response: SecondFactor,
  status: 200,
  errors: [],
});

/** A new secret takes the place of one that has not been confirmed. */
export const startSecondFactor = endpoint({
  method: 'POST',
  path: '/user/second-factor',
  summary: 'Begin setting up two-step verification: the secret for the authenticator app',
  access: 'account.password',
  freshSignIn: true,
  language: 'tr',
  body: z.object({ current_password: CurrentPassword.optional() }),
  response: z.object({
    secret: z.string().meta({ description: 'Base32, for typing' }),
    uri: z.string().meta({ description: 'otpauth://…, for a QR code' }),
  }),
  status: 201,
  errors: ['reauth_required', 'second_factor_on', 'rate_limited', 'unavailable'],
});

export const confirmSecondFactor = endpoint({
  method: 'POST',
  path: '/user/second-factor/confirm',
  summary: 'Switch two-step verification on with a first code; answers with the recovery codes, this once',
  access: 'account.password',
  language: 'tr',
  body: z.object({ code: SecondFactorCode }),
  response: z.object({ recovery_codes: z.array(z.string()), message: z.string() }),
  status: 200,
  errors: ['second_factor_on', 'rate_limited'],
});

export const removeSecondFactor = endpoint({
  method: 'DELETE',
  path: '/user/second-factor',
  summary: 'Switch two-step verification off',
  access: 'account.password',
  freshSignIn: true,
  language: 'tr',
  body: z.object({ current_password: CurrentPassword.optional() }),
  response: Message,
  status: 200,
  errors: ['reauth_required', 'rate_limited', 'unavailable'],
});

/** For somebody who has lost both the device and the recovery codes. */
export const resetSecondFactor = endpoint({
  method: 'DELETE',
  path: '/admin/users/:uid/second-factor',
  summary: "Switch someone's two-step verification off",
  access: 'users.manage',
  language: 'tr',
  response: Message,
  status: 200,
  errors: ['not_found', 'self_change'],
});
