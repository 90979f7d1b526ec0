import { getProfile, signOut } from '@lamina/contract';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { account } from '../testing/accounts.ts';
import { errorResponse, pendingResponse, stubApi } from '../testing/stub-api.ts';
import { connectAuth, initialiseAuth, login, logout, onSignInLost, refreshUser } from './auth.ts';
import { authState, setAuthState, signedOut } from './auth-state.ts';
import { call } from './client.ts';
import { queryClient } from './query-client.ts';
import { storeSignIn } from './stored-sign-in.ts';

const ipek = account();
const deniz = account({ uid: 'uid-of-deniz', email: 'deniz@example.org', displayName: 'Deniz Kaya' });

/** Returns the token and the user in the storage of the browser. */
function storedSignIn(): unknown {
  const user = localStorage.getItem('user_data');
  return { token: localStorage.getItem('auth_token'), user: user && (JSON.parse(user) as unknown) };
}
const noSignIn = { token: null, user: null };

beforeEach(() => {
  setAuthState(signedOut);
  queryClient.clear();
  onSignInLost(() => {});
});

describe('initialiseAuth (verifies the stored sign-in when the web app starts)', () => {
  it('verifies the stored token with POST /auth/verify and updates the stored user with the response', async () => {
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
    expect(storedSignIn()).toEqual({ token: 'token-1', user: renamed });
  });

  it('sets the sign-in state to loading and not authenticated until the API responds', async () => {
    storeSignIn({ token: 'token-1', user: ipek });
    const verification = pendingResponse();
    stubApi({ 'POST /auth/verify': verification.answer });
    const done = initialiseAuth();
    expect(authState()).toMatchObject({ loading: true, isAuthenticated: false });
    verification.respondWith({ user: ipek, token: 'token-1' });
    await done;
    expect(authState()).toMatchObject({ loading: false, isAuthenticated: true });
  });

  it('keeps the stored token when POST /auth/verify returns a user but no token', async () => {
    storeSignIn({ token: 'token-1', user: ipek });
    stubApi({ 'POST /auth/verify': { user: ipek } });
    await initialiseAuth();
    expect(authState()).toMatchObject({ isAuthenticated: true, token: 'token-1', error: null });
    expect(storedSignIn()).toEqual({ token: 'token-1', user: ipek });
  });

  it('replaces the stored token with the token that POST /auth/verify returns', async () => {
    storeSignIn({ token: 'identity-token', user: ipek });
    stubApi({ 'POST /auth/verify': { user: ipek, token: 'token-2' } });
    await initialiseAuth();
    expect(storedSignIn()).toMatchObject({ token: 'token-2' });
  });

  it.each([
    ['rejects the token', () => errorResponse('token_invalid')],
    ['responds without a user', () => ({ token: 'token-1' })],
  ])('ends the sign-in when POST /auth/verify %s', async (_, answer) => {
    storeSignIn({ token: 'token-1', user: ipek });
    stubApi({ 'POST /auth/verify': answer });
    await initialiseAuth();
    expect(storedSignIn()).toEqual(noSignIn);
    expect(authState()).toEqual({
      ...signedOut,
      error: 'Geçersiz token veya kullanıcı bulunamadı',
    });
  });

  it.each([
    ['a network error', () => Promise.reject(new TypeError('Failed to fetch'))],
    ['the error token_unverifiable', () => errorResponse('token_unverifiable')],
    ['the error rate_limited', () => errorResponse('rate_limited')],
    ['an HTML error page of a proxy', () => new Response('<h1>Bad gateway</h1>', { status: 502 })],
  ])(
    'keeps the user signed in when POST /auth/verify fails with %s, because an outage must not sign users out',
    async (_, answer) => {
      storeSignIn({ token: 'token-1', user: ipek });
      stubApi({ 'POST /auth/verify': answer });
      await initialiseAuth();
      expect(storedSignIn()).toEqual({ token: 'token-1', user: ipek });
      expect(authState()).toMatchObject({ user: ipek, isAuthenticated: true, error: 'Token doğrulanamadı' });
    },
  );

  it.each([
    ['the stored user is not JSON', 'token-1', '{'],
    ['the stored user lacks required fields', 'token-1', '{"uid":"u"}'],
    ['the stored token is missing', null, JSON.stringify(ipek)],
    ['the stored user is missing', 'token-1', null],
  ])('removes the stored sign-in and sends no request when %s', async (_, token, user) => {
    if (token !== null) localStorage.setItem('auth_token', token);
    if (user !== null) localStorage.setItem('user_data', user);
    const calls = stubApi({});
    await initialiseAuth();
    expect(storedSignIn()).toEqual(noSignIn);
    expect(authState()).toEqual(signedOut);
    expect(calls).toEqual([]);
  });

  it('does not verify the token again when it is called while a user is signed in', async () => {
    storeSignIn({ token: 'token-1', user: ipek });
    const calls = stubApi({ 'POST /auth/verify': { user: ipek, token: 'token-1' } });
    await initialiseAuth();
    await initialiseAuth();
    expect(calls).toHaveLength(1);
  });
});

