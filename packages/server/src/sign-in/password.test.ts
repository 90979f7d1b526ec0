import { describe, expect, it } from 'vitest';
import { createPasswords, passwordCost } from './password.ts';

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
