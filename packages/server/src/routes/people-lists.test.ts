/** Lists of people by search, filters, order and page, and decisions about several applicants in one call. */
import {
  approveApplications,
  getUser,
  listApplications,
  listUsers,
  maxDecisionsPerRequest,
  rejectApplications,
  rejectUser,
  type User,
} from '@lamina/contract';
import postalMime from 'postal-mime';
import { describe, expect, it } from 'vitest';
import { insertApplication } from '../store/applications.ts';
import { saveDataset } from '../store/datasets.ts';
import { databaseKinds } from '../store/testing/test-database.ts';
import { insertUser } from '../store/users.ts';
import { testServer } from '../testing/test-server.ts';

/** Starts a server with a signed-in administrator, whose requests `client` sends. */
async function startWithAdmin(database: (typeof databaseKinds)[number]) {
  const server = await testServer({ database });
  const admin = await server.fixtures.admin({ email: 'yonetici@example.org', displayName: 'Ada' });
  return { ...server, admin, client: server.as(await server.fixtures.token(admin)) };
}

/** Inserts accounts, created one second after another, without passwords, because hashing would take too long. Returns their uids. */
async function insertPeople(
  { services, clock }: Pick<Awaited<ReturnType<typeof startWithAdmin>>, 'services' | 'clock'>,
  count: number,
  accountAt: (index: number) => Partial<User>,
): Promise<string[]> {
  const start = clock.now().getTime();
  const uids = Array.from({ length: count }, (_, index) => `person-${index}`);
  await services.db.transaction().execute(async (tx) => {
    for (const [index, uid] of uids.entries()) {
      const createdAt = new Date(start + index * 1000).toISOString();
      await insertUser(tx, {
        uid,
        email: `${uid}@example.org`,
        displayName: null,
        status: 'pending',
        role: 'unassigned',
        adminApproved: false,
        createdAt,
        updatedAt: createdAt,
        approvalDate: null,
        expiresAt: null,
        ...accountAt(index),
      });
    }
  });
  return uids;
}

