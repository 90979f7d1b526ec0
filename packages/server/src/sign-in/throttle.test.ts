/** Tests the rate limits of sign-in, registration and mailed codes (domain/throttle-limits.ts) through HTTP. */
import {
  changePassword,
  confirmPasswordReset,
  createImageSession,
  errors,
  getProfile,
  register,
  requestPasswordReset,
  signIn,
  startSecondFactor,
} from '@lamina/contract';
import { describe, expect, it } from 'vitest';
import { registrationLimits, successLimits } from '../domain/throttle-limits.ts';
import { databaseKinds } from '../store/testing/test-database.ts';
import { type Answer, type TestServer, type TestUser, testServer } from '../testing/test-server.ts';
import { maxTokensPerAccount } from './embedded-sign-in.ts';

const secondMs = 1000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;

type ServerApp = Pick<TestServer, 'app'>;

async function signInFrom(
  address: string,
  { app }: ServerApp,
  payload: { email: string; password: string },
  headers: Readonly<Record<string, string>> = {},
) {
  const response = await app.inject({
    method: 'POST',
    url: '/api/v1/auth/login',
    payload,
    headers,
    remoteAddress: address,
  });
  return { status: response.statusCode, body: response.json(), retryAfter: response.headers['retry-after'] };
}

const wrongLogin = ({ email }: Pick<TestUser, 'email'>) => ({ email, password: 'yanlış-şifre' });
/** Returns an address without an account. */
const unknown = (n: number) => ({ email: `unknown-${n}@example.org` });
const login = ({ email, password }: TestUser) => ({ email, password });

/** Sends sign-ins with a wrong password, and expects 401 for each. */
async function failSignIn(
  times: number,
  address: string,
  server: ServerApp,
  user: Pick<TestUser, 'email'>,
): Promise<void> {
  const body = wrongLogin(user);
  for (let n = 0; n < times; n++) expect((await signInFrom(address, server, body)).status).toBe(401);
}

/** Returns the audit events of reached limits. */
const throttledAuditRows = async ({ services }: TestServer) =>
  services.db.selectFrom('audit').selectAll().where('action', '=', 'throttled').execute();

describe.each(databaseKinds)('limits for failed sign-ins of one account (database: %s)', (database) => {
  it('return 429 after ten failures from one network, even for the right password', async () => {
    const server = await testServer({ database });
    const user = await server.fixtures.user();
    await failSignIn(10, '192.0.2.1', server, user);
    const eleventh = await signInFrom('192.0.2.1', server, wrongLogin(user));
    expect(eleventh).toMatchObject({
      status: 429,
      retryAfter: '30',
      body: {
        code: 'rate_limited',
        message: 'Çok fazla deneme yapıldı. Lütfen 30 saniye sonra yeniden deneyin.',
      },
    });
    expect((await signInFrom('192.0.2.1', server, login(user))).status).toBe(429);
  });

  it('do not block a sign-in from another network', async () => {
    const server = await testServer({ database });
    const user = await server.fixtures.user();
    await failSignIn(10, '192.0.2.1', server, user);
    expect((await signInFrom('192.0.2.2', server, login(user))).status).toBe(200);
  });

  it('double the waiting time after each further failure, up to 15 minutes', async () => {
    const server = await testServer({ database });
    const user = await server.fixtures.user();
    await failSignIn(10, '192.0.2.1', server, user);
    const waits: number[] = [];
    for (let n = 0; n < 8; n++) {
      const { status, retryAfter } = await signInFrom('192.0.2.1', server, wrongLogin(user));
      expect(status).toBe(429);
      waits.push(Number(retryAfter));
      server.clock.advance(Number(retryAfter) * secondMs);
      if (n < 7) await failSignIn(1, '192.0.2.1', server, user);
    }
    expect(waits).toEqual([30, 60, 120, 240, 480, 900, 900, 900]);
    expect((await signInFrom('192.0.2.1', server, login(user))).status).toBe(200);
  });

  it('count the failures at two server processes over one database together', async () => {
    const server = await testServer({ database });
    const user = await server.fixtures.user();
    await failSignIn(9, '127.0.0.1', server, user);
    const another = await server.another();
    const signInAtOther = () => another.as(null).call(signIn, { body: wrongLogin(user) });
    expect((await signInAtOther()).status).toBe(401);
    expect((await signInAtOther()).status).toBe(429);
    expect((await signInFrom('127.0.0.1', server, wrongLogin(user))).status).toBe(429);
  });

  it('start counting from zero after a sign-in with the right password, and after 15 minutes without failures', async () => {
    const server = await testServer({ database });
    const user = await server.fixtures.user();
    await failSignIn(9, '192.0.2.1', server, user);
    expect((await signInFrom('192.0.2.1', server, login(user))).status).toBe(200);
    await failSignIn(9, '192.0.2.1', server, user);
    server.clock.advance(15 * minuteMs);
    await failSignIn(10, '192.0.2.1', server, user);
  });

  it('return 401 for ten of 30 concurrent wrong passwords and 429 for the others', async () => {
    const server = await testServer({ database });
    const user = await server.fixtures.user();
    const responses = await Promise.all(
      Array.from({ length: 30 }, () => signInFrom('192.0.2.1', server, wrongLogin(user))),
    );
    expect(responses.filter(({ status }) => status === 401)).toHaveLength(10);
    expect(responses.filter(({ status }) => status === 429)).toHaveLength(20);
  });

  it('return 429 after a hundred failures from many networks, except to a network from which the owner has signed in before', async () => {
    const server = await testServer({ database });
    const user = await server.fixtures.user();
    expect((await signInFrom('198.51.100.7', server, login(user))).status).toBe(200);
    for (let host = 1; host <= 20; host++) await failSignIn(5, `192.0.2.${host}`, server, user);
    expect((await signInFrom('192.0.2.99', server, login(user))).status).toBe(429);
    expect((await signInFrom('198.51.100.7', server, login(user))).status).toBe(200);
  });

  it('count wrong passwords of sign-ins and of password changes together', async () => {
    const server = await testServer({ database });
    const user = await server.fixtures.user();
    const token = await server.fixtures.token(user);
    await failSignIn(9, '127.0.0.1', server, user);
    const change = () =>
      server.as(token).call(changePassword, {
        body: { new_password: 'yepyeni-şifre', current_password: 'yanlış-şifre' },
      });
    expect(await change()).toMatchObject({ status: 403, body: { code: 'reauth_required' } });
    expect(await change()).toMatchObject({ status: 429, body: { code: 'rate_limited' } });
    expect((await signInFrom('127.0.0.1', server, login(user))).status).toBe(429);
  });
});

