import { describe, expect, it } from 'vitest';
import { refuseGuessablePassword } from './password-rules.ts';

const ayse = { email: 'ayse.yilmaz@example.org', displayName: 'Ayşe Yılmaz' };
const choose = (password: string) => () => refuseGuessablePassword(password, ayse, 'new_password');

describe('a chosen password', () => {
  it.each(['password', '12345678', 'qwertyuiop', 'PASSWORD1', 'ｐａｓｓｗｏｒｄ', 'iloveyou', 'baseball'])(
    'may not be one of the commonest: %s',
    (password) => {
      expect(choose(password)).toThrow(
        expect.objectContaining({
          code: 'invalid_request',
          message: 'Bu şifre çok yaygın ve kolayca tahmin edilebilir. Lütfen başka bir şifre seçin.',
          detail: expect.objectContaining({ field: 'new_password' }),
        }),
      );
    },
  );

  it.each(['ayse.yilmaz@example.org', 'AYSE.YILMAZ@EXAMPLE.ORG', 'Ayse.Yilmaz', 'ayşe yılmaz', 'AyşeYılmaz'])(
    'may not be the own address or name: %s',
    (password) => {
      expect(choose(password)).toThrow(
        expect.objectContaining({
          message: 'Şifreniz e-posta adresiniz veya adınız olamaz. Lütfen başka bir şifre seçin.',
        }),
      );
    },
  );

  it.each(['Passw0rd!123', 'test-password-1', 'password under glass', 'a thin slice', '🔬🔬🔬🔬🔬🔬🔬🔬'])(
    'may be anything else: %s',
    (password) => {
      expect(choose(password)).not.toThrow();
    },
  );

  it('may be anything for somebody without a name', () => {
    expect(() =>
      refuseGuessablePassword('bir uzun şifre', { email: 'a@b.org', displayName: null }, 'password'),
    ).not.toThrow();
  });
});
