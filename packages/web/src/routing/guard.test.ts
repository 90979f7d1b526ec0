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
  'not yet verified': { user: account(), isAuthenticated: false },
  pending: signedIn({ status: 'pending', role: 'unassigned' }),
  suspended: signedIn({ status: 'suspended' }),
  'suspended admin': signedIn({ status: 'suspended', role: 'admin' }),
  deactivated: signedIn({ status: 'deactivated' }),
  unassigned: signedIn({ role: 'unassigned' }),
  viewer: signedIn({ role: 'viewer' }),
  user: signedIn({ role: 'user' }),
  admin: signedIn({ role: 'admin' }),
} as const;

const blocked = ['pending', 'suspended', 'suspended admin', 'deactivated'] as const;
const active = ['unassigned', 'viewer', 'user', 'admin'] as const;
const anonymous = ['visitor', 'not yet verified'] as const;

interface Row {
  readonly path: string;
  readonly access: RouteAccess;
  /** Redirect target; null when the person may stay. */
  readonly anonymous: string | null;
  readonly blocked: string | null;
  readonly active: string | null;
  readonly admin: string | null;
}

const rows: readonly Row[] = [
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

const cells = rows.flatMap((row) => [
  ...anonymous.map((who) => [who, row.path, row.access, row.anonymous] as const),
  ...blocked.map((who) => [who, row.path, row.access, row.blocked] as const),
  ...active.map((who) => [who, row.path, row.access, who === 'admin' ? row.admin : row.active] as const),
]);

describe('the routing guard', () => {
  it.each(cells)('sends %s at %s (access %s) to %s', (who, path, access, expected) => {
    expect(redirectFor(access, path, people[who])).toBe(expected);
  });
});