describe('login (signs a user in to the web app)', () => {
  it('exchanges the identity token for a bearer token and stores the bearer token', async () => {
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
    expect(storedSignIn()).toEqual({ token: 'token-1', user: ipek });
  });

  it.each([
    ['credentials_invalid', undefined, 'Geçersiz e-posta veya şifre.'],
    ['account_not_active', 'Hesabınız devre dışı bırakılmış.', 'Hesabınız devre dışı bırakılmış.'],
    ['invalid_request', 'Geçersiz e-posta formatı.', 'Geçersiz e-posta formatı.'],
    ['internal', undefined, 'Beklenmeyen bir hata oluştu.'],
  ] as const)(
    'fails with the message of the server when the sign-in is rejected with the error code %s',
    async (code, serverMessage, message) => {
      stubApi({ 'POST /auth/login': errorResponse(code, serverMessage) });
      await expect(login('a@b.co', 'x')).resolves.toEqual({ success: false, message, error: code });
      expect(authState()).toEqual({ ...signedOut, error: message });
    },
  );

  it('stores the identity token as the bearer token when POST /auth/verify returns a user but no token', async () => {
    stubApi({
      'POST /auth/login': { token: 'identity-token', expires_in: 43_200 },
      'POST /auth/verify': { user: ipek },
    });
    await login('ipek@example.org', 'password');
    expect(storedSignIn()).toEqual({ token: 'identity-token', user: ipek });
  });

  it.each([
    ['cannot be reached', undefined, 'Token doğrulanamadı'],
    ['responds without a user', {}, 'Geçersiz token veya kullanıcı bulunamadı'],
  ])(
    'reports a problem with the token, not a wrong password, when POST /auth/verify %s',
    async (_, verification, message) => {
      const token = { token: 'identity-token', expires_in: 43_200 };
      stubApi({ 'POST /auth/login': token, ...(verification && { 'POST /auth/verify': verification }) });
      await expect(login('a@b.co', 'x')).resolves.toMatchObject({ success: false, message });
      expect(storedSignIn()).toEqual(noSignIn);
    },
  );

  it('sets a general error message in the sign-in state after a network error', async () => {
    stubApi({});
    await login('a@b.co', 'x');
    expect(authState().error).toBe('Giriş başarısız oldu. Lütfen bilgilerinizi kontrol edin.');
  });

  it('clears the cached data that was loaded for the previous user', async () => {
    queryClient.setQueryData(['users'], [ipek]);
    stubApi({
      'POST /auth/login': { token: 't', expires_in: 1 },
      'POST /auth/verify': { user: ipek, token: 't' },
    });
    await login('a@b.co', 'x');
    expect(queryClient.getQueryData(['users'])).toBeUndefined();
  });
});

describe('logout (signs the user out of the web app)', () => {
  beforeEach(() => {
    storeSignIn({ token: 'token-1', user: ipek });
    setAuthState({ user: ipek, token: 'token-1', isAuthenticated: true });
    queryClient.setQueryData(['profile'], ipek);
  });

  it('ends the sign-in at the API and removes the stored token and user from the browser', async () => {
    const calls = stubApi({ 'POST /auth/logout': new Response(null, { status: 204 }) });
    await expect(logout()).resolves.toEqual({ success: true, message: 'Başarıyla çıkış yapıldı.' });
    expect(calls).toMatchObject([{ name: 'POST /auth/logout', authorization: 'Bearer token-1' }]);
    expect(storedSignIn()).toEqual(noSignIn);
    expect(authState()).toEqual(signedOut);
    expect(queryClient.getQueryData(['profile'])).toBeUndefined();
  });

  it('removes the stored token and user from the browser even when the API does not respond', async () => {
    stubApi({});
    await expect(logout()).resolves.toMatchObject({
      success: false,
      message: 'Çıkış yaparken hata oluştu.',
    });
    expect(storedSignIn()).toEqual(noSignIn);
  });

  it('aborts GET requests that are running or begin during the sign-out, because the server would reject them afterwards', async () => {
    const profile = pendingResponse();
    const ended = pendingResponse();
    stubApi({ 'GET /user/profile': profile.answer, 'POST /auth/logout': ended.answer });
    const callBefore = call(getProfile, {});
    const done = logout();
    const callMeanwhile = call(getProfile, {});
    ended.respondWith(new Response(null, { status: 204 }));
    profile.respondWith(errorResponse('token_invalid'));
    await expect(callBefore).rejects.toMatchObject({ name: 'AbortError' });
    await expect(callMeanwhile).rejects.toMatchObject({ name: 'AbortError' });
    await expect(done).resolves.toMatchObject({ success: true });
  });

  it('succeeds when the server has already ended the sign-in', async () => {
    stubApi({ 'POST /auth/logout': errorResponse('token_invalid') });
    await expect(logout()).resolves.toMatchObject({ success: true });
  });
});

