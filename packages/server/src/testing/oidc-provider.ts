/**
 * A real OpenID Connect provider (the library oidc-provider) for tests. It listens on its own port. People sign in on its page with a
 * name and without a password. Tests can change its keys and make it fail.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type CryptoKey, calculateJwkThumbprint, exportJWK, generateKeyPair, type JWK } from 'jose';
import Provider, { type AccountClaims, type Configuration, interactionPolicy } from 'oidc-provider';

/** A signing key of the provider with its private and public part. */
export interface SigningKey {
  readonly kid: string;
  readonly privateKey: CryptoKey;
  readonly publicJwk: JWK;
  readonly privateJwk: JWK;
}

export interface OidcProvider {
  readonly issuer: string;
  readonly clientId: string;
  key(): SigningKey;
  /** Replaces the signing key; the old key is no longer published. */
  changeKey(): Promise<void>;
  /** Publishes another key as valid, with which a test signs tokens itself. The provider still signs with its own key. */
  publish(key: SigningKey): void;
  /** Claims of people by the name with which they sign in; people without an entry have an e-mail address at example.org. */
  readonly people: Map<string, Omit<AccountClaims, 'sub'>>;
  /** Makes the provider answer every request with status 500 or a redirect, or close the connection (`disconnect`); null ends the failure. */
  fail(failureKind: 'error' | 'disconnect' | 'redirect' | null): void;
  /** Method and path of every request so far. */
  readonly requests: readonly string[];
  /** Signs in as a browser does, through the sign-in page, and exchanges the authorization code. @returns an ID token */
  signIn(login: string, nonce: string): Promise<string>;
  close(): Promise<void>;
}

/** Id under which Lamina is registered at this provider. */
const clientId = 'slides';
const redirectUri = 'http://127.0.0.1/auth/callback';

