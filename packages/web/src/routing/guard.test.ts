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
interface ExpectedRedirects {
  readonly path: string;
  readonly access: RouteAccess;
  readonly anonymous: string | null;
  readonly blocked: string | null;
  readonly active: string | null;
  readonly admin: string | null;
}

const rows: readonly ExpectedRedirects[] = [
  {
    path: '/auth/login',
    access: 'guests',
    anonymous: null,
    blocked: null,
    active: '/dashboard',
    admin: '/dashboard',
  },
  {
    path: '/auth/login/',
    access: 'guests',
    anonymous: null,
    blocked: null,
    active: '/dashboard',
    admin: '/dashboard',
  },
  {
    path: '/auth/register',
    access: 'guests',
    anonymous: null,
    blocked: '/account-status',
    active: '/dashboard',
    admin: '/dashboard',
  },
  {
    path: '/auth/confirm',
    access: 'anyone',
    anonymous: null,
    blocked: '/account-status',
    active: null,
    admin: null,
  },
  {
    path: '/auth/password-reset',
    access: 'anyone',
    anonymous: null,
    blocked: '/account-status',
    active: null,
    admin: null,
  },
  {
    path: '/account-status',
    access: 'signed-in',
    anonymous: '/auth/login',
    blocked: null,
    active: null,
    admin: null,
  },
  {
    path: '/dashboard',
    access: 'active',
    anonymous: '/auth/login',
    blocked: '/account-status',
    active: null,
    admin: null,
  },
  {
    path: '/dashboard/profile',
    access: 'active',
    anonymous: '/auth/login',
    blocked: '/account-status',
    active: null,
    admin: null,
  },
  {
    path: '/wsi-viewer',
    access: 'active',
    anonymous: '/auth/login',
    blocked: '/account-status',
    active: null,
    admin: null,
  },
  {
    path: '/admin',
    access: 'admin',
    anonymous: '/auth/login',
    blocked: '/account-status',
    active: '/dashboard',
    admin: null,
  },
  {
    path: '/admin/users',
    access: 'admin',
    anonymous: '/auth/login',
    blocked: '/account-status',
    active: '/dashboard',
    admin: null,
  },
  {
    path: '/no-such-page',
    access: 'anyone',
    anonymous: null,
    blocked: '/account-status',
    active: null,
    admin: null,
  },
];

const cells = rows.flatMap(({ path, access, ...targets }) => {
  const cellOf = (who: keyof typeof people, target: string | null) => {
    const name =
      target === null ? `lets the ${who} open ${path}` : `redirects the ${who} from ${path} to ${target}`;
    return [name, who, path, access, target] as const;
  };
  return [
    ...anonymous.map((who) => cellOf(who, targets.anonymous)),
    ...blocked.map((who) => cellOf(who, targets.blocked)),
    ...active.map((who) => cellOf(who, who === 'admin' ? targets.admin : targets.active)),
  ];
});

describe('the routing guard', () => {
  it.each(cells)('%s', (_, who, path, access, target) => {
    expect(redirectFor(access, path, people[who])).toBe(target);
  });
});
