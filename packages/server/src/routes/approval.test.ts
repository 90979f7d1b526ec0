/** Approval of accounts: applications with affiliation and purpose, decisions with role, datasets and end date, and e-mails. */
import {
  approveUser,
  countWaiting,
  createImageSession,
  deactivateUser,
  getProfile,
  getUser,
  grantDataset,
  listApplications,
  listDatasets,
  promoteUser,
  register,
  rejectUser,
  suspendUser,
  updateUserAccess,
  withdrawApproval,
} from '@lamina/contract';
import postalMime from 'postal-mime';
import { describe, expect, it } from 'vitest';
import { saveDataset } from '../store/datasets.ts';
import { databaseKinds } from '../store/testing/test-database.ts';
import { type TestServer, testServer } from '../testing/test-server.ts';

const day = 24 * 60 * 60_000;
const reason = 'Kurumunuz doğrulanamadı.\nLütfen kurumsal adresinizle başvurun.';

/**
 * Starts a server with a signed-in administrator, whose requests `client` sends. `dataset` creates a restricted dataset; `inDays` returns
 * a future time.
 */
async function startWithAdmin(database: (typeof databaseKinds)[number]) {
  const server = await testServer({ database });
  const admin = await server.fixtures.admin({ email: 'yonetici@example.org' });
  const dataset = async (name: string) => {
    const now = server.clock.now().toISOString();
    await saveDataset(server.services.db, { name, access: 'restricted', isListed: true, now });
    return name;
  };
  const inDays = (days: number) => new Date(server.clock.now().getTime() + days * day).toISOString();
  return { ...server, admin, client: server.as(await server.fixtures.token(admin)), dataset, inDays };
}

/** Returns action, result and detail of the audit events about an account. */
async function auditEntriesOf({ services }: Pick<TestServer, 'services'>, uid: string) {
  const rows = await services.db
    .selectFrom('audit')
    .select(['action', 'result', 'detail'])
    .where('target', '=', uid)
    .orderBy('seq')
    .execute();
  return rows.map(({ action, result, detail }) => [action, result, JSON.parse(detail) as object] as const);
}

async function emailsOf({ outbox }: Pick<TestServer, 'outbox'>) {
  const read = await Promise.all((await outbox()).map((mail) => postalMime.parse(mail)));
  return read.map(({ to, subject, text }) => ({ to: to?.[0]?.address, subject, text: text ?? '' }));
}

const applicant = {
  email: 'ipek@hastane.example',
  password: 'uzun-bir-şifre',
  displayName: 'İpek Işık',
  affiliation: ' Ege Üniversitesi ',
  purpose: 'Böbrek biyopsileri\nüzerine tez',
};

