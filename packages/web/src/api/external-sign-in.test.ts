import { webcrypto } from 'node:crypto';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { stubApi } from '../testing/stub-api.ts';
import { completeExternalSignIn, ExternalSignInError, startExternalSignIn } from './external-sign-in.ts';

const issuer = 'https://id.example.org/realm';
vi.mock('../browser/settings.ts', () => ({
  settings: {
    productName: 'Lamina',
    tokenSyncUrl: null,
    signIn: {
      embedded: true,
      external: { issuer: 'https://id.example.org/realm', clientId: 'slides', name: null },
    },
  },
}));

const discovery = {
  issuer,
  authorization_endpoint: `${issuer}/authorize?kc=1`,
  token_endpoint: `${issuer}/token`,
};
const discoveryCall = 'GET /realm/.well-known/openid-configuration';

/** Stubs the provider. @returns the token requests sent so far, each as `URL?form` */
function stubProvider(answers: Record<string, object> = {}) {
  const tokenRequests: string[] = [];
  stubApi({ [discoveryCall]: discovery, ...answers });
  const stubbed = fetch;
  vi.stubGlobal('fetch', async (address: string, request: RequestInit = {}) => {
    if (request.method !== 'POST') return stubbed(address, request);
    tokenRequests.push(`${address}?${(request.body as URLSearchParams).toString()}`);
    return stubbed(address, { ...request, body: null });
  });
  return tokenRequests;
}

beforeEach(() => {
  sessionStorage.clear();
  vi.stubGlobal('crypto', webcrypto); // jsdom has no crypto.subtle
});

/** Starts a sign-in. @returns the query parameters of the provider's sign-in page */
async function startAndReadQuery() {
  const url = new URL(await startExternalSignIn());
  return Object.fromEntries(url.searchParams);
}

describe('startExternalSignIn (sign-in with an identity provider)', () => {
  it('returns the URL of the provider’s sign-in page, with a new random code challenge, state and nonce each time', async () => {
    stubProvider();
    const [first, second] = [await startAndReadQuery(), await startAndReadQuery()];
    expect(first).toMatchObject({
      kc: '1',
      client_id: 'slides',
      redirect_uri: `${location.origin}/auth/callback`,
      response_type: 'code',
      scope: 'openid email profile',
      code_challenge_method: 'S256',
    });
    for (const name of ['state', 'nonce', 'code_challenge']) {
      expect(first[name]).toMatch(/^[\w-]{43}$/);
      expect(first[name]).not.toBe(second[name]);
    }
  });

  it.each([
    ['is an empty object', {}],
    ['names an unexpected issuer', { ...discovery, issuer: 'https://elsewhere.example.org' }],
    [
      'names a sign-in page that is not an http URL',
      { ...discovery, authorization_endpoint: 'javascript:alert(1)' },
    ],
    ['cannot be loaded (status 500)', new Response('', { status: 500 })],
  ])('throws an ExternalSignInError when the discovery document of the provider %s', async (_, answer) => {
    stubProvider({ [discoveryCall]: answer });
    await expect(startExternalSignIn()).rejects.toThrow(
      new ExternalSignInError('Kimlik doğrulama hizmetine ulaşılamıyor. Lütfen biraz sonra yeniden deneyin.'),
    );
  });
});

describe('completeExternalSignIn (return from the sign-in page of an identity provider)', () => {
  const requestInvalid = 'Bu giriş isteği geçersiz veya süresi dolmuş. Lütfen yeniden deneyin.';

  it('exchanges the code for an identity token and sends the PKCE code verifier of the code challenge', async () => {
    const tokenRequests = stubProvider({ 'POST /realm/token': { id_token: 'a.b.c', access_token: 'x' } });
    const { state, nonce, code_challenge } = await startAndReadQuery();
    expect(
      await completeExternalSignIn(`?code=c-1&state=${state}&iss=${encodeURIComponent(issuer)}`),
    ).toEqual({
      token: 'a.b.c',
      nonce,
    });
    const [address = '', query] = tokenRequests[0]?.split('?') ?? [];
    const form = Object.fromEntries(new URLSearchParams(query));
    expect([address, form]).toMatchObject([
      `${issuer}/token`,
      { grant_type: 'authorization_code', client_id: 'slides', code: 'c-1' },
    ]);
    const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(form.code_verifier));
    expect(Buffer.from(digest).toString('base64url')).toBe(code_challenge);
  });

  it('throws when the same response of the provider is processed a second time', async () => {
    stubProvider({ 'POST /realm/token': { id_token: 'a.b.c' } });
    const { state } = await startAndReadQuery();
    await completeExternalSignIn(`?code=c-1&state=${state}`);
    await expect(completeExternalSignIn(`?code=c-1&state=${state}`)).rejects.toThrow(requestInvalid);
  });

  it.each([
    ['an unknown state', (_: string) => '?code=c-1&state=x', requestInvalid],
    ['no state', (_: string) => '?code=c-1', requestInvalid],
    [
      'an unexpected issuer',
      (state: string) => `?code=c-1&state=${state}&iss=https://elsewhere.example.org`,
      requestInvalid,
    ],
    [
      'a cancellation by the user',
      (state: string) => `?error=access_denied&state=${state}`,
      'Giriş iptal edildi.',
    ],
    [
      'an error other than a cancellation',
      (state: string) => `?error=server_error&state=${state}`,
      'Giriş başarısız oldu. Lütfen bilgilerinizi kontrol edin.',
    ],
  ])(
    'throws and sends no token request when the provider returns to the app with %s',
    async (_, searchWith, message) => {
      const tokenRequests = stubProvider();
      const { state = '' } = await startAndReadQuery();
      await expect(completeExternalSignIn(searchWith(state))).rejects.toThrow(message);
      expect(tokenRequests).toEqual([]);
    },
  );

  it('throws when the sign-in was not started in this tab', async () => {
    stubProvider();
    await expect(completeExternalSignIn('?code=c-1&state=x')).rejects.toThrow(requestInvalid);
  });

  it('throws an ExternalSignInError when the provider rejects the code', async () => {
    stubProvider({ 'POST /realm/token': new Response('{"error":"invalid_grant"}', { status: 400 }) });
    const { state } = await startAndReadQuery();
    await expect(completeExternalSignIn(`?code=c-1&state=${state}`)).rejects.toThrow(
      'Kimlik doğrulama hizmetine ulaşılamıyor.',
    );
  });
});
