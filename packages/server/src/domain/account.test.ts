import {
  type ErrorCode,
  type Role,
  Role as Roles,
  type Status,
  Status as Statuses,
  type User,
} from '@lamina/contract';
import { describe, expect, it } from 'vitest';
import {
  approve,
  checkMayDeleteOwnAccount,
  deactivate,
  makeAdmin,
  promote,
  register,
  replacePassword,
  suspend,
} from './account.ts';

const earlier = '2026-01-01T00:00:00.000Z';
const now = '2026-05-01T12:00:00.000Z';

function account(status: Status, role: Role, change: Partial<User> = {}): User {
  const approved = status !== 'pending';
  return {
    uid: 'u1',
    email: 'ayse@example.org',
    displayName: 'Ayşe',
    status,
    role,
    adminApproved: approved,
    createdAt: earlier,
    updatedAt: earlier,
    approvalDate: approved ? earlier : null,
    expiresAt: null,
    ...change,
  };
}

/** The context of a change by another administrator: the tested account is `u1`. */
const byOtherAdmin = { actor: 'a1', isOtherAdminActive: true, now };
const allStatusesAndRoles = Statuses.options.flatMap((status) =>
  Roles.options.map((role) => ({ status, role })),
);

/** Returns the outcome of a change: status and role afterwards, 'no change', or the code of the error that the rule throws. */
function outcome(
  user: User,
  rule: (user: User) => User | undefined,
): Partial<User> | 'no change' | ErrorCode {
  try {
    const after = rule(user);
    return after === user ? 'no change' : ({ status: after?.status, role: after?.role } as Partial<User>);
  } catch (error) {
    return (error as { code: ErrorCode }).code;
  }
}

/** Describes an expected outcome for a test name, which continues with the account. */
function effectOf(expected: { readonly status?: string; readonly role?: string } | string): string {
  if (expected === 'no change') return 'changes nothing in';
  if (typeof expected === 'string') return `throws an error with the code ${expected} for`;
  return `gives the status ${expected.status} and the role ${expected.role} to`;
}

describe('register (creates an account)', () => {
  it('creates a pending account without a role or approval', () => {
    expect(register({ uid: 'u1', email: 'a@b.org', displayName: null }, now)).toEqual({
      uid: 'u1',
      email: 'a@b.org',
      displayName: null,
      status: 'pending',
      role: 'unassigned',
      adminApproved: false,
      createdAt: now,
      updatedAt: now,
      approvalDate: null,
      expiresAt: null,
    });
  });
});

describe('approve (activates an account)', () => {
  it.each([
    ['pending', 'unassigned', 'no role', 'user'],
    ['pending', 'unassigned', 'user', 'user'],
    ['pending', 'unassigned', 'viewer', 'viewer'],
    ['suspended', 'viewer', 'no role', 'viewer'],
    ['suspended', 'user', 'no role', 'user'],
    ['suspended', 'user', 'viewer', 'viewer'],
    ['suspended', 'unassigned', 'no role', 'user'],
    ['suspended', 'admin', 'no role', 'user'],
    ['deactivated', 'viewer', 'no role', 'viewer'],
    ['deactivated', 'admin', 'no role', 'user'],
    ['deactivated', 'admin', 'viewer', 'viewer'],
  ] as const)(
    'activates a %s account with the role %s; when the request states %s, the new role is %s',
    (status, role, requestedRole, expectedRole) => {
      const grantedRole = requestedRole === 'no role' ? undefined : requestedRole;
      const expected = { status: 'active', role: expectedRole };
      expect(outcome(account(status, role), (user) => approve(user, grantedRole, now))).toEqual(expected);
    },
  );

  it.each(['user', 'admin'] as const)(
    'throws an error with the code already_active for an active account with the role %s',
    (role) => {
      const outcomeFor = (grantedRole?: 'user') =>
        outcome(account('active', role), (user) => approve(user, grantedRole, now));
      expect([outcomeFor(), outcomeFor('user')]).toEqual(['already_active', 'already_active']);
    },
  );

  it('sets adminApproved, approvalDate and updatedAt of a pending account', () => {
    expect(approve(account('pending', 'unassigned'), undefined, now)).toMatchObject({
      adminApproved: true,
      approvalDate: now,
      updatedAt: now,
      createdAt: earlier,
    });
  });

  it('keeps the approval date of the first approval when an account is approved again', () => {
    expect(approve(account('suspended', 'user'), undefined, now).approvalDate).toBe(earlier);
  });
});