describe.each(databaseKinds)('an application for an account (database: %s)', (database) => {
  it('is counted and listed for administrators, oldest application first, with the affiliation and purpose of the applicant', async () => {
    const { client, as, clock } = await startWithAdmin(database);
    await as(null).call(register, { body: applicant });
    clock.advance(1000);
    const plainApplicant = { email: 'kisa@example.org', password: 'uzun-bir-şifre', affiliation: '  ' };
    expect((await as(null).call(register, { body: plainApplicant })).status).toBe(201);

    const { status, body } = await client.call(listApplications);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      waiting: 2,
      applications: [
        {
          user: {
            email: 'ipek@hastane.example',
            affiliation: 'Ege Üniversitesi',
            purpose: 'Böbrek biyopsileri\nüzerine tez',
          },
          duplicates: [],
        },
        { user: { email: 'kisa@example.org', affiliation: null, purpose: null } },
      ],
    });
    expect((await client.call(countWaiting)).body).toEqual({ applications: 2, datasetRequests: 0 });
  });

  it('is listed with other accounts that have the same mailbox or the same name as the applicant', async () => {
    const { client, fixtures } = await startWithAdmin(database);
    const deactivated = await fixtures.user({ email: 'ipek@hastane.example', status: 'deactivated' });
    const namesake = await fixtures.user({ displayName: 'ipek ışık' });
    await fixtures.user({ status: 'pending', email: 'ipek+2@hastane.example', displayName: 'İPEK IŞIK' });
    const [application] = (await client.call(listApplications)).body.applications;
    expect(application?.duplicates).toMatchObject([
      { uid: deactivated.uid, status: 'deactivated', why: 'same-mailbox' },
      { uid: namesake.uid, why: 'same-name' },
    ]);
  });

  it.each([
    ['affiliation', 'has 201 characters (the maximum is 200)', 'a'.repeat(201)],
    ['purpose', 'has 1,001 characters (the maximum is 1,000)', 'a'.repeat(1001)],
    ['purpose', 'contains a null character', 'ön\u0000arka'],
  ])('gets 400 when its field %s %s', async (field, _, text) => {
    const { as } = await startWithAdmin(database);
    const response = await as(null).call(register, { body: { ...applicant, [field]: text } });
    expect(response).toMatchObject({ status: 400, body: { code: 'invalid_request', field } });
  });

  it('is reported by e-mail to every active administrator, at most once in five minutes', async () => {
    const { as, fixtures, clock, outbox } = await startWithAdmin(database);
    await fixtures.admin({ email: 'ikinci@example.org' });
    await fixtures.admin({ email: 'eski@example.org', status: 'suspended' });
    const apply = (name: string) =>
      as(null).call(register, { body: { email: `${name}@example.org`, password: 'uzun-bir-şifre' } });

    await apply('bir');
    const firstEmails = await emailsOf({ outbox });
    expect(new Set(firstEmails.map(({ to }) => to))).toEqual(
      new Set(['ikinci@example.org', 'yonetici@example.org']),
    );
    expect(firstEmails[0]?.subject).toBe('Lamina: Onay bekleyenler var');
    expect(firstEmails[0]?.text).toContain('1 yeni başvuru');
    expect(firstEmails[0]?.text).toContain('/admin/users?view=waiting');

    clock.advance(1000);
    await apply('iki');
    await apply('uc');
    expect(await emailsOf({ outbox })).toHaveLength(2);

    clock.advance(5 * 60_000);
    await apply('dort');
    const emailsAfterwards = (await emailsOf({ outbox })).filter(({ text }) =>
      text.includes('3 yeni başvuru'),
    );
    expect(emailsAfterwards.map(({ text }) => text.includes('toplam: 4'))).toEqual([true, true]);
  });
});

describe.each(databaseKinds)('POST /admin/users/:uid/withdraw-approval (database: %s)', (database) => {
  it('makes an approved account pending again, without role, datasets and sessions', async () => {
    const { client, as, fixtures, dataset, inDays, services } = await startWithAdmin(database);
    const user = await fixtures.user({ status: 'pending' });
    const { uid } = user;
    const body = { role: 'viewer', datasets: [await dataset('Böbrek')], expires_at: inDays(30) } as const;
    await client.call(approveUser, { params: { uid }, body });
    const token = await fixtures.token(user);
    expect((await as(token).call(getProfile)).status).toBe(200);

    const response = await client.call(withdrawApproval, { params: { uid } });
    expect(response).toMatchObject({ status: 200, body: { message: 'Onay geri alındı.' } });
    expect((await client.call(getUser, { params: { uid } })).body.user).toMatchObject({
      status: 'pending',
      role: 'unassigned',
      adminApproved: false,
      approvalDate: null,
      expiresAt: null,
      datasets: [],
    });
    expect((await as(token).call(getProfile)).status).toBe(401);
    expect((await client.call(countWaiting)).body.applications).toBe(1);
    expect((await auditEntriesOf({ services }, uid)).map(([action]) => action).slice(-3)).toEqual([
      'approval-withdrawn',
      'expiry-changed',
      'dataset-revoked',
    ]);
  });

  it('returns 409 more than 10 minutes after an approval, even if the account was suspended and reactivated since', async () => {
    const { client, fixtures, clock } = await startWithAdmin(database);
    const { uid } = await fixtures.user({ status: 'pending' });
    await client.call(approveUser, { params: { uid }, body: {} });
    clock.advance(10 * 60_000 + 1);
    const settled = { status: 409, body: { code: 'approval_settled' } };
    expect(await client.call(withdrawApproval, { params: { uid } })).toMatchObject(settled);
    await client.call(suspendUser, { params: { uid } });
    await client.call(approveUser, { params: { uid }, body: {} });
    expect(await client.call(withdrawApproval, { params: { uid } })).toMatchObject(settled);
  });
});