describe.each(databaseKinds)('GET /admin/users (database: %s)', (database) => {
  it('returns every account, newest first, when the request has no parameters', async () => {
    const server = await startWithAdmin(database);
    await insertPeople(server, 3, () => ({}));
    const { body } = await server.client.call(listUsers);
    expect(body.users.map(({ uid }) => uid)).toEqual(['person-2', 'person-1', 'person-0', server.admin.uid]);
    expect(body).toMatchObject({ total: 4, message: 'Kullanıcılar başarıyla yüklendi.' });
  });

  it.each([
    ['isik IPEK', 'without diacritics and in another order'],
    ['İPEK IŞIK', 'in Turkish capital letters'],
    ['ege universitesi', 'in the institution'],
    ['PERSON-1@', 'in the e-mail address'],
    ['person-1', 'in the uid'],
  ])('finds the account of İpek Işık by the search text "%s" (%s)', async (q) => {
    const server = await startWithAdmin(database);
    await insertPeople(server, 3, (index) => ({ displayName: index === 1 ? 'İpek Işık' : 'Deniz Kaya' }));
    const application = { uid: 'person-1', affiliation: 'Ege Üniversitesi', purpose: null };
    await insertApplication(server.services.db, application);
    const { body } = await server.client.call(listUsers, { query: { q } });
    expect(body.users.map(({ uid, affiliation }) => [uid, affiliation])).toEqual([
      ['person-1', 'Ege Üniversitesi'],
    ]);
  });

  it('returns accounts with the requested status and role, and the number of accounts of this role in each status', async () => {
    const server = await startWithAdmin(database);
    await insertPeople(server, 4, (index) => ({
      status: index === 0 ? 'suspended' : 'active',
      role: index === 3 ? 'viewer' : 'user',
    }));
    const { body } = await server.client.call(listUsers, { query: { status: 'active', role: 'user' } });
    expect(body.users.map(({ uid }) => uid)).toEqual(['person-2', 'person-1']);
    expect(body.counts).toEqual({ pending: 0, active: 2, suspended: 1, deactivated: 0 });
  });

  it('returns the status suspended for an active account whose end date has passed', async () => {
    const server = await startWithAdmin(database);
    const expiresAt = new Date(server.clock.now().getTime() - 1000).toISOString();
    await insertPeople(server, 1, () => ({ status: 'active', role: 'user', expiresAt }));
    const { body } = await server.client.call(listUsers, { query: { status: 'suspended' } });
    expect(body.users).toMatchObject([{ uid: 'person-0', status: 'suspended' }]);
  });

  it.each([
    ['oldest', 'with the oldest account first', ['person-0', 'person-1', 'person-2', 'person-3']],
    [
      'name',
      'in Turkish alphabetical order of their names, and "Çağrı 9" before "Çağrı 10"',
      ['person-3', 'person-0', 'person-2', 'person-1'],
    ],
    [
      'changed',
      'with the most recently changed account first',
      ['person-0', 'person-3', 'person-2', 'person-1'],
    ],
  ])('returns for sort=%s the accounts %s', async (sort, _, uids) => {
    const server = await startWithAdmin(database);
    await insertPeople(server, 4, (index) => ({
      role: 'user',
      // In Turkish order: Berk, ceren, Çağrı 9, Çağrı 10; numbers are compared by value.
      displayName: ['ceren', 'Çağrı 10', 'Çağrı 9', 'Berk'][index] ?? null,
      ...(index === 0 && { updatedAt: '2099-01-01T00:00:00.000Z' }),
    }));
    const { body } = await server.client.call(listUsers, { query: { sort, role: 'user' } });
    expect(body.users.map(({ uid }) => uid)).toEqual(uids);
  });

  it('returns each of 250 accounts on exactly one page, with the total on every page', async () => {
    const server = await startWithAdmin(database);
    await insertPeople(server, 250, () => ({ role: 'viewer' }));
    const seenUids: string[] = [];
    for (const offset of ['0', '100', '200', '300']) {
      const { body } = await server.client.call(listUsers, {
        query: { role: 'viewer', limit: '100', offset },
      });
      expect(body.total).toBe(250);
      seenUids.push(...body.users.map(({ uid }) => uid));
    }
    expect(new Set(seenUids).size).toBe(250);
    expect(seenUids).toHaveLength(250);
  });

  it.each([{ status: 'sleeping' }, { limit: '0' }, { limit: '201' }, { offset: '-1' }, { q: 'a\u0000' }])(
    'returns 400 for the invalid query parameter %j',
    async (query) => {
      const { client } = await startWithAdmin(database);
      expect((await client.call(listUsers, { query })).status).toBe(400);
    },
  );
});

describe.each(databaseKinds)('GET /admin/applications (database: %s)', (database) => {
  it('returns the applicants that match the search text, their number as `total`, and the number of all pending accounts as `waiting`', async () => {
    const server = await startWithAdmin(database);
    await insertPeople(server, 300, (index) => ({ displayName: index === 299 ? 'Şule Çınar' : null }));
    const { body } = await server.client.call(listApplications, { query: { q: 'SULE' } });
    expect(body).toMatchObject({ total: 1, waiting: 300, applications: [{ user: { uid: 'person-299' } }] });
    const allApplicants = await server.client.call(listApplications, { query: { limit: '1000' } });
    expect(allApplicants.body.applications).toHaveLength(300);
  });
});

