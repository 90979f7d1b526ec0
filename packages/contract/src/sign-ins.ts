/** Endpoints that list and end the caller's sign-ins. Each browser or device in which the user signed in has a sign-in of its own. */
import { z } from 'zod';
import { endpoint } from './endpoint.ts';

export const SignIn = z
  .object({
    id: z.string().meta({ description: 'Opaque id, which is not a credential' }),
    created_at: z.iso.datetime(),
    last_used_at: z.iso.datetime().meta({ description: 'Accurate to 30 seconds' }),
    address: z.string().nullable(), // IP address
    browser: z
      .string()
      .nullable()
      .meta({ description: 'Short names of the browser and the operating system' }),
    current: z
      .boolean()
      .meta({ description: 'Whether the bearer token of this request belongs to this sign-in' }),
  })
  .meta({ id: 'SignIn' });
export type SignIn = z.infer<typeof SignIn>;

export const listSignIns = endpoint({
  method: 'GET',
  path: '/user/sign-ins',
  summary: "The caller's active sign-ins, most recently used first",
  access: 'account.read',
  defaultMessageLanguage: 'tr',
  response: z.object({ sign_ins: z.array(SignIn) }),
  status: 200,
  errors: [],
});

export const endSignIn = endpoint({
  method: 'DELETE',
  path: '/user/sign-ins/:id',
  summary: 'End a sign-in of the caller and its image sessions',
  access: 'account.read', // the permission of every account that is not deactivated
  defaultMessageLanguage: 'tr',
  response: null,
  status: 204,
  errors: ['not_found'],
});

export const endSignIns = endpoint({
  method: 'DELETE',
  path: '/user/sign-ins',
  summary: 'End all sign-ins of the caller; with `except=current`, all except the current one',
  access: 'account.read',
  defaultMessageLanguage: 'tr',
  query: z.object({ except: z.literal('current').optional() }),
  response: null,
  status: 204,
  errors: [],
});
