import { describe, expect, it } from 'vitest';
import { permissionsOf, Role, Status } from './permissions.ts';
import { User } from './users.ts';

const active = (role: Role) => permissionsOf({ status: 'active', role });

describe('permissions', () => {
  it('include every permission of a viewer for a user, and every permission of a user for an admin', () => {
    expect(active('user')).toEqual(expect.arrayContaining([...active('viewer')]));
    expect(active('admin')).toEqual(expect.arrayContaining([...active('user')]));
    expect(active('viewer')).toEqual(expect.arrayContaining([...active('unassigned')]));
  });

  it.each(Status.options.filter((status) => status !== 'active'))('%s takes every role away', (status) => {
    for (const role of Role.options) {
      expect(permissionsOf({ status, role })).toEqual(permissionsOf({ status, role: 'unassigned' }));
      expect(permissionsOf({ status, role })).not.toContain('image.view');
    }
  });

  it('treat an unknown status as suspended and an unknown role as unassigned', () => {
    const account = {
      uid: 'u',
      email: 'a@example.org',
      displayName: null,
      adminApproved: false,
      approvalDate: null,
    };
    const times = { createdAt: '2026-11-21T10:00:00Z', updatedAt: '2026-11-21T10:00:00Z' };
    const odd = User.parse({ ...account, ...times, status: 'archived', role: 'admin' });
    expect(permissionsOf(odd)).toEqual(permissionsOf({ status: 'suspended', role: 'admin' }));
    const rank = User.parse({ ...account, ...times, status: 'active', role: 'professor' });
    expect(permissionsOf(rank)).toEqual(active('unassigned'));
  });
});
