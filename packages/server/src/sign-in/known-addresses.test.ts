/**
 * Tests that responses to a caller without an account do not reveal whether an e-mail address has an account: status, body and headers
 * are the same for known and unknown addresses, even after the caller's network has reached a limit.
 */
import { register, requestPasswordReset, signIn } from '@lamina/contract';
import { describe, expect, it, vi } from 'vitest';
import { failureLimits, registrationLimits, resetRequestLimits } from '../domain/throttle-limits.ts';
import { databaseKinds } from '../store/testing/test-database.ts';
import { type TestServer, type TestUser, testServer } from '../testing/test-server.ts';

type Server = Pick<TestServer, 'app' | 'clock'>;

const ownersNetwork = '198.51.100.7';
const unknownAddress = 'unknown@example.org';

async function post({ app }: Server, address: string, path: string, payload: Record<string, string>) {
  const response = await app.inject({
    method: 'POST',
    url: `/api/v1${path}`,
    payload,
    remoteAddress: address,
  });
  const { 'x-request-id': _, date: __, ...headers } = response.headers;
  const { requestId: ___, ...body } = response.json();
  return { status: response.statusCode, body, headers };
}

const tryPassword = (server: Server, address: string, email: string, password = 'yanlış-şifre') =>
  post(server, address, signIn.path, { email, password });
const requestReset = (server: Server, address: string, email: string) =>
  post(server, address, requestPasswordReset.path, { email });
const requestAccount = (server: Server, address: string, email: string) =>
  post(server, address, register.path, { email, password: 'uzun-bir-şifre' });

/** Creates an account whose owner has signed in from `ownersNetwork`. */
async function accountKnownFromItsNetwork(server: TestServer): Promise<TestUser> {
  const user = await server.fixtures.user();
  expect((await tryPassword(server, ownersNetwork, user.email, user.password)).status).toBe(200);
  return user;
}

describe.each(databaseKinds)('secrecy of registered e-mail addresses (database: %s)', (database) => {
  it('a password reset request gets the same 429 for a known and an unknown address after 60 requests from one network', async () => {
    const server = await testServer({ database });
    const { email } = await accountKnownFromItsNetwork(server);
    for (let n = 0; n < resetRequestLimits.network.maxCount; n++) {
      expect((await requestReset(server, ownersNetwork, `unknown-${n}@example.org`)).status).toBe(202);
    }
    const unknownResponse = await requestReset(server, ownersNetwork, unknownAddress);
    expect(unknownResponse).toMatchObject({ status: 429, headers: { 'retry-after': '30' } });
    expect(await requestReset(server, ownersNetwork, email)).toEqual(unknownResponse);
  });

  it('a password reset request gets the same 202 for a known and an unknown address after 30 requests for each address from 30 other networks', async () => {
    const server = await testServer({ database });
    const { email } = await accountKnownFromItsNetwork(server);
    for (let host = 1; host <= 30; host++) {
      await requestReset(server, `192.0.2.${host}`, email);
      await requestReset(server, `192.0.2.${host}`, unknownAddress);
    }
    const unknownResponse = await requestReset(server, ownersNetwork, unknownAddress);
    expect(unknownResponse.status).toBe(202);
    expect(await requestReset(server, ownersNetwork, email)).toEqual(unknownResponse);
  });

  it('a wrong password gets the same 429 for a known and an unknown address after 100 failures from one network', async () => {
    const server = await testServer({ database });
    const { email } = await accountKnownFromItsNetwork(server);
    for (let n = 0; n < failureLimits.network.maxCount; n++) {
      await tryPassword(server, ownersNetwork, `unknown-${n}@example.org`);
    }
    const unknownResponse = await tryPassword(server, ownersNetwork, unknownAddress);
    expect(unknownResponse).toMatchObject({ status: 429, headers: { 'retry-after': '30' } });
    expect(await tryPassword(server, ownersNetwork, email)).toEqual(unknownResponse);
  });

  it('a wrong password gets the same 429 for a known and an unknown address after 100 failures for each address from 20 other networks', async () => {
    const server = await testServer({ database });
    const { email } = await accountKnownFromItsNetwork(server);
    for (let host = 1; host <= 20; host++) {
      for (let n = 0; n < 5; n++) {
        await tryPassword(server, `192.0.2.${host}`, email);
        await tryPassword(server, `192.0.2.${host}`, unknownAddress);
      }
    }
    const unknownResponse = await tryPassword(server, ownersNetwork, unknownAddress);
    expect(unknownResponse.status).toBe(429);
    expect(await tryPassword(server, ownersNetwork, email)).toEqual(unknownResponse);
  });

  it('a registration gets the same 429 for a known and an unknown address after 200 registrations from one network', async () => {
    const server = await testServer({ database });
    const { email } = await accountKnownFromItsNetwork(server);
    for (let n = 0; n < registrationLimits.network.maxCount; n++) {
      await requestAccount(server, ownersNetwork, email);
    }
    const unknownResponse = await requestAccount(server, ownersNetwork, unknownAddress);
    expect(unknownResponse.status).toBe(429);
    expect(await requestAccount(server, ownersNetwork, email)).toEqual(unknownResponse);
  });
});

