import {
  AppError,
  changePassword,
  createImageSession,
  getProfile,
  listImages,
  listUsers,
  signIn,
  signOut,
  verifyToken,
} from '@lamina/contract';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { chooseLanguage } from '../language.ts';
import { account } from '../testing/accounts.ts';
import { refusal, stubApi } from '../testing/stub-api.ts';
import {
  addressOf,
  call,
  callIfChanged,
  messageOf,
  NoAnswerError,
  onSignInEnded,
  UnexpectedAnswerError,
} from './client.ts';
import { storeSignIn } from './stored-sign-in.ts';

const ended = vi.fn<(token: string | null) => void>();

beforeEach(() => onSignInEnded(ended));
afterEach(() => {
  ended.mockReset();
  onSignInEnded(() => {});
});

function signedIn() {
  storeSignIn({ token: 'token-1', user: account() });
}

describe('a call of the API', () => {
  it('carries the stored token as a bearer token', async () => {
    signedIn();
    const calls = stubApi({ 'GET /user/profile': { user: account() } });
    await call(getProfile, {});
    expect(calls).toMatchObject([{ name: 'GET /user/profile', authorization: 'Bearer token-1' }]);
  });

  it('carries none while nobody is signed in', async () => {
    const calls = stubApi({ 'GET /user/profile': { user: account() } });
    await call(getProfile, {});
    expect(calls[0]?.authorization).toBeNull();
  });

  it('carries none where anyone may call', async () => {
    signedIn();
    const calls = stubApi({ 'POST /auth/verify': { user: account(), token: 't' } });
    await call(verifyToken, { body: { token: 't' } });
    expect(calls).toMatchObject([{ authorization: null, body: { token: 't' } }]);
  });

  it.each([
    ['mixed', '*'],
    ['tr', 'tr'],
    ['en', 'en'],
  ] as const)('in %s asks for the language %s', async (choice, language) => {
    chooseLanguage(choice);
    const fetched = vi.fn<typeof fetch>(async () => Response.json({ user: account() }));
    vi.stubGlobal('fetch', fetched);
    await call(getProfile, {});
    expect(new Headers(fetched.mock.calls[0]?.[1]?.headers).get('Accept-Language')).toBe(language);
  });

  it('is given up after 10 s', async () => {
    const timeout = vi.spyOn(AbortSignal, 'timeout').mockReturnValue(AbortSignal.abort());
    vi.stubGlobal('fetch', (_: string, { signal }: RequestInit) =>
      Promise.reject(signal?.aborted ? signal.reason : new Error('not aborted')),
    );
    await expect(call(getProfile, {})).rejects.toBeInstanceOf(NoAnswerError);
    expect(timeout).toHaveBeenCalledWith(10_000);
  });

  it('passes the abort of its caller through', async () => {
    vi.stubGlobal('fetch', (_: string, { signal }: RequestInit) => Promise.reject(signal?.reason));
    const reason = new Error('left the screen');
    await expect(call(getProfile, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  });

  it('that finds no server says so', async () => {
    stubApi({});
    await expect(call(getProfile, {})).rejects.toMatchObject({
      message: 'No response from server. Please check your connection.',
    });
  });

  it('throws the refusal with its code and the sentence of the server', async () => {
    stubApi({ 'GET /admin/users': refusal('forbidden', 'Olmaz.') });
    await expect(call(listUsers, {})).rejects.toMatchObject({ code: 'forbidden', message: 'Olmaz.' });
  });

  it.each([
    ['a page of a proxy', () => new Response('<h1>Bad gateway</h1>', { status: 502 })],
    [
      'a code that is not of the contract',
      () => Response.json({ code: 'teapot', message: '…' }, { status: 502 }),
    ],
  ])('takes %s for an unexpected answer', async (_, answer) => {
    stubApi({ 'GET /user/profile': answer });
    const thrown = await call(getProfile, {}).catch((error: unknown) => error);
    expect(thrown).toBeInstanceOf(UnexpectedAnswerError);
    expect(thrown).toMatchObject({ status: 502 });
  });

  it('refuses an answer that is not of the contract', async () => {
    stubApi({ 'GET /user/profile': { user: { uid: 'u' } } });
    await expect(call(getProfile, {})).rejects.toMatchObject({ name: 'ZodError' });
  });

  it('answers nothing where there is no content', async () => {
    stubApi({ 'POST /auth/logout': new Response(null, { status: 204 }) });
    await expect(call(signOut, {})).resolves.toBeUndefined();
  });
});

describe('a 401', () => {
  const answers = {
    'about the token': [getProfile, {}, refusal('token_invalid'), true],
    'about an image session': [
      listImages,
      { query: { session: 's' } },
      Response.json(
        { code: 'session_invalid', message: '…' },
        { status: 401, headers: { 'WWW-Authenticate': 'ImageSession' } },
      ),
      false,
    ],
    'for a wrong current password': [
      changePassword,
      { body: { new_password: 'new password' } },
      refusal('credentials_invalid'),
      false,
    ],
    'for a wrong password at sign-in': [
      signIn,
      { body: { email: 'a@b.co', password: 'x' } },
      refusal('credentials_invalid'),
      false,
    ],
    'from a call for an image session': [createImageSession, {}, refusal('token_missing'), true],
  } as const;

  it.each(Object.entries(answers))(
    '%s ends the sign-in or not',
    async (_, [endpoint, input, answer, ends]) => {
      signedIn();
      vi.stubGlobal('fetch', () => Promise.resolve(answer.clone()));
      await expect(call(endpoint, input as never)).rejects.toBeInstanceOf(AppError);
      expect(ended.mock.calls).toEqual(ends ? [['token-1']] : []);
    },
  );
});

describe('the address of an endpoint', () => {
  it('has its parameters and the query that is set', () => {
    expect(addressOf({ ...getProfile, path: '/a/:uid/b/:name' }, { uid: 'x/y', name: 'ö' })).toBe(
      '/api/v1/a/x%2Fy/b/%C3%B6',
    );
    expect(addressOf(listImages, {}, { q: 'a&b', dataset: undefined, limit: 5 })).toBe(
      '/api/v1/image-catalog/images?q=a%26b&limit=5',
    );
  });
});

describe('the sentence of a failure', () => {
  it('is that of the server, else the one of the screen', () => {
    expect(messageOf(new AppError('not_found', { message: 'Yok.' }), 'Olmadı.')).toBe('Yok.');
    expect(messageOf(new NoAnswerError(null), 'Olmadı.')).toBe('Olmadı.');
    expect(messageOf('nonsense', 'Olmadı.')).toBe('Olmadı.');
  });
});

describe('a call for what may be known already', () => {
  it('says what is known, and tells nothing when it has not changed', async () => {
    const asked: (string | null)[] = [];
    vi.stubGlobal('fetch', async (_: string, { headers }: { headers: Headers }) => {
      asked.push(headers.get('If-None-Match'));
      if (asked.length > 1) return new Response(null, { status: 304 });
      return Response.json({ images: [], next_cursor: null }, { headers: { ETag: 'W/"1"' } });
    });
    const first = await callIfChanged(listImages, { query: {} }, null);
    expect(first).toEqual({ answer: { images: [], next_cursor: null }, etag: 'W/"1"' });
    expect(await callIfChanged(listImages, { query: {} }, 'W/"1"')).toBeNull();
    expect(asked).toEqual([null, 'W/"1"']);
  });
});
