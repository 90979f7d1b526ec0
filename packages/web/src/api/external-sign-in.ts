/**
 * Sign-in with an external OpenID Connect provider. The browser opens the provider's page and returns with a code, which this module
 * exchanges for an identity token. The API endpoint `verifyToken` then checks the token.
 *
 * Sources: OpenID Connect Core 1.0 section 3.1 (authorisation code flow), RFC 7636 (PKCE), RFC 9207 (issuer in the response),
 * RFC 9700 section 2.1 (which of these mechanisms a browser must use).
 */
import { z } from 'zod';
import { settings } from '../browser/settings.ts';
import { texts } from './texts.ts';

/** The sign-in could not start or returned no identity token; the message is shown to the user. */
export class ExternalSignInError extends Error {
  override readonly name = 'ExternalSignInError';
}

/** Path in this app to which the provider redirects. */
const callbackPath = '/auth/callback';
/** Key of the pending sign-in (started, but not completed) in the tab's sessionStorage. */
const pendingKey = 'external_sign_in';
const requestTimeoutMs = 10_000;

/** Random values. `state` must be in the response, `nonce` in the identity token. `verifier` proves who started the sign-in (PKCE). */
const PendingSignIn = z.object({ state: z.string(), nonce: z.string(), verifier: z.string() });
/** A URL with http or https only, because the browser navigates to it. */
const ProviderUrl = z.url({ protocol: /^https?$/ });
const Discovery = z.object({
  issuer: z.string(),
  authorization_endpoint: ProviderUrl,
  token_endpoint: ProviderUrl,
});
const TokenResponse = z.object({ id_token: z.string().min(1) });

/**
 * Starts a sign-in. Stores it as the pending sign-in of this tab and discards an earlier pending sign-in.
 *
 * @returns the URL of the provider's sign-in page
 * @throws ExternalSignInError when no provider is configured, or it is unreachable or sends an unexpected response
 */
export async function startExternalSignIn(): Promise<string> {
  const { clientId } = configuredProvider();
  const { authorization_endpoint } = await discover();
  const pending = { state: randomText(), nonce: randomText(), verifier: randomText() };
  sessionStorage.setItem(pendingKey, JSON.stringify(pending));
  const url = new URL(authorization_endpoint);
  for (const [name, value] of Object.entries({
    client_id: clientId,
    redirect_uri: callbackUrl(),
    response_type: 'code',
    scope: 'openid email profile',
    state: pending.state,
    nonce: pending.nonce,
    code_challenge: base64url(await sha256(pending.verifier)),
    code_challenge_method: 'S256',
  })) {
    url.searchParams.set(name, value);
  }
  return url.href;
}

/**
 * Exchanges the provider's response for an identity token. Works once per started sign-in.
 *
 * @param search the query of the redirect
 * @returns the token, and the nonce that it must contain
 * @throws ExternalSignInError when the response is invalid, the user has cancelled, or the provider is unreachable
 */
export async function completeExternalSignIn(
  search: string,
): Promise<{ readonly token: string; readonly nonce: string }> {
  const pending = takePendingSignIn();
  const response = new URLSearchParams(search);
  const { issuer, clientId } = configuredProvider();
  // A response that this tab did not request may be an attack (cross-site request forgery).
  if (pending === null || response.get('state') !== pending.state) {
    throw new ExternalSignInError(texts.externalRequestInvalid);
  }
  const responseIssuer = response.get('iss'); // optional; a response of another provider is rejected (RFC 9207)
  if (responseIssuer !== null && responseIssuer !== issuer)
    throw new ExternalSignInError(texts.externalRequestInvalid);
  if (response.get('error') === 'access_denied') throw new ExternalSignInError(texts.externalCancelled);
  const code = response.get('code');
  if (code === null) throw new ExternalSignInError(texts.loginFailed);

  const { token_endpoint } = await discover();
  const token = await requestFromProvider(TokenResponse, token_endpoint, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      client_id: clientId,
      redirect_uri: callbackUrl(),
      code,
      code_verifier: pending.verifier,
    }),
  });
  return { token: token.id_token, nonce: pending.nonce };
}

function configuredProvider() {
  const { external } = settings.signIn;
  if (external === null) throw new ExternalSignInError(texts.externalRequestInvalid);
  return external;
}

const callbackUrl = () => location.origin + callbackPath;

/** Returns the pending sign-in and removes it, so that a response can be used only once. */
function takePendingSignIn(): z.infer<typeof PendingSignIn> | null {
  const text = sessionStorage.getItem(pendingKey);
  sessionStorage.removeItem(pendingKey);
  try {
    return PendingSignIn.parse(JSON.parse(text ?? ''));
  } catch {
    return null; // not started in this tab, or already completed
  }
}

/** Loads the endpoints of the provider (OpenID Connect Discovery 1.0). */
async function discover(): Promise<z.infer<typeof Discovery>> {
  const { issuer } = configuredProvider();
  const discovery = await requestFromProvider(
    Discovery,
    `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`,
  );
  if (discovery.issuer !== issuer) throw new ExternalSignInError(texts.externalUnreachable);
  return discovery;
}

/** Sends a request to the provider and parses the response. @throws ExternalSignInError for no response, an error, or an unexpected body */
async function requestFromProvider<T>(
  schema: z.ZodType<T>,
  url: string,
  request: RequestInit = {},
): Promise<T> {
  try {
    const response = await fetch(url, {
      ...request,
      credentials: 'omit',
      redirect: 'error',
      signal: AbortSignal.timeout(requestTimeoutMs),
    });
    if (!response.ok) throw new Error(`status ${response.status}`);
    return schema.parse(await response.json());
  } catch (error) {
    throw new ExternalSignInError(texts.externalUnreachable, { cause: error });
  }
}

/** Returns 256 random bits as base64url. */
function randomText(): string {
  return base64url(crypto.getRandomValues(new Uint8Array(32)));
}

async function sha256(text: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)));
}

function base64url(bytes: Uint8Array): string {
  const text = btoa(String.fromCharCode(...bytes));
  return text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}
