/** Trying too often, from outside: limits of domain/throttle-limits.ts. */
import {
  changePassword,
  confirmPasswordReset,
  errors,
  register,
  requestPasswordReset,
  signIn,
} from '@lamina/contract';
import { describe, expect, it } from 'vitest';
import { registrationLimits } from '../domain/throttle-limits.ts';
import { databaseKinds } from '../store/testing/test-database.ts';
import { type Answer, type TestServer, type TestUser, testServer } from '../testing/test-server.ts';

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;

type From = Pick<TestServer, 'app'>;

/** Signs in from an address, as the socket says it. */
async function from(
  address: string,
  { app }: From,
  payload: { email: string; password: string },
  headers: Readonly<Record<string, string>> = {},
) {
  const answer = await app.inject({
    method: 'POST',
    url: '/api/v1/auth/login',
    payload,
    headers,
    remoteAddress: address,
  });
  return { status: answer.statusCode, body: answer.json(), retryAfter: answer.headers['retry-after'] };
}

const wrong = ({ email }: Pick<TestUser, 'email'>) => ({ email, password: 'yanlış-şifre' });
const right = ({ email, password }: TestUser) => ({ email, password });

async function fail(
  times: number,
  address: string,
  server: From,
  user: Pick<TestUser, 'email'>,
): Promise<void> {
  for (let n = 0; n < times; n++) expect((await from(address, server, wrong(user))).status).toBe(401);
}

const throttledRows = async ({ services }: TestServer) =>
  services.db.selectFrom('audit').selectAll().where('action', '=', 'throttled').execute();

describe.each(databaseKinds)('on %s, guessing the password of one account', (database) => {
  it('from one address waits after ten failures, and the right password then waits too', async () => {
    const server = await testServer({ database });
    const user = await server.given.user();
    await fail(10, '192.0.2.1', server, user);
    const eleventh = await from('192.0.2.1', server, wrong(user));
    expect(eleventh).toMatchObject({
      status: 429,
      retryAfter: '30',
      body: {
        code: 'rate_limited',
        message: 'Çok fazla deneme yapıldı. Lütfen 30 saniye sonra yeniden deneyin.',
      },
    });
    expect((await from('192.0.2.1', server, right(user))).status).toBe(429);
  });

  it('keeps nobody out who comes from another address', async () => {
    const server = await testServer({ database });
    const user = await server.given.user();
    await fail(10, '192.0.2.1', server, user);
    expect((await from('192.0.2.2', server, right(user))).status).toBe(200);
  });

  it('waits twice as long after each further failure, a quarter of an hour at most, and never for good', async () => {
    const server = await testServer({ database });
    const user = await server.given.user();
    await fail(10, '192.0.2.1', server, user);
    const waits: number[] = [];
    for (let n = 0; n < 8; n++) {
      const { status, retryAfter } = await from('192.0.2.1', server, wrong(user));
      expect(status).toBe(429);
      waits.push(Number(retryAfter));
      server.clock.advance(Number(retryAfter) * second);
      if (n < 7) await fail(1, '192.0.2.1', server, user);
    }
    expect(waits).toEqual([30, 60, 120, 240, 480, 900, 900, 900]);
    expect((await from('192.0.2.1', server, right(user))).status).toBe(200);
  });

  it('holds in another process, and after a restart', async () => {
    const server = await testServer({ database });
    const user = await server.given.user();
    await fail(9, '127.0.0.1', server, user);
    const another = await server.another();
    const there = () => another.as(null).call(signIn, { body: wrong(user) });
    expect((await there()).status).toBe(401);
    expect((await there()).status).toBe(429);
    expect((await from('127.0.0.1', server, wrong(user))).status).toBe(429);
  });

  it('is forgotten after the right password, and after a quarter of an hour', async () => {
    const server = await testServer({ database });
    const user = await server.given.user();
    await fail(9, '192.0.2.1', server, user);
    expect((await from('192.0.2.1', server, right(user))).status).toBe(200);
    await fail(9, '192.0.2.1', server, user);
    server.clock.advance(15 * minute);
    await fail(10, '192.0.2.1', server, user);
  });

  it('all at once tells no more than one after the other', async () => {
    const server = await testServer({ database });
    const user = await server.given.user();
    const answers = await Promise.all(
      Array.from({ length: 30 }, () => from('192.0.2.1', server, wrong(user))),
    );
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(10);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(20);
  });

  it('from many addresses waits after a hundred failures, but not where its owner signed in from before', async () => {
    const server = await testServer({ database });
    const user = await server.given.user();
    expect((await from('198.51.100.7', server, right(user))).status).toBe(200);
    for (let host = 1; host <= 20; host++) await fail(5, `192.0.2.${host}`, server, user);
    expect((await from('192.0.2.99', server, right(user))).status).toBe(429);
    expect((await from('198.51.100.7', server, right(user))).status).toBe(200);
  });

  it('does not help by changing the door: the password form counts with it', async () => {
    const server = await testServer({ database });
    const user = await server.given.user();
    const token = await server.given.token(user);
    await fail(9, '127.0.0.1', server, user);
    const change = () =>
      server.as(token).call(changePassword, {
        body: { new_password: 'yepyeni-şifre', current_password: 'yanlış-şifre' },
      });
    expect(await change()).toMatchObject({ status: 403, body: { code: 'reauth_required' } });
    expect(await change()).toMatchObject({ status: 429, body: { code: 'rate_limited' } });
    expect((await from('127.0.0.1', server, right(user))).status).toBe(429);
  });
});