describe('a 401 response to the web app that rejects its bearer token', () => {
  beforeEach(() => {
    onTestFinished(connectAuth());
    storeSignIn({ token: 'token-1', user: ipek });
    setAuthState({ user: ipek, token: 'token-1', isAuthenticated: true });
  });

  it('removes the stored sign-in and calls the listener of onSignInLost once, even if two API calls fail', async () => {
    const onLost = vi.fn<() => void>();
    onSignInLost(onLost);
    queryClient.setQueryData(['profile'], ipek);
    stubApi({ 'GET /user/profile': errorResponse('token_invalid') });
    await Promise.allSettled([call(getProfile, {}), call(getProfile, {})]);
    expect(storedSignIn()).toEqual(noSignIn);
    expect(authState()).toEqual(signedOut);
    expect(queryClient.getQueryData(['profile'])).toBeUndefined();
    expect(onLost).toHaveBeenCalledTimes(1);
  });

  it('does not end the current sign-in when the rejected request was sent with the token of an earlier sign-in', async () => {
    const profile = pendingResponse();
    stubApi({ 'GET /user/profile': profile.answer });
    const earlier = call(getProfile, {});
    storeSignIn({ token: 'token-2', user: deniz });
    setAuthState({ user: deniz, token: 'token-2' });
    profile.respondWith(errorResponse('token_invalid'));
    await expect(earlier).rejects.toMatchObject({ code: 'token_invalid' });
    expect(storedSignIn()).toEqual({ token: 'token-2', user: deniz });
  });
});

describe('a change of the stored sign-in in another tab', () => {
  beforeEach(() => {
    onTestFinished(connectAuth());
    storeSignIn({ token: 'token-1', user: ipek });
    setAuthState({ user: ipek, token: 'token-1', isAuthenticated: true });
  });

  /** Dispatches the event that a change in another tab causes. */
  function dispatchStorageEvent(key: string | null) {
    window.dispatchEvent(new StorageEvent('storage', { key }));
  }

  it('signs this tab out when the other tab signs out', () => {
    localStorage.removeItem('auth_token');
    localStorage.removeItem('user_data');
    dispatchStorageEvent('auth_token');
    expect(authState()).toEqual(signedOut);
  });

  it('signs this tab out when the other tab clears the storage', () => {
    localStorage.clear();
    dispatchStorageEvent(null);
    expect(authState()).toEqual(signedOut);
  });

  it('makes this tab adopt the new sign-in and clear its cached data when the other tab signs in', async () => {
    stubApi({ 'POST /auth/verify': { user: deniz, token: 'token-2' } });
    queryClient.setQueryData(['profile'], ipek);
    storeSignIn({ token: 'token-2', user: deniz });
    dispatchStorageEvent('auth_token');
    await vi.waitFor(() => expect(authState()).toMatchObject({ user: deniz, isAuthenticated: true }));
    expect(queryClient.getQueryData(['profile'])).toBeUndefined();
  });

  it('is ignored when the storage event names another key, such as that of the colour scheme', () => {
    localStorage.removeItem('auth_token');
    dispatchStorageEvent('mantine-color-scheme-value');
    expect(authState().isAuthenticated).toBe(true);
  });

  it('is not overwritten by the response to a token verification that this tab requested before the change', async () => {
    setAuthState(signedOut);
    const verification = pendingResponse();
    stubApi({ 'POST /auth/verify': verification.answer });
    const verified = initialiseAuth();
    storeSignIn({ token: 'token-2', user: deniz });
    verification.respondWith({ user: ipek, token: 'token-1' });
    await verified;
    expect(storedSignIn()).toEqual({ token: 'token-2', user: deniz });
  });
});

describe('refreshUser (replaces the stored data of the signed-in user)', () => {
  it('stores nothing when another tab has replaced the stored sign-in with that of another user', () => {
    setAuthState({ user: ipek, token: 'token-1', isAuthenticated: true });
    storeSignIn({ token: 'token-2', user: deniz });
    refreshUser({ ...ipek, displayName: 'İpek Su' });
    expect(storedSignIn()).toEqual({ token: 'token-2', user: deniz });
  });
});

describe('storeSignIn (stores token and user in the browser)', () => {
  it('writes the user before the token, because other tabs react to a change of the token', () => {
    const order: string[] = [];
    vi.spyOn(Storage.prototype, 'setItem').mockImplementation((key) => void order.push(key));
    storeSignIn({ token: 'token-1', user: ipek });
    expect(order).toEqual(['user_data', 'auth_token']);
  });
});

it('an API call to the sign-out endpoint has no Authorization header when no user is signed in', async () => {
  const calls = stubApi({});
  await call(signOut, {}).catch(() => {});
  expect(calls[0]?.authorization).toBeNull();
});
