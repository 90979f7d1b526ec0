/** Administration of accounts through HTTP: list, approval, suspension, deactivation, promotion, passwords and statistics. */
import {
  approveUser,
  changePassword,
  createImageSession,
  deactivateUser,
  type Endpoint,
  getProfile,
  getStatistics,
  getUser,
  listUsers,
  promoteUser,
  setUserPassword,
  signIn,
  suspendUser,
  type User,
} from '@lamina/contract';
import { describe, expect, it } from 'vitest';
import { databaseKinds } from '../store/testing/test-database.ts';
import { hasOtherActiveAdmin, listUsers as storedUsers } from '../store/users.ts';
import { type TestServer, type TestUser, testServer } from '../testing/test-server.ts';

/** Starts a server with a signed-in administrator. `act` calls an endpoint about an account as this administrator. */
async function administration(database: (typeof databaseKinds)[number]) {
  const server = await testServer({ database });
  const admin = await server.fixtures.admin();
  const client = server.as(await server.fixtures.token(admin));
  return {
    ...server,
    server,
    admin,
    client,
    act: (endpoint: Endpoint, uid: string, body?: Record<string, unknown>) =>
      client.inject({
        method: endpoint.method,
        url: endpoint.path.replace(':uid', uid),
        ...(body && { payload: body }),
      }),
  };
}

async function auditEntries({ services }: TestServer) {
  return services.db
    .selectFrom('audit')
    .selectAll()
    .where('action', '!=', 'sign-in')
    .orderBy('seq')
    .execute();
}

/** Returns the account as the API returns it: without the password. */
function accountOf(user: TestUser): User {
  const { password: _, ...account } = user;
  return account;
}

describe.each(databaseKinds)('GET /admin/users and GET /admin/users/:uid (database: %s)', (database) => {
  it('return all accounts in the list, newest first', async () => {
    const { client, fixtures, clock, admin } = await administration(database);
    clock.advance(1000);
    const older = await fixtures.user({ status: 'pending' });
    clock.advance(1000);
    const newer = await fixtures.user({ displayName: 'Ayşe', role: 'viewer' });
    expect(await client.call(listUsers)).toMatchObject({
      status: 200,
      body: {
        message: 'Kullanıcılar başarıyla yüklendi.',
        users: [newer, older, admin].map(accountOf),
      },
    });
  });

  it('return 200 for the path of the list with and without a slash at its end', async () => {
    const { client } = await administration(database);
    for (const url of ['/admin/users', '/admin/users/']) {
      expect((await client.inject({ method: 'GET', url })).status).toBe(200);
    }
  });

  it('return status suspended and role unassigned for an account with an unknown status and role in the database', async () => {
    const { client, fixtures, services } = await administration(database);
    const { uid } = await fixtures.user();
    await services.db
      .updateTable('users')
      .set({ status: 'frozen' as 'active', role: 'owner' as 'admin' })
      .where('uid', '=', uid)
      .execute();
    expect((await client.call(getUser, { params: { uid } })).body.user).toMatchObject({
      status: 'suspended',
      role: 'unassigned',
    });
  });
});

describe.each(databaseKinds)('administration of one account (database: %s):', (database) => {
  it('GET /admin/users/:uid returns the same fields as the list of accounts', async () => {
    const { client, fixtures } = await administration(database);
    const user = await fixtures.user();
    const response = await client.call(getUser, { params: { uid: user.uid } });
    expect(response).toMatchObject({ status: 200, body: { user: accountOf(user) } });
  });

  it.each([getUser, approveUser, suspendUser, deactivateUser, promoteUser, setUserPassword] as Endpoint[])(
    '$method $path returns 404 for an unknown uid',
    async (endpoint) => {
      const { act } = await administration(database);
      for (const uid of ['00000000-0000-4000-8000-000000000000', 'unknown', '%2e%2e', "' or 1=1 --"]) {
        expect(await act(endpoint, encodeURIComponent(uid), { new_password: 'yepyeni-şifre' })).toMatchObject(
          {
            status: 404,
            body: { code: 'not_found' },
          },
        );
      }
    },
  );
});