describe.each(databaseKinds)('account approval with role, datasets, end date (database: %s)', (database) => {
  it('sets role, datasets and end date in one step, with an audit entry and an e-mail', async () => {
    const { client, fixtures, dataset, inDays, outbox, services } = await startWithAdmin(database);
    const user = await fixtures.user({ status: 'pending', email: 'yeni@example.org' });
    const expires_at = inDays(30);
    const response = await client.call(approveUser, {
      params: { uid: user.uid },
      body: { role: 'viewer', datasets: [await dataset('Böbrek'), await dataset('Akciğer')], expires_at },
    });
    expect(response).toMatchObject({ status: 200, body: { message: 'Kullanıcı başarıyla onaylandı.' } });
    expect((await client.call(getUser, { params: { uid: user.uid } })).body.user).toMatchObject({
      status: 'active',
      role: 'viewer',
      expiresAt: expires_at,
      datasets: ['Akciğer', 'Böbrek'],
    });
    expect((await auditEntriesOf({ services }, user.uid)).map(([action]) => action)).toEqual([
      'approved',
      'expiry-changed',
      'dataset-granted',
      'dataset-granted',
    ]);
    const [mail] = await emailsOf({ outbox });
    expect(mail).toMatchObject({ to: 'yeni@example.org', subject: 'Lamina: Hesabınız onaylandı' });
    expect(mail?.text).toContain('Rolünüz: İzleyici');
    expect(mail?.text).toContain('31 Mayıs 2026');
  });

  it('grants no dataset and keeps the end date of the account when the request states neither', async () => {
    const { client, fixtures, inDays } = await startWithAdmin(database);
    const pending = await fixtures.user({ status: 'pending' });
    const earlier = await fixtures.user({ status: 'suspended', expiresAt: inDays(3) });
    for (const [{ uid }, expiresAt] of [
      [pending, null],
      [earlier, earlier.expiresAt],
    ] as const) {
      expect((await client.call(approveUser, { params: { uid }, body: {} })).status).toBe(200);
      const { user } = (await client.call(getUser, { params: { uid } })).body;
      expect(user).toMatchObject({ status: 'active', role: 'user', expiresAt, datasets: [] });
    }
  });

  it('reactivates an account whose end date has passed, and removes this end date', async () => {
    const { as, admin, fixtures, clock, inDays } = await startWithAdmin(database);
    const { uid } = await fixtures.user({ status: 'suspended', expiresAt: inDays(1) });
    clock.advance(2 * day);
    const asAdmin = as(await fixtures.token(admin));
    expect((await asAdmin.call(approveUser, { params: { uid }, body: {} })).status).toBe(200);
    expect((await asAdmin.call(getUser, { params: { uid } })).body.user).toMatchObject({
      status: 'active',
      expiresAt: null,
    });
  });

  it.each([
    ['an unknown dataset', { datasets: ['Yok böyle bir küme'] }],
    ['an end date that has passed', { expires_at: '2020-01-01T00:00:00.000Z' }],
    ['an end date that is not a date', { expires_at: 'yarın' }],
    ['the role admin', { role: 'admin' }],
    [
      'a dataset that is open (needs no grant) although it has stored access settings',
      { datasets: ['Açık'] },
    ],
  ])('returns 400 and leaves the account pending when the request has %s', async (_, body) => {
    const { client, fixtures, services, clock } = await startWithAdmin(database);
    const { uid } = await fixtures.user({ status: 'pending' });
    const now = clock.now().toISOString();
    await saveDataset(services.db, { name: 'Açık', access: 'open', isListed: false, now });
    expect(await client.call(approveUser, { params: { uid }, body })).toMatchObject({
      status: 400,
      body: { code: 'invalid_request' },
    });
    expect((await client.call(getUser, { params: { uid } })).body.user).toMatchObject({
      status: 'pending',
      role: 'unassigned',
      datasets: [],
    });
    expect((await auditEntriesOf({ services }, uid)).filter(([, result]) => result === 'done')).toEqual([]);
  });
});

