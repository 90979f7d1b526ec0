import { screen } from '@testing-library/react';
import { describe, expect, it, vi } from 'vitest';
import { initialiseAuth } from './api/auth.ts';
import { setAuthState, signedOut } from './api/auth-state.ts';
import { queryClient } from './api/query-client.ts';
import { storeSignIn } from './api/stored-sign-in.ts';
import { isLoginNext, preloadViewer } from './preload.ts';
import { preloadScreen } from './routes.tsx';
import { account } from './testing/accounts.ts';
import { openApp } from './testing/open-app.tsx';
import { errorResponse, pendingResponse, stubApi } from './testing/stub-api.ts';

// These tests do not need the content of the slide viewer, whose rendering library needs a real browser.
vi.mock('./screens/wsi-viewer/WsiViewer.tsx', () => ({ WsiViewer: () => <p>the viewer</p> }));

const active = account();
const admin = account({ role: 'admin' });
const pending = account({ status: 'pending', role: 'unassigned' });
const people = {
  'a visitor': null,
  'an active user': active,
  'a pending user': pending,
  'an administrator': admin,
};

const api = {
  'GET /user/activity': { activity: [] },
  'GET /admin/users': { users: [], message: '' },
  'GET /admin/statistics': errorResponse('unavailable'),
};
const apiOf = (user: typeof active) => ({ ...api, 'GET /user/profile': { user } });

describe('opening the app', () => {
  it.each([
    ['/', 'a visitor', '/auth/login'],
    ['/', 'an active user', '/dashboard'],
    ['/', 'a pending user', '/account-status'],
    ['/auth', 'a visitor', '/auth/login'],
    ['/auth', 'an active user', '/dashboard'],
    ['/auth', 'a pending user', '/account-status'],
    ['/auth/login', 'an active user', '/dashboard'],
    ['/auth/login', 'a pending user', '/auth/login'],
    ['/auth/register', 'an active user', '/dashboard'],
    ['/account-status', 'a visitor', '/auth/login'],
    ['/account-status', 'an active user', '/dashboard'],
    ['/dashboard', 'a visitor', '/auth/login'],
    ['/dashboard/profile', 'a visitor', '/auth/login'],
    ['/dashboard/profile', 'a pending user', '/account-status'],
    ['/wsi-viewer', 'a visitor', '/auth/login'],
    ['/wsi-viewer', 'a pending user', '/account-status'],
    ['/wsi-viewer', 'an active user', '/wsi-viewer'],
    ['/admin', 'a visitor', '/auth/login'],
    ['/admin', 'an active user', '/dashboard'],
    ['/admin/users', 'an active user', '/dashboard'],
    ['/admin/users', 'a pending user', '/account-status'],
    ['/admin/users', 'an administrator', '/admin/users'],
  ] as const)('at %s as %s leads to %s', async (path, who, expectedPath) => {
    const user = people[who];
    const { address } = openApp(path, user ? { signedInAs: user, api: apiOf(user) } : {});
    await vi.waitFor(() => expect(address()).toBe(expectedPath));
    await screen.findByRole('main');
    expect(address()).toBe(expectedPath);
  });
});

describe('a page that is opened at the URL of the slide viewer', () => {
  function open(user: typeof active) {
    setAuthState(signedOut);
    queryClient.clear();
    const calls = stubApi({
      'POST /auth/verify': { user, token: 'token-1' },
      'POST /auth/image-session': { session_id: 'session-1', expires_in: 3600 },
    });
    storeSignIn({ token: 'token-1', user });
    return { calls, preloaded: preloadViewer('/wsi-viewer', initialiseAuth()) };
  }

  it('requests the catalogue as soon as the sign-in is verified', async () => {
    const { calls } = open(active);
    await vi.waitFor(() =>
      expect(calls.map(({ name }) => name)).toEqual([
        'POST /auth/verify',
        'POST /auth/image-session',
        'GET /image-catalog/images/groups',
        'GET /image-catalog/images/rows',
      ]),
    );
  });

  it('requests no catalogue for a pending account', async () => {
    const { calls, preloaded } = open(pending);
    await preloaded;
    expect(queryClient.isFetching()).toBe(0);
    expect(calls.map(({ name }) => name)).toEqual(['POST /auth/verify']);
  });
});

describe('the title of the page', () => {
  it.each([
    ['/auth/login', 'a visitor', 'Giriş - Lamina'],
    ['/auth/register', 'a visitor', 'Kayıt Ol - Lamina'],
    ['/auth/confirm', 'a visitor', 'E-posta Doğrulama - Lamina'],
    ['/auth/password-reset', 'a visitor', 'Şifre Sıfırlama - Lamina'],
    ['/account-status', 'a pending user', 'Hesap Durumu - Lamina'],
    ['/dashboard', 'an active user', 'Dashboard - Lamina'],
    ['/dashboard/profile', 'an active user', 'Profile - Lamina'],
    ['/wsi-viewer', 'an active user', 'WSI Viewer - Lamina'],
    ['/admin', 'an administrator', 'Admin Dashboard - Lamina'],
    ['/admin/users', 'an administrator', 'User Management - Lamina'],
    ['/no/such/page', 'a visitor', 'Sayfa Bulunamadı - Lamina'],
  ] as const)('at %s for %s is "%s"', async (path, who, title) => {
    const user = people[who];
    openApp(path, user ? { signedInAs: user, api: apiOf(user) } : {});
    await vi.waitFor(() => expect(document.title).toBe(title));
  });
});