describe.each(databaseKinds)('approval of an account (database: %s)', (database) => {
  it('makes a pending account active with the role user, which then also applies to tokens issued before the approval', async () => {
    const { act, fixtures, as, clock, server, admin } = await administration(database);
    const user = await fixtures.user({ status: 'pending' });
    const applicantClient = as(await fixtures.token(user));
    clock.advance(1000);
    expect(await act(approveUser, user.uid)).toMatchObject({
      status: 200,
      body: { message: 'Kullanıcı başarıyla onaylandı.' },
    });
    const now = clock.now().toISOString();
    expect((await applicantClient.call(getProfile)).body.user).toEqual({
      ...accountOf(user),
      status: 'active',
      role: 'user',
      adminApproved: true,
      approvalDate: now,
      updatedAt: now,
      decisionReason: null,
    });
    const [entry] = await auditEntries(server);
    expect(entry).toMatchObject({
      action: 'approved',
      result: 'done',
      actor_uid: admin.uid,
      target: user.uid,
    });
    expect(JSON.parse(entry?.detail ?? '')).toEqual({
      status_before: 'pending',
      role_before: 'unassigned',
      status: 'active',
      role: 'user',
    });
    expect(entry?.request_id).toMatch(/^[\w-]{8,}$/);
  });

  it.each(['user', 'viewer'] as const)(
    'gives the account the role %s when the request names this role',
    async (role) => {
      const { act, fixtures, client } = await administration(database);
      const { uid } = await fixtures.user({ status: 'pending' });
      await act(approveUser, uid, { role });
      expect((await client.call(getUser, { params: { uid } })).body.user).toMatchObject({
        status: 'active',
        role,
      });
    },
  );

  it.each([
    ['"admin"', 'admin'],
    ['"unassigned"', 'unassigned'],
    ['"owner"', 'owner'],
    ['""', ''],
    ['null', null],
    ['1', 1],
    ['["user"], a list', ['user']],
  ])('returns 400 and changes nothing for the invalid role %s', async (_, role) => {
    const { act, fixtures, services } = await administration(database);
    const { uid } = await fixtures.user({ status: 'pending' });
    const before = await storedUsers(services.db);
    expect(await act(approveUser, uid, { role })).toMatchObject({
      status: 400,
      body: { code: 'invalid_request', field: 'role' },
    });
    expect(await storedUsers(services.db)).toEqual(before);
  });

  it.each(['suspended', 'deactivated'] as const)(
    'reactivates a %s account with the role and the approval date that it had before',
    async (status) => {
      const { act, fixtures, client } = await administration(database);
      const approvalDate = '2026-01-01T00:00:00.000Z';
      const { uid } = await fixtures.user({ status, role: 'viewer', approvalDate });
      expect((await act(approveUser, uid)).status).toBe(200);
      expect((await client.call(getUser, { params: { uid } })).body.user).toMatchObject({
        status: 'active',
        role: 'viewer',
        approvalDate,
      });
    },
  );

  it('gives a suspended administrator the role user instead of admin', async () => {
    const { act, fixtures, client } = await administration(database);
    const { uid } = await fixtures.admin({ status: 'suspended' });
    await act(approveUser, uid);
    expect((await client.call(getUser, { params: { uid } })).body.user.role).toBe('user');
  });

  it('returns 409 and changes nothing when the account is already active, whether its role is user or admin', async () => {
    const { act, fixtures, services, admin } = await administration(database);
    const user = await fixtures.user();
    const before = await storedUsers(services.db);
    for (const uid of [user.uid, admin.uid]) {
      expect(await act(approveUser, uid, { role: 'viewer' })).toMatchObject({
        status: 409,
        body: { code: 'already_active', message: 'Bu kullanıcı zaten aktif.' },
      });
    }
    expect(await storedUsers(services.db)).toEqual(before);
  });
});

