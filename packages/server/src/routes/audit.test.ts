/** The audit log through HTTP: list, filters, CSV export and hash chain, and the statistics that are counted from it. */
import {
  type AuditEntry,
  checkAuditChain,
  createImageSession,
  deleteAccount,
  exportAudit,
  getAuditChain,
  getStatistics,
  getUser,
  listAudit,
  listUsers,
  signIn,
  suspendUser,
  verifyToken,
} from '@lamina/contract';
import { describe, expect, it } from 'vitest';
import { databaseKinds } from '../store/testing/test-database.ts';
import { type TestServer, testServer } from '../testing/test-server.ts';

const minute = 60_000;
const day = 24 * 60 * minute;

/** Signs an administrator in, which is the first event of the audit log. `read` returns a page of the log for this administrator. */
async function signInAdmin(server: TestServer) {
  const admin = await server.fixtures.admin({ displayName: 'Nur Yönetici' });
  const client = server.as(await server.fixtures.token(admin));
  const read = async (query: Record<string, string> = {}) => {
    await server.services.background.idle();
    const { status, body } = await client.call(listAudit, { query });
    expect(status).toBe(200);
    return body;
  };
  return { admin, client, read };
}

/** Returns action, result, actor and target of an audit event. */
const summaryOf = ({ action, result, actor, target }: AuditEntry) =>
  [
    action,
    result,
    actor?.uid ?? null,
    target && (target.kind === 'account' ? target.uid : target.id),
  ] as const;

