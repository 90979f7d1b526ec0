/** Tests of the account status screen. They find elements by Turkish texts, the default language of these screens. */
import { act, screen } from '@testing-library/react';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { settings } from '../../browser/settings.ts';
import { account } from '../../testing/accounts.ts';
import { openApp } from '../../testing/open-app.tsx';

const pending = account({ status: 'pending', role: 'unassigned', adminApproved: false, approvalDate: null });

/** Returns the API of a pending account, and a function that approves the account. */
function pendingAccountApi() {
  let user = pending;
  return {
    api: { 'GET /user/profile': () => ({ user }), 'GET /user/activity': { activity: [] } },
    approve: () => {
      user = account();
    },
  };
}

const profileCallCount = (calls: readonly { readonly name: string }[]) =>
  calls.filter(({ name }) => name === 'GET /user/profile').length;

describe('the account-status page', () => {
  it.each([
    ['pending', 'Onay Bekliyor'],
    ['suspended', 'Askıya Alınmış'],
    ['deactivated', 'Devre Dışı'],
  ] as const)(
    'shows the status %s as "%s", with the advice to contact an administrator',
    async (status, label) => {
      const user = account({ status });
      openApp('/account-status', { signedInAs: user, api: { 'GET /user/profile': { user } } });
      await screen.findByText(label);
      screen.getByText('Lütfen bir yöneticiyle iletişime geçin.');
    },
  );

  it.each([
    ['an e-mail address as a mail link', 'bilgi@example.org', 'mailto:bilgi@example.org'],
    ['a telephone number as plain text', '+90 232 000 00 00', null],
  ])('shows the contact of the administrators: %s', async (_, contact, href) => {
    Object.assign(settings, { contact });
    onTestFinished(() => void Object.assign(settings, { contact: null }));
    const user = account({ status: 'suspended' });
    openApp('/account-status', { signedInAs: user, api: { 'GET /user/profile': { user } } });
    expect((await screen.findByText(contact)).getAttribute('href')).toBe(href);
  });

  it('shows the day on which the access of an account ended', async () => {
    const endedAt = new Date(2025, 10, 21, 14).toISOString(); // 21 November 2025
    const user = account({ status: 'suspended', expiresAt: endedAt });
    openApp('/account-status', { signedInAs: user, api: { 'GET /user/profile': { user } } });
    await screen.findByText('Askıya Alınmış');
    screen.getByText('Erişiminiz 21 Kasım 2025 tarihinde sona erdi.');
  });

  it('shows why an application was rejected', async () => {
    const user = { ...account({ status: 'suspended' }), decisionReason: 'Kurumunuz doğrulanamadı.' };
    openApp('/account-status', { signedInAs: user, api: { 'GET /user/profile': { user } } });
    await screen.findByText('Kurumunuz doğrulanamadı.');
    screen.getByText('Askıya Alınmış');
    screen.getByText('Lütfen bir yöneticiyle iletişime geçin.');
  });

  it('shows a banner about limited features to a pending account', async () => {
    openApp('/account-status', { signedInAs: pending, api: pendingAccountApi().api });
    const banner = await screen.findByText('Your Account is Pending Approval');
    screen.getByText('Some features may be limited');
    expect(banner.closest('[lang]')?.getAttribute('lang')).toBe('en');
  });

  it('shows no banner about limited features to a suspended account', async () => {
    const user = account({ status: 'suspended' });
    openApp('/account-status', { signedInAs: user, api: { 'GET /user/profile': { user } } });
    await screen.findByText('Askıya Alınmış');
    expect(screen.queryByText('Your Account is Pending Approval')).toBeNull();
  });

  it('loads the status every 30 s, and opens the dashboard once the account is active', async () => {
    vi.useFakeTimers({ shouldAdvanceTime: true });
    const { api, approve } = pendingAccountApi();
    const { calls, address } = openApp('/account-status', { signedInAs: pending, api });
    await screen.findByText('Onay Bekliyor');
    await vi.waitFor(() => expect(profileCallCount(calls)).toBe(1));
    await act(() => vi.advanceTimersByTimeAsync(29_000));
    expect(profileCallCount(calls)).toBe(1);
    approve();
    await act(() => vi.advanceTimersByTimeAsync(1_500));
    await screen.findByText('Hoş geldiniz, İpek Işık');
    expect(address()).toBe('/dashboard');
  });

  it('loads the status again when the window gets the focus, and opens the dashboard once the account is active', async () => {
    const { api, approve } = pendingAccountApi();
    const { address, calls } = openApp('/account-status', { signedInAs: pending, api });
    await vi.waitFor(() => expect(profileCallCount(calls)).toBe(1));
    await screen.findByText('Onay Bekliyor');
    approve();
    act(() => void window.dispatchEvent(new Event('focus')));
    await screen.findByText('Hoş geldiniz, İpek Işık');
    expect(address()).toBe('/dashboard');
  });

  it('keeps showing the status of the stored sign-in when the profile cannot be loaded', async () => {
    const { calls } = openApp('/account-status', { signedInAs: pending }); // GET /user/profile has no stub and fails
    await vi.waitFor(() => expect(profileCallCount(calls)).toBe(1));
    await screen.findByText('Onay Bekliyor');
  });

  it('ends the sign-in and then opens the login page when the sign-out button is pressed', async () => {
    const { person, calls, address } = openApp('/account-status', {
      signedInAs: pending,
      api: { ...pendingAccountApi().api, 'POST /auth/logout': new Response(null, { status: 204 }) },
    });
    await person.click(await screen.findByRole('button', { name: 'Girişe Dön' }));
    await screen.findByRole('button', { name: 'Giriş Yap' });
    expect(address()).toBe('/auth/login');
    expect(calls.at(-1)).toMatchObject({ name: 'POST /auth/logout', authorization: 'Bearer token-1' });
    expect(localStorage.getItem('auth_token')).toBeNull();
  });
});
