import { describe, expect, it } from 'vitest';
import { rejectGuessablePassword } from './password-rules.ts';

const account = { email: 'ayse.yilmaz@example.org', displayName: 'Ayşe Yılmaz' };
const choosing = (password: string) => () => rejectGuessablePassword(password, account, 'new_password');

/** Matches the error for a rejected password. */
const rejected = (reason: string) =>
  expect.objectContaining({
    code: 'invalid_request',
    detail: expect.objectContaining({ reason, field: 'new_password' }),
  });

describe('rejectGuessablePassword (check of a new password)', () => {
  it.each(['password', '12345678', 'qwertyuiop', 'PASSWORD1', 'ｐａｓｓｗｏｒｄ', 'iloveyou', 'baseball'])(
    'rejects the very common password "%s"',
    (password) => {
      expect(choosing(password)).toThrow(rejected('password_common'));
    },
  );

  it.each(['ayse.yilmaz@example.org', 'AYSE.YILMAZ@EXAMPLE.ORG', 'Ayse.Yilmaz', 'ayşe yılmaz', 'AyşeYılmaz'])(
    'rejects the password "%s" for the account of Ayşe Yılmaz with the address ayse.yilmaz@example.org',
    (password) => {
      expect(choosing(password)).toThrow(rejected('password_personal'));
    },
  );

  it.each(['Passw0rd!123', 'test-password-1', 'password under glass', 'a thin slice', '🔬🔬🔬🔬🔬🔬🔬🔬'])(
    'accepts the password "%s", which is neither common nor the name or address of the account',
    (password) => {
      expect(choosing(password)).not.toThrow();
    },
  );

  it('accepts a password of an account without a display name', () => {
    expect(() =>
      rejectGuessablePassword('bir uzun şifre', { email: 'a@b.org', displayName: null }, 'password'),
    ).not.toThrow();
  });
});
