import {
  AppError,
  changePassword,
  createImageSession,
  deleteImage,
  getImage,
  getProfile,
  listImages,
  listUsers,
  signIn,
  signOut,
  updateImage,
  verifyToken,
} from '@lamina/contract';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { chooseLanguage } from '../language/language.ts';
import { account } from '../testing/accounts.ts';
import { errorResponse, stubApi } from '../testing/stub-api.ts';
import {
  call,
  callIfChanged,
  endpointUrl,
  messageOf,
  NoResponseError,
  onSignInEnded,
  ResponseError,
  UnexpectedResponseError,
} from './client.ts';
import { storeSignIn } from './stored-sign-in.ts';

const onEnded = vi.fn<(token: string | null) => void>();

beforeEach(() => onSignInEnded(onEnded));
afterEach(() => {
  onEnded.mockReset();
  onSignInEnded(() => {});
});

function storeAnySignIn() {
  storeSignIn({ token: 'token-1', user: account() });
}

describe('call (sends an API request from the browser)', () => {
  it('sends the stored token as a bearer token', async () => {
    storeAnySignIn();
    const calls = stubApi({ 'GET /user/profile': { user: account() } });
    await call(getProfile, {});
    expect(calls).toMatchObject([{ name: 'GET /user/profile', authorization: 'Bearer token-1' }]);
  });

  it('sends no token while no user is signed in', async () => {
    const calls = stubApi({ 'GET /user/profile': { user: account() } });
    await call(getProfile, {});
    expect(calls[0]?.authorization).toBeNull();
  });

  it('sends no token to public endpoints', async () => {
    storeAnySignIn();
    const calls = stubApi({ 'POST /auth/verify': { user: account(), token: 't' } });
    await call(verifyToken, { body: { token: 't' } });
    expect(calls).toMatchObject([{ authorization: null, body: { token: 't' } }]);
  });

  it.each([
    ['mixed', '*'],
    ['tr', 'tr'],
    ['en', 'en'],
  ] as const)(
    'sends the header "Accept-Language: $1" for the language choice "$0"',
    async (choice, language) => {
      chooseLanguage(choice);
      const fetched = vi.fn<typeof fetch>(async () => Response.json({ user: account() }));
      vi.stubGlobal('fetch', fetched);
      await call(getProfile, {});
      expect(new Headers(fetched.mock.calls[0]?.[1]?.headers).get('Accept-Language')).toBe(language);
    },
  );

  it('throws NoResponseError after 10 s without a response', async () => {
    const timeout = vi.spyOn(AbortSignal, 'timeout').mockReturnValue(AbortSignal.abort());
    vi.stubGlobal('fetch', (_: string, { signal }: RequestInit) =>
      Promise.reject(signal?.aborted ? signal.reason : new Error('not aborted')),
    );
    await expect(call(getProfile, {})).rejects.toBeInstanceOf(NoResponseError);
    expect(timeout).toHaveBeenCalledWith(10_000);
  });

  it('rejects with the abort reason of the caller when the caller aborts it', async () => {
    vi.stubGlobal('fetch', (_: string, { signal }: RequestInit) => Promise.reject(signal?.reason));
    const reason = new Error('left the screen');
    await expect(call(getProfile, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  });

  it('throws NoResponseError on a network error', async () => {
    stubApi({});
    await expect(call(getProfile, {})).rejects.toMatchObject({
      message: 'No response from server. Please check your connection.',
    });
  });

  it('throws a ResponseError with the code and message of an error response', async () => {
    stubApi({ 'GET /admin/users': errorResponse('forbidden', 'Olmaz.') });
    await expect(call(listUsers, { query: {} })).rejects.toMatchObject({
      code: 'forbidden',
      message: 'Olmaz.',
    });
  });

  it.each([
    ['an HTML error page of a proxy', () => new Response('<h1>Bad gateway</h1>', { status: 502 })],
    [
      'an error code that is not in the contract',
      () => Response.json({ code: 'teapot', message: '…' }, { status: 502 }),
    ],
  ])('throws UnexpectedResponseError for %s', async (_, answer) => {
    stubApi({ 'GET /user/profile': answer });
    const thrown = await call(getProfile, {}).catch((error: unknown) => error);
    expect(thrown).toBeInstanceOf(UnexpectedResponseError);
    expect(thrown).toMatchObject({ status: 502 });
  });

  it('throws ZodError for a response that violates the API contract', async () => {
    stubApi({ 'GET /user/profile': { user: { uid: 'u' } } });
    await expect(call(getProfile, {})).rejects.toMatchObject({ name: 'ZodError' });
  });

  it('returns undefined for a response without content', async () => {
    stubApi({ 'POST /auth/logout': new Response(null, { status: 204 }) });
    await expect(call(signOut, {})).resolves.toBeUndefined();
  });
});

describe('a 401 response to a call of the API client', () => {
  /** By test name: endpoint, input, response, and whether the response ends the sign-in. */
  const cases = {
    'that rejects the bearer token ends the sign-in': [getProfile, {}, errorResponse('token_invalid'), true],
    'that rejects an image session (credential for tiles) keeps the sign-in': [
      listImages,
      { query: { session: 's' } },
      Response.json(
        { code: 'session_invalid', message: '…' },
        { status: 401, headers: { 'WWW-Authenticate': 'ImageSession' } },
      ),
      false,
    ],
    'for a wrong current password, sent to change the password, keeps the sign-in': [
      changePassword,
      { body: { new_password: 'new password' } },
      errorResponse('credentials_invalid'),
      false,
    ],
    'for a wrong password on the login page does not end a stored sign-in': [
      signIn,
      { body: { email: 'a@b.co', password: 'x' } },
      errorResponse('credentials_invalid'),
      false,
    ],
    'with the code token_invalid ends the sign-in, even if a proxy has removed the header WWW-Authenticate': [
      getProfile,
      {},
      Response.json({ code: 'token_invalid', message: '…' }, { status: 401 }),
      true,
    ],
    'with the code session_invalid keeps the sign-in, even if a proxy has removed the header WWW-Authenticate':
      [
        listImages,
        { query: {} },
        Response.json({ code: 'session_invalid', message: '…' }, { status: 401 }),
        false,
      ],
    'that reports a missing bearer token ends the sign-in': [
      createImageSession,
      {},
      errorResponse('token_missing'),
      true,
    ],
  } as const;

  it.each(Object.entries(cases))('%s', async (_, [endpoint, input, answer, endsSignIn]) => {
    storeAnySignIn();
    vi.stubGlobal('fetch', () => Promise.resolve(answer.clone()));
    await expect(call(endpoint, input as never)).rejects.toBeInstanceOf(AppError);
    expect(onEnded.mock.calls).toEqual(endsSignIn ? [['token-1']] : []);
  });
});

describe('endpointUrl (URL of an API request)', () => {
  it.each([getImage, updateImage, deleteImage])(
    'throws "Image ID is required" for an empty image id, because the URL would be that of the image list: $method $path',
    (endpoint) => {
      expect(() => endpointUrl(endpoint, { imageId: '' })).toThrow('Image ID is required');
    },
  );

  it('returns a URL with escaped path parameters, and without query parameters whose value is undefined', () => {
    expect(endpointUrl({ ...getProfile, path: '/a/:uid/b/:name' }, { uid: 'x/y', name: 'ö' })).toBe(
      '/api/v1/a/x%2Fy/b/%C3%B6',
    );
    expect(endpointUrl(listImages, {}, { q: 'a&b', dataset: undefined, limit: 5 })).toBe(
      '/api/v1/image-catalog/images?q=a%26b&limit=5',
    );
  });
});

describe('messageOf (message of an error for the user)', () => {
  it('returns the message of an error response, and the fallback message for every other error', () => {
    expect(messageOf(new ResponseError('not_found', 'Yok.'), 'Olmadı.')).toBe('Yok.');
    expect(messageOf(new NoResponseError(null), 'Olmadı.')).toBe('Olmadı.');
    expect(messageOf('nonsense', 'Olmadı.')).toBe('Olmadı.');
  });
});

describe('callIfChanged (API request whose response may be unchanged since the last one)', () => {
  it('returns the response with its ETag, or null when the server responds with 304 (not modified)', async () => {
    const requestedTags: (string | null)[] = [];
    vi.stubGlobal('fetch', async (_: string, { headers }: { headers: Headers }) => {
      requestedTags.push(headers.get('If-None-Match'));
      if (requestedTags.length > 1) return new Response(null, { status: 304 });
      return Response.json({ images: [], next_cursor: null }, { headers: { ETag: 'W/"1"' } });
    });
    const first = await callIfChanged(listImages, { query: {} }, null);
    expect(first).toEqual({ response: { images: [], next_cursor: null }, etag: 'W/"1"' });
    expect(await callIfChanged(listImages, { query: {} }, 'W/"1"')).toBeNull();
    expect(requestedTags).toEqual([null, 'W/"1"']);
  });
});
