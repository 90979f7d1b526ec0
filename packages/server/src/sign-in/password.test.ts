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

  it('gets two different hashes when it is hashed twice', async () => {
    expect(await passwords.hash('parola-123', null)).not.toBe(await passwords.hash('parola-123', null));
  });

  it.each([
    ['matches the same password', 'şifre-ğüİ', true],
    ['matches the same password in decomposed Unicode (NFD)', 's\u0327ifre-g\u0306u\u0308I\u0307', true],
    ['does not match the password in another letter case', 'Şifre-ğüİ', false],
    ['does not match the password with a space at the end', 'şifre-ğüİ ', false],
    ['does not match the password without its last letter', 'şifre-ğü', false],
  ])('%s', async (_, input, expected) => {
    const hash = await passwords.hash('şifre-ğüİ', null);
    expect(await passwords.matchesHash(hash, input, null)).toBe(expected);
  });

  it('of 1,001 characters matches the same input, but not an input that differs only in the last character', async () => {
    const longPassword = 'x'.repeat(1000);
    const hash = await passwords.hash(`${longPassword}a`, null);
    expect(await passwords.matchesHash(hash, `${longPassword}a`, null)).toBe(true);
    expect(await passwords.matchesHash(hash, `${longPassword}b`, null)).toBe(false);
  });

  it('that is null, because the account has none, matches no input', async () => {
    expect(await passwords.matchesHash(null, 'a password that no account has', null)).toBe(false);
  });
});

describe('password hashes beyond the queue limit', () => {
  const hashFor = (place: number, account: string) =>
    passwords.hash('parola-123', { address: `192.0.2.${place % 100}`, account });

  it('are rejected with the code unavailable, while those within the limit complete', async () => {
    const results = await Promise.allSettled(
      Array.from({ length: 200 }, (_, place) => hashFor(place, `account-${place}`)),
    );
    const rejectedResults = results.filter((result) => result.status === 'rejected');
    expect(rejectedResults.length).toBeGreaterThan(0);
    expect(results.length - rejectedResults.length).toBeGreaterThanOrEqual(129); // 128 waiting and at least one running
    for (const { reason } of rejectedResults) expect(reason).toMatchObject({ code: 'unavailable' });
    expect(await passwords.hash('parola-123', null)).toMatch(/^\$argon2id/);
  });

  it('are rejected for an account with 200 requests from one network, not for other accounts', async () => {
    const flood = Promise.allSettled(Array.from({ length: 200 }, () => hashFor(1, 'flooding account')));
    const others = await Promise.allSettled(
      Array.from({ length: 50 }, (_, place) => hashFor(place, `account-${place}`)),
    );
    expect(others.filter(({ status }) => status === 'rejected')).toEqual([]);
    expect((await flood).filter(({ status }) => status === 'fulfilled').length).toBeGreaterThanOrEqual(33); // 32 waiting and at least one running
  });
});

describe('an e-mail address without an account', () => {
  it('causes as much hashing work at sign-in as a wrong password, and the same response', async () => {
    const { as, fixtures } = await testServer();
    const { email } = await fixtures.user();
    const deactivatedUser = await fixtures.user({ status: 'deactivated' });
    const hashCalls = vi.mocked(argon2.hash).mock.calls;
    const verifyCalls = vi.mocked(argon2.verify).mock.calls;

    /** Tries to sign in. @returns the number of hashes, their parameters, and the response without the fields that differ each time */
    async function trySignIn(address: string) {
      const [hashesBefore, checksBefore] = [hashCalls.length, verifyCalls.length];
      const answer = await as(null).call(signIn, { body: { email: address, password: 'yanlış-şifre' } });
      const { requestId: _, ...body } = answer.body as unknown as { requestId: string };
      const parameters = verifyCalls
        .slice(checksBefore)
        .map(([hash]) => String(hash).split('$').slice(0, 4).join('$'));
      return { status: answer.status, body, hashes: hashCalls.length - hashesBefore, parameters };
    }

    const unknown = await trySignIn('unknown@example.org');
    expect(unknown).toMatchObject({ status: 401, hashes: 0, parameters: ['$argon2id$v=19$m=8,t=1,p=1'] });
    expect(await trySignIn(email)).toEqual(unknown);
    expect(await trySignIn(deactivatedUser.email)).toEqual(unknown);
    expect(await trySignIn('unknown@example.org')).toEqual(unknown);
  });

  it('causes as much hashing work at registration as an address that has an account', async () => {
    const { as, fixtures } = await testServer({ config: { registrationHideExisting: true } });
    const { email } = await fixtures.user();
    const hashCalls = vi.mocked(argon2.hash).mock.calls;
    for (const address of [email, 'new@example.org']) {
      const before = hashCalls.length;
      const answer = await as(null).call(register, { body: { email: address, password: 'uzun-bir-şifre' } });
      expect([answer.status, hashCalls.length - before]).toEqual([201, 1]);
    }
  });
});
