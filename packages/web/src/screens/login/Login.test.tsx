import { screen } from '@testing-library/react';
import { describe, expect, it, vi } from 'vitest';
import { account } from '../../testing/accounts.ts';
import { openApp } from '../../testing/open-app.tsx';
import { later, refusal } from '../../testing/stub-api.ts';

const active = account();
const goodApi = {
  'POST /auth/login': { token: 'token-1', expires_in: 43_200 },
  'POST /auth/verify': { user: active, token: 'token-1' },
  'GET /user/activity': { activity: [] },
};

const email = () => screen.findByLabelText<HTMLInputElement>('E-posta');
const password = () => screen.getByLabelText<HTMLInputElement>('Şifre');
const submit = () => screen.getByRole<HTMLButtonElement>('button', { name: 'Giriş Yap' });

/** What a screen reader says of a field after its label. */
function describedBy(field: Element): string {
  const ids = field.getAttribute('aria-describedby')?.split(' ') ?? [];
  return ids.map((id) => document.getElementById(id)?.textContent).join(' ');
}

describe('the login page', () => {
  it('signs in, shows a message and opens the dashboard', async () => {
    const { person, calls, address } = openApp('/auth/login', { api: goodApi });
    await person.type(await email(), '  ipek@example.org ');
    await person.type(password(), ' secret ');
    await person.click(submit());
    await screen.findByText('Giriş başarılı!');
    await screen.findByText('Hoş geldiniz, İpek Işık');
    expect(address()).toBe('/dashboard');
    expect(calls[0]).toMatchObject({
      name: 'POST /auth/login',
      body: { email: 'ipek@example.org', password: ' secret ' }, // the e-mail is trimmed, the password never
    });
  });

  it.each([
    ['nothing', '', '', ['E-posta adresi gerekli.', 'Şifre gerekli.']],
    ['only spaces for an e-mail', '   ', 'x', ['E-posta adresi gerekli.']],
    ['what is no address', 'ipek', 'x', ['Geçerli bir e-posta adresi girin.']],
    ['an address without a password', 'ipek@example.org', '', ['Şifre gerekli.']],
  ])('asks for what is missing after %s', async (_, typedEmail, typedPassword, sentences) => {
    const { person, calls } = openApp('/auth/login');
    if (typedEmail) await person.type(await email(), typedEmail);
    else await email();
    if (typedPassword) await person.type(password(), typedPassword);
    await person.click(submit());
    await screen.findByText(sentences[0] ?? '');
    const shown = [...document.querySelectorAll('input[aria-invalid="true"]')].map(describedBy);
    expect(shown).toEqual(sentences);
    expect(calls).toEqual([]);
  });

  it('disables its button while it is signing in', async () => {
    const signIn = later();
    const { person } = openApp('/auth/login', { api: { ...goodApi, 'POST /auth/login': signIn.answer } });
    await person.type(await email(), 'ipek@example.org');
    await person.type(password(), 'secret');
    await person.click(submit());
    await vi.waitFor(() => expect(submit().disabled).toBe(true));
    signIn.give(refusal('credentials_invalid'));
    await vi.waitFor(() => expect(submit().disabled).toBe(false));
  });

  it.each([
    ['an unknown user or a wrong password', refusal('credentials_invalid'), 'Geçersiz e-posta veya şifre.'],
    [
      'a disabled account',
      refusal('account_not_active', 'Hesabınız devre dışı bırakılmış.'),
      'Hesabınız devre dışı bırakılmış.',
    ],
    [
      'a page of a proxy',
      new Response('', { status: 502 }),
      'Giriş başarısız oldu. Lütfen bilgilerinizi kontrol edin.',
    ],
  ])('says why it failed: %s', async (_, answer, sentence) => {
    const { person, address } = openApp('/auth/login', { api: { 'POST /auth/login': answer } });
    await person.type(await email(), 'ipek@example.org');
    await person.type(password(), 'secret');
    await person.click(submit());
    expect((await screen.findByRole('alert')).textContent).toContain(sentence);
    screen.getByText(/^(Giriş yapılamadı|Bu hesapla giriş yapılamıyor)/); // stays when the toast has gone
    expect(address()).toBe('/auth/login');
    expect((await email()).value).toBe('ipek@example.org');
  });

  it('shows one toast for the same failure, however often it happens', async () => {
    const { person, calls } = openApp('/auth/login', {
      api: { 'POST /auth/login': refusal('credentials_invalid') },
    });
    await person.type(await email(), 'ipek@example.org');
    await person.type(password(), 'secret');
    for (let tries = 1; tries <= 3; tries += 1) {
      await person.click(submit());
      await vi.waitFor(() => expect(calls).toHaveLength(tries));
      await vi.waitFor(() => expect(submit().disabled).toBe(false));
    }
    expect(await screen.findAllByRole('alert')).toHaveLength(1);
  });

  it('asks for the second-factor code of an account that has one, and rejects a wrong code', async () => {
    const { person, calls, address } = openApp('/auth/login', {
      api: {
        ...goodApi,
        'POST /auth/login': ({ body }) => {
          const { code } = body as { code?: string };
          if (code === undefined) return refusal('second_factor_required');
          return code === '123456' ? goodApi['POST /auth/login'] : refusal('second_factor_invalid');
        },
      },
    });
    await person.type(await email(), 'ipek@example.org');
    await person.type(password(), 'secret');
    await person.click(submit());

    const code = await screen.findByLabelText<HTMLInputElement>('Doğrulama Kodu');
    expect(document.activeElement).toBe(code);
    expect(screen.queryByRole('alert')).toBeNull(); // being asked is no failure
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

  it('can sign in with another account from the second step', async () => {
    const { person } = openApp('/auth/login', {
      api: { 'POST /auth/login': refusal('second_factor_required') },
    });
    await person.type(await email(), 'ipek@example.org');
    await person.type(password(), 'secret');
    await person.click(submit());
    await person.click(await screen.findByRole('button', { name: 'Geri dön' }));
    expect((await email()).value).toBe('ipek@example.org');
  });

  it('links to registering and to the password reset', async () => {
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

  it('opens the account status for an account that is not active', async () => {
    const pending = account({ status: 'pending', role: 'unassigned' });
    const { person, address } = openApp('/auth/login', {
      api: {
        ...goodApi,
        'POST /auth/verify': { user: pending, token: 't' },
        'GET /user/profile': { user: pending },
      },
    });
    await person.type(await email(), 'ipek@example.org');
    await person.type(password(), 'secret');
    await person.click(submit());
    await screen.findByText('Onay Bekliyor');
    expect(address()).toBe('/account-status');
  });

  it('shows the typed password on request', async () => {
    const { person } = openApp('/auth/login');
    await email();
    expect(password().type).toBe('password');
    await person.click(screen.getByRole('button', { name: 'Şifreyi göster' }));
    expect(password().type).toBe('text');
  });

  it('shows the product name above and the copyright year below', async () => {
    openApp('/auth/login');
    await screen.findByText('Lamina');
    expect(screen.getByRole('contentinfo').textContent).toBe(
      `© ${new Date().getFullYear()} Lamina. Tüm hakları saklıdır.`,
    );
  });
});