describe.each(databaseKinds)('suspension of an account (database: %s)', (database) => {
  it('ends all tokens and image sessions (credentials for tiles), which stay ended after the account is reactivated', async () => {
    const { act, fixtures, as, server } = await administration(database);
    const user = await fixtures.user();
    const token = await fixtures.token(user);
    expect((await as(token).call(createImageSession)).status).toBe(201);
    expect(await act(suspendUser, user.uid)).toMatchObject({
      status: 200,
      body: { message: 'Kullanıcı başarıyla askıya alındı.' },
    });
    expect((await as(token).call(getProfile)).status).toBe(401);

    const again = as(await fixtures.token(user));
    expect((await again.call(getProfile)).body.user.status).toBe('suspended');
    expect(await again.call(createImageSession)).toMatchObject({
      status: 403,
      body: { code: 'account_not_active', status: 'suspended' },
    });

    await act(approveUser, user.uid);
    expect((await as(token).call(getProfile)).status).toBe(401);
    expect((await again.call(createImageSession)).status).toBe(201);
    expect(await server.services.db.selectFrom('image_sessions').selectAll().execute()).toHaveLength(1);
  });

  it('suspends a pending account', async () => {
    const { act, fixtures, client } = await administration(database);
    const { uid } = await fixtures.user({ status: 'pending' });
    expect((await act(suspendUser, uid)).status).toBe(200);
    expect((await client.call(getUser, { params: { uid } })).body.user.status).toBe('suspended');
  });

  it('returns 200 and changes neither account nor sign-ins when the account is already suspended', async () => {
    const { act, fixtures, as, services, server } = await administration(database);
    const user = await fixtures.user({ status: 'suspended' });
    const token = await fixtures.token(user);
    const before = await storedUsers(services.db);
    expect((await act(suspendUser, user.uid)).status).toBe(200);
    expect(await storedUsers(services.db)).toEqual(before);
    expect((await as(token).call(getProfile)).status).toBe(200);
    expect(await auditEntries(server)).toEqual([]);
  });

  it('returns 409 for a deactivated account', async () => {
    const { act, fixtures } = await administration(database);
    const { uid } = await fixtures.user({ status: 'deactivated' });
    expect(await act(suspendUser, uid)).toMatchObject({
      status: 409,
      body: { code: 'closed', message: 'Bu hesap devre dışı bırakılmış.' },
    });
  });
});

describe.each(databaseKinds)('deactivation of an account (database: %s)', (database) => {
  it.each(['active', 'pending', 'suspended'] as const)(
    'ends the sign-ins of an account that is %s, and prevents new ones',
    async (status) => {
      const { act, fixtures, as } = await administration(database);
      const user = await fixtures.user({ status });
      const token = await fixtures.token(user);
      expect(await act(deactivateUser, user.uid)).toMatchObject({
        status: 200,
        body: { message: 'Kullanıcı başarıyla devre dışı bırakıldı.' },
      });
      expect((await as(token).call(getProfile)).status).toBe(401);
      expect((await as(null).call(signIn, { body: user })).status).toBe(403);
      expect((await act(deactivateUser, user.uid)).status).toBe(200);
    },
  );
});

describe.each(databaseKinds)('administrators who change accounts (database: %s)', (database) => {
  it.each([suspendUser, deactivateUser] as Endpoint[])(
    'get 409 for POST $path when the account is their own',
    async (endpoint) => {
      const { act, admin, fixtures, services, server } = await administration(database);
      await fixtures.admin();
      const before = await storedUsers(services.db);
      expect(await act(endpoint, admin.uid)).toMatchObject({
        status: 409,
        body: { code: 'self_change', message: 'Kendi hesabınızda bu işlemi yapamazsınız.' },
      });
      expect(await storedUsers(services.db)).toEqual(before);
      expect(await auditEntries(server)).toMatchObject([
        { result: 'refused', detail: '{"code":"self_change"}' },
      ]);
    },
  );

  it.each([suspendUser, deactivateUser])(
    'cannot both succeed when the last two active administrators send POST $path for each other at the same time',
    async (endpoint) => {
      const { fixtures, as, services } = await testServer({ database });
      for (let round = 0; round < 10; round++) {
        await services.db.updateTable('users').set({ status: 'suspended' }).execute();
        const [a, b] = [await fixtures.admin(), await fixtures.admin()];
        const [asA, asB] = [as(await fixtures.token(a)), as(await fixtures.token(b))];
        const responses = await Promise.all([
          asA.call(endpoint, { params: { uid: b.uid } }),
          asB.call(endpoint, { params: { uid: a.uid } }),
        ]);
        expect(responses.filter(({ status }) => status === 200)).toHaveLength(1);
        expect(await hasOtherActiveAdmin(services.db, 'unknown')).toBe(true);
      }
    },
  );

  it('get the error token_invalid for an approval when their sign-in ended during the request', async () => {
    const { fixtures, as, services, admin } = await administration(database);
    const rival = await fixtures.admin();
    const user = await fixtures.user({ status: 'pending' });
    const actor = {
      uid: rival.uid,
      email: rival.email,
      tokenHash: 'of a sign-in that has ended',
      origin: { address: '127.0.0.1', requestId: 'test-request' },
    };
    await expect(services.accounts.approve(actor, user.uid, {})).rejects.toMatchObject({
      code: 'token_invalid',
    });
    expect((await as(admin).call(getUser, { params: { uid: user.uid } })).body.user.status).toBe('pending');
  });
});