describe('sign-in from a network that has reached the limit of 100 failed sign-ins', () => {
  /** Starts a server with a user who has signed in from `ownersNetwork`, followed by failed sign-ins from this network. */
  async function serverAfterFailures(count: number) {
    const server = await testServer();
    const user = await accountKnownFromItsNetwork(server);
    for (let n = 0; n < count; n++) {
      await tryPassword(server, ownersNetwork, `unknown-${n}@example.org`);
    }
    return { server, user };
  }

  it('still returns a token for an account that has signed in from this network before', async () => {
    const { server, user } = await serverAfterFailures(100);
    expect((await tryPassword(server, ownersNetwork, user.email, user.password)).status).toBe(200);
  });

  it('gets 429 for the right password of an account that has never signed in from this network', async () => {
    const { server } = await serverAfterFailures(100);
    const unfamiliarUser = await server.fixtures.user();
    const listTokens = () => server.services.db.selectFrom('tokens').select('hash').execute();
    const before = await listTokens();
    const response = await tryPassword(server, ownersNetwork, unfamiliarUser.email, unfamiliarUser.password);
    expect(response.status).toBe(429);
    expect(await listTokens()).toEqual(before);
  });

  it('still verifies a password once, for an unknown e-mail address as for a known one', async () => {
    const { server, user } = await serverAfterFailures(100);
    const passwordCheck = vi.spyOn(server.services.signIn, 'isPasswordOf');
    const signInCall = vi.spyOn(server.services.signIn, 'signIn');
    await tryPassword(server, ownersNetwork, unknownAddress);
    expect([passwordCheck.mock.calls.length, signInCall.mock.calls.length]).toEqual([1, 0]);
    await tryPassword(server, ownersNetwork, user.email);
    expect([passwordCheck.mock.calls.length, signInCall.mock.calls.length]).toEqual([1, 1]);
  });

  it('gets 429 for every e-mail address, without verification of the password, after 300 failures (a second limit)', async () => {
    const { server, user } = await serverAfterFailures(300);
    const signInCall = vi.spyOn(server.services.signIn, 'signIn');
    const passwordCheck = vi.spyOn(server.services.signIn, 'isPasswordOf');
    const unknownResponse = await tryPassword(server, ownersNetwork, unknownAddress);
    expect(unknownResponse.status).toBe(429);
    expect(await tryPassword(server, ownersNetwork, user.email, user.password)).toEqual(unknownResponse);
    expect([passwordCheck.mock.calls.length, signInCall.mock.calls.length]).toEqual([0, 0]);
  });
});

describe('password reset e-mails to one address', () => {
  it('are limited to 20 an hour from networks where the owner has never signed in, but not from the owner’s network', async () => {
    const server = await testServer();
    const { email } = await accountKnownFromItsNetwork(server);
    const resetMails = async () => (await server.outbox()).filter((mail) => mail.includes('#code=')).length;
    for (let host = 1; host <= 25; host++) await requestReset(server, `192.0.2.${host}`, email);
    expect(await resetMails()).toBe(20);
    await requestReset(server, ownersNetwork, email);
    expect(await resetMails()).toBe(21);
  });
});