describe.each(databaseKinds)('the audit log (database: %s)', (database) => {
  it('lists who did what to whom, when and from which IP address, newest first', async () => {
    const server = await testServer({ database });
    const { admin, client, read } = await signInAdmin(server);
    const user = await server.fixtures.user({ displayName: 'Işıl Yılmaz' });
    server.clock.advance(minute);
    await client.call(suspendUser, { params: { uid: user.uid } });
    const { entries, next_cursor } = await read();
    expect(next_cursor).toBeNull();
    expect(entries).toMatchObject([
      {
        seq: 2,
        at: server.clock.now().toISOString(),
        action: 'suspended',
        result: 'done',
        actor: { uid: admin.uid, email: admin.email, displayName: 'Nur Yönetici' },
        target: { kind: 'account', uid: user.uid, email: user.email, displayName: 'Işıl Yılmaz' },
        detail: { status_before: 'active', status: 'suspended' },
        address: '127.0.0.1',
        requestId: expect.any(String),
        hash: expect.any(String),
      },
      { seq: 1, action: 'sign-in', actor: { uid: admin.uid } },
    ]);
  });

  it('returns each entry on exactly one page while new entries are added', async () => {
    const server = await testServer({ database });
    const { admin, read } = await signInAdmin(server);
    for (let i = 0; i < 6; i++) await server.fixtures.token(admin);
    const firstPage = await read({ limit: '3' });
    await server.fixtures.token(admin);
    const secondPage = await read({ limit: '3', cursor: firstPage.next_cursor ?? '' });
    const thirdPage = await read({ limit: '3', cursor: secondPage.next_cursor ?? '' });
    expect(
      [firstPage, secondPage, thirdPage].flatMap(({ entries }) => entries.map(({ seq }) => seq)),
    ).toEqual([7, 6, 5, 4, 3, 2, 1]);
    expect(thirdPage.next_cursor).toBeNull();
  });

  it('can be filtered by slide, and by account as uid or e-mail address', async () => {
    const server = await testServer({ database });
    const { read } = await signInAdmin(server);
    const [ayse, berk] = [await server.fixtures.user(), await server.fixtures.user()];
    const [liver, kidney] = [
      await server.fixtures.image({ file_name: 'liver.svs' }),
      await server.fixtures.image({ file_name: 'kidney.svs', removed_at: '2026-05-01T00:00:00.000Z' }),
    ];
    for (const [account, image] of [
      [ayse, liver],
      [berk, liver],
      [ayse, kidney],
    ] as const) {
      const opened = { action: 'image-opened', actor: account.uid, target: image.id, origin: null } as const;
      await server.services.audit.recordSeparately(opened);
    }
    const openers = await read({ target: liver.id });
    expect(openers.entries.map(({ actor }) => actor?.uid)).toEqual([berk.uid, ayse.uid]);
    for (const account of [ayse.uid, ayse.email, ayse.email.toUpperCase()]) {
      const { entries } = await read({ who: account, action: 'image-opened' });
      expect(entries.map(({ target }) => target)).toEqual([
        { kind: 'image', id: kidney.id, fileName: 'kidney.svs', isListed: false },
        { kind: 'image', id: liver.id, fileName: 'liver.svs', isListed: true },
      ]);
    }
  });

  it('returns only entries that match the filters for result, account, time and action', async () => {
    const server = await testServer({ database });
    const { admin, read } = await signInAdmin(server);
    const user = await server.fixtures.user();
    server.clock.advance(minute);
    const at = server.clock.now().toISOString();
    await server.as(null).call(signIn, { body: { email: user.email, password: 'yanlış-şifre' } });
    server.clock.advance(minute);
    await server.fixtures.token(user);
    const summariesFor = async (query: Record<string, string>) => (await read(query)).entries.map(summaryOf);
    const refused = ['sign-in', 'refused', null, user.uid] as const;
    const signedIn = ['sign-in', 'done', user.uid, user.uid] as const;
    const adminSignIn = ['sign-in', 'done', admin.uid, admin.uid] as const;
    expect(await summariesFor({})).toEqual([signedIn, refused, adminSignIn]);
    expect(await summariesFor({ result: 'refused' })).toEqual([refused]);
    expect(await summariesFor({ who: user.uid })).toEqual([signedIn, refused]);
    expect(await summariesFor({ from: at })).toEqual([signedIn, refused]);
    expect(await summariesFor({ to: at })).toEqual([adminSignIn]);
    const withoutMilliseconds = at.replace('.000Z', 'Z');
    expect(await summariesFor({ from: withoutMilliseconds })).toEqual([signedIn, refused]);
    expect(await summariesFor({ to: withoutMilliseconds })).toEqual([adminSignIn]);
    expect(await summariesFor({ action: 'sign-out' })).toEqual([]);
    expect(await summariesFor({ who: 'unknown@example.org' })).toEqual([]);
    expect(await summariesFor({ who: '', action: '', target: '' })).toHaveLength(3);
  });

  it.each([
    ['limit=0', { limit: '0' }],
    ['limit=201 (the maximum is 200)', { limit: '201' }],
    ['from=yesterday', { from: 'yesterday' }],
    ['to=2026-05-01, a date without a time', { to: '2026-05-01' }],
    ['result=maybe', { result: 'maybe' }],
    ['who with a null character', { who: 'a\u0000b' }],
    ['target with 255 characters (the maximum is 254)', { target: 'x'.repeat(255) }],
    ['cursor with the base64 text "not a cursor"', { cursor: 'bm90IGEgY3Vyc29y' }],
    ['cursor that is not base64', { cursor: '%%%' }],
  ])('returns 400 for the query parameter %s', async (_, query) => {
    const server = await testServer({ database });
    const { client } = await signInAdmin(server);
    expect(await client.call(listAudit, { query })).toMatchObject({
      status: 400,
      body: { code: 'invalid_request', field: Object.keys(query)[0] },
    });
  });

  it('names a deleted account by its uid only', async () => {
    const server = await testServer({ database });
    const { read } = await signInAdmin(server);
    const user = await server.fixtures.user({ displayName: 'Işıl Yılmaz' });
    await server.as(user).call(deleteAccount);
    const response = await read({ who: user.uid });
    expect(response.entries).toMatchObject([
      { action: 'account-deleted', actor: { uid: user.uid, email: null, displayName: null } },
      { action: 'sign-in', target: { kind: 'account', uid: user.uid, email: null } },
    ]);
    expect(JSON.stringify(response)).not.toContain('Işıl');
  });
});

