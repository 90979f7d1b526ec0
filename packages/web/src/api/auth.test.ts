import { getProfile, signOut } from '@lamina/contract';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { account } from '../testing/accounts.ts';
import { later, refusal, stubApi } from '../testing/stub-api.ts';
import { connectAuth, initialiseAuth, login, logout, onSessionEnded, renewUser } from './auth.ts';
import { authState, setAuthState, signedOut } from './auth-state.ts';
import { call } from './client.ts';
import { queryClient } from './query-client.ts';
import { storeSignIn } from './stored-sign-in.ts';

const ipek = account();
const deniz = account({ uid: 'uid-of-deniz', email: 'deniz@example.org', displayName: 'Deniz Kaya' });

function stored(): unknown {
  const user = localStorage.getItem('user_data');
  return { token: localStorage.getItem('auth_token'), user: user && (JSON.parse(user) as unknown) };
}
const nothing = { token: null, user: null };

beforeEach(() => {
  setAuthState(signedOut);
  queryClient.clear();
  onSessionEnded(() => {});
});

describe('the stored sign-in, when the app is opened', () => {
  it('is verified, and taken up with what the API says of it now', async () => {
    storeSignIn({ token: 'token-1', user: ipek });
    const renamed = { ...ipek, displayName: 'İpek Su' };
    const calls = stubApi({ 'POST /auth/verify': { user: renamed, token: 'token-1' } });
    await initialiseAuth();
    expect(calls).toMatchObject([{ name: 'POST /auth/verify', body: { token: 'token-1' } }]);
    expect(authState()).toEqual({
      user: renamed,
      token: 'token-1',
      isAuthenticated: true,
      loading: false,
      error: null,
    });
    expect(stored()).toEqual({ token: 'token-1', user: renamed });
  });

  it('is loading, and not yet authenticated, until the answer is here', async () => {
    storeSignIn({ token: 'token-1', user: ipek });
    const verification = later();
    stubApi({ 'POST /auth/verify': verification.answer });
    const done = initialiseAuth();
    expect(authState()).toMatchObject({ loading: true, isAuthenticated: false });
    verification.give({ user: ipek, token: 'token-1' });
    await done;
    expect(authState()).toMatchObject({ loading: false, isAuthenticated: true });
  });

  it('with another token in the answer keeps that one', async () => {
    storeSignIn({ token: 'identity-token', user: ipek });
    stubApi({ 'POST /auth/verify': { user: ipek, token: 'token-2' } });
    await initialiseAuth();
    expect(stored()).toMatchObject({ token: 'token-2' });
  });

  it.each([
    ['a refused token', () => refusal('token_invalid')],
    ['an answer without a user', () => ({ token: 'token-1' })],
  ])('ends with %s', async (_, answer) => {
    storeSignIn({ token: 'token-1', user: ipek });
    stubApi({ 'POST /auth/verify': answer });
    await initialiseAuth();
    expect(stored()).toEqual(nothing);
    expect(authState()).toEqual({
      ...signedOut,
      error: 'Geçersiz token veya kullanıcı bulunamadı',
    });
  });

  it.each([
    ['no answer', () => Promise.reject(new TypeError('Failed to fetch'))],
    ['a provider out of reach', () => refusal('token_unverifiable')],
    ['too many requests', () => refusal('rate_limited')],
    ['a page of a proxy', () => new Response('<h1>Bad gateway</h1>', { status: 502 })],
  ])('stays with %s: an outage signs nobody out', async (_, answer) => {
    storeSignIn({ token: 'token-1', user: ipek });
    stubApi({ 'POST /auth/verify': answer });
    await initialiseAuth();
    expect(stored()).toEqual({ token: 'token-1', user: ipek });
    expect(authState()).toMatchObject({ user: ipek, isAuthenticated: true, error: 'Token doğrulanamadı' });
  });

  it.each([
    ['that is no JSON', 'token-1', '{'],
    ['that is no user', 'token-1', '{"uid":"u"}'],
    ['without a token', null, JSON.stringify(ipek)],
    ['without a user', 'token-1', null],
  ])('%s is removed', async (_, token, user) => {
    if (token !== null) localStorage.setItem('auth_token', token);
    if (user !== null) localStorage.setItem('user_data', user);
    const calls = stubApi({});
    await initialiseAuth();
    expect(stored()).toEqual(nothing);
    expect(authState()).toEqual(signedOut);
    expect(calls).toEqual([]);
  });

  it('is not asked for while someone is signed in', async () => {
    storeSignIn({ token: 'token-1', user: ipek });
    const calls = stubApi({ 'POST /auth/verify': { user: ipek, token: 'token-1' } });
    await initialiseAuth();
    await initialiseAuth();
    expect(calls).toHaveLength(1);
  });
});

