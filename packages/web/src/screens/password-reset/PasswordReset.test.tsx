/** Tests of the password reset page. They find elements by Turkish texts, the default language of these screens. */
import { screen } from '@testing-library/react';
import { act } from 'react';
import { describe, expect, it } from 'vitest';
import { account } from '../../testing/accounts.ts';
import { openApp } from '../../testing/open-app.tsx';
import { errorResponse } from '../../testing/stub-api.ts';

describe('the password reset page', () => {
  it('requests an e-mail with a reset link, and then shows the message of the server instead of the form', async () => {
    const { person, calls } = openApp('/auth/password-reset', {
      api: { 'POST /auth/password-reset': { message: 'Adres kayıtlıysa bağlantı yolda.' } },
    });
    await person.type(await screen.findByLabelText('E-posta'), 'ipek@example.org');
    await person.click(screen.getByRole('button', { name: 'Bağlantı Gönder' }));
    await screen.findByText('Adres kayıtlıysa bağlantı yolda.');
    expect(calls).toMatchObject([{ body: { email: 'ipek@example.org' } }]);
    expect(screen.queryByLabelText('E-posta')).toBeNull();
  });

  it('says that a link was requested when the response has no message', async () => {
    const { person } = openApp('/auth/password-reset', { api: { 'POST /auth/password-reset': {} } });
    await person.type(await screen.findByLabelText('E-posta'), 'ipek@example.org');
    await person.click(screen.getByRole('button', { name: 'Bağlantı Gönder' }));
    await screen.findByText(/şifre sıfırlama bağlantısı/);
    expect(screen.queryByLabelText('E-posta')).toBeNull();
  });

  it('shows an error and sends nothing when the e-mail address is empty', async () => {
    const { person, calls } = openApp('/auth/password-reset');
    await person.click(await screen.findByRole('button', { name: 'Bağlantı Gönder' }));
    await screen.findByText('E-posta adresi gerekli.');
    expect(calls).toEqual([]);
  });

  it('says that too many links were requested when the server responds with rate_limited', async () => {
    const { person } = openApp('/auth/password-reset', {
      api: { 'POST /auth/password-reset': errorResponse('rate_limited') },
    });
    await person.type(await screen.findByLabelText('E-posta'), 'ipek@example.org');
    await person.click(screen.getByRole('button', { name: 'Bağlantı Gönder' }));
    await screen.findByText('Çok fazla deneme yapıldı. Lütfen biraz sonra yeniden deneyin.');
  });
});

describe('the password reset page opened from the link of an e-mail', () => {
  async function typeNewPassword(person: ReturnType<typeof openApp>['person'], password: string) {
    await person.type(await screen.findByLabelText('Yeni Şifre'), password);
    await person.type(screen.getByLabelText('Yeni Şifre (Tekrar)'), password);
    await person.click(screen.getByRole('button', { name: 'Şifreyi Kaydet' }));
  }

  it('removes the reset code from the URL', async () => {
    const { address } = openApp('/auth/password-reset#code=one-time-code');
    await screen.findByLabelText('Yeni Şifre');
    await expect.poll(address).toBe('/auth/password-reset');
  });

  it('still sets the new password after the user has chosen another language', async () => {
    const { person, calls } = openApp('/auth/password-reset#code=c', {
      api: { 'POST /auth/password-reset/confirm': { message: 'Password changed.' } },
    });
    await screen.findByLabelText('Yeni Şifre');
    await person.click(screen.getByRole('button', { name: 'English' }));
    await person.type(await screen.findByLabelText('New Password'), 'a new thin slice');
    await person.type(screen.getByLabelText('New Password (again)'), 'a new thin slice');
    await person.click(screen.getByRole('button', { name: 'Save Password' }));
    await screen.findByText('The password has been changed.');
    expect(calls.at(-1)).toMatchObject({ body: { code: 'c', new_password: 'a new thin slice' } });
  });

  it('shows the form for requesting a reset link when the user leaves the page and then opens it without a code', async () => {
    const { goTo } = openApp('/auth/password-reset#code=c');
    await screen.findByLabelText('Yeni Şifre');
    await act(() => goTo('/auth/login'));
    await screen.findByRole('button', { name: 'Giriş Yap' });
    await act(() => goTo('/auth/password-reset'));
    await screen.findByRole('button', { name: 'Bağlantı Gönder' });
  });

  it('sets the new password with the code of the link and opens the login page', async () => {
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
  ])(
    'shows an error for the new password %j (at least 8 characters are required)',
    async (password, message) => {
      const { person } = openApp('/auth/password-reset#code=c');
      const field = await screen.findByLabelText('Yeni Şifre');
      if (password) await person.type(field, password);
      await person.click(screen.getByRole('button', { name: 'Şifreyi Kaydet' }));
      await screen.findByText(message);
    },
  );

  it('reports a used or expired link before a password is typed', async () => {
    const { person } = openApp('/auth/password-reset#code=spent', {
      api: { 'POST /auth/password-reset/check': errorResponse('reset_link_invalid') },
    });
    await screen.findByText('Bu bağlantı kullanılmış veya süresi dolmuş.');
    await person.click(screen.getByRole('button', { name: 'Yeni bağlantı iste' }));
    await screen.findByLabelText('E-posta');
  });

  it('offers to request a new link when the link expires while the password is typed', async () => {
    const { person } = openApp('/auth/password-reset#code=spent', {
      api: { 'POST /auth/password-reset/confirm': errorResponse('reset_link_invalid') },
    });
    await typeNewPassword(person, 'a new thin slice');
    await screen.findByText('Bağlantı geçersiz veya süresi dolmuş. Lütfen yeni bir bağlantı isteyin.');
    await person.click(screen.getByRole('button', { name: 'Yeni bağlantı iste' }));
    await screen.findByLabelText('E-posta');
  });

  it.each([{ message: '' }, {}])(
    'sets the password and removes the stored sign-in when the response is %j, without a message text',
    async (response) => {
      const { person, address } = openApp('/auth/password-reset#code=c', {
        signedInAs: account(),
        api: { 'POST /auth/password-reset/confirm': response },
      });
      await typeNewPassword(person, 'a new thin slice');
      await screen.findByRole('button', { name: 'Giriş Yap' });
      expect(address()).toBe('/auth/login');
      expect(localStorage.getItem('auth_token')).toBeNull();
    },
  );
});
