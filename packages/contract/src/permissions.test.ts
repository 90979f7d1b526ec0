import { describe, expect, it } from 'vitest';
import { permissionsOf, Role, Status } from './permissions.ts';
import { User } from './users.ts';

const active = (role: Role) => permissionsOf({ status: 'active', role });

describe('the permissions (permissionsOf)', () => {
  it('of an active admin include those of a user, which include those of a viewer, which include those of the role unassigned', () => {
    expect(active('user')).toEqual(expect.arrayContaining([...active('viewer')]));
    expect(active('admin')).toEqual(expect.arrayContaining([...active('user')]));
    expect(active('viewer')).toEqual(expect.arrayContaining([...active('unassigned')]));
  });

  it.each(Status.options.filter((status) => status !== 'active'))(
    'of a %s account, whatever its role, are those of the role unassigned, without image.view (viewing slides)',
    (status) => {
      for (const role of Role.options) {
        expect(permissionsOf({ status, role })).toEqual(permissionsOf({ status, role: 'unassigned' }));
        expect(permissionsOf({ status, role })).not.toContain('image.view');
      }
    },
  );

  it('of an account with an unknown status are those of a suspended account, and with an unknown role those of the role unassigned', () => {
    const account = {
      uid: 'u',
      email: 'a@example.org',
      displayName: null,
      adminApproved: false,
      approvalDate: null,
    };
    const times = { createdAt: '2026-11-21T10:00:00Z', updatedAt: '2026-11-21T10:00:00Z' };
    const withUnknownStatus = User.parse({ ...account, ...times, status: 'archived', role: 'admin' });
    expect(permissionsOf(withUnknownStatus)).toEqual(permissionsOf({ status: 'suspended', role: 'admin' }));
    const withUnknownRole = User.parse({ ...account, ...times, status: 'active', role: 'professor' });
    expect(permissionsOf(withUnknownRole)).toEqual(active('unassigned'));
  });
});
