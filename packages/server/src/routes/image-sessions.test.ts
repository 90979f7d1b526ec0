/** Image sessions, the credential with which a viewer loads pixels, through HTTP: creation, statistics and revocation. */
import { createImageSession, deleteImageSession, getImageSessionStats } from '@lamina/contract';
import { describe, expect, it } from 'vitest';
import { testServer } from '../testing/test-server.ts';

describe('image sessions (credentials for tiles) over HTTP', () => {
  it('can be created, counted and ended by their account', async () => {
    const { as, fixtures, clock } = await testServer();
    const client = as(await fixtures.user({ role: 'viewer' }));
    const created = await client.call(createImageSession);
    expect(created).toMatchObject({
      status: 201,
      body: { session_id: expect.stringMatching(/^[\w-]{43}$/), expires_in: 3600 },
    });
    expect(created.headers['set-cookie']).toBeUndefined();
    expect(created.headers['cache-control']).toBe('no-store');
    clock.advance(5000);
    expect((await client.call(getImageSessionStats)).body).toEqual({
      active_sessions: 1,
      sessions: [
        {
          session_id: created.body.session_id.slice(0, 8),
          created_at: '2026-05-01T09:00:00.000Z',
          expires_in: 3595,
          age: 5,
          request_count: 0,
        },
      ],
    });
    const deleted = await client.call(deleteImageSession, { params: { sessionId: created.body.session_id } });
    expect(deleted).toMatchObject({ status: 204, body: '' });
    expect((await client.call(getImageSessionStats)).body).toEqual({ active_sessions: 0, sessions: [] });
  });

  it('get a random id even when the request body proposes one', async () => {
    const { as, fixtures } = await testServer();
    const client = as(await fixtures.user());
    const chosenId = 'A'.repeat(43);
    const { body } = await client.inject({
      method: 'POST',
      url: `/auth/image-session?session_id=${chosenId}&session=${chosenId}`,
      payload: { session_id: chosenId, uid: 'someone' },
      headers: { cookie: `image_session_${chosenId.slice(0, 8)}=${chosenId}` },
    });
    expect(body).toMatchObject({ session_id: expect.stringMatching(/^(?!A{43})[\w-]{43}$/) });
  });

  it('cannot be ended by other accounts, which get 404 as for an unknown session', async () => {
    const { as, fixtures } = await testServer();
    const owner = as(await fixtures.user());
    const { session_id } = (await owner.call(createImageSession)).body;
    for (const stranger of [as(await fixtures.user()), as(await fixtures.admin())]) {
      const responses = await Promise.all(
        [session_id, 'A'.repeat(43), session_id.slice(0, 8)].map((sessionId) =>
          stranger.call(deleteImageSession, { params: { sessionId } }),
        ),
      );
      for (const { status, body } of responses) {
        expect(status).toBe(404);
        expect(body).toMatchObject({ code: 'not_found', message: 'Not found.' });
      }
    }
    expect((await owner.call(getImageSessionStats)).body.active_sessions).toBe(1);
  });

  it('cause audit events when they are created and ended, and their ids are in no log', async () => {
    const { as, fixtures, services, logged } = await testServer();
    const user = await fixtures.user();
    const client = as(user);
    const { session_id } = (await client.call(createImageSession)).body;
    await client.call(deleteImageSession, { params: { sessionId: session_id } });
    const auditEntries = await services.db.selectFrom('audit').selectAll().orderBy('seq').execute();
    expect(auditEntries.map(({ action, actor_uid }) => [action, actor_uid])).toEqual([
      ['sign-in', user.uid],
      ['image-session-created', user.uid],
      ['image-session-revoked', user.uid],
    ]);
    expect(JSON.stringify(auditEntries)).not.toContain(session_id);
    expect(logged()).not.toContain(session_id);
  });
});
