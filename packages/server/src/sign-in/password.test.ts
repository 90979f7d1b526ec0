import { register, signIn } from '@lamina/contract';
import * as argon2 from '@node-rs/argon2';
import { describe, expect, it, vi } from 'vitest';
import { testServer } from '../testing/test-server.ts';
import { createPasswords, passwordCost } from './password.ts';

// The real library, with its runs counted.
vi.mock('@node-rs/argon2', async (original) => {
  const real = await original<typeof argon2>();
  return {
    ...real,
    hash: vi.fn<typeof real.hash>(real.hash),
    verify: vi.fn<typeof real.verify>(real.verify),
  };
});

const passwords = createPasswords({ memoryKiB: 8, passes: 1 });

describe('a password', () => {
  it('is kept as argon2id with the parameters OWASP asks for', async () => {
    const hash = await createPasswords(passwordCost).hash('parola-123');
    expect(hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    expect(hash).not.toContain('parola');
  });

  it('has another hash each time', async () => {
    expect(await passwords.hash('parola-123')).not.toBe(await passwords.hash('parola-123'));
  });

  it.each([
    ['the same', 'şifre-ğüİ', true],
    ['the same, composed otherwise', 's\u0327ifre-g\u0306u\u0308I\u0307', true],
    ['another case', 'Şifre-ğüİ', false],
    ['a space behind', 'şifre-ğüİ ', false],
    ['its beginning', 'şifre-ğü', false],
  ])('is compared exactly: %s', async (_, given, expected) => {
    const hash = await passwords.hash('şifre-ğüİ');
    expect(await passwords.isRight(hash, given)).toBe(expected);
  });

  it('counts to its last character, however long', async () => {
    const long = 'x'.repeat(1000);
    const hash = await passwords.hash(`${long}a`);
    expect(await passwords.isRight(hash, `${long}a`)).toBe(true);
    expect(await passwords.isRight(hash, `${long}b`)).toBe(false);
  });

  it('is never right for nobody', async () => {
    expect(await passwords.isRight(null, 'a password that no account has')).toBe(false);
  });
});

describe('more passwords than can be hashed', () => {
  it('are refused as unavailable, and the rest get their answer', async () => {
    const results = await Promise.allSettled(Array.from({ length: 200 }, () => passwords.hash('parola-123')));
    const refused = results.filter((result) => result.status === 'rejected');
    expect(refused.length).toBeGreaterThan(0);
    expect(results.length - refused.length).toBeGreaterThanOrEqual(33);
    for (const { reason } of refused) expect(reason).toMatchObject({ code: 'unavailable' });
    expect(await passwords.hash('parola-123')).toMatch(/^\$argon2id/);
  });
});

describe('an unknown address', () => {
  it('costs exactly as much work as a wrong password, from the first time on, and is answered alike', async () => {
    const { as, given } = await testServer();
    const { email } = await given.user();
    const closed = await given.user({ status: 'deactivated' });
    const work = vi.mocked(argon2.hash).mock.calls;
    const checks = vi.mocked(argon2.verify).mock.calls;

    /** What was hashed, and with which parameters; and the answer, without what differs each time. */
    async function tryAt(address: string) {
      const [hashesBefore, checksBefore] = [work.length, checks.length];
      const answer = await as(null).call(signIn, { body: { email: address, password: 'yanlış-şifre' } });
      const { requestId: _, ...body } = answer.body as unknown as { requestId: string };
      const parameters = checks
        .slice(checksBefore)
        .map(([hash]) => String(hash).split('$').slice(0, 4).join('$'));
      return { status: answer.status, body, hashes: work.length - hashesBefore, parameters };
    }

    const unknown = await tryAt('nobody@example.org');
    expect(unknown).toMatchObject({ status: 401, hashes: 0, parameters: ['$argon2id$v=19$m=8,t=1,p=1'] });
    expect(await tryAt(email)).toEqual(unknown);
    expect(await tryAt(closed.email)).toEqual(unknown);
    expect(await tryAt('nobody@example.org')).toEqual(unknown);
  });

  it('costs exactly as much work to register as one that is taken', async () => {
    const { as, given } = await testServer({ config: { registrationHideExisting: true } });
    const { email } = await given.user();
    const work = vi.mocked(argon2.hash).mock.calls;
    for (const address of [email, 'new@example.org']) {
      const before = work.length;
      const answer = await as(null).call(register, { body: { email: address, password: 'uzun-bir-şifre' } });
      expect([answer.status, work.length - before]).toEqual([201, 1]);
    }
  });
});