describe.each(databaseKinds)('a rejected API request (database: %s)', (database) => {
  it('writes an audit event with account, endpoint and reason', async () => {
    const server = await testServer({ database });
    const { read } = await signInAdmin(server);
    const user = await server.fixtures.user();
    await server.as(user).call(getUser, { params: { uid: user.uid } });
    await server.services.background.idle(); // requests do not wait for these entries
    await server.as('A'.repeat(43)).call(listUsers);
    await server.services.background.idle();
    await server.as(null).call(verifyToken, { body: { token: 'B'.repeat(43) } });
    const { entries } = await read({ result: 'refused' });
    expect(entries).toMatchObject([
      { action: 'token-refused', actor: null, address: '127.0.0.1' },
      { action: 'access-refused', actor: null, detail: { code: 'token_invalid', call: 'GET /admin/users' } },
      {
        action: 'access-refused',
        actor: { uid: user.uid },
        target: { uid: user.uid },
        detail: { code: 'forbidden', call: 'GET /admin/users/:uid' },
      },
    ]);
  });

  it('writes an audit event without token, session and password', async () => {
    const server = await testServer({ database });
    const { read } = await signInAdmin(server);
    const token = 'C'.repeat(43);
    await server.as(token).call(listUsers);
    await server.as(null).inject({ url: `/image-catalog/proxy/x/image.dzi?session=${token}` });
    await server.as(null).call(verifyToken, { body: { token } });
    await server.as(null).call(signIn, { body: { email: 'a@example.org', password: token } });
    const fullLog = await read();
    expect(fullLog.entries.length).toBeGreaterThan(4);
    expect(JSON.stringify(fullLog)).not.toContain(token);
  });

  it('writes one audit event for repeated requests without a token, and after a minute another event with the number of repetitions', async () => {
    const server = await testServer({ database });
    const { read } = await signInAdmin(server);
    for (let i = 0; i < 40; i++) await server.as(null).call(listUsers);
    const refusals = (await read({ result: 'refused' })).entries;
    expect(refusals).toHaveLength(1);
    server.clock.advance(minute);
    await server.as(null).call(listUsers);
    await server.services.background.idle();
    await server.services.audit.close(); // writes the counted repetitions to the log
    expect((await read({ action: 'refusals-summed-up' })).entries).toMatchObject([
      // 40 requests without the first, which has its own event
      { address: '127.0.0.1', detail: { count: 39, kinds: 'access-refused token_missing: 39' } },
    ]);
  });
});

describe.each(databaseKinds)('the audit log as CSV file (database: %s)', (database) => {
  it('has every entry that matches the filter, and its download writes an audit event', async () => {
    const server = await testServer({ database });
    const { client, admin, read } = await signInAdmin(server);
    const user = await server.fixtures.user({ displayName: '=Şükrü "Ş" Çağ' });
    for (let i = 0; i < 3; i++) await server.fixtures.token(user);
    const response = await client.call(exportAudit, { query: { who: user.email, action: 'sign-in' } });
    expect(response).toMatchObject({
      status: 200,
      headers: {
        'content-type': expect.stringMatching(/^text\/csv; charset=utf-8/),
        'content-disposition': 'attachment; filename="denetim-kaydi-2026-05-01.csv"',
        'cache-control': 'no-store',
      },
    });
    const lines = String(response.body).split('\r\n');
    expect(lines).toHaveLength(5); // header, 3 sign-ins, and the empty text after the last line break
    expect(lines[0]).toMatch(/^\uFEFF?Sıra,/);
    expect(lines[1]).toContain(`,"'=Şükrü ""Ş"" Çağ",${user.email},${user.uid},`);
    expect(lines[4]).toBe('');
    const [exportEvent] = (await read()).entries;
    expect(exportEvent).toMatchObject({
      action: 'audit-exported',
      actor: { uid: admin.uid },
      detail: { action: 'sign-in', uid: user.uid },
    });
    expect(JSON.stringify(exportEvent?.detail)).not.toContain('@');
  });

  it('has each of 1,100 entries exactly once, newest first', async () => {
    const server = await testServer({ database });
    const { client } = await signInAdmin(server);
    // More entries than the export reads from the database at once.
    for (let i = 0; i < 1100; i++) {
      await server.services.audit.recordSeparately({
        action: 'sign-out',
        actor: null,
        target: null,
        origin: null,
      });
    }
    const response = await client.call(exportAudit, { query: { action: 'sign-out' } });
    const entryNumbers = String(response.body)
      .split('\r\n')
      .slice(1, -1)
      .map((line) => Number(line.split(',')[0]));
    expect(entryNumbers).toHaveLength(1100);
    expect(entryNumbers).toEqual(entryNumbers.toSorted((a, b) => b - a));
    expect(new Set(entryNumbers).size).toBe(1100);
  });

  it('has only the header row when the filter names an unknown e-mail address', async () => {
    const server = await testServer({ database });
    const { client } = await signInAdmin(server);
    const response = await client.call(exportAudit, { query: { who: 'unknown@example.org' } });
    expect(String(response.body).split('\r\n')).toHaveLength(2);
  });
});