export async function startOidcProvider(): Promise<OidcProvider> {
  let failure: 'error' | 'disconnect' | 'redirect' | null = null;
  let handleRequest: (request: IncomingMessage, response: ServerResponse) => void = () => {}; // set by `createProvider`
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url?.split('?', 1)[0]}`);
    if (failure === 'disconnect') request.socket.destroy();
    else if (failure === 'error') response.writeHead(500).end();
    else if (failure === 'redirect') response.writeHead(302, { location: '/elsewhere' }).end();
    else handleRequest(request, response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const people: OidcProvider['people'] = new Map();
  const claimsOf = (login: string) => ({
    sub: login,
    ...(people.get(login) ?? { email: `${login}@example.org`, email_verified: true, name: login }),
  });

  let key = await newKey();
  const publishedKeys: SigningKey[] = [];
  /** Creates the provider with the current keys. Called again after a change, because a provider's keys cannot be changed. */
  function createProvider(): void {
    const provider = new Provider(
      issuer,
      configurationOf(
        [key, ...publishedKeys].map(({ privateJwk }) => privateJwk), // the provider signs with the first one
        claimsOf,
      ),
    );
    const callback = provider.callback();
    handleRequest = (request, response) => {
      const isSignInPage = request.url?.startsWith('/interaction/') ?? false;
      if (isSignInPage) void showSignIn(provider, request, response);
      else void callback(request, response);
    };
  }
  createProvider();

  return {
    issuer,
    clientId,
    people,
    requests,
    key: () => key,
    async changeKey() {
      key = await newKey();
      createProvider();
    },
    publish(otherKey) {
      publishedKeys.push(otherKey);
      createProvider();
    },
    fail(failureKind) {
      failure = failureKind;
    },
    signIn: (login, nonce) => signIn(issuer, login, nonce),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

export async function newKey(alg = 'RS256'): Promise<SigningKey> {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
  const kid = await calculateJwkThumbprint(await exportJWK(publicKey));
  const metadata = { kid, alg, use: 'sig' };
  return {
    kid,
    privateKey,
    publicJwk: { ...(await exportJWK(publicKey)), ...metadata },
    privateJwk: { ...(await exportJWK(privateKey)), ...metadata },
  };
}

function configurationOf(keys: readonly JWK[], claimsOf: (login: string) => AccountClaims): Configuration {
  const policy = interactionPolicy.base();
  policy.get('consent')?.checks.remove('native_client_prompt'); // no consent page
  return {
    clients: [
      {
        client_id: clientId,
        client_name: 'Slides',
        application_type: 'native', // allows redirects to any port of this machine
        redirect_uris: [redirectUri],
        grant_types: ['authorization_code'],
        response_types: ['code'],
        token_endpoint_auth_method: 'none',
      },
    ],
    jwks: { keys: keys as NonNullable<Configuration['jwks']>['keys'] },
    cookies: { keys: [randomBytes(16).toString('hex')] },
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
    conformIdTokenClaims: false, // the ID token contains e-mail address and name
    clientBasedCORS: () => true,
    findAccount: (_, login) => ({ accountId: login, claims: () => claimsOf(login) }),
    features: { devInteractions: { enabled: false } },
    interactions: { policy, url: (_, interaction) => `/interaction/${interaction.uid}` },
    // Grants the scopes to each person without asking.
    async loadExistingGrant({ oidc }) {
      const accountId = oidc.session?.accountId;
      if (accountId === undefined || oidc.client === undefined) return undefined;
      const grant = new oidc.provider.Grant({ accountId, clientId: oidc.client.clientId });
      grant.addOIDCScope('openid email profile');
      await grant.save();
      return grant;
    },
    ttl: {
      AccessToken: 600, // in seconds, like all lifetimes here
      AuthorizationCode: 60,
      IdToken: 600,
      Interaction: 600,
      Session: 600,
      Grant: 600,
    },
  };
}

/** Sends the sign-in page, and signs the user in when its form is submitted. */
async function showSignIn(
  provider: Provider,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (request.method !== 'POST') {
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' });
    response.end(
      '<!doctype html><html lang="en"><link rel="icon" href="data:,"><title>Provider</title><form method="post"><label>Name <input name="login"></label> <button>Sign in</button></form></html>',
    );
    return;
  }
  let body = '';
  for await (const chunk of request) body += String(chunk);
  const accountId = new URLSearchParams(body).get('login') ?? '';
  await provider.interactionFinished(request, response, { login: { accountId } });
}

/** Signs in as a browser does: follows redirects and keeps cookies. @returns the ID token */
async function signIn(issuer: string, login: string, nonce: string): Promise<string> {
  const cookies = new Map<string, string>();
  async function sendRequest(url: URL | string, form?: Record<string, string>): Promise<Response> {
    const response = await fetch(url, {
      method: form === undefined ? 'GET' : 'POST',
      redirect: 'manual',
      headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
      ...(form && { body: new URLSearchParams(form) }),
    });
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      cookies.set(name, value);
    }
    return response;
  }

  // PKCE (RFC 7636): the sign-in request contains a hash (`challenge`), the token request the hashed value (`verifier`).
  const verifier = randomBytes(32).toString('base64url');
  const challenge = Buffer.from(await crypto.subtle.digest('SHA-256', Buffer.from(verifier)));
  let url = new URL('/auth', issuer);
  url.search = new URLSearchParams({
    client_id: clientId,
    redirect_uri: redirectUri,
    response_type: 'code',
    scope: 'openid email profile',
    nonce,
    state: 'state',
    code_challenge: challenge.toString('base64url'),
    code_challenge_method: 'S256',
  }).toString();
  // Follows redirects and submits the sign-in page, in at most ten steps, so that a loop of redirects ends.
  for (let step = 0; step < 10 && !url.href.startsWith(redirectUri); step++) {
    const isSignInPage = url.pathname.startsWith('/interaction/');
    const response = await sendRequest(url, isSignInPage ? { login } : undefined);
    const location = response.headers.get('location');
    if (location === null)
      throw new Error(`${url.pathname} answered ${response.status} ${await response.text()}`);
    url = new URL(location, url);
  }
  const code = url.searchParams.get('code');
  if (code === null) throw new Error(`no code: ${url.search}`);
  const response = await sendRequest(new URL('/token', issuer), {
    grant_type: 'authorization_code',
    client_id: clientId,
    redirect_uri: redirectUri,
    code,
    code_verifier: verifier,
  });
  const { id_token: idToken } = (await response.json()) as { id_token?: string };
  if (idToken === undefined) throw new Error(`no ID token: ${response.status}`);
  return idToken;
}
