/**
 * Validates ID tokens of an OpenID Connect provider: issuer, audience, signature and age. Keys are fetched only from the URL that
 * the configured provider states, never from a URL in a token. Sources: OpenID Connect Core 1.0 section 3.1.3.7 (ID
 * token validation), OpenID Connect Discovery 1.0 section 4.3, RFC 8725 (JSON Web Token best current practices).
 */
import { AppError, toSingleLine } from '@lamina/contract';
import {
  createRemoteJWKSet,
  customFetch,
  decodeJwt,
  decodeProtectedHeader,
  errors,
  type JWTPayload,
  type JWTVerifyGetKey,
  jwtVerify,
  type ProtectedHeaderParameters,
} from 'jose';
import { z } from 'zod';
import { isProviderAddress } from '../domain/provider-address.ts';
import type { ExternalProvider } from '../platform/config.ts';

/** The user that an ID token names. */
export interface ExternalPerson {
  readonly issuer: string;
  /** The provider's identifier of the user; never reassigned. */
  readonly subject: string;
  /** Null when the provider sends none. */
  readonly email: string | null;
  readonly isEmailVerified: boolean;
  readonly displayName: string | null;
  /** Time from which the token is rejected as expired. */
  readonly tokenEndsAt: Date;
}

export interface IdentityProvider {
  /**
   * Validates an ID token, and returns the user whom it identifies.
   *
   * @param nonce value that the browser sent to the provider and that the token must contain; undefined: the browser sent none
   * @throws AppError token_invalid, with the reason as its cause; token_unverifiable when the provider does not return its keys
   */
  personOf(idToken: string, nonce: string | undefined): Promise<ExternalPerson>;
}

const rsaAndEcdsa = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512'];
/** Accepted signature algorithms. All use a private key of the provider; `none` and algorithms with a shared secret are rejected. */
const algorithms = [...rsaAndEcdsa, 'EdDSA', 'Ed25519'];
const maxTokenAgeSeconds = 10 * 60;
/** Allowed difference between the clocks of the provider and this machine. */
const clockToleranceSeconds = 60;
const requestTimeoutMs = 5000;
/** Time for which the URL of the keys is cached. */
const discoveryCacheMs = 60 * 60_000;
const keyCacheMs = 10 * 60_000;

interface IdentityProviderDependencies {
  readonly provider: ExternalProvider;
  readonly now: () => Date;
  /** Tokens with an unknown key id cause at most one request for the keys in this time. */
  readonly keyCooldownMs?: number;
}

export function createIdentityProvider({
  provider: { issuer, clientId, audience },
  now,
  keyCooldownMs = 30_000,
}: IdentityProviderDependencies): IdentityProvider {
  let cachedKeys: {
    readonly keySet: JWTVerifyGetKey;
    readonly jwksUri: string;
    /** Time at which the URL of the keys is read again, by `performance.now()`. */
    readonly until: number;
  } | null = null;
  let discovering: Promise<JWTVerifyGetKey> | null = null;

  /** Returns the function that selects the key of a token. Concurrent callers share one request to the provider. */
  function providerKeys(): Promise<JWTVerifyGetKey> {
    if (cachedKeys !== null && performance.now() < cachedKeys.until)
      return Promise.resolve(cachedKeys.keySet);
    discovering ??= discover().finally(() => {
      discovering = null;
    });
    return discovering;
  }

  /** Reads the URL of the keys from the provider, and caches it together with the key set. */
  async function discover(): Promise<JWTVerifyGetKey> {
    const jwksUri = await findJwksUri(issuer);
    // While the URL stays the same, so does the key set, which caches the keys.
    const keySet =
      cachedKeys !== null && cachedKeys.jwksUri === jwksUri
        ? cachedKeys.keySet
        : createRemoteJWKSet(new URL(jwksUri), {
            cooldownDuration: keyCooldownMs,
            cacheMaxAge: keyCacheMs,
            timeoutDuration: requestTimeoutMs,
            [customFetch]: fetchKeys,
          });
    cachedKeys = { keySet, jwksUri, until: performance.now() + discoveryCacheMs };
    return keySet;
  }

  /** Verifies signature, issuer, audience and age of the token, and returns its claims. */
  async function claimsOf(idToken: string): Promise<JWTPayload> {
    // These checks come before `jwtVerify`, so that a token of another issuer is rejected without a request to the provider.
    const { alg, typ } = headerOf(idToken);
    if (alg === undefined || !algorithms.includes(alg)) throw new TokenRejection('algorithm');
    if (typ !== undefined && typ.toLowerCase() !== 'jwt') throw new TokenRejection('type');
    if (decodeJwt(idToken).iss !== issuer) throw new TokenRejection('issuer');
    const { payload } = await jwtVerify(idToken, await providerKeys(), {
      issuer,
      audience,
      algorithms,
      requiredClaims: ['exp', 'iat', 'sub'],
      maxTokenAge: maxTokenAgeSeconds,
      clockTolerance: clockToleranceSeconds,
      currentDate: now(),
    });
    return payload;
  }

  return {
    async personOf(idToken, nonce) {
      try {
        const claims = await claimsOf(idToken);
        requireAuthorisedParty(claims, clientId);
        if (nonce !== undefined && claims.nonce !== nonce) throw new TokenRejection('nonce');
        return personIn(claims, issuer);
      } catch (error) {
        const isTokenInvalid = error instanceof TokenRejection || isFaultOfToken(error);
        throw new AppError(isTokenInvalid ? 'token_invalid' : 'token_unverifiable', { cause: error });
      }
    },
  };
}