describe.each(databaseKinds)('the hash chain of the audit log (database: %s)', (database) => {
  it('is verified in the background when an administrator requests its state, and is then reported as intact', async () => {
    const server = await testServer({ database });
    const { client } = await signInAdmin(server);
    expect((await client.call(getAuditChain)).body).toEqual({
      state: 'unchecked',
      isChecking: true,
      checkedAt: null,
      entries: null,
      brokenAt: null,
    });
    await server.services.background.idle();
    const now = server.clock.now().toISOString();
    const intactChain = { state: 'intact', isChecking: false, checkedAt: now, entries: 1, brokenAt: null };
    expect((await client.call(getAuditChain)).body).toEqual(intactChain);
    server.clock.advance(11 * minute); // a result is verified again after 10 minutes
    expect((await client.call(getAuditChain)).body).toMatchObject({ state: 'intact', isChecking: true });
  });

  it('is reported as broken at the first missing entry when an administrator requests a new verification', async () => {
    const server = await testServer({ database });
    const { client, admin } = await signInAdmin(server);
    for (let i = 0; i < 3; i++) await server.fixtures.token(admin);
    const { db } = server.services;
    // The log has 4 events. The chain now states that there were 9, so the 5th is the first missing one.
    await db.updateTable('audit_chain').set({ last_seq: 9 }).execute();
    expect((await client.call(checkAuditChain)).status).toBe(202);
    await server.services.background.idle();
    expect((await client.call(getAuditChain)).body).toMatchObject({ state: 'broken', brokenAt: 5 });
    expect(server.logged()).toContain('audit log verification failed');
  });

  it('is still reported as intact after expired entries are deleted, and the deletion is an audit event', async () => {
    const server = await testServer({ database, config: { auditRetentionDays: 30 } });
    const { admin } = await signInAdmin(server);
    await server.fixtures.token(admin);
    server.clock.advance(31 * day);
    const client = server.as(await server.fixtures.token(admin));
    await server.services.auditLog.prune();
    const { body } = await client.call(listAudit);
    expect(body.entries).toMatchObject([
      { seq: 4, action: 'audit-pruned', actor: null, detail: { entries: 2, before_seq: 2 } },
      { seq: 3, action: 'sign-in' },
    ]);
    await client.call(checkAuditChain);
    await server.services.background.idle();
    expect((await client.call(getAuditChain)).body).toMatchObject({ state: 'intact', entries: 2 });
    await server.services.auditLog.prune();
    expect((await client.call(listAudit)).body.entries).toHaveLength(2);
  });
});

describe.each(databaseKinds)('daily counts in GET /admin/statistics (database: %s)', (database) => {
  it('of sign-ins and opened slides have one entry for each of the last 30 days, in the time zone of the query (default: UTC)', async () => {
    const server = await testServer({ database });
    const { fixtures, clock, services } = server;
    const user = await fixtures.user();
    await fixtures.token(user); // 1 May, 09:00 UTC
    await server.as(null).call(signIn, { body: { email: user.email, password: 'yanlış-şifre' } });
    clock.advance(12.5 * 60 * minute); // 1 May, 21:30 UTC: 2 May in Istanbul
    const admin = await fixtures.admin();
    const client = server.as(await fixtures.token(admin));
    await client.call(createImageSession);
    const image = await fixtures.image();
    await services.audit.recordSeparately({
      action: 'image-opened',
      actor: user.uid,
      target: image.id,
      origin: null,
    });

    const daysOf = async (query: Record<string, string>) =>
      (await client.call(getStatistics, { query })).body.days;
    const utc = await daysOf({});
    expect(utc).toHaveLength(30);
    expect(utc.slice(-2)).toEqual([
      { day: '2026-04-30', signIns: 0, openedSlides: 0 },
      { day: '2026-05-01', signIns: 2, openedSlides: 1 },
    ]);
    expect((await daysOf({ zone: 'Europe/Istanbul' })).slice(-2)).toEqual([
      { day: '2026-05-01', signIns: 1, openedSlides: 0 },
      { day: '2026-05-02', signIns: 1, openedSlides: 1 },
    ]);
    expect(await client.call(getStatistics, { query: { zone: 'Nowhere/Town' } })).toMatchObject({
      status: 400,
      body: { code: 'invalid_request', field: 'zone' },
    });
  });
});