describe('suspend (blocks an account until its next approval)', () => {
  const rows = allStatusesAndRoles.map(({ status, role }) => {
    const expected = {
      active: { status: 'suspended', role },
      pending: { status: 'suspended', role },
      suspended: 'no change',
      deactivated: 'closed',
    }[status];
    return { status, role, expected, effect: effectOf(expected) };
  });
  it.each(rows)(
    '$effect an account with the status $status and the role $role',
    ({ status, role, expected }) => {
      expect(outcome(account(status, role), (user) => suspend(user, byOtherAdmin))).toEqual(expected);
    },
  );
});

describe('deactivate (ends an account until an administrator reactivates it)', () => {
  it.each(allStatusesAndRoles)(
    'returns, for an account with the status $status and the role $role, a deactivated account with the same role',
    ({ status, role }) => {
      const expected = status === 'deactivated' ? 'no change' : { status: 'deactivated', role };
      expect(outcome(account(status, role), (user) => deactivate(user, byOtherAdmin))).toEqual(expected);
    },
  );
});

describe.each([
  ['suspend', suspend],
  ['deactivate', deactivate],
])('%s (called when an administrator changes the status of an account)', (_, rule) => {
  it("throws an error with the code self_change for the administrator's own account, in every status", () => {
    for (const { status, role } of allStatusesAndRoles) {
      expect(outcome(account(status, role), (user) => rule(user, { ...byOtherAdmin, actor: 'u1' }))).toBe(
        'self_change',
      );
    }
  });

  it('throws an error with the code last_admin for the last active administrator, not for a user or a pending administrator', () => {
    const asOnlyAdmin = { ...byOtherAdmin, isOtherAdminActive: false };
    expect(outcome(account('active', 'admin'), (user) => rule(user, asOnlyAdmin))).toBe('last_admin');
    expect(outcome(account('active', 'user'), (user) => rule(user, asOnlyAdmin))).toMatchObject({
      role: 'user',
    });
    expect(outcome(account('pending', 'admin'), (user) => rule(user, asOnlyAdmin))).toMatchObject({
      role: 'admin',
    });
  });

  it('keeps adminApproved and the approval date of an active user', () => {
    expect(rule(account('active', 'user'), byOtherAdmin)).toMatchObject({
      adminApproved: true,
      approvalDate: earlier,
      updatedAt: now,
    });
  });
});

describe('promote (makes an active account an administrator)', () => {
  const rows = allStatusesAndRoles.map(({ status, role }) => {
    const expectedWhenActive = role === 'admin' ? 'no change' : { status: 'active', role: 'admin' };
    const expected = status === 'active' ? expectedWhenActive : 'not_active';
    return { status, role, expected, effect: effectOf(expected) };
  });
  it.each(rows)(
    '$effect an account with the status $status and the role $role',
    ({ status, role, expected }) => {
      expect(outcome(account(status, role), (user) => promote(user, now))).toEqual(expected);
    },
  );
});

describe('replacePassword (permits a new password unless the account is deactivated)', () => {
  const rows = allStatusesAndRoles.map(({ status, role }) => {
    const expected = status === 'deactivated' ? 'closed' : { status, role };
    return {
      status,
      role,
      expected,
      effect: expected === 'closed' ? effectOf(expected) : 'keeps status and role of',
    };
  });
  it.each(rows)(
    '$effect an account with the status $status and the role $role',
    ({ status, role, expected }) => {
      expect(
        outcome(account(status, role), (user) => replacePassword(user, { actor: 'admin', now })),
      ).toEqual(expected);
    },
  );

  it('sets updatedAt to the time of the change', () => {
    expect(replacePassword(account('active', 'user'), { actor: 'admin', now }).updatedAt).toBe(now);
  });
});

describe('checkMayDeleteOwnAccount (called before a user deletes their own account)', () => {
  it('throws an error with the code last_admin for the last active administrator, and no error for other accounts', () => {
    const outcomeOfLeaving = (user: User, isOtherAdminActive = false) =>
      outcome(user, () => {
        checkMayDeleteOwnAccount(user, isOtherAdminActive);
        return user;
      });
    const isOtherAdminActive = true;
    expect(outcomeOfLeaving(account('active', 'admin'))).toBe('last_admin');
    expect(outcomeOfLeaving(account('active', 'admin'), isOtherAdminActive)).toBe('no change');
    expect(outcomeOfLeaving(account('active', 'user'))).toBe('no change');
    expect(outcomeOfLeaving(account('pending', 'unassigned'))).toBe('no change');
  });
});

describe('makeAdmin (used for the first administrator and by the command restore-admin)', () => {
  it.each(allStatusesAndRoles)(
    'turns an account with the status $status and the role $role into an active administrator',
    ({ status, role }) => {
      expect(makeAdmin(account(status, role), now)).toMatchObject({
        status: 'active',
        role: 'admin',
        adminApproved: true,
        updatedAt: now,
      });
    },
  );
});
