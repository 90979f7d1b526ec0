/** The sign-ins of the own account: listing and ending them. */
import { z } from 'zod';
import { endpoint } from './endpoint.ts';

export const SignIn = z
  .object({
    id: z.string().meta({ description: 'Opaque; not the token, and worth nothing without it' }),
    created_at: z.iso.datetime(),
    last_used_at: z.iso.datetime().meta({ description: 'Half a minute late at most' }),
    address: z.string().nullable(),
    browser: z.string().nullable().meta({ description: 'Browser and system in a few words' }),
    current: z.boolean().meta({ description: 'The one that asks' }),
  })
  .meta({ id: 'SignIn' });
export type SignIn = z.infer<typeof SignIn>;

export const listSignIns = endpoint({
  method: 'GET',
  path: '/user/sign-ins',
  summary: 'The own sign-ins that are alive, last used first',
  access: 'account.read',
  language: 'tr',
  response: z.object({ sign_ins: z.array(SignIn) }),
  status: 200,
  errors: [],
});

export const endSignIn = endpoint({
  method: 'DELETE',
  path: '/user/sign-ins/:id',
  summary: 'End one of the own sign-ins, with its image sessions',
  access: 'account.read',
  language: 'tr',
  response: null,
  status: 204,
  errors: ['not_found'],
});

export const endSignIns = endpoint({
  method: 'DELETE',
  path: '/user/sign-ins',
  summary: 'Sign out everywhere; with `except=current` everywhere else',
  access: 'account.read',
  language: 'tr',
  query: z.object({ except: z.literal('current').optional() }),
  response: null,
  status: 204,
  errors: [],
});
