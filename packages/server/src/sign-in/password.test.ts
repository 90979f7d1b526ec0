import { register, signIn } from '@lamina/contract';
import * as argon2 from '@node-rs/argon2';
import { describe, expect, it, vi } from 'vitest';
import { testServer } from '../testing/test-server.ts';
import { createPasswords, passwordCost } from './password.ts';

// The real library; the mock only records its calls.
vi.mock('@node-rs/argon2', async (original) => {
  const real = await original<typeof argon2>();
  return {
    ...real,
    hash: vi.fn<typeof real.hash>(real.hash),
    verify: vi.fn<typeof real.verify>(real.verify),
  };
});

const passwords = createPasswords({ memoryKiB: 8, passes: 1 });

describe('a stored password', () => {
  it('is stored as an argon2id hash with the parameters that OWASP recommends', async () => {
    const hash = await createPasswords(passwordCost).hash('parola-123', null);
    expect(hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    expect(hash).not.toContain('parola');
  });

  it('gets a different hash each time', async () => {
    expect(await passwords.hash('parola-123', null)).not.toBe(await passwords.hash('parola-123', null));
  });

  it.each([
    ['the same', 'şifre-ğüİ', true],
    ['the same, composed otherwise', 's\u0327ifre-g\u0306u\u0308I\u0307', true],
    ['another case', 'Şifre-ğüİ', false],
    ['a space behind', 'şifre-ğüİ ', false],
    ['its beginning', 'şifre-ğü', false],
  ])('is compared exactly, with this input: %s', async (_, fixtures, expected) => {
    const hash = await passwords.hash('şifre-ğüİ', null);
    expect(await passwords.matchesHash(hash, fixtures, null)).toBe(expected);
  });

  it('is compared up to its last character, however long it is', async () => {
    const long = 'x'.repeat(1000);
    const hash = await passwords.hash(`${long}a`, null);
    expect(await passwords.matchesHash(hash, `${long}a`, null)).toBe(true);
    expect(await passwords.matchesHash(hash, `${long}b`, null)).toBe(false);
  });

  it('matches no password when the account has no stored hash', async () => {
    expect(await passwords.matchesHash(null, 'a password that no account has', null)).toBe(false);
  });
});

describe('password hashes beyond the queue limit', () => {
  const hashFor = (place: number, account: string) =>
    passwords.hash('parola-123', { address: `192.0.2.${place % 100}`, account });

  it('are rejected as unavailable while the hashes within the limit complete', async () => {
    const results = await Promise.allSettled(
      Array.from({ length: 200 }, (_, place) => hashFor(place, `account-${place}`)),
    );
    const refused = results.filter((result) => result.status === 'rejected');
    expect(refused.length).toBeGreaterThan(0);
    expect(results.length - refused.length).toBeGreaterThanOrEqual(129);
    for (const { reason } of refused) expect(reason).toMatchObject({ code: 'unavailable' });
    expect(await passwords.hash('parola-123', null)).toMatch(/^\$argon2id/);
  });

  it('are rejected for an account that floods the queue from one network, not for other accounts', async () => {
    const flood = Promise.allSettled(Array.from({ length: 200 }, () => hashFor(1, 'flooding account')));
    const others = await Promise.allSettled(
      Array.from({ length: 50 }, (_, place) => hashFor(place, `account-${place}`)),
    );
    expect(others.filter(({ status }) => status === 'rejected')).toEqual([]);
    expect((await flood).filter(({ status }) => status === 'fulfilled').length).toBeGreaterThanOrEqual(33);
  });
});

describe('an unknown e-mail address', () => {
  it('costs as much work as a wrong password from the first attempt on, and gets the same response', async () => {
    const { as, fixtures } = await testServer();
    const { email } = await fixtures.user();
    const closed = await fixtures.user({ status: 'deactivated' });
    const work = vi.mocked(argon2.hash).mock.calls;
    const checks = vi.mocked(argon2.verify).mock.calls;

    /** Tries to sign in. @returns the number of hashes, their parameters, and the response without the fields that differ each time */
    async function tryAt(address: string) {
      const [hashesBefore, checksBefore] = [work.length, checks.length];
      const answer = await as(null).call(signIn, { body: { email: address, password: 'yanlış-şifre' } });
      const { requestId: _, ...body } = answer.body as unknown as { requestId: string };
      const parameters = checks
        .slice(checksBefore)
        .map(([hash]) => String(hash).split('$').slice(0, 4).join('$'));
      return { status: answer.status, body, hashes: work.length - hashesBefore, parameters };
    }

    const unknown = await tryAt('unknown@example.org');
    expect(unknown).toMatchObject({ status: 401, hashes: 0, parameters: ['$argon2id$v=19$m=8,t=1,p=1'] });
    expect(await tryAt(email)).toEqual(unknown);
    expect(await tryAt(closed.email)).toEqual(unknown);
    expect(await tryAt('unknown@example.org')).toEqual(unknown);
  });

  it('costs as much work to register as an address that is taken', async () => {
    const { as, fixtures } = await testServer({ config: { registrationHideExisting: true } });
    const { email } = await fixtures.user();
    const work = vi.mocked(argon2.hash).mock.calls;
    for (const address of [email, 'new@example.org']) {
      const before = work.length;
      const answer = await as(null).call(register, { body: { email: address, password: 'uzun-bir-şifre' } });
      expect([answer.status, work.length - before]).toEqual([201, 1]);
    }
  });
});