describe('failed sign-ins from one network with many e-mail addresses', () => {
  it('get 429 after 100 failures for unknown e-mail addresses, even for the address of an account', async () => {
    const server = await testServer();
    for (let n = 0; n < 100; n++) await failSignIn(1, '192.0.2.1', server, unknown(n));
    const user = await server.fixtures.user();
    expect((await signInFrom('192.0.2.1', server, wrongLogin(user))).status).toBe(429);
    expect((await signInFrom('192.0.2.2', server, wrongLogin(user))).status).toBe(401);
  });

  it('do not block the sign-in of an account that has signed in from this network before', async () => {
    const server = await testServer();
    const user = await server.fixtures.user();
    expect((await signInFrom('192.0.2.1', server, login(user))).status).toBe(200);
    for (let n = 0; n < 100; n++) await failSignIn(1, '192.0.2.1', server, unknown(n));
    expect((await signInFrom('192.0.2.1', server, login(user))).status).toBe(200);
  });

  it('are counted together when they come from different IP addresses of one IPv6 /64 network', async () => {
    const server = await testServer();
    for (let n = 0; n < 100; n++) {
      await failSignIn(1, `2001:db8:0:1::${(n + 1).toString(16)}`, server, unknown(n));
    }
    const user = await server.fixtures.user();
    expect((await signInFrom('2001:db8:0:1:ffff::', server, wrongLogin(user))).status).toBe(429);
    expect((await signInFrom('2001:db8:0:2::1', server, wrongLogin(user))).status).toBe(401);
  });
});

describe('the client address that the limits for failed sign-ins use', () => {
  const forwardedFor = (n: number) => ({ 'x-forwarded-for': `203.0.113.${n}` });

  it('is the address of the connection when a client that is not a trusted proxy sends X-Forwarded-For', async () => {
    const server = await testServer();
    const user = await server.fixtures.user();
    for (let n = 0; n < 10; n++) await signInFrom('192.0.2.1', server, wrongLogin(user), forwardedFor(n));
    expect((await signInFrom('192.0.2.1', server, wrongLogin(user), forwardedFor(11))).status).toBe(429);
  });

  it('is taken from X-Forwarded-For when a trusted proxy sends the header', async () => {
    const server = await testServer({ config: { trustedProxies: ['192.0.2.1'] } });
    const user = await server.fixtures.user();
    for (let n = 0; n < 10; n++) await signInFrom('192.0.2.1', server, wrongLogin(user), forwardedFor(1));
    expect((await signInFrom('192.0.2.1', server, wrongLogin(user), forwardedFor(1))).status).toBe(429);
    expect((await signInFrom('192.0.2.1', server, wrongLogin(user), forwardedFor(2))).status).toBe(401);
  });
});

