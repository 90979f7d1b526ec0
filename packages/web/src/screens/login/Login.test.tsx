/** Tests of the login page. They find elements by Turkish texts, the default language of these screens. */
import { screen } from '@testing-library/react';
import { act } from 'react';
import { describe, expect, it, vi } from 'vitest';
import { account } from '../../testing/accounts.ts';
import { openApp } from '../../testing/open-app.tsx';
import { errorResponse, pendingResponse } from '../../testing/stub-api.ts';

const active = account();
const successfulApi = {
  'POST /auth/login': { token: 'token-1', expires_in: 43_200 },
  'POST /auth/verify': { user: active, token: 'token-1' },
  'GET /user/activity': { activity: [] },
};

const findEmailField = () => screen.findByLabelText<HTMLInputElement>('E-posta');
const passwordField = () => screen.getByLabelText<HTMLInputElement>('Şifre');
const submitButton = () => screen.getByRole<HTMLButtonElement>('button', { name: 'Giriş Yap' });

/** Returns the description of a field, which screen readers read after its label. */
function descriptionOf(field: Element): string {
  const ids = field.getAttribute('aria-describedby')?.split(' ') ?? [];
  return ids.map((id) => document.getElementById(id)?.textContent).join(' ');
}

describe('the login page', () => {
  it('signs in with the trimmed e-mail address, shows a message and opens the dashboard', async () => {
    const { person, calls, address } = openApp('/auth/login', { api: successfulApi });
    await person.type(await findEmailField(), '  ipek@example.org ');
    await person.type(passwordField(), ' secret ');
    await person.click(submitButton());
    await screen.findByText('Giriş başarılı!');
    await screen.findByText('Hoş geldiniz, İpek Işık');
    expect(address()).toBe('/dashboard');
    expect(calls[0]).toMatchObject({
      name: 'POST /auth/login',
      body: { email: 'ipek@example.org', password: ' secret ' }, // the password keeps its spaces
    });
  });

  it('is replaced by the dashboard in the browser history after signing in, so that Back leads to the page before the login page', async () => {
    const { person, address, goTo, goBack } = openApp('/shared', { api: successfulApi });
    await screen.findByText(/Adres eksik/);
    await act(() => goTo('/auth/login'));
    await person.type(await findEmailField(), 'ipek@example.org');
    await person.type(passwordField(), 'secret');
    await person.click(submitButton());
    await screen.findByText('Hoş geldiniz, İpek Işık');
    await act(() => goBack());
    expect(address()).toBe('/shared');
  });

  it.each([
    ['both fields are empty', '', '', ['E-posta adresi gerekli.', 'Şifre gerekli.']],
    ['the e-mail address consists of spaces', '   ', 'x', ['E-posta adresi gerekli.']],
    ['the e-mail address is invalid', 'ipek', 'x', ['Geçerli bir e-posta adresi girin.']],
    ['the password is empty', 'ipek@example.org', '', ['Şifre gerekli.']],
  ])(
    'shows errors at the fields and sends nothing when %s',
    async (_, typedEmail, typedPassword, messages) => {
      const { person, calls } = openApp('/auth/login');
      if (typedEmail) await person.type(await findEmailField(), typedEmail);
      else await findEmailField();
      if (typedPassword) await person.type(passwordField(), typedPassword);
      await person.click(submitButton());
      await screen.findByText(messages[0] ?? '');
      const shownMessages = [...document.querySelectorAll('input[aria-invalid="true"]')].map(descriptionOf);
      expect(shownMessages).toEqual(messages);
      expect(calls).toEqual([]);
    },
  );

  it('disables the login button while the sign-in is running', async () => {
    const signIn = pendingResponse();
    const { person } = openApp('/auth/login', {
      api: { ...successfulApi, 'POST /auth/login': signIn.answer },
    });
    await person.type(await findEmailField(), 'ipek@example.org');
    await person.type(passwordField(), 'secret');
    await person.click(submitButton());
    await vi.waitFor(() => expect(submitButton().disabled).toBe(true));
    signIn.respondWith(errorResponse('credentials_invalid'));
    await vi.waitFor(() => expect(submitButton().disabled).toBe(false));
  });

  it.each([
    [
      'an unknown account or a wrong password',
      errorResponse('credentials_invalid'),
      'Geçersiz e-posta veya şifre.',
    ],
    [
      'a deactivated account',
      errorResponse('account_not_active', 'Hesabınız devre dışı bırakılmış.'),
      'Hesabınız devre dışı bırakılmış.',
    ],
    [
      'an error response of a proxy',
      new Response('', { status: 502 }),
      'Giriş başarısız oldu. Lütfen bilgilerinizi kontrol edin.',
    ],
  ])('shows, in a toast and in the form, why the sign-in failed: %s', async (_, response, message) => {
    const { person, address } = openApp('/auth/login', { api: { 'POST /auth/login': response } });
    await person.type(await findEmailField(), 'ipek@example.org');
    await person.type(passwordField(), 'secret');
    await person.click(submitButton());
    expect((await screen.findByRole('alert')).textContent).toContain(message);
    screen.getByText(/^(Giriş yapılamadı|Bu hesapla giriş yapılamıyor)/); // the sentence in the form
    expect(address()).toBe('/auth/login');
    expect((await findEmailField()).value).toBe('ipek@example.org');
  });

  it('shows only one toast when the sign-in fails three times for the same reason', async () => {
    const { person, calls } = openApp('/auth/login', {
      api: { 'POST /auth/login': errorResponse('credentials_invalid') },
    });
    await person.type(await findEmailField(), 'ipek@example.org');
    await person.type(passwordField(), 'secret');
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      await person.click(submitButton());
      await vi.waitFor(() => expect(calls).toHaveLength(attempt));
      await vi.waitFor(() => expect(submitButton().disabled).toBe(false));
    }
    expect(await screen.findAllByRole('alert')).toHaveLength(1);
  });

  it('asks for the second-factor code of an account that has one, and rejects a wrong code', async () => {
    const { person, calls, address } = openApp('/auth/login', {
      api: {
        ...successfulApi,
        'POST /auth/login': ({ body }) => {
          const { code } = body as { code?: string };
          if (code === undefined) return errorResponse('second_factor_required');
          return code === '123456'
            ? successfulApi['POST /auth/login']
            : errorResponse('second_factor_invalid');
        },
      },
    });
    await person.type(await findEmailField(), 'ipek@example.org');
    await person.type(passwordField(), 'secret');
    await person.click(submitButton());

    const code = await screen.findByLabelText<HTMLInputElement>('Doğrulama Kodu');
    expect(document.activeElement).toBe(code);
    expect(screen.queryByRole('alert')).toBeNull(); // the server's request for a code is not shown as a failure
    await person.click(screen.getByRole('button', { name: 'Doğrula' }));
    await screen.findByText('Doğrulama kodu gerekli.');
    await person.type(code, '000000');
    await person.click(screen.getByRole('button', { name: 'Doğrula' }));
    await screen.findByText('Doğrulama kodu hatalı veya daha önce kullanılmış.');
    expect(code.value).toBe('');
    await person.type(code, '123456');
    await person.click(screen.getByRole('button', { name: 'Doğrula' }));
    await screen.findByText('Hoş geldiniz, İpek Işık');
    expect(address()).toBe('/dashboard');
    expect(calls.filter(({ name }) => name === 'POST /auth/login').at(-1)?.body).toEqual({
      email: 'ipek@example.org',
      password: 'secret',
      code: '123456',
    });
  });

  it('returns from the second-factor step to the form with e-mail and password when the back button is pressed', async () => {
    const { person } = openApp('/auth/login', {
      api: { 'POST /auth/login': errorResponse('second_factor_required') },
    });
    await person.type(await findEmailField(), 'ipek@example.org');
    await person.type(passwordField(), 'secret');
    await person.click(submitButton());
    await person.click(await screen.findByRole('button', { name: 'Geri dön' }));
    expect((await findEmailField()).value).toBe('ipek@example.org');
  });

  it('links to the registration and to the password reset', async () => {
    openApp('/auth/login');
    const links = (await screen.findAllByRole('link')).map((link) => [
      link.textContent,
      link.getAttribute('href'),
    ]);
    expect(links).toEqual([
      ['Şifreni mi unuttun?', '/auth/password-reset'],
      ['Kayıt ol', '/auth/register'],
    ]);
  });

  it('opens the account status page for an account that is not active', async () => {
    const pending = account({ status: 'pending', role: 'unassigned' });
    const { person, address } = openApp('/auth/login', {
      api: {
        ...successfulApi,
        'POST /auth/verify': { user: pending, token: 't' },
        'GET /user/profile': { user: pending },
      },
    });
    await person.type(await findEmailField(), 'ipek@example.org');
    await person.type(passwordField(), 'secret');
    await person.click(submitButton());
    await screen.findByText('Onay Bekliyor');
    expect(address()).toBe('/account-status');
  });

  it('shows the typed password when the eye button is pressed', async () => {
    const { person } = openApp('/auth/login');
    await findEmailField();
    expect(passwordField().type).toBe('password');
    await person.click(screen.getByRole('button', { name: 'Şifreyi göster' }));
    expect(passwordField().type).toBe('text');
  });

  it('shows the product name above the form and the copyright year below it', async () => {
    openApp('/auth/login');
    await screen.findByText('Lamina');
    expect(screen.getByRole('contentinfo').textContent).toBe(
      `© ${new Date().getFullYear()} Lamina. Tüm hakları saklıdır.`,
    );
  });
});
