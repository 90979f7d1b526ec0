/** Tests of the page that confirms a registration. They find elements by Turkish texts, the default language of these screens. */
import { screen } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import { openApp } from '../../testing/open-app.tsx';
import { errorResponse } from '../../testing/stub-api.ts';

type Person = ReturnType<typeof openApp>['person'];

async function typePassword(person: Person, password: string) {
  await person.type(await screen.findByLabelText('Şifre'), password);
  await person.click(screen.getByRole('button', { name: 'Doğrula' }));
}

describe('the page that confirms a registration', () => {
  it('removes the confirmation code from the URL', async () => {
    const { address } = openApp('/auth/confirm#code=one-time-code');
    await screen.findByLabelText('Şifre');
    await expect.poll(address).toBe('/auth/confirm');
  });

  it('sends the code of the URL and the typed password, and then opens the login page', async () => {
    const { person, calls, address } = openApp('/auth/confirm#code=one%2Btime', {
      api: { 'POST /auth/register/confirm': { message: 'Adresiniz doğrulandı.' } },
    });
    await typePassword(person, 'a thin slice');
    await screen.findByText('Adresiniz doğrulandı.');
    expect(calls).toMatchObject([{ body: { code: 'one+time', password: 'a thin slice' } }]);
    expect(address()).toBe('/auth/login');
  });

  it('still sends the code after the user has chosen another language', async () => {
    const { person, calls } = openApp('/auth/confirm#code=c', {
      api: { 'POST /auth/register/confirm': { message: 'Confirmed.' } },
    });
    await screen.findByLabelText('Şifre');
    await person.click(screen.getByRole('button', { name: 'English' }));
    await person.type(await screen.findByLabelText('Password'), 'a thin slice');
    await person.click(screen.getByRole('button', { name: 'Confirm' }));
    await screen.findByText('Confirmed.');
    expect(calls).toMatchObject([{ body: { code: 'c', password: 'a thin slice' } }]);
  });

  it('shows an error beside the password field when the password is wrong', async () => {
    const { person, address } = openApp('/auth/confirm#code=c', {
      api: { 'POST /auth/register/confirm': errorResponse('credentials_invalid') },
    });
    await typePassword(person, 'wrong');
    await screen.findByText('Geçersiz e-posta veya şifre.');
    expect(screen.getByLabelText('Şifre').getAttribute('aria-invalid')).toBe('true');
    expect(address()).toBe('/auth/confirm');
  });

  it('offers to register again when the link has expired', async () => {
    const { person } = openApp('/auth/confirm#code=old', {
      api: { 'POST /auth/register/confirm': errorResponse('confirmation_link_invalid') },
    });
    await typePassword(person, 'a thin slice');
    await screen.findByText('Bağlantı geçersiz veya süresi dolmuş. Lütfen yeniden kayıt olun.');
    expect(screen.getByRole('link', { name: 'Yeniden kayıt ol' }).getAttribute('href')).toBe(
      '/auth/register',
    );
  });

  it('says where to find the link when the URL contains no code', async () => {
    openApp('/auth/confirm');
    await screen.findByText(/gönderilen e-postadaki bağlantıyla açın/);
    expect(screen.queryByLabelText('Şifre')).toBeNull();
  });
});
