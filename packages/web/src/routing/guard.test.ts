import { describe, expect, it } from 'vitest';
import { account } from '../testing/accounts.ts';
import { type RouteAccess, redirectFor } from './guard.ts';

const visitor = { user: null, isAuthenticated: false };
const signedIn = (changes: Parameters<typeof account>[0]) => ({
  user: account(changes),
  isAuthenticated: true,
});

const people = {
  visitor,
  'visitor with an unverified sign-in': { user: account(), isAuthenticated: false },
  'pending user': signedIn({ status: 'pending', role: 'unassigned' }),
  'suspended user': signedIn({ status: 'suspended' }),
  'suspended admin': signedIn({ status: 'suspended', role: 'admin' }),
  'deactivated user': signedIn({ status: 'deactivated' }),
  'user without a role': signedIn({ role: 'unassigned' }),
  viewer: signedIn({ role: 'viewer' }),
  user: signedIn({ role: 'user' }),
  admin: signedIn({ role: 'admin' }),
} as const;

const blocked = ['pending user', 'suspended user', 'suspended admin', 'deactivated user'] as const;
const active = ['user without a role', 'viewer', 'user', 'admin'] as const;
const anonymous = ['visitor', 'visitor with an unverified sign-in'] as const;

/** The expected redirect of each group of people at a path; null when they may open it. */
type ExpectedRedirects = readonly [
  path: string,
  access: RouteAccess,
  anonymous: string | null,
  blocked: string | null,
  active: string | null,
  admin: string | null,
];

const rows: readonly ExpectedRedirects[] = [
  ['/auth/login', 'guests', null, null, '/dashboard', '/dashboard'],
  ['/auth/login/', 'guests', null, null, '/dashboard', '/dashboard'],
  ['/auth/register', 'guests', null, '/account-status', '/dashboard', '/dashboard'],
  ['/auth/confirm', 'anyone', null, '/account-status', null, null],
  ['/auth/password-reset', 'anyone', null, '/account-status', null, null],
  ['/account-status', 'signed-in', '/auth/login', null, null, null],
  ['/dashboard', 'active', '/auth/login', '/account-status', null, null],
  ['/dashboard/profile', 'active', '/auth/login', '/account-status', null, null],
  ['/wsi-viewer', 'active', '/auth/login', '/account-status', null, null],
  ['/admin', 'admin', '/auth/login', '/account-status', '/dashboard', null],
  ['/admin/users', 'admin', '/auth/login', '/account-status', '/dashboard', null],
  ['/shared', 'anyone', null, null, null, null],
  ['/no-such-page', 'anyone', null, '/account-status', null, null],
];

const cells = rows.flatMap(([path, access, anonymousTarget, blockedTarget, activeTarget, adminTarget]) => {
  const cellOf = (who: keyof typeof people, target: string | null) => {
    const name =
      target === null ? `lets the ${who} open ${path}` : `redirects the ${who} from ${path} to ${target}`;
    return [name, who, path, access, target] as const;
  };
  return [
    ...anonymous.map((who) => cellOf(who, anonymousTarget)),
    ...blocked.map((who) => cellOf(who, blockedTarget)),
    ...active.map((who) => cellOf(who, who === 'admin' ? adminTarget : activeTarget)),
  ];
});

describe('the routing guard of the web app', () => {
  it.each(cells)('%s', (_, who, path, access, target) => {
    expect(redirectFor(access, path, people[who])).toBe(target);
  });
});
