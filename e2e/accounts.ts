/** Test accounts in every state, created through the API: a visitor registers, and an administrator changes the state. */
import { administrator } from './product.ts';

export interface Account {
  readonly uid: string;
  readonly email: string;
  readonly password: string;
  readonly displayName: string;
}

/** The result of a sign-in. */
export interface SignIn {
  /** Bearer token. */
  readonly token: string;
  /** The user as the API returns it. */
  readonly user: unknown;
}

/** State of the account after the actions of an administrator; `user`, `viewer` and `admin` are the roles of active accounts. */
export type AccountState = 'pending' | 'user' | 'viewer' | 'admin' | 'suspended' | 'deactivated';

/** The administrator's API calls that bring a registered account into each state. */
const adminActions: Readonly<Record<AccountState, readonly (readonly [path: string, body?: object])[]>> = {
  pending: [],
  user: [['approve', { role: 'user' }]],
  viewer: [['approve', { role: 'viewer' }]],
  admin: [['approve', { role: 'user' }], ['promote']],
  suspended: [['approve', { role: 'user' }], ['suspend']],
  deactivated: [['approve', { role: 'user' }], ['deactivate']],
};

let accountCount = 0;

/** Registers an account and brings it into a state with the actions of an administrator. */
export async function makeAccount(productUrl: string, state: AccountState): Promise<Account> {
  accountCount += 1;
  const account = {
    email: `${state}-${process.pid}-${accountCount}@example.org`,
    password: 'a thin slice of kidney',
    displayName: `Deniz ${state}`,
  };
  const { user } = await callApi(productUrl, 'POST', '/auth/register', { body: account });
  const { uid } = user as { uid: string };
  const token = await administratorToken(productUrl);
  for (const [action, body] of adminActions[state]) {
    await callApi(productUrl, 'POST', `/admin/users/${uid}/${action}`, { token, body: body ?? {} });
  }
  return { ...account, uid };
}

const administratorTokens = new Map<string, string>();

/** Signs in as the first administrator. The token is cached per product, because an account may sign in only 60 times in 15 minutes. */
export async function administratorToken(productUrl: string): Promise<string> {
  const cached = administratorTokens.get(productUrl);
  if (cached !== undefined) return cached;
  const { token } = await signIn(productUrl, administrator);
  administratorTokens.set(productUrl, token);
  return token;
}

/** Signs in with the requests of the web app: one for the token, and one that returns the user. */
export async function signIn(
  productUrl: string,
  { email, password }: Pick<Account, 'email' | 'password'>,
): Promise<SignIn> {
  const { token } = await callApi(productUrl, 'POST', '/auth/login', { body: { email, password } });
  const verified = await callApi(productUrl, 'POST', '/auth/verify', { body: { token } });
  return { token: verified.token as string, user: verified.user };
}

/**
 * Calls the API and returns the JSON body of the response, or {} when the response has none.
 *
 * @param options `token` is a bearer token. Its type is unknown, so that tests can pass a field of an earlier response without a cast.
 * @throws Error with status and body when the status is not 2xx
 */
export async function callApi(
  productUrl: string,
  method: string,
  path: string,
  { token, body }: { readonly token?: unknown; readonly body?: object } = {},
): Promise<Record<string, unknown>> {
  const response = await fetch(`${productUrl}/api/v1${path}`, {
    method,
    headers: {
      ...(typeof token === 'string' && { authorization: `Bearer ${token}` }),
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return text === '' ? {} : (JSON.parse(text) as Record<string, unknown>);
}