describe('sign-in with the right password', () => {
  it('is not limited by successful sign-ins of other accounts from the same network', async () => {
    const server = await testServer();
    for (let n = 0; n < 40; n++) {
      const user = await server.fixtures.user();
      expect((await signInFrom('192.0.2.1', server, login(user))).status).toBe(200);
      expect((await signInFrom('192.0.2.1', server, login(user))).status).toBe(200);
    }
  });

  describe.each(databaseKinds)('(database: %s)', (database) => {
    const { maxCount } = successLimits['account-and-network'];

    it(`gets 429 and writes no audit event after ${maxCount} sign-ins of the account from one network`, async () => {
      const server = await testServer({ database });
      const user = await server.fixtures.user({ status: 'pending' });
      for (let n = 0; n < maxCount; n++) {
        expect((await signInFrom('192.0.2.1', server, login(user))).status).toBe(200);
        server.clock.advance(secondMs);
      }
      const excessResponse = await signInFrom('192.0.2.1', server, login(user));
      expect(excessResponse).toMatchObject({ status: 429, body: { code: 'rate_limited' } });
      const signIns = () =>
        server.services.db.selectFrom('audit').select('seq').where('action', '=', 'sign-in').execute();
      expect(await signIns()).toHaveLength(maxCount);
      // Only a caller who knows the password gets the 429 of this limit.
      expect((await signInFrom('192.0.2.1', server, wrongLogin(user))).status).toBe(401);
      // Other accounts of that network, and the same account from another network, sign in as before.
      expect((await signInFrom('192.0.2.1', server, login(await server.fixtures.user()))).status).toBe(200);
      expect((await signInFrom('192.0.2.2', server, login(user))).status).toBe(200);
      server.clock.advance(Number(excessResponse.retryAfter) * secondMs);
      expect((await signInFrom('192.0.2.1', server, login(user))).status).toBe(200);
    });

    it(`gets 429 for each sign-in beyond ${maxCount} from one network, even when the last ten arrive at the same moment`, async () => {
      const server = await testServer({ database });
      const user = await server.fixtures.user();
      for (let n = 0; n < maxCount - 2; n++) {
        expect((await signInFrom('192.0.2.1', server, login(user))).status).toBe(200);
      }
      const responses = await Promise.all(
        Array.from({ length: 10 }, () => signInFrom('192.0.2.1', server, login(user))),
      );
      expect(responses.map(({ status }) => status).sort((a, b) => a - b)).toEqual([
        200,
        200,
        ...Array(8).fill(429),
      ]);
    });

    it(`gets 429 after ${successLimits.account.maxCount} sign-ins of the account from different networks, while a wrong password still gets 401`, async () => {
      const server = await testServer({ database });
      const user = await server.fixtures.user();
      const network = (n: number) => `2001:db8:0:${n.toString(16)}::1`;
      const { maxCount: maxCountOfAccount } = successLimits.account;
      for (let n = 0; n < maxCountOfAccount; n++) {
        expect((await signInFrom(network(n), server, login(user))).status).toBe(200);
      }
      expect((await signInFrom(network(maxCountOfAccount), server, login(user))).status).toBe(429);
      expect((await signInFrom(network(maxCountOfAccount + 1), server, wrongLogin(user))).status).toBe(401);
    }, 120_000);

    it(`ends the oldest sign-in of the account when the account has more than ${maxTokensPerAccount} sign-ins`, async () => {
      const server = await testServer({ database });
      const user = await server.fixtures.user();
      const tokens: string[] = [];
      for (let n = 0; n <= maxTokensPerAccount; n++) {
        tokens.push(((await signInFrom('192.0.2.1', server, login(user))).body as { token: string }).token);
        server.clock.advance(secondMs);
      }
      const statusOf = async (token = '') => (await server.as(token).call(getProfile)).status;
      expect(await statusOf(tokens[0])).toBe(401);
      expect(await statusOf(tokens[1])).toBe(200);
      expect(await statusOf(tokens.at(-1))).toBe(200);
      const last = await server.services.db
        .selectFrom('audit')
        .select('detail')
        .where('action', '=', 'sign-in')
        .orderBy('seq', 'desc')
        .executeTakeFirst();
      expect(JSON.stringify(last)).toContain('oldest_sign_ins_ended');
    });
  });

  it(`ends the image sessions (credentials for tiles) of the oldest sign-in when the account has more than ${maxTokensPerAccount} sign-ins`, async () => {
    const server = await testServer();
    const user = await server.fixtures.user();
    const { token } = (await signInFrom('192.0.2.1', server, login(user))).body as { token: string };
    const session = (await server.as(token).call(createImageSession)).body.session_id;
    expect(await server.services.imageSessions.resolve(session)).not.toBeNull();
    for (let n = 0; n < maxTokensPerAccount; n++) {
      server.clock.advance(secondMs);
      expect((await signInFrom('192.0.2.1', server, login(user))).status).toBe(200);
    }
    expect(await server.services.imageSessions.resolve(session)).toBeNull();
  });
});