describe('signing in', () => {
  it('hands the identity token in and stores the token of the answer', async () => {
    const calls = stubApi({
      'POST /auth/login': { token: 'identity-token', expires_in: 43_200 },
      'POST /auth/verify': { user: ipek, token: 'token-1' },
    });
    await expect(login('ipek@example.org', 'password')).resolves.toEqual({
      success: true,
      message: 'Giriş başarılı!',
    });
    expect(calls.map(({ name, body }) => [name, body])).toEqual([
      ['POST /auth/login', { email: 'ipek@example.org', password: 'password' }],
      ['POST /auth/verify', { token: 'identity-token' }],
    ]);
    expect(stored()).toEqual({ token: 'token-1', user: ipek });
  });

  it.each([
    ['credentials_invalid', undefined, 'Geçersiz e-posta veya şifre.'],
    ['account_not_active', 'Hesabınız devre dışı bırakılmış.', 'Hesabınız devre dışı bırakılmış.'],
    ['invalid_request', 'Geçersiz e-posta formatı.', 'Geçersiz e-posta formatı.'],
    ['internal', undefined, 'Beklenmeyen bir hata oluştu.'],
  ] as const)('refused with %s keeps the sentence as the error', async (code, said, message) => {
    stubApi({ 'POST /auth/login': refusal(code, said) });
    await expect(login('a@b.co', 'x')).resolves.toEqual({ success: false, message, error: code });
    expect(authState()).toEqual({ ...signedOut, error: message });
  });

  it('without an answer has a sentence of its own', async () => {
    stubApi({});
    await login('a@b.co', 'x');
    expect(authState().error).toBe('Giriş başarısız oldu. Lütfen bilgilerinizi kontrol edin.');
  });

  it('forgets what was loaded for whoever was signed in before', async () => {
    queryClient.setQueryData(['users'], [ipek]);
    stubApi({
      'POST /auth/login': { token: 't', expires_in: 1 },
      'POST /auth/verify': { user: ipek, token: 't' },
    });
    await login('a@b.co', 'x');
    expect(queryClient.getQueryData(['users'])).toBeUndefined();
  });
});

describe('signing out', () => {
  beforeEach(() => {
    storeSignIn({ token: 'token-1', user: ipek });
    setAuthState({ user: ipek, token: 'token-1', isAuthenticated: true });
    queryClient.setQueryData(['profile'], ipek);
  });

  it('tells the API and removes everything', async () => {
    const calls = stubApi({ 'POST /auth/logout': new Response(null, { status: 204 }) });
    await expect(logout()).resolves.toEqual({ success: true, message: 'Başarıyla çıkış yapıldı.' });
    expect(calls).toMatchObject([{ name: 'POST /auth/logout', authorization: 'Bearer token-1' }]);
    expect(stored()).toEqual(nothing);
    expect(authState()).toEqual(signedOut);
    expect(queryClient.getQueryData(['profile'])).toBeUndefined();
  });

  it('removes everything here even when the API does not answer', async () => {
    stubApi({});
    await expect(logout()).resolves.toMatchObject({
      success: false,
      message: 'Çıkış yaparken hata oluştu.',
    });
    expect(stored()).toEqual(nothing);
  });

  it('is done when the sign-in had ended before', async () => {
    stubApi({ 'POST /auth/logout': refusal('token_invalid') });
    await expect(logout()).resolves.toMatchObject({ success: true });
  });
});