describe('trying one password on many accounts', () => {
  it('waits after a hundred failures, whether or not there are such accounts', async () => {
    const server = await testServer();
    for (let n = 0; n < 100; n++) await fail(1, '192.0.2.1', server, { email: `nobody-${n}@example.org` });
    const user = await server.given.user();
    expect((await from('192.0.2.1', server, wrong(user))).status).toBe(429);
    expect((await from('192.0.2.2', server, wrong(user))).status).toBe(401);
  });

  it('does not keep out who has signed in from there before: a hospital is one address', async () => {
    const server = await testServer();
    const user = await server.given.user();
    expect((await from('192.0.2.1', server, right(user))).status).toBe(200);
    for (let n = 0; n < 100; n++) await fail(1, '192.0.2.1', server, { email: `nobody-${n}@example.org` });
    expect((await from('192.0.2.1', server, right(user))).status).toBe(200);
  });

  it('counts a whole /64 of IPv6 as one address', async () => {
    const server = await testServer();
    for (let n = 0; n < 100; n++) {
      await fail(1, `2001:db8:0:1::${(n + 1).toString(16)}`, server, { email: `nobody-${n}@example.org` });
    }
    const user = await server.given.user();
    expect((await from('2001:db8:0:1:ffff::', server, wrong(user))).status).toBe(429);
    expect((await from('2001:db8:0:2::1', server, wrong(user))).status).toBe(401);
  });
});

describe('the address', () => {
  const claim = (n: number) => ({ 'x-forwarded-for': `203.0.113.${n}` });

  it('is not what a stranger claims', async () => {
    const server = await testServer();
    const user = await server.given.user();
    for (let n = 0; n < 10; n++) await from('192.0.2.1', server, wrong(user), claim(n));
    expect((await from('192.0.2.1', server, wrong(user), claim(11))).status).toBe(429);
  });

  it('is what a trusted proxy says', async () => {
    const server = await testServer({ config: { trustedProxies: ['192.0.2.1'] } });
    const user = await server.given.user();
    for (let n = 0; n < 10; n++) await from('192.0.2.1', server, wrong(user), claim(1));
    expect((await from('192.0.2.1', server, wrong(user), claim(1))).status).toBe(429);
    expect((await from('192.0.2.1', server, wrong(user), claim(2))).status).toBe(401);
  });
});

