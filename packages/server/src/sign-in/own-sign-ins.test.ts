/** Tests through HTTP how people list and end the sign-ins of their own account. */
import { createImageSession, endSignIn, endSignIns, getProfile, listSignIns } from '@lamina/contract';
import { describe, expect, it } from 'vitest';
import { type TestServer, type TestUser, testServer } from '../testing/test-server.ts';

const minuteMs = 60_000;
const firefox = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0';

async function signInFrom(
  { app }: TestServer,
  { email, password }: TestUser,
  remoteAddress: string,
  userAgent: string,
): Promise<string> {
  const response = await app.inject({
    method: 'POST',
    url: '/api/v1/auth/login',
    payload: { email, password },
    remoteAddress,
    headers: { 'user-agent': userAgent },
  });
  return response.json<{ token: string }>().token;
}

const signInsOf = async (server: TestServer, token: string) =>
  (await server.as(token).call(listSignIns)).body.sign_ins;

describe('sign-ins of the own account (/user/sign-ins)', () => {
  it('are listed with times, IP address and browser, without tokens, and the current one is marked', async () => {
    const server = await testServer();
    const user = await server.fixtures.user();
    const first = await signInFrom(server, user, '192.0.2.1', firefox);
    const firstSignInTime = server.clock.now().toISOString();
    server.clock.advance(5 * minuteMs);
    const currentToken = await signInFrom(server, user, '2001:db8::1', 'an unknown browser');
    await server.fixtures.token(await server.fixtures.user()); // sign-ins of other accounts are not listed

    const list = await signInsOf(server, currentToken);
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
        created_at: firstSignInTime,
        last_used_at: firstSignInTime,
        address: '192.0.2.1',
        browser: 'Firefox · Windows',
        current: false,
      },
    ]);
    const stored = await server.services.db.selectFrom('tokens').select('hash').execute();
    for (const { hash } of stored) expect(JSON.stringify(list)).not.toContain(hash);
    expect(JSON.stringify(list)).not.toContain(first);
    const listOfFirst = await signInsOf(server, first);
    expect(listOfFirst.find(({ current }) => current)?.address).toBe('192.0.2.1');
  });

  it('are no longer listed after they have expired', async () => {
    const server = await testServer();
    const user = await server.fixtures.user();
    await server.fixtures.token(user);
    server.clock.advance(61 * minuteMs);
    expect(await signInsOf(server, await server.fixtures.token(user))).toHaveLength(1);
  });

  it('can be ended one by one with their image sessions (credentials for tiles), at once in this server process and within 1 s in others', async () => {
    const server = await testServer();
    const { as, fixtures } = server;
    const another = await server.another();
    const user = await fixtures.user();
    const [currentToken, otherToken] = [await fixtures.token(user), await fixtures.token(user)];
    const { body: session } = await as(otherToken).call(createImageSession);
    const requestPixels = (target: Pick<TestServer, 'as'>) =>
      target.as(null).inject({ url: `/image-catalog/proxy/x/image.dzi?session=${session.session_id}` });
    expect([(await requestPixels(server)).status, (await requestPixels(another)).status]).toEqual([404, 404]);

    const other = (await signInsOf(server, currentToken)).find(({ current }) => !current);
    expect((await as(currentToken).call(endSignIn, { params: { id: other?.id ?? '' } })).status).toBe(204);
    expect((await as(otherToken).call(getProfile)).status).toBe(401);
    expect((await requestPixels(server)).status).toBe(401);
    server.clock.advance(1001);
    expect((await another.as(otherToken).call(getProfile)).status).toBe(401);
    expect((await requestPixels(another)).status).toBe(401);
    expect((await as(currentToken).call(getProfile)).status).toBe(200);
    expect((await as(currentToken).call(endSignIn, { params: { id: other?.id ?? '' } })).status).toBe(404);
  });

  it('cannot be ended by another account, which gets 404', async () => {
    const server = await testServer();
    const ownerToken = await server.fixtures.token(await server.fixtures.user());
    const [target] = await signInsOf(server, ownerToken);
    const otherAccount = await server.fixtures.admin();
    const response = await server.as(otherAccount).call(endSignIn, { params: { id: target?.id ?? '' } });
    expect(response).toMatchObject({ status: 404, body: { code: 'not_found' } });
    expect((await server.as(ownerToken).call(getProfile)).status).toBe(200);
  });

  it('can all be ended by one request, or all but the current one with except=current', async () => {
    const server = await testServer();
    const { as, fixtures } = server;
    const user = await fixtures.user();
    const [currentToken, otherToken, thirdToken] = [
      await fixtures.token(user),
      await fixtures.token(user),
      await fixtures.token(user),
    ];
    const endOthersResponse = await as(currentToken).call(endSignIns, { query: { except: 'current' } });
    expect(endOthersResponse.status).toBe(204);
    expect((await as(currentToken).call(getProfile)).status).toBe(200);
    for (const token of [otherToken, thirdToken]) expect((await as(token).call(getProfile)).status).toBe(401);

    const newToken = await fixtures.token(user);
    expect((await as(newToken).call(endSignIns)).status).toBe(204);
    for (const token of [currentToken, newToken]) expect((await as(token).call(getProfile)).status).toBe(401);
  });
});
