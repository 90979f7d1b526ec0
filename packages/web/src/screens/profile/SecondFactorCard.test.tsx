/** A test of two-step verification in a file of its own, because the script of the setup must not have been loaded before. */
import { screen } from '@testing-library/react';
import { expect, it, vi } from 'vitest';
import { account } from '../../testing/accounts.ts';
import { openApp } from '../../testing/open-app.tsx';

it('the profile keeps typed text when the script for the setup of two-step verification cannot be loaded, and loads the script again on a retry', async () => {
  vi.spyOn(console, 'error').mockImplementation(() => {});
  const user = account();
  let isReachable = false;
  const { person } = openApp('/dashboard/profile', {
    signedInAs: user,
    api: {
      'HEAD /': () => {
        if (!isReachable) throw new TypeError('Failed to fetch');
        return {};
      },
      'GET /user/profile': { user },
      'GET /user/sign-ins': { sign_ins: [] },
      'GET /user/api-tokens': { tokens: [] },
      'GET /share-links': { share_links: [] },
      'GET /user/second-factor': { enabled: false, recovery_codes_left: 0 },
      'POST /user/second-factor': {
        secret: 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP',
        uri: 'otpauth://totp/Lamina:ipek?secret=JBSWY3DP',
      },
    },
  });
  await person.type(await screen.findByLabelText('Yeni Şifre'), 'typed');
  await person.click(await screen.findByRole('button', { name: 'İki Adımlı Doğrulamayı Aç' }));
  await screen.findByText('Bu bölüm yüklenemedi.');
  expect(screen.getByLabelText<HTMLInputElement>('Yeni Şifre').value).toBe('typed');
  isReachable = true;
  await person.click(screen.getByRole('button', { name: 'Tekrar Dene' }));
  await screen.findByRole('img', { name: 'Doğrulama uygulaması için QR kodu' });
});
