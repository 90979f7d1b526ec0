/**
 * Responses to a caller without an account must not reveal whether an address has an account: status, body and headers are the same for
 * known and unknown addresses, also after the caller's network has reached a limit.
 */
import { register, requestPasswordReset, signIn } from '@lamina/contract';
import { describe, expect, it, vi } from 'vitest';
import { failureLimits, registrationLimits, resetRequestLimits } from '../domain/throttle-limits.ts';
import { databaseKinds } from '../store/testing/test-database.ts';
import { type TestServer, type TestUser, testServer } from '../testing/test-server.ts';

type Server = Pick<TestServer, 'app' | 'clock'>;

const ownersNetwork = '198.51.100.7';
const stranger = 'unknown@example.org';

async function post({ app }: Server, address: string, path: string, payload: Record<string, string>) {
  const answer = await app.inject({
    method: 'POST',
    url: `/api/v1${path}`,
    payload,
    remoteAddress: address,
  });
  const { 'x-request-id': _, date: __, ...headers } = answer.headers;
  const { requestId: ___, ...body } = answer.json();
  return { status: answer.statusCode, body, headers };
}

const tryPassword = (server: Server, address: string, email: string, password = 'yanlış-şifre') =>
  post(server, address, signIn.path, { email, password });
const askForReset = (server: Server, address: string, email: string) =>
  post(server, address, requestPasswordReset.path, { email });
const askForAccount = (server: Server, address: string, email: string) =>
  post(server, address, register.path, { email, password: 'uzun-bir-şifre' });

/** Creates an account whose owner has signed in from `ownersNetwork`. */
async function accountKnownFromItsNetwork(server: TestServer): Promise<TestUser> {
  const user = await server.fixtures.user();
  expect((await tryPassword(server, ownersNetwork, user.email, user.password)).status).toBe(200);
  return user;
}

describe.each(databaseKinds)('response to a caller without an account, on %s,', (database) => {
  it('to a password reset request is the same for known and unknown addresses after 60 requests from one network', async () => {
    const server = await testServer({ database });
    const { email } = await accountKnownFromItsNetwork(server);
    for (let n = 0; n < resetRequestLimits.network.maxCount; n++) {
      expect((await askForReset(server, ownersNetwork, `unknown-${n}@example.org`)).status).toBe(202);
    }
    const unknown = await askForReset(server, ownersNetwork, stranger);
    expect(unknown).toMatchObject({ status: 429, headers: { 'retry-after': '30' } });
    expect(await askForReset(server, ownersNetwork, email)).toEqual(unknown);
  });

  it('to a password reset request is the same for known and unknown addresses after requests from many networks', async () => {
    const server = await testServer({ database });
    const { email } = await accountKnownFromItsNetwork(server);
    for (let host = 1; host <= 30; host++) {
      await askForReset(server, `192.0.2.${host}`, email);
      await askForReset(server, `192.0.2.${host}`, stranger);
    }
    const unknown = await askForReset(server, ownersNetwork, stranger);
    expect(unknown.status).toBe(202);
    expect(await askForReset(server, ownersNetwork, email)).toEqual(unknown);
  });

  it('to a wrong password is the same for known and unknown addresses after 100 failures from one network', async () => {
    const server = await testServer({ database });
    const { email } = await accountKnownFromItsNetwork(server);
    for (let n = 0; n < failureLimits.network.maxCount; n++) {
      await tryPassword(server, ownersNetwork, `unknown-${n}@example.org`);
    }
    const unknown = await tryPassword(server, ownersNetwork, stranger);
    expect(unknown).toMatchObject({ status: 429, headers: { 'retry-after': '30' } });
    expect(await tryPassword(server, ownersNetwork, email)).toEqual(unknown);
  });

  it('to a wrong password is the same for known and unknown addresses after 100 failures of the address from many networks', async () => {
    const server = await testServer({ database });
    const { email } = await accountKnownFromItsNetwork(server);
    for (let host = 1; host <= 20; host++) {
      for (let n = 0; n < 5; n++) {
        await tryPassword(server, `192.0.2.${host}`, email);
        await tryPassword(server, `192.0.2.${host}`, stranger);
      }
    }
    const unknown = await tryPassword(server, ownersNetwork, stranger);
    expect(unknown.status).toBe(429);
    expect(await tryPassword(server, ownersNetwork, email)).toEqual(unknown);
  });

  it('to a registration is the same for known and unknown addresses after 200 registrations from one network', async () => {
    const server = await testServer({ database });
    const { email } = await accountKnownFromItsNetwork(server);
    for (let n = 0; n < registrationLimits.network.maxCount; n++) {
      await askForAccount(server, ownersNetwork, email);
    }
    const unknown = await askForAccount(server, ownersNetwork, stranger);
    expect(unknown.status).toBe(429);
    expect(await askForAccount(server, ownersNetwork, email)).toEqual(unknown);
  });
});

describe('a network that has reached the limit of 100 failed sign-ins', () => {
  async function networkWithFailures(count: number) {
    const server = await testServer();
    const user = await accountKnownFromItsNetwork(server);
    for (let n = 0; n < count; n++) {
      await tryPassword(server, ownersNetwork, `unknown-${n}@example.org`);
    }
    return { server, user };
  }

  it('still gets a token for an account that has signed in from this network before', async () => {
    const { server, user } = await networkWithFailures(100);
    expect((await tryPassword(server, ownersNetwork, user.email, user.password)).status).toBe(200);
  });

  it('gets 429 for the right password of an account that has never signed in from this network', async () => {
    const { server } = await networkWithFailures(100);
    const other = await server.fixtures.user();
    const tokens = () => server.services.db.selectFrom('tokens').select('hash').execute();
    const before = await tokens();
    const answer = await tryPassword(server, ownersNetwork, other.email, other.password);
    expect(answer.status).toBe(429);
    expect(await tokens()).toEqual(before);
  });

  it('causes one password verification for an unknown address, as for a known address', async () => {
    const { server, user } = await networkWithFailures(100);
    const verify = vi.spyOn(server.services.signIn, 'isPasswordOf');
    const check = vi.spyOn(server.services.signIn, 'signIn');
    await tryPassword(server, ownersNetwork, stranger);
    expect([verify.mock.calls.length, check.mock.calls.length]).toEqual([1, 0]);
    await tryPassword(server, ownersNetwork, user.email);
    expect([verify.mock.calls.length, check.mock.calls.length]).toEqual([1, 1]);
  });

  it('gets 429 for every address without a password verification after 300 failures', async () => {
    const { server, user } = await networkWithFailures(300);
    const check = vi.spyOn(server.services.signIn, 'signIn');
    const verify = vi.spyOn(server.services.signIn, 'isPasswordOf');
    const unknown = await tryPassword(server, ownersNetwork, stranger);
    expect(unknown.status).toBe(429);
    expect(await tryPassword(server, ownersNetwork, user.email, user.password)).toEqual(unknown);
    expect([verify.mock.calls.length, check.mock.calls.length]).toEqual([0, 0]);
  });
});

describe('password reset e-mails to one address', () => {
  it('are limited to 20 an hour from networks where the owner has never signed in, but not from the owner’s network', async () => {
    const server = await testServer();
    const { email } = await accountKnownFromItsNetwork(server);
    const resetMails = async () => (await server.outbox()).filter((mail) => mail.includes('#code=')).length;
    for (let host = 1; host <= 25; host++) await askForReset(server, `192.0.2.${host}`, email);
    expect(await resetMails()).toBe(20);
    await askForReset(server, ownersNetwork, email);
    expect(await resetMails()).toBe(21);
  });
});