describe.each(databaseKinds)('rejection of an application for an account (database: %s)', (database) => {
  it('suspends the account, and shows the reason in the profile and in an e-mail to the applicant', async () => {
    const { client, fixtures, as, outbox, services } = await startWithAdmin(database);
    const user = await fixtures.user({ status: 'pending', email: 'yeni@example.org' });
    const token = await fixtures.token(user);
    const response = await client.call(rejectUser, { params: { uid: user.uid }, body: { reason } });
    expect(response).toMatchObject({ status: 200, body: { message: 'Başvuru reddedildi.' } });
    for (const signInToken of [token, await fixtures.token(user)]) {
      expect((await as(signInToken).call(getProfile)).body.user).toMatchObject({
        status: 'suspended',
        decisionReason: reason,
      });
      expect((await as(signInToken).call(createImageSession)).status).toBe(403);
    }
    const [mail] = await emailsOf({ outbox });
    expect(mail).toMatchObject({ to: 'yeni@example.org', subject: 'Lamina: Başvurunuz reddedildi' });
    expect(mail?.text).toContain('Kurumunuz doğrulanamadı.');
    // The audit log outlives the account, so it omits the reason, which may name a user.
    expect(await auditEntriesOf({ services }, user.uid)).toContainEqual([
      'rejected',
      'done',
      { status_before: 'pending', role_before: 'unassigned', status: 'suspended', role: 'unassigned' },
    ]);
  });

  it('is undone by a later approval, which deletes the rejection reason permanently', async () => {
    const { client, fixtures, as } = await startWithAdmin(database);
    const user = await fixtures.user({ status: 'pending' });
    const { uid } = user;
    await client.call(rejectUser, { params: { uid }, body: { reason } });
    await client.call(approveUser, { params: { uid }, body: {} });
    await client.call(suspendUser, { params: { uid } });
    expect((await as(await fixtures.token(user)).call(getProfile)).body.user).toMatchObject({
      status: 'suspended',
      decisionReason: null,
    });
  });

  it.each(['active', 'suspended', 'deactivated'] as const)(
    'returns 409 for an account that is %s',
    async (status) => {
      const { client, fixtures } = await startWithAdmin(database);
      const { uid } = await fixtures.user({ status });
      expect(await client.call(rejectUser, { params: { uid }, body: { reason } })).toMatchObject({
        status: 409,
        body: { code: 'not_pending' },
      });
      expect((await client.call(getUser, { params: { uid } })).body.user.status).toBe(status);
    },
  );

  it.each([
    ['empty', ''],
    ['blank', '   '],
    ['longer than 1,000 characters', 'a'.repeat(1001)],
  ])('returns 400 when the reason is %s', async (_, invalidReason) => {
    const { client, fixtures } = await startWithAdmin(database);
    const { uid } = await fixtures.user({ status: 'pending' });
    const response = await client.call(rejectUser, { params: { uid }, body: { reason: invalidReason } });
    expect(response).toMatchObject({ status: 400, body: { field: 'reason' } });
  });

  it('at the same moment as an approval leaves the account active, without a rejection reason', async () => {
    const { client, fixtures } = await startWithAdmin(database);
    for (let round = 0; round < 10; round++) {
      const { uid } = await fixtures.user({ status: 'pending' });
      const [approved, rejected] = await Promise.all([
        client.call(approveUser, { params: { uid }, body: {} }),
        client.call(rejectUser, { params: { uid }, body: { reason } }),
      ]);
      const { user } = (await client.call(getUser, { params: { uid } })).body;
      // An approval also lifts an earlier rejection, but a rejection never undoes an approval.
      expect(approved.status).toBe(200);
      expect(user.status).toBe('active');
      expect(user.decisionReason).toBe(null);
      expect([200, 409]).toContain(rejected.status);
    }
  });
});