describe.each(databaseKinds)('promotion of an account to administrator (database: %s)', (database) => {
  it('gives an active account the role admin and ends its sign-ins', async () => {
    const { act, fixtures, as } = await administration(database);
    const user = await fixtures.user();
    const token = await fixtures.token(user);
    expect(await act(promoteUser, user.uid)).toMatchObject({
      status: 200,
      body: { message: 'Kullanıcı başarıyla yönetici yapıldı.' },
    });
    expect((await as(token).call(getProfile)).status).toBe(401);
    expect((await as(user).call(listUsers)).status).toBe(200);
  });

  it('returns 200 and changes neither account nor sign-ins when the account is already an administrator', async () => {
    const { act, fixtures, as, services } = await administration(database);
    const other = await fixtures.admin();
    const token = await fixtures.token(other);
    const before = await storedUsers(services.db);
    expect((await act(promoteUser, other.uid)).status).toBe(200);
    expect(await storedUsers(services.db)).toEqual(before);
    expect((await as(token).call(getProfile)).status).toBe(200);
  });

  it.each(['pending', 'suspended', 'deactivated'] as const)(
    'returns 409 for an account that is %s',
    async (status) => {
      const { act, fixtures } = await administration(database);
      const { uid } = await fixtures.user({ status });
      expect(await act(promoteUser, uid)).toMatchObject({
        status: 409,
        body: { code: 'not_active', message: 'Bu kullanıcı aktif değil.' },
      });
    },
  );
});

describe.each(databaseKinds)('setting the password of another account (database: %s)', (database) => {
  it.each(['active', 'pending', 'suspended'] as const)(
    'replaces the password of an account that is %s, ends its sign-ins and sends the user an e-mail',
    async (status) => {
      const { act, fixtures, as, outbox, server } = await administration(database);
      const user = await fixtures.user({ status });
      const token = await fixtures.token(user);
      expect(await act(setUserPassword, user.uid, { new_password: 'yepyeni-şifre' })).toMatchObject({
        status: 200,
        body: { message: 'Şifre başarıyla değiştirildi' },
      });
      expect((await as(token).call(getProfile)).status).toBe(401);
      expect((await as(null).call(signIn, { body: user })).status).toBe(401);
      const profile = await as({ ...user, password: 'yepyeni-şifre' }).call(getProfile);
      expect(profile.body.user.status).toBe(status);
      const emails = await outbox();
      expect(emails).toHaveLength(1);
      expect(emails[0]).not.toContain('yepyeni-şifre');
      expect(JSON.stringify(await auditEntries(server))).not.toContain('yepyeni-şifre');
    },
  );

  it('returns 409 for a deactivated account and sends no e-mail', async () => {
    const { act, fixtures, outbox } = await administration(database);
    const { uid } = await fixtures.user({ status: 'deactivated' });
    expect(await act(setUserPassword, uid, { new_password: 'yepyeni-şifre' })).toMatchObject({
      status: 409,
      body: { code: 'closed' },
    });
    expect(await outbox()).toEqual([]);
  });

  it("returns 409 for the administrator's own account, whose password change requires the current password", async () => {
    const { act, admin, as, clock, client, server } = await administration(database);
    clock.advance(16 * 60_000);
    const body = { new_password: 'yepyeni-şifre' };
    expect(await client.call(changePassword, { body })).toMatchObject({
      status: 403,
      body: { code: 'reauth_required' },
    });
    expect(await act(setUserPassword, admin.uid, body)).toMatchObject({
      status: 409,
      body: { code: 'self_change' },
    });
    expect((await as(null).call(signIn, { body: admin })).status).toBe(200);
    expect(await auditEntries(server)).toContainEqual(
      expect.objectContaining({ action: 'password-set', result: 'refused', target: admin.uid }),
    );
  });

  it('returns 400 for a password of fewer than 8 characters', async () => {
    const { act, fixtures } = await administration(database);
    const user = await fixtures.user();
    expect(await act(setUserPassword, user.uid, { new_password: 'kısa' })).toMatchObject({
      status: 400,
      body: { message: 'Yeni şifre en az 8 karakter olmalı.' },
    });
    await fixtures.token(user);
  });
});

