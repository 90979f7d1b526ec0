/** Accounts of every kind, made through the API as people and administrators would. */
import { administrator } from './product.ts';

export interface Account {
  readonly uid: string;
  readonly email: string;
  readonly password: string;
  readonly displayName: string;
}

export interface SignIn {
  readonly token: string;
  readonly user: unknown;
}

/** What an administrator did to the account after it was registered. */
export type Standing = 'pending' | 'user' | 'viewer' | 'admin' | 'suspended' | 'deactivated';

const steps: Readonly<Record<Standing, readonly (readonly [path: string, body?: object])[]>> = {
  pending: [],
  user: [['approve', { role: 'user' }]],
  viewer: [['approve', { role: 'viewer' }]],
  admin: [['approve', { role: 'user' }], ['promote']],
  suspended: [['approve', { role: 'user' }], ['suspend']],
  deactivated: [['approve', { role: 'user' }], ['deactivate']],
};

let made = 0;

export async function makeAccount(address: string, standing: Standing): Promise<Account> {
  made += 1;
  const account = {
    email: `${standing}-${process.pid}-${made}@example.org`,
    password: 'a thin slice of kidney',
    displayName: `Deniz ${standing}`,
  };
  const { user } = await call(address, 'POST', '/auth/register', { body: account });
  const { uid } = user as { uid: string };
  const { token } = await signIn(address, administrator);
  for (const [action, body] of steps[standing]) {
    await call(address, 'POST', `/admin/users/${uid}/${action}`, { token, body: body ?? {} });
  }
  return { ...account, uid };
}

/** The whole way of signing in: the identity token, then its verification. */
export async function signIn(
  address: string,
  { email, password }: Pick<Account, 'email' | 'password'>,
): Promise<SignIn> {
  const { token } = await call(address, 'POST', '/auth/login', { body: { email, password } });
  const verified = await call(address, 'POST', '/auth/verify', { body: { token } });
  return { token: verified.token as string, user: verified.user };
}

/** @throws when the answer is not a good one */
export async function call(
  address: string,
  method: string,
  path: string,
  { token, body }: { readonly token?: unknown; readonly body?: object } = {},
): Promise<Record<string, unknown>> {
  const answer = await fetch(`${address}/api/v1${path}`, {
    method,
    headers: {
      ...(typeof token === 'string' && { authorization: `Bearer ${token}` }),
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
  return text === '' ? {} : (JSON.parse(text) as Record<string, unknown>);
}
