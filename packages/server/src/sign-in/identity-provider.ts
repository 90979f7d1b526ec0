/**
 * Validates ID tokens of an OpenID Connect provider: issuer, audience, signature and age. The content of a token never
 * decides from where its keys are fetched.
 *
 * Sources: OpenID Connect Core 1.0 section 3.1.3.7 (ID token validation), OpenID Connect Discovery 1.0
 * section 4.3, RFC 8725 (JSON Web Token best current practices).
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

/** The person that an ID token names. */
export interface ExternalPerson {
  readonly issuer: string;
  /** The provider's identifier of the person; never reassigned. */
  readonly subject: string;
  /** Null when the provider sends none. */
  readonly email: string | null;
  /** Whether the provider has verified the address. */
  readonly isEmailVerified: boolean;
  readonly displayName: string | null;
  /** From then on the token is rejected as expired. */
  readonly tokenEndsAt: Date;
}

export interface IdentityProvider {
  /**
   * @param nonce that the browser sent to the provider; undefined: not checked
   * @throws AppError token_invalid, with the reason as its cause; token_unverifiable when the provider
   *   cannot be asked for its keys
   */
  personOf(idToken: string, nonce: string | undefined): Promise<ExternalPerson>;
}

/** Signatures with a private key of the provider; never `none`, never a shared secret. */
const algorithms = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512'],
  ...['EdDSA', 'Ed25519'],
];
const oldestTokenSeconds = 10 * 60;
/** Allowed difference between the clocks of the provider and this machine. */
const clockToleranceSeconds = 60;
const answerWithinMs = 5000;
const discoveryIsKeptMs = 60 * 60_000;
const keysAreKeptMs = 10 * 60_000;

interface Ground {
  readonly provider: ExternalProvider;
  readonly now: () => Date;
  /** An unknown key makes the server fetch the keys again, at most this often. */
  readonly keyCooldownMs?: number;
}

export function createIdentityProvider({
  provider: { issuer, clientId, audience },
  now,
  keyCooldownMs = 30_000,
}: Ground): IdentityProvider {
  let found: { readonly keys: JWTVerifyGetKey; readonly jwksUri: string; readonly until: number } | null =
    null;
  let discovering: Promise<JWTVerifyGetKey> | null = null;

  /** Concurrent callers share one request to the provider. */
  function keys(): Promise<JWTVerifyGetKey> {
    if (found !== null && performance.now() < found.until) return Promise.resolve(found.keys);
    discovering ??= discover().finally(() => {
      discovering = null;
    });
    return discovering;
  }

  async function discover(): Promise<JWTVerifyGetKey> {
    const jwksUri = await findJwksUri(issuer);
    const isKnown = found?.jwksUri === jwksUri;
    const keySet =
      isKnown && found !== null
        ? found.keys
        : createRemoteJWKSet(new URL(jwksUri), {
            cooldownDuration: keyCooldownMs,
            cacheMaxAge: keysAreKeptMs,
            timeoutDuration: answerWithinMs,
            [customFetch]: fetchKeys,
          });
    found = { keys: keySet, jwksUri, until: performance.now() + discoveryIsKeptMs };
    return keySet;
  }

  async function claimsOf(idToken: string): Promise<JWTPayload> {
    // A token that is not for this server is rejected without a request to the provider.
    const { alg, typ } = headerOf(idToken);
    if (alg === undefined || !algorithms.includes(alg)) throw new Refused('algorithm');
    if (typ !== undefined && typ.toLowerCase() !== 'jwt') throw new Refused('type');
    if (decodeJwt(idToken).iss !== issuer) throw new Refused('issuer');
    const { payload } = await jwtVerify(idToken, await keys(), {
      issuer,
      audience,
      algorithms,
      requiredClaims: ['exp', 'iat', 'sub'],
      maxTokenAge: oldestTokenSeconds,
      clockTolerance: clockToleranceSeconds,
      currentDate: now(),
    });
    return payload;
  }

  return {
    async personOf(idToken, nonce) {
      try {
        const claims = await claimsOf(idToken);
        requireForUs(claims, clientId);
        if (nonce !== undefined && claims.nonce !== nonce) throw new Refused('nonce');
        return personIn(claims, issuer);
      } catch (error) {
        const isRefused = error instanceof Refused || isFaultOfToken(error);
        throw new AppError(isRefused ? 'token_invalid' : 'token_unverifiable', { cause: error });
      }
    },
  };
}

/** Why a token is rejected; for the audit log, never for the response. */
class Refused extends Error {
  override readonly name = 'Refused';
}

/** A token for several audiences must name this client as its authorised party; one that names a party must name this client. */
function requireForUs({ aud, azp }: JWTPayload, clientId: string): void {
  const isForSeveral = Array.isArray(aud) && aud.length > 1;
  if (azp === undefined ? isForSeveral : azp !== clientId) throw new Refused('authorised party');
}

const Claims = z.object({
  sub: z.string().regex(/^[^\p{Cc}\p{Cs}]{1,255}$/u), // OpenID Connect Core 1.0 section 2 says ASCII; not all keep to it
  exp: z.number(),
  email: z.email().max(254).optional().catch(undefined),
  email_verified: z.union([z.boolean(), z.stringbool()]).optional().catch(undefined), // some send it as text
  preferred_username: z.email().max(254).optional().catch(undefined),
  name: z.string().transform(toSingleLine).optional().catch(undefined),
});

function personIn(payload: JWTPayload, issuer: string): ExternalPerson {
  const read = Claims.safeParse(payload);
  if (!read.success) throw new Refused('claims', { cause: read.error });
  const { sub, exp, email, email_verified, preferred_username, name } = read.data;
  return {
    issuer,
    subject: sub,
    email: email ?? preferred_username ?? null,
    isEmailVerified: email !== undefined && email_verified === true,
    displayName: name ? [...name].slice(0, 100).join('') : null,
    tokenEndsAt: new Date((exp + clockToleranceSeconds) * 1000),
  };
}

function headerOf(idToken: string): ProtectedHeaderParameters {
  try {
    return decodeProtectedHeader(idToken);
  } catch (error) {
    throw new Refused('format', { cause: error });
  }
}

/** Whether the token is at fault, not the provider or the connection to it. */
function isFaultOfToken(error: unknown): boolean {
  if (error instanceof errors.JWKSTimeout || error instanceof errors.JWKSInvalid) return false;
  return error instanceof errors.JOSEError && error.code !== errors.JOSEError.code;
}

const Discovery = z.object({ issuer: z.string(), jwks_uri: z.string() });

/** @throws when the provider is unreachable, or its discovery document names another issuer */
async function findJwksUri(issuer: string): Promise<string> {
  const answer = await fetch(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`, {
    redirect: 'error',
    signal: AbortSignal.timeout(answerWithinMs),
  });
  if (!answer.ok) throw new Error(`The provider's configuration was answered with ${answer.status}.`);
  const { issuer: named, jwks_uri: jwksUri } = Discovery.parse(await answer.json());
  if (named !== issuer) throw new Error(`The provider calls itself ${named}, not ${issuer}.`);
  if (!isProviderAddress(jwksUri))
    throw new Error(`The provider's keys are at ${jwksUri}, which is not safe.`);
  return jwksUri;
}

async function fetchKeys(url: string, request: RequestInit): Promise<Response> {
  return fetch(url, { ...request, redirect: 'error' });
}
