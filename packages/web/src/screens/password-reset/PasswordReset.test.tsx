import { screen } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import { account } from '../../testing/accounts.ts';
import { openApp } from '../../testing/open-app.tsx';
import { refusal } from '../../testing/stub-api.ts';

describe('the password reset', () => {
  it('requests a link and shows the same answer for known and unknown addresses', async () => {
    const { person, calls } = openApp('/auth/password-reset', {
      api: { 'POST /auth/password-reset': { message: 'Adres kayıtlıysa bağlantı yolda.' } },
    });
    await person.type(await screen.findByLabelText('E-posta'), 'ipek@example.org');
    await person.click(screen.getByRole('button', { name: 'Bağlantı Gönder' }));
    await screen.findByText('Adres kayıtlıysa bağlantı yolda.');
    expect(calls).toMatchObject([{ body: { email: 'ipek@example.org' } }]);
    expect(screen.queryByLabelText('E-posta')).toBeNull();
  });

  it('shows that the link was requested when the answer has no message', async () => {
    const { person } = openApp('/auth/password-reset', { api: { 'POST /auth/password-reset': {} } });
    await person.type(await screen.findByLabelText('E-posta'), 'ipek@example.org');
    await person.click(screen.getByRole('button', { name: 'Bağlantı Gönder' }));
    await screen.findByText(/şifre sıfırlama bağlantısı/);
    expect(screen.queryByLabelText('E-posta')).toBeNull();
  });

  it('rejects an invalid e-mail address', async () => {
    const { person, calls } = openApp('/auth/password-reset');
    await person.click(await screen.findByRole('button', { name: 'Bağlantı Gönder' }));
    await screen.findByText('E-posta adresi gerekli.');
    expect(calls).toEqual([]);
  });

  it('says that too many links were requested', async () => {
    const { person } = openApp('/auth/password-reset', {
      api: { 'POST /auth/password-reset': refusal('rate_limited') },
    });
    await person.type(await screen.findByLabelText('E-posta'), 'ipek@example.org');
    await person.click(screen.getByRole('button', { name: 'Bağlantı Gönder' }));
    await screen.findByText('Çok fazla deneme yapıldı. Lütfen biraz sonra yeniden deneyin.');
  });
});

describe('the link of a password reset e-mail', () => {
  async function typeNewPassword(person: ReturnType<typeof openApp>['person'], password: string) {
    await person.type(await screen.findByLabelText('Yeni Şifre'), password);
    await person.type(screen.getByLabelText('Yeni Şifre (Tekrar)'), password);
    await person.click(screen.getByRole('button', { name: 'Şifreyi Kaydet' }));
  }

  it('removes the reset code from the address', async () => {
    const { address } = openApp('/auth/password-reset#code=one-time-code');
    await screen.findByLabelText('Yeni Şifre');
    await expect.poll(address).toBe('/auth/password-reset');
  });

  it('sets the new password with its code and opens the login page', async () => {
    const { person, calls, address } = openApp('/auth/password-reset#code=one%2Btime', {
      api: { 'POST /auth/password-reset/confirm': { message: 'Şifre başarıyla değiştirildi' } },
    });
    await typeNewPassword(person, 'a new thin slice');
    await screen.findByText('Şifre başarıyla değiştirildi.');
    expect(calls).toMatchObject([
      { name: 'POST /auth/password-reset/check', body: { code: 'one+time' } },
      { body: { code: 'one+time', new_password: 'a new thin slice' } },
    ]);
    expect(address()).toBe('/auth/login');
  });

  it.each([
    ['', 'Yeni şifre gerekli.'],
    ['short', 'Yeni şifre en az 8 karakter olmalı.'],
  ])('refuses the new password %j', async (password, sentence) => {
    const { person } = openApp('/auth/password-reset#code=c');
    const field = await screen.findByLabelText('Yeni Şifre');
    if (password) await person.type(field, password);
    await person.click(screen.getByRole('button', { name: 'Şifreyi Kaydet' }));
    await screen.findByText(sentence);
  });

  it('that was used or has expired is reported before a password is typed', async () => {
    const { person } = openApp('/auth/password-reset#code=spent', {
      api: { 'POST /auth/password-reset/check': refusal('reset_link_invalid') },
    });
    await screen.findByText('Bu bağlantı kullanılmış veya süresi dolmuş.');
    await person.click(screen.getByRole('button', { name: 'Yeni bağlantı iste' }));
    await screen.findByLabelText('E-posta');
  });

  it('that expires while the password is typed offers a new link', async () => {
    const { person } = openApp('/auth/password-reset#code=spent', {
      api: { 'POST /auth/password-reset/confirm': refusal('reset_link_invalid') },
    });
    await typeNewPassword(person, 'a new thin slice');
    await screen.findByText('Bağlantı geçersiz veya süresi dolmuş. Lütfen yeni bir bağlantı isteyin.');
    await person.click(screen.getByRole('button', { name: 'Yeni bağlantı iste' }));
    await screen.findByLabelText('E-posta');
  });

  it.each([{ message: '' }, {}])(
    'works in a browser that is signed in, and signs it out, with the answer %j',
    async (answer) => {
      const { person, address } = openApp('/auth/password-reset#code=c', {
        signedInAs: account(),
        api: { 'POST /auth/password-reset/confirm': answer },
      });
      await typeNewPassword(person, 'a new thin slice');
      await screen.findByRole('button', { name: 'Giriş Yap' });
      expect(address()).toBe('/auth/login');
      expect(localStorage.getItem('auth_token')).toBeNull();
    },
  );
});