describe.each(databaseKinds)('POST /admin/applications/approve (database: %s)', (database) => {
  it('gives each applicant the role and the datasets of the request, and creates an e-mail and an audit entry for each', async () => {
    const server = await startWithAdmin(database);
    const uids = await insertPeople(server, 3, () => ({}));
    const now = server.clock.now().toISOString();
    await saveDataset(server.services.db, { name: 'Böbrek', access: 'restricted', isListed: true, now });
    const body = { uids, role: 'viewer' as const, datasets: ['Böbrek'] };
    const response = await server.client.call(approveApplications, { body });
    expect(response.body.results).toEqual(uids.map((uid) => ({ uid, error: null })));
    for (const uid of uids) {
      const { user } = (await server.client.call(getUser, { params: { uid } })).body;
      expect(user).toMatchObject({ status: 'active', role: 'viewer', datasets: ['Böbrek'] });
    }
    const entries = await server.services.db
      .selectFrom('audit')
      .select(['target', 'actor_uid'])
      .where('action', '=', 'approved')
      .orderBy('seq')
      .execute();
    expect(entries).toEqual(uids.map((target) => ({ target, actor_uid: server.admin.uid })));
    const emails = await Promise.all((await server.outbox()).map((email) => postalMime.parse(email)));
    const recipients = emails.map(({ to }) => to?.[0]?.address ?? '');
    expect(new Set(recipients)).toEqual(new Set(uids.map((uid) => `${uid}@example.org`)));
    expect(recipients).toHaveLength(uids.length);
  });

  it('does not approve an applicant who has been rejected, and returns the error not_pending for this applicant', async () => {
    const server = await startWithAdmin(database);
    const [first, second, third] = (await insertPeople(server, 3, () => ({}))) as [string, string, string];
    await server.client.call(rejectUser, {
      params: { uid: second },
      body: { reason: 'Kurum doğrulanamadı.' },
    });
    const uids = [first, second, third, 'unknown-person'];
    const { body } = await server.client.call(approveApplications, { body: { uids } });
    expect(body.results).toMatchObject([
      { uid: first, error: null },
      { uid: second, error: { code: 'not_pending' } },
      { uid: third, error: null },
      { uid: 'unknown-person', error: { code: 'not_found', message: 'Bulunamadı.' } },
    ]);
    const { user } = (await server.client.call(getUser, { params: { uid: second } })).body;
    expect(user).toMatchObject({ status: 'suspended', decisionReason: 'Kurum doğrulanamadı.' });
  });

  it('records exactly one decision for each of ten applicants when their approval and their rejection are sent concurrently', async () => {
    const server = await startWithAdmin(database);
    const uids = await insertPeople(server, 10, () => ({}));
    const [approved, rejected] = await Promise.all([
      server.client.call(approveApplications, { body: { uids } }),
      server.client.call(rejectApplications, { body: { uids, reason: 'Kurum doğrulanamadı.' } }),
    ]);
    for (const [index, uid] of uids.entries()) {
      const { user } = (await server.client.call(getUser, { params: { uid } })).body;
      const errors = [approved, rejected].map(({ body }) => body.results[index]?.error ?? null);
      expect(errors.filter((error) => error === null)).toHaveLength(1);
      expect(user.status).toBe(errors[0] === null ? 'active' : 'suspended');
    }
  });

  it('returns 400 for more than 50 applicants, and 403 to an account that is not an administrator', async () => {
    const server = await startWithAdmin(database);
    const uids = await insertPeople(server, maxDecisionsPerRequest + 1, () => ({}));
    expect((await server.client.call(approveApplications, { body: { uids } })).status).toBe(400);
    const member = server.as(await server.fixtures.user());
    expect((await member.call(approveApplications, { body: { uids: uids.slice(0, 1) } })).status).toBe(403);
  });
});

describe.each(databaseKinds)('1,000 pending accounts (database: %s)', (database) => {
  it('can be searched by name, and 200 of them can be approved with ten requests of 20 accounts each', async () => {
    const server = await startWithAdmin(database);
    const uids = await insertPeople(server, 1000, (index) => ({ displayName: `Kişi ${index} Işık` }));
    const query = { limit: '50', q: 'isik', sort: 'name' } as const;
    expect((await server.client.call(listUsers, { query })).body.users).toHaveLength(50);
    for (let start = 0; start < 200; start += 20) {
      const body = { uids: uids.slice(start, start + 20) };
      const { body: response } = await server.client.call(approveApplications, { body });
      expect(response.results.map(({ error }) => error)).toEqual(Array(20).fill(null));
    }
    expect((await server.client.call(listApplications)).body.applications).toHaveLength(200); // the maximum per response
  }, 60_000);
});
