import type { User } from '@lamina/contract';

/** Returns the account of an active user, İpek Işık, with the given changes. */
export function account(changes: Partial<User> = {}): User {
  return {
    uid: 'uid-of-ipek',
    email: 'ipek@example.org',
    displayName: 'İpek Işık',
    status: 'active',
    role: 'user',
    adminApproved: true,
    createdAt: '2026-11-19T09:00:00.000Z',
    updatedAt: '2026-11-20T09:00:00.000Z',
    approvalDate: '2026-11-20T09:00:00.000Z',
    expiresAt: null,
    ...changes,
  };
}