describe.each(databaseKinds)(
  '20 concurrent approvals and suspensions of one account (database: %s)',
  (database) => {
    it('leave the account in the state of the last change, with one audit event for each change', async () => {
      const { client, fixtures, as, services, server } = await administration(database);
      const user = await fixtures.user({ status: 'pending' });
      const token = await fixtures.token(user);
      const params = { uid: user.uid };
      const responses = await Promise.all(
        Array.from({ length: 20 }, (_, i) =>
          client.call(i % 2 === 0 ? approveUser : suspendUser, { params }),
        ),
      );
      for (const { status } of responses) expect([200, 409]).toContain(status);

      const rows = await auditEntries(server);
      expect(rows.map(({ seq }) => seq)).toEqual(rows.map((_, i) => (rows[0]?.seq ?? 0) + i));
      const done = rows
        .filter(({ result }) => result === 'done')
        .map(({ detail }) => JSON.parse(detail) as { status_before: string; status: string });
      // The first rejection gets its own audit event. Repetitions within a minute are counted in one event, which is written afterwards.
      await services.audit.close();
      const counted = (await auditEntries(server))
        .filter(({ action }) => action === 'refusals-summed-up')
        .map(({ detail }) => (JSON.parse(detail) as { count: number }).count);
      const refused = rows.length - done.length + counted.reduce((sum, count) => sum + count, 0);
      expect(refused).toBe(responses.filter(({ status }) => status === 409).length);
      for (const [i, { status_before }] of done.entries()) {
        expect(status_before).toBe(i === 0 ? 'pending' : done[i - 1]?.status);
      }
      const stored = (await storedUsers(services.db)).find(({ uid }) => uid === user.uid);
      expect(stored?.status).toBe(done.at(-1)?.status);
      const wasSuspended = done.some(({ status }) => status === 'suspended');
      expect((await as(token).call(getProfile)).status).toBe(wasSuspended ? 401 : 200);
    });
  },
);

describe.each(databaseKinds)('GET /admin/statistics (database: %s)', (database) => {
  it('returns the number of accounts by status, of viewable slides and of open image sessions (credentials for tiles)', async () => {
    const { client, fixtures, as, clock } = await administration(database);
    await fixtures.user({ status: 'pending' });
    await as(await fixtures.user()).call(createImageSession);
    const at = clock.now().toISOString();
    for (const columns of [
      { dataset_name: 'A' },
      { dataset_name: 'A' },
      { dataset_name: 'B' },
      { dataset_name: 'C', removed_at: at },
      { dataset_name: 'C', missing_since: at },
      { dataset_name: 'C', status: 'failed' as const },
    ]) {
      await fixtures.image({ size_bytes: 3_000_000_000, ...columns });
    }
    expect(await client.call(getStatistics)).toMatchObject({
      status: 200,
      body: {
        usersByStatus: { pending: 1, active: 2, suspended: 0, deactivated: 0 },
        slides: 3,
        datasets: 2,
        storedBytes: 9_000_000_000,
        openImageSessions: 1,
      },
    });
  });

  it('returns zero slides, datasets and bytes for an empty catalogue', async () => {
    const { client } = await administration(database);
    expect((await client.call(getStatistics)).body).toMatchObject({ slides: 0, datasets: 0, storedBytes: 0 });
  });
});