describe('a 401 about the token', () => {
  beforeEach(() => {
    onTestFinished(connectAuth());
    storeSignIn({ token: 'token-1', user: ipek });
    setAuthState({ user: ipek, token: 'token-1', isAuthenticated: true });
  });

  it('removes the stored data and tells it once, however many calls it ends', async () => {
    const told = vi.fn<() => void>();
    onSessionEnded(told);
    queryClient.setQueryData(['profile'], ipek);
    stubApi({ 'GET /user/profile': refusal('token_invalid') });
    await Promise.allSettled([call(getProfile, {}), call(getProfile, {})]);
    expect(stored()).toEqual(nothing);
    expect(authState()).toEqual(signedOut);
    expect(queryClient.getQueryData(['profile'])).toBeUndefined();
    expect(told).toHaveBeenCalledTimes(1);
  });

  it('that comes late, to a call of an earlier sign-in, does not end this one', async () => {
    const profile = later();
    stubApi({ 'GET /user/profile': profile.answer });
    const earlier = call(getProfile, {});
    storeSignIn({ token: 'token-2', user: deniz });
    setAuthState({ user: deniz, token: 'token-2' });
    profile.give(refusal('token_invalid'));
    await expect(earlier).rejects.toMatchObject({ code: 'token_invalid' });
    expect(stored()).toEqual({ token: 'token-2', user: deniz });
  });
});

describe('another tab', () => {
  beforeEach(() => {
    onTestFinished(connectAuth());
    storeSignIn({ token: 'token-1', user: ipek });
    setAuthState({ user: ipek, token: 'token-1', isAuthenticated: true });
  });

  /** What the browser tells this tab when another one has written. */
  function written(key: string | null) {
    window.dispatchEvent(new StorageEvent('storage', { key }));
  }

  it('that signs out signs out here', () => {
    localStorage.removeItem('auth_token');
    localStorage.removeItem('user_data');
    written('auth_token');
    expect(authState()).toEqual(signedOut);
  });

  it('that empties the storage signs out here', () => {
    localStorage.clear();
    written(null);
    expect(authState()).toEqual(signedOut);
  });

  it('that signs in as someone else does so here', async () => {
    stubApi({ 'POST /auth/verify': { user: deniz, token: 'token-2' } });
    queryClient.setQueryData(['profile'], ipek);
    storeSignIn({ token: 'token-2', user: deniz });
    written('auth_token');
    await vi.waitFor(() => expect(authState()).toMatchObject({ user: deniz, isAuthenticated: true }));
    expect(queryClient.getQueryData(['profile'])).toBeUndefined();
  });

  it('that writes something else changes nothing', () => {
    localStorage.removeItem('auth_token');
    written('mantine-color-scheme-value');
    expect(authState().isAuthenticated).toBe(true);
  });

  it('that signs in as someone else during a verification here is not overwritten by its answer', async () => {
    setAuthState(signedOut);
    const verification = later();
    stubApi({ 'POST /auth/verify': verification.answer });
    const verified = initialiseAuth();
    storeSignIn({ token: 'token-2', user: deniz });
    verification.give({ user: ipek, token: 'token-1' });
    await verified;
    expect(stored()).toEqual({ token: 'token-2', user: deniz });
  });
});

describe('a fresh profile', () => {
  it('is not stored for a sign-in that another tab has replaced', () => {
    setAuthState({ user: ipek, token: 'token-1', isAuthenticated: true });
    storeSignIn({ token: 'token-2', user: deniz });
    renewUser({ ...ipek, displayName: 'İpek Su' });
    expect(stored()).toEqual({ token: 'token-2', user: deniz });
  });
});

describe('the order in which a sign-in is stored', () => {
  it('is the user first, so that another tab finds the user beside a new token', () => {
    const order: string[] = [];
    vi.spyOn(Storage.prototype, 'setItem').mockImplementation((key) => void order.push(key));
    storeSignIn({ token: 'token-1', user: ipek });
    expect(order).toEqual(['user_data', 'auth_token']);
  });
});

it('a call after signing out carries no token', async () => {
  const calls = stubApi({});
  await call(signOut, {}).catch(() => {});
  expect(calls[0]?.authorization).toBeNull();
});
