/** An account cannot flood the audit log: the server limits its actions, and summarises its repeated rejected requests. */
import {
  changePassword,
  createImageSession,
  createSavedView,
  listUsers,
  requestDataset,
  updateDataset,
} from '@lamina/contract';
import { describe, expect, it } from 'vitest';
import { runTransaction } from '../store/database.ts';
import { databaseKinds } from '../store/testing/test-database.ts';
import { type TestServer, testServer } from '../testing/test-server.ts';

const minute = 60_000;

async function entriesOf({ services }: TestServer, action: string, uid: string) {
  await services.background.idle();
  const rows = await services.db
    .selectFrom('audit')
    .select(['result', 'address', 'detail', 'target'])
    .where('action', '=', action)
    .where('actor_uid', '=', uid)
    .orderBy('seq')
    .execute();
  return rows.map(({ detail, ...row }) => ({
    ...row,
    detail: JSON.parse(detail) as Record<string, unknown>,
  }));
}

describe.each(databaseKinds)('flood protection of the audit log (database: %s)', (database) => {
  it('returns 429 with Retry-After from POST image-session after 30 requests of an account in a minute, counted over all processes', async () => {
    const server = await testServer({ database });
    const [user, other] = [await server.fixtures.user({ role: 'viewer' }), await server.fixtures.user()];
    const token = await server.fixtures.token(user);
    const secondProcess = await server.another();
    const create = (i: number) => (i % 2 === 0 ? server : secondProcess).as(token).call(createImageSession);
    for (let i = 0; i < 30; i++) {
      expect([i, (await create(i)).status]).toEqual([i, 201]);
      server.clock.advance(1000);
    }
    for (let i = 30; i < 50; i++) {
      expect(await create(i)).toMatchObject({
        status: 429,
        body: { code: 'rate_limited' },
        headers: { 'retry-after': '30' }, // the first request was 30 s ago and counts for 60 s
      });
    }
    // A new sign-in of the same account does not help; another account is not affected.
    expect((await server.as(user).call(createImageSession)).status).toBe(429);
    expect((await server.as(other).call(createImageSession)).status).toBe(201);
    expect(await entriesOf(server, 'image-session-created', user.uid)).toHaveLength(30);
    const throttled = await entriesOf(server, 'throttled', user.uid);
    expect(throttled.length).toBeGreaterThanOrEqual(1);
    expect(throttled.length).toBeLessThanOrEqual(2); // one for each process
    // The first of the 30 requests is now 60 s old. From here on, one more request is allowed in each second.
    server.clock.advance(30_000);
    expect((await create(0)).status).toBe(201);
    expect((await create(0)).status).toBe(429);
    server.clock.advance(1000);
    expect((await create(0)).status).toBe(201);
  });

  it('writes two audit events for 400 rejected API calls of one account: the first call and a summary', async () => {
    const server = await testServer({ database });
    const user = await server.fixtures.user({ role: 'viewer' });
    const token = await server.fixtures.token(user);
    const firstAt = server.clock.now().toISOString();
    for (let i = 0; i < 400; i++) {
      if (i === 399) server.clock.advance(5000);
      expect((await server.as(token).call(listUsers)).status).toBe(403);
    }
    const lastAt = server.clock.now().toISOString();
    expect(await entriesOf(server, 'access-refused', user.uid)).toMatchObject([
      { result: 'refused', detail: { code: 'forbidden', call: 'GET /admin/users' } },
    ]);
    server.clock.advance(minute);
    await server.services.audit.close(); // writes the pending summary of the 399 calls after the first
    expect(await entriesOf(server, 'refusals-summed-up', user.uid)).toMatchObject([
      {
        result: 'refused',
        address: '127.0.0.1',
        detail: {
          count: 399,
          kinds: 'access-refused forbidden GET /admin/users: 399',
          first_at: firstAt,
          last_at: lastAt,
        },
      },
    ]);
  });

  it('writes two audit events for 60 rejected password changes of one account: the first one and a summary', async () => {
    const server = await testServer({ database });
    const user = await server.fixtures.user();
    const token = await server.fixtures.token(user);
    for (let i = 0; i < 60; i++) {
      const { status } = await server.as(token).call(changePassword, { body: { new_password: 'password1' } });
      expect(status).toBe(400);
    }
    expect(await entriesOf(server, 'password-changed', user.uid)).toHaveLength(1);
    await server.services.audit.close();
    expect(await entriesOf(server, 'refusals-summed-up', user.uid)).toMatchObject([
      { detail: { count: 59 } },
    ]);
  });

  it('returns 429 from POST saved-views after 600 saved views of an account in an hour, and again 201 when the hour is over', async () => {
    const server = await testServer({ database });
    const user = await server.fixtures.user();
    const image_id = (await server.fixtures.image({ dataset_name: 'Colon' })).id;
    const token = await server.fixtures.token(user);
    const field = { x: 1, y: 1, zoom: 1, rotation: 0, mirrored: false };
    const create = () =>
      server.as(token).call(createSavedView, { body: { image_id, title: 'Tümör', field } });
    const { db, audit } = server.services;
    const entry = {
      action: 'saved-view-created',
      actor: user.uid,
      target: null,
      detail: {},
      origin: null,
    } as const;
    await runTransaction(db, (tx) => audit.recordAll(tx, Array(599).fill(entry)));
    expect((await create()).status).toBe(201);
    expect(await create()).toMatchObject({ status: 429, body: { code: 'rate_limited' } });
    server.clock.advance(60 * minute);
    expect(
      (await server.as(user).call(createSavedView, { body: { image_id, title: 'T', field } })).status,
    ).toBe(201);
  });

  it('returns 429 from PUT password after 10 password changes of an account in an hour', async () => {
    const server = await testServer({ database });
    const user = await server.fixtures.user();
    const token = await server.fixtures.token(user);
    const change = (i: number) =>
      server.as(token).call(changePassword, { body: { new_password: `başka-bir-şifre-${i}` } });
    for (let i = 0; i < 10; i++) expect((await change(i)).status).toBe(200);
    expect(await change(10)).toMatchObject({ status: 429, body: { code: 'rate_limited' } });
  });

  it('returns 429 from POST dataset-requests after 20 different requests of an account in an hour, and records a repeated request once', async () => {
    const server = await testServer({ database });
    const [admin, user] = [await server.fixtures.admin(), await server.fixtures.user()];
    await server.fixtures.image({ dataset_name: 'Colon' });
    await server.as(admin).call(updateDataset, {
      body: { dataset: 'Colon', access: 'restricted', listed: true },
    });
    const token = await server.fixtures.token(user);
    const requestWithReason = (reason: string) =>
      server.as(token).call(requestDataset, { body: { dataset: 'Colon', reason } });
    for (let i = 0; i < 25; i++) expect((await requestWithReason('the same')).status).toBeLessThan(300);
    expect(await entriesOf(server, 'dataset-requested', user.uid)).toHaveLength(1);
    for (let i = 1; i < 20; i++) expect((await requestWithReason(`reason ${i}`)).status).toBeLessThan(300);
    expect(await requestWithReason('one more')).toMatchObject({
      status: 429,
      body: { code: 'rate_limited' },
    });
    expect(await entriesOf(server, 'dataset-requested', user.uid)).toHaveLength(20);
  });

  it('returns 201 for 32 POST image-session requests in a minute (normal limit: 30) when the setting THROTTLE is off', async () => {
    const server = await testServer({ database, config: { throttle: false } });
    const token = await server.fixtures.token(await server.fixtures.user());
    for (let i = 0; i < 32; i++) {
      expect((await server.as(token).call(createImageSession)).status).toBe(201);
    }
  });
});
