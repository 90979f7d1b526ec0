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
  changeAccess,
  checkMayDeleteOwnAccount,
  deactivate,
  effectiveAccount,
  makeAdmin,
  promote,
  register,
  reject,
  replacePassword,
  suspend,
  wasIssuedBeforeExpiry,
  withdrawApproval,
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

/** A time that lies this many milliseconds after `now`. */
const after = (ms: number) => new Date(Date.parse(now) + ms).toISOString();

describe('effectiveAccount (the account with the status that decisions use)', () => {
  it.each<[string, Status, string | null, Status]>([
    ['an active account without an end date', 'active', null, 'active'],
    ['an active account 1 ms before its end date', 'active', after(1), 'active'],
    ['an active account at its end date', 'active', now, 'suspended'],
    ['an active account after its end date', 'active', earlier, 'suspended'],
    ['a pending account after its end date', 'pending', earlier, 'pending'],
    ['a deactivated account after its end date', 'deactivated', earlier, 'deactivated'],
  ])('gives %s the status $3', (_, status, expiresAt, expected) => {
    const stored = account(status, 'user', { expiresAt });
    expect(effectiveAccount(stored, new Date(now))).toEqual({ ...stored, status: expected });
  });
});

describe('wasIssuedBeforeExpiry (whether a token is older than the end date that has passed)', () => {
  it.each<[boolean, string, string, string | null]>([
    [true, 'issued 1 ms before an end date that has just passed', after(-1), now],
    [false, 'issued at the end date', now, now],
    [false, 'issued 1 ms after the end date', after(-1), after(-2)],
    [false, 'issued before an end date that passes in 1 ms', earlier, after(1)],
    [false, 'of an account without an end date', earlier, null],
  ])('returns %s for a token %s', (expected, _, issuedAt, expiresAt) => {
    expect(wasIssuedBeforeExpiry(new Date(issuedAt), { expiresAt }, new Date(now))).toBe(expected);
  });
});

describe('withdrawApproval (makes an approved account pending again)', () => {
  const tenMinutes = 10 * 60_000;

  it('removes status, role, approval and end date ten minutes after the approval', () => {
    const user = account('active', 'user', { approvalDate: after(-tenMinutes), expiresAt: after(1) });
    expect(withdrawApproval(user, now)).toEqual({
      ...account('pending', 'unassigned'),
      adminApproved: false,
      approvalDate: null,
      expiresAt: null,
      updatedAt: now,
    });
  });

  it.each<[ErrorCode, string, User]>([
    [
      'approval_settled',
      'ten minutes and 1 ms after the approval',
      account('active', 'user', { approvalDate: after(-tenMinutes - 1) }),
    ],
    [
      'approval_settled',
      'when the account is an administrator',
      account('active', 'admin', { approvalDate: now }),
    ],
    [
      'approval_settled',
      'when the account has no date of approval',
      account('active', 'user', { approvalDate: null }),
    ],
    ['not_active', 'when the account is suspended', account('suspended', 'user', { approvalDate: now })],
  ])('throws %s %s', (code, _, user) => {
    expect(outcome(user, (each) => withdrawApproval(each, now))).toBe(code);
  });
});

describe('reject (suspends an applicant)', () => {
  it('suspends a pending account', () => {
    const applicant = account('pending', 'unassigned');
    expect(reject(applicant, now)).toEqual({ ...applicant, status: 'suspended', updatedAt: now });
  });

  it.each(['active', 'suspended', 'deactivated'] as const)(
    'throws not_pending for a %s account',
    (status) => {
      expect(outcome(account(status, 'user'), (user) => reject(user, now))).toBe('not_pending');
    },
  );
});

describe('changeAccess (changes the end date of an active account)', () => {
  it.each<[string, string | null, string | null | undefined, string | null]>([
    ['keeps a future end date when none is stated', after(1), undefined, after(1)],
    ['removes an end date that is reached when none is stated', now, undefined, null],
    ['removes a future end date when null is stated', after(1), null, null],
    ['sets an end date that lies 1 ms ahead', null, after(1), after(1)],
    ['adds milliseconds to a stated end date', null, '2026-06-01T00:00:00Z', '2026-06-01T00:00:00.000Z'],
  ])('%s', (_, before, stated, expiresAt) => {
    const user = account('active', 'user', { expiresAt: before });
    expect(changeAccess(user, stated, now)).toEqual({ ...user, expiresAt, updatedAt: now });
  });

  it.each<[string, string, User, string]>([
    ['invalid_request (expiry_in_past)', 'an end date that is now', account('active', 'user'), now],
    [
      'invalid_request (expiry_of_admin)',
      'an end date of an administrator',
      account('active', 'admin'),
      after(1),
    ],
    ['not_active', 'a suspended account', account('suspended', 'user'), after(1)],
  ])('throws %s for %s', (expected, _, user, stated) => {
    const [code, reason = null] = expected.replace(')', '').split(' (');
    let thrown: unknown;
    try {
      changeAccess(user, stated, now);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toMatchObject({ code, ...(reason !== null && { detail: { reason } }) });
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

  it("throws an error with the code self_change for the administrator's own account", () => {
    const own = account('active', 'admin');
    expect(outcome(own, (user) => replacePassword(user, { actor: user.uid, now }))).toBe('self_change');
  });

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
      expect(makeAdmin(account(status, role, { expiresAt: earlier }), now)).toMatchObject({
        status: 'active',
        role: 'admin',
        adminApproved: true,
        approvalDate: status === 'pending' ? now : earlier, // the date of the first approval
        expiresAt: null,
        updatedAt: now,
      });
    },
  );
});