describe('signing in successfully', () => {
  it('is never slowed down, however often and by however many from one address', async () => {
    const server = await testServer();
    for (let n = 0; n < 40; n++) {
      const user = await server.given.user();
      expect((await from('192.0.2.1', server, right(user))).status).toBe(200);
      expect((await from('192.0.2.1', server, right(user))).status).toBe(200);
    }
  });
});

describe('registering', () => {
  const { most } = registrationLimits.network;

  it(`${most} times an hour from one address is all right, and then has to wait`, async () => {
    const server = await testServer();
    const ask = async (n: number) => {
      const body = { email: `new-${n}@example.org`, password: 'uzun-bir-şifre' };
      return server.as(null).call(register, { body });
    };
    for (let n = 0; n < most; n++) expect((await ask(n)).status).toBe(201);
    const beyond: Answer = await ask(most);
    expect(beyond).toMatchObject({ status: 429, headers: { 'retry-after': '30' } });
    server.clock.advance(2 * hour);
    expect((await ask(most)).status).toBe(201);
  }, 60_000);
});

describe('asking for a reset link', () => {
  it.each(['known', 'unknown'])(
    'has to wait after ten times in an hour for an address that is %s',
    async (which) => {
      const server = await testServer();
      const email = which === 'known' ? (await server.given.user()).email : 'nobody@example.org';
      const ask = () => server.as(null).call(requestPasswordReset, { body: { email } });
      for (let n = 0; n < 10; n++) expect((await ask()).status).toBe(202);
      expect(await ask()).toMatchObject({ status: 429, headers: { 'retry-after': '30' } });
    },
  );

  it('and guessing one has to wait after a hundred wrong ones', async () => {
    const server = await testServer();
    const guess = () =>
      server.as(null).call(confirmPasswordReset, {
        body: { code: 'x'.repeat(43), new_password: 'yepyeni-şifre' },
      });
    for (let n = 0; n < 100; n++) expect((await guess()).status).toBe(400);
    expect((await guess()).status).toBe(429);
  });
});

describe('what is throttled', () => {
  it('is on record once for each time one has to wait', async () => {
    const server = await testServer();
    const user = await server.given.user();
    await fail(10, '192.0.2.1', server, user);
    for (let n = 0; n < 5; n++) await from('192.0.2.1', server, wrong(user));
    const rows = await throttledRows(server);
    expect(rows).toHaveLength(1);
    expect(rows[0]).toMatchObject({ result: 'refused', address: '192.0.2.1' });
    expect(JSON.stringify(rows)).not.toContain(user.email);
  });

  it('is counted under keys that name nobody', async () => {
    const server = await testServer();
    const user = await server.given.user();
    await fail(1, '192.0.2.1', server, user);
    const rows = JSON.stringify(await server.services.db.selectFrom('throttles').selectAll().execute());
    expect(rows).not.toMatch(/192\.0\.2\.1|example\.org/);
  });

  it('is swept away when it has ended', async () => {
    const server = await testServer();
    for (let n = 0; n < 5; n++) await fail(1, `192.0.2.${n}`, server, { email: `nobody-${n}@example.org` });
    server.clock.advance(hour);
    await fail(1, '192.0.2.9', server, { email: 'somebody@example.org' });
    expect(await server.services.db.selectFrom('throttles').selectAll().execute()).toHaveLength(3);
  });

  it('is nothing where it is switched off', async () => {
    const server = await testServer({ config: { throttle: false } });
    const user = await server.given.user();
    await fail(40, '192.0.2.1', server, user);
    expect((await from('192.0.2.1', server, right(user))).status).toBe(200);
  });

  it('has its sentence in the table of errors', () => {
    expect(errors.rate_limited).toMatchObject({
      status: 429,
      tr: expect.stringContaining('Çok fazla deneme'),
    });
  });
});