describe.each(databaseKinds)('PUT /admin/users/:uid/access (database: %s)', (database) => {
  it('keeps the end date when the request contains only datasets, and the datasets when it contains only an end date', async () => {
    const { client, fixtures, dataset, inDays, services } = await startWithAdmin(database);
    const { uid } = await fixtures.user();
    const [a, b] = [await dataset('A'), await dataset('B')];
    const detailsAfter = async (body: object) => {
      const response = await client.call(updateUserAccess, { params: { uid }, body });
      expect(response).toMatchObject({ status: 200, body: { message: 'Erişim güncellendi.' } });
      const { datasets, expiresAt } = (await client.call(getUser, { params: { uid } })).body.user;
      return { datasets, expiresAt };
    };
    const date = inDays(7);
    expect(await detailsAfter({ datasets: [a], expires_at: date })).toEqual({
      datasets: [a],
      expiresAt: date,
    });
    expect(await detailsAfter({ datasets: [b, b] })).toEqual({ datasets: [b], expiresAt: date });
    expect(await detailsAfter({ expires_at: null })).toEqual({ datasets: [b], expiresAt: null });
    expect(await detailsAfter({ datasets: [] })).toEqual({ datasets: [], expiresAt: null });
    const datasetEvents = (await auditEntriesOf({ services }, uid)).filter(([action]) =>
      action.startsWith('dataset'),
    );
    expect(datasetEvents).toEqual([
      ['dataset-granted', 'done', { dataset: a }],
      ['dataset-granted', 'done', { dataset: b }],
      ['dataset-revoked', 'done', { dataset: a }],
      ['dataset-revoked', 'done', { dataset: b }],
    ]);
  });

  it('keeps the grant to download an open dataset when the request replaces the restricted datasets of the account', async () => {
    const { client, fixtures, dataset } = await startWithAdmin(database);
    const { uid } = await fixtures.user();
    const restricted = await dataset('A');
    await fixtures.image({ dataset_name: 'Açık' });
    await client.call(grantDataset, { body: { dataset: 'Açık', uid, download: true } });
    const listedDatasets = async () => (await client.call(getUser, { params: { uid } })).body.user.datasets;
    const downloadGrants = async () =>
      (await client.call(listDatasets)).body.datasets
        .filter(({ name }) => name === 'Açık')
        .flatMap(({ grants }) => grants.map(({ download }) => download));
    for (const datasets of [[], [restricted]]) {
      expect(await client.call(updateUserAccess, { params: { uid }, body: { datasets } })).toMatchObject({
        status: 200,
      });
      expect(await listedDatasets()).toEqual(datasets);
      expect(await downloadGrants()).toEqual([true]);
    }
    await client.call(deactivateUser, { params: { uid } });
    expect(await downloadGrants()).toEqual([]);
  });

  it('returns 409 for an account that is not active', async () => {
    const { client, fixtures } = await startWithAdmin(database);
    for (const status of ['pending', 'suspended', 'deactivated'] as const) {
      const { uid } = await fixtures.user({ status });
      expect(await client.call(updateUserAccess, { params: { uid }, body: {} })).toMatchObject({
        status: 409,
        body: { code: 'not_active' },
      });
    }
  });

  it('returns 400 for an end date of an administrator', async () => {
    const { client, fixtures, inDays } = await startWithAdmin(database);
    const { uid } = await fixtures.user({ expiresAt: inDays(3) });
    await client.call(promoteUser, { params: { uid } });
    expect((await client.call(getUser, { params: { uid } })).body.user.expiresAt).toBe(null);
    const response = await client.call(updateUserAccess, {
      params: { uid },
      body: { expires_at: inDays(3) },
    });
    expect(response).toMatchObject({ status: 400, body: { field: 'expires_at' } });
  });

  it('grants datasets that the account no longer has after it was deactivated and reactivated', async () => {
    const { client, fixtures, dataset } = await startWithAdmin(database);
    const { uid } = await fixtures.user();
    await client.call(updateUserAccess, { params: { uid }, body: { datasets: [await dataset('A')] } });
    await client.call(deactivateUser, { params: { uid } });
    await client.call(approveUser, { params: { uid }, body: {} });
    expect((await client.call(getUser, { params: { uid } })).body.user.datasets).toEqual([]);
  });
});