/** Rejection of a token. The message is the reason; it appears in the audit log, never in the response. */
class TokenRejection extends Error {
  override readonly name = 'TokenRejection';
}

/** The claim `azp` (authorised party) must be this client. Only a token for a single audience may lack it. */
function requireAuthorisedParty({ aud, azp }: JWTPayload, clientId: string): void {
  const isRequired = Array.isArray(aud) && aud.length > 1;
  const isAccepted = azp === clientId || (azp === undefined && !isRequired);
  if (!isAccepted) throw new TokenRejection('authorised party');
}

/** Claims that are read. An invalid optional claim counts as missing. */
const Claims = z.object({
  // OpenID Connect Core 1.0 section 2 allows only ASCII, but some providers send other characters. Control characters are rejected.
  sub: z.string().regex(/^[^\p{Cc}\p{Cs}]{1,255}$/u),
  exp: z.number(),
  email: z.email().max(254).optional().catch(undefined), // 254: maximum length of an address in SMTP
  email_verified: z.union([z.boolean(), z.stringbool()]).optional().catch(undefined), // some providers send it as text
  preferred_username: z.email().max(254).optional().catch(undefined),
  name: z.string().transform(toSingleLine).optional().catch(undefined),
});

function personIn(payload: JWTPayload, issuer: string): ExternalPerson {
  const parsedClaims = Claims.safeParse(payload);
  if (!parsedClaims.success) throw new TokenRejection('claims', { cause: parsedClaims.error });
  const { sub, exp, email, email_verified, preferred_username, name } = parsedClaims.data;
  return {
    issuer,
    subject: sub,
    email: email ?? preferred_username ?? null,
    isEmailVerified: email !== undefined && email_verified === true,
    displayName: name ? [...name].slice(0, 100).join('') : null, // the first 100 characters, without splitting one
    tokenEndsAt: new Date((exp + clockToleranceSeconds) * 1000),
  };
}

function headerOf(idToken: string): ProtectedHeaderParameters {
  try {
    return decodeProtectedHeader(idToken);
  } catch (error) {
    throw new TokenRejection('format', { cause: error });
  }
}

/** Returns whether the error is caused by the token, not by the provider or the connection to it. */
function isFaultOfToken(error: unknown): boolean {
  if (error instanceof errors.JWKSTimeout || error instanceof errors.JWKSInvalid) return false;
  // Errors about the token have their own code. The library uses the general code when the provider's response is unusable.
  return error instanceof errors.JOSEError && error.code !== errors.JOSEError.code;
}

const Discovery = z.object({ issuer: z.string(), jwks_uri: z.string() });

/** Reads the URL of the keys from the provider. @throws Error when it is unreachable, or its discovery document names another issuer */
async function findJwksUri(issuer: string): Promise<string> {
  const response = await fetch(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`, {
    redirect: 'error',
    signal: AbortSignal.timeout(requestTimeoutMs),
  });
  if (!response.ok)
    throw new Error(`The request for the provider's configuration failed with status ${response.status}.`);
  const { issuer: statedIssuer, jwks_uri: jwksUri } = Discovery.parse(await response.json());
  if (statedIssuer !== issuer) throw new Error(`The provider calls itself ${statedIssuer}, not ${issuer}.`);
  if (!isProviderAddress(jwksUri))
    throw new Error(`The provider's keys are at ${jwksUri}, which is not safe.`);
  return jwksUri;
}

/** Fetches the keys without following redirects, which could lead to another server. */
async function fetchKeys(url: string, request: RequestInit): Promise<Response> {
  return fetch(url, { ...request, redirect: 'error' });
}