describe('an unknown URL', () => {
  it('shows that the page was not found, and a link to the home page', async () => {
    openApp('/no/such/page');
    await screen.findByRole('heading', { name: 'Sayfa Bulunamadı' });
    screen.getByText(/Aradığınız sayfa bulunamadı\./);
    expect(screen.getByRole('link').getAttribute('href')).toBe('/');
  });
});

describe('a stored sign-in', () => {
  it('is verified by the server before the screen or the login page is shown', async () => {
    const verification = pendingResponse();
    const { address } = openApp('/dashboard', {
      signedInAs: active,
      api: { ...api, 'POST /auth/verify': verification.answer },
    });
    await screen.findByText('Yükleniyor…');
    expect(address()).toBe('/dashboard');
    expect(screen.queryByRole('heading')).toBeNull();
    verification.respondWith({ user: active, token: 'token-1' });
    await screen.findByRole('heading', { name: 'Hoş geldiniz, İpek Işık' });
  });

  it('of an account that has since been suspended opens the account status page', async () => {
    const suspended = account({ status: 'suspended' });
    const { address } = openApp('/wsi-viewer', {
      signedInAs: active,
      api: { ...apiOf(suspended), 'POST /auth/verify': { user: suspended, token: 'token-1' } },
    });
    await screen.findByText('Askıya Alınmış');
    expect(address()).toBe('/account-status');
  });

  it('is used when the next screen is opened, even if it was stored only after the app was opened', async () => {
    const { goTo } = openApp('/no/such/page', {
      api: { ...api, 'POST /auth/verify': { user: active, token: 't' } },
    });
    await screen.findByRole('heading', { name: 'Sayfa Bulunamadı' });
    localStorage.setItem('user_data', JSON.stringify(active));
    localStorage.setItem('auth_token', 't');
    await goTo('/dashboard');
    await screen.findByRole('heading', { name: 'Hoş geldiniz, İpek Işık' });
  });
});

describe('a 401 response of the API', () => {
  it('removes the stored sign-in and opens the login page', async () => {
    const { address } = openApp('/dashboard/profile', {
      signedInAs: active,
      api: { 'GET /user/profile': errorResponse('token_invalid') },
    });
    await screen.findByRole('button', { name: 'Giriş Yap' });
    await screen.findByText('Oturumunuz sona erdi. Lütfen yeniden giriş yapın.');
    expect(address()).toBe('/auth/login');
    expect(localStorage.getItem('auth_token')).toBeNull();
    expect(localStorage.getItem('user_data')).toBeNull();
  });

  it('opens the login page even from the page for unknown URLs', async () => {
    const { address } = openApp('/no/such/page', {
      signedInAs: active,
      api: { 'POST /auth/verify': errorResponse('token_invalid') },
    });
    await vi.waitFor(() => expect(address()).toBe('/auth/login'));
  });

  it('leaves the page of a share link open, because the page needs no sign-in', async () => {
    const { address } = openApp('/shared#secret-1', {
      signedInAs: active,
      api: {
        'POST /auth/verify': errorResponse('token_invalid'),
        'POST /share-links/open': errorResponse('password_required'),
      },
    });
    await screen.findByLabelText('Bağlantının şifresi');
    await vi.waitFor(() => expect(localStorage.getItem('auth_token')).toBeNull());
    expect(address()).toBe('/shared#secret-1');
  });

  it('leaves a page under /auth/ open instead of opening the login page', async () => {
    const { address } = openApp('/auth/password-reset', {
      signedInAs: active,
      api: { 'POST /auth/verify': errorResponse('token_invalid') },
    });
    await screen.findByText('Oturumunuz sona erdi. Lütfen yeniden giriş yapın.');
    expect(address()).toBe('/auth/password-reset');
  });
});

describe('preloadScreen (loads the script of a screen in advance)', () => {
  it('makes the screen render without the loading indicator when it is opened later', async () => {
    // A screen that no other test of this file opens, so that its script is not loaded yet.
    await preloadScreen('/shared');
    openApp('/shared', {});
    expect(screen.queryByText('Yükleniyor…')).toBeNull();
    screen.getByRole('heading', { level: 1 });
  });
});

describe('isLoginNext (whether the app will open the login page, so that its script is loaded early)', () => {
  it.each([
    ['/', true],
    ['/wsi-viewer', true],
    ['/auth/login', true],
    ['/auth/register', false],
    ['/auth/password-reset', false],
    ['/shared', false],
  ])('for the path %s without a stored sign-in returns %s', (pathname, expected) => {
    expect(isLoginNext({ pathname })).toBe(expected);
  });

  it('returns false when a sign-in is stored', () => {
    storeSignIn({ token: 'token-1', user: active });
    expect(isLoginNext({ pathname: '/dashboard' })).toBe(false);
  });
});

describe('a screen that a link opens', () => {
  it('receives the focus, so that a screen reader starts to read there', async () => {
    const { person } = openApp('/dashboard', { signedInAs: active, api: apiOf(active) });
    await person.click(await screen.findByRole('link', { name: /^Profil/ }));
    await screen.findByRole('heading', { name: 'Profil' });
    expect(document.activeElement).toBe(screen.getByRole('main'));
  });
});

describe('the HTML page of a Turkish screen', () => {
  it('has lang="tr", and its English parts have lang="en"', async () => {
    openApp('/dashboard', { signedInAs: active, api: apiOf(active) });
    const english = await screen.findByRole('link', { name: 'WSI Viewer' });
    expect(english.closest('[lang]')?.getAttribute('lang')).toBe('en');
    const turkish = screen.getByRole('heading', { name: 'Son Etkinlikler' });
    expect(turkish.closest('[lang]')).toBe(document.documentElement);
    expect(document.documentElement.lang).toBe('tr');
  });
});
