/** Listing and ending the sign-ins of the own account, through HTTP. */
import { createImageSession, endSignIn, endSignIns, getProfile, listSignIns } from '@lamina/contract';
import { describe, expect, it } from 'vitest';
import { type TestServer, type TestUser, testServer } from '../testing/test-server.ts';

const minute = 60_000;
const firefox = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0';

async function signInFrom(
  { app }: TestServer,
  { email, password }: TestUser,
  remoteAddress: string,
  userAgent: string,
): Promise<string> {
  const answer = await app.inject({
    method: 'POST',
    url: '/api/v1/auth/login',
    payload: { email, password },
    remoteAddress,
    headers: { 'user-agent': userAgent },
  });
  return answer.json<{ token: string }>().token;
}

const listOf = async ({ as }: TestServer, token: string) => (await as(token).call(listSignIns)).body.sign_ins;

describe('sign-ins of the own account', () => {
  it('are listed with times, address and browser, with the current one marked and without secrets', async () => {
    const server = await testServer();
    const user = await server.fixtures.user();
    const first = await signInFrom(server, user, '192.0.2.1', firefox);
    const at = server.clock.now().toISOString();
    server.clock.advance(5 * minute);
    const here = await signInFrom(server, user, '2001:db8::1', 'an unknown browser');
    await server.fixtures.token(await server.fixtures.user()); // sign-ins of other accounts are not listed

    const list = await listOf(server, here);
    expect(list).toEqual([
      {
        id: expect.any(String),
        created_at: server.clock.now().toISOString(),
        last_used_at: server.clock.now().toISOString(),
        address: '2001:db8::1',
        browser: null,
        current: true,
      },
      {
        id: expect.any(String),
        created_at: at,
        last_used_at: at,
        address: '192.0.2.1',
        browser: 'Firefox · Windows',
        current: false,
      },
    ]);
    const stored = await server.services.db.selectFrom('tokens').select('hash').execute();
    for (const { hash } of stored) expect(JSON.stringify(list)).not.toContain(hash);
    expect(JSON.stringify(list)).not.toContain(first);
    const seenThere = await listOf(server, first);
    expect(seenThere.find(({ current }) => current)?.address).toBe('192.0.2.1');
  });

  it('are no longer listed after they have expired', async () => {
    const server = await testServer();
    const user = await server.fixtures.user();
    await server.fixtures.token(user);
    server.clock.advance(61 * minute);
    expect(await listOf(server, await server.fixtures.token(user))).toHaveLength(1);
  });

  it('can be ended one by one with their image sessions, with immediate effect in every process', async () => {
    const server = await testServer();
    const { as, fixtures } = server;
    const another = await server.another();
    const user = await fixtures.user();
    const [here, there] = [await fixtures.token(user), await fixtures.token(user)];
    const { body: session } = await as(there).call(createImageSession);
    const pixels = (at: Pick<TestServer, 'as'>) =>
      at.as(null).inject({ url: `/image-catalog/proxy/x/image.dzi?session=${session.session_id}` });
    expect([(await pixels(server)).status, (await pixels(another)).status]).toEqual([404, 404]);

    const other = (await listOf(server, here)).find(({ current }) => !current);
    expect((await as(here).call(endSignIn, { params: { id: other?.id ?? '' } })).status).toBe(204);
    expect((await as(there).call(getProfile)).status).toBe(401);
    expect((await pixels(server)).status).toBe(401);
    server.clock.advance(1001);
    expect((await another.as(there).call(getProfile)).status).toBe(401);
    expect((await pixels(another)).status).toBe(401);
    expect((await as(here).call(getProfile)).status).toBe(200);
    expect((await as(here).call(endSignIn, { params: { id: other?.id ?? '' } })).status).toBe(404);
  });

  it('cannot be ended by another account', async () => {
    const server = await testServer();
    const mine = await server.fixtures.token(await server.fixtures.user());
    const [victim] = await listOf(server, mine);
    const stranger = await server.fixtures.admin();
    const answer = await server.as(stranger).call(endSignIn, { params: { id: victim?.id ?? '' } });
    expect(answer).toMatchObject({ status: 404, body: { code: 'not_found' } });
    expect((await server.as(mine).call(getProfile)).status).toBe(200);
  });

  it('can be ended all at once, with or without the current one', async () => {
    const server = await testServer();
    const { as, fixtures } = server;
    const user = await fixtures.user();
    const [here, there, elsewhere] = [
      await fixtures.token(user),
      await fixtures.token(user),
      await fixtures.token(user),
    ];
    const others = await as(here).call(endSignIns, { query: { except: 'current' } });
    expect(others.status).toBe(204);
    expect((await as(here).call(getProfile)).status).toBe(200);
    for (const token of [there, elsewhere]) expect((await as(token).call(getProfile)).status).toBe(401);

    const again = await fixtures.token(user);
    expect((await as(again).call(endSignIns)).status).toBe(204);
    for (const token of [here, again]) expect((await as(token).call(getProfile)).status).toBe(401);
  });
});