describe('an API request with the right current password (for example the setup of two-step verification)', () => {
  it('counts as a successful sign-in of the account, and gets 429 when the limit of successful sign-ins is reached', async () => {
    const server = await testServer();
    const user = await server.fixtures.user();
    const token = await server.fixtures.token(user);
    const { maxCount } = successLimits['account-and-network'];
    const start = () =>
      server.as(token).call(startSecondFactor, { body: { current_password: user.password } });
    for (let n = 1; n < maxCount; n++) expect((await start()).status).toBe(201);
    expect(await start()).toMatchObject({ status: 429, body: { code: 'rate_limited' } });
  });
});

describe('registration', () => {
  const { maxCount } = registrationLimits.network;

  it(`succeeds ${maxCount} times an hour from one network and then gets 429`, async () => {
    const server = await testServer();
    const request = async (n: number) => {
      const body = { email: `new-${n}@example.org`, password: 'uzun-bir-şifre' };
      return server.as(null).call(register, { body });
    };
    for (let n = 0; n < maxCount; n++) expect((await request(n)).status).toBe(201);
    const excessResponse: Answer = await request(maxCount);
    expect(excessResponse).toMatchObject({ status: 429, headers: { 'retry-after': '30' } });
    server.clock.advance(2 * hourMs);
    expect((await request(maxCount)).status).toBe(201);
  }, 60_000);
});

describe('a password reset', () => {
  it.each(['with an account', 'without an account'])(
    'request gets 429 after ten requests in an hour from one network for one e-mail address %s',
    async (kind) => {
      const server = await testServer();
      const email = kind === 'with an account' ? (await server.fixtures.user()).email : 'unknown@example.org';
      const request = () => server.as(null).call(requestPasswordReset, { body: { email } });
      for (let n = 0; n < 10; n++) expect((await request()).status).toBe(202);
      expect(await request()).toMatchObject({ status: 429, headers: { 'retry-after': '30' } });
    },
  );

  it('confirmation gets 429 after a hundred wrong codes from one network', async () => {
    const server = await testServer();
    const guessCode = () =>
      server.as(null).call(confirmPasswordReset, {
        body: { code: 'x'.repeat(43), new_password: 'yepyeni-şifre' },
      });
    for (let n = 0; n < 100; n++) expect((await guessCode()).status).toBe(400);
    expect((await guessCode()).status).toBe(429);
  });
});

describe('a rate limit for sign-in', () => {
  it('causes one audit event for five rejected requests', async () => {
    const server = await testServer();
    const user = await server.fixtures.user();
    await failSignIn(10, '192.0.2.1', server, user);
    for (let n = 0; n < 5; n++) await signInFrom('192.0.2.1', server, wrongLogin(user));
    const rows = await throttledAuditRows(server);
    expect(rows).toHaveLength(1);
    expect(rows[0]).toMatchObject({ result: 'refused', address: '192.0.2.1' });
    expect(JSON.stringify(rows)).not.toContain(user.email);
  });

  it('has counters in the database whose keys contain neither an e-mail address nor an IP address', async () => {
    const server = await testServer();
    const user = await server.fixtures.user();
    await failSignIn(1, '192.0.2.1', server, user);
    const rows = JSON.stringify(await server.services.db.selectFrom('throttles').selectAll().execute());
    expect(rows).not.toMatch(/192\.0\.2\.1|example\.org/);
  });

  it('has counters that are deleted from the database after they have expired', async () => {
    const server = await testServer();
    for (let n = 0; n < 5; n++) await failSignIn(1, `192.0.2.${n}`, server, unknown(n));
    server.clock.advance(hourMs);
    await failSignIn(1, '192.0.2.9', server, { email: 'another@example.org' });
    expect(await server.services.db.selectFrom('throttles').selectAll().execute()).toHaveLength(4); // the counters of the last failure
  });

  it('does not exist with THROTTLE=off: after 40 failures the right password is accepted', async () => {
    const server = await testServer({ config: { throttle: false } });
    const user = await server.fixtures.user();
    await failSignIn(40, '192.0.2.1', server, user);
    expect((await signInFrom('192.0.2.1', server, login(user))).status).toBe(200);
  });

  it('has an entry in the error table (rate_limited) with the status 429 and a Turkish message', () => {
    expect(errors.rate_limited).toMatchObject({
      status: 429,
      tr: expect.stringContaining('Çok fazla deneme'),
    });
  });
});
