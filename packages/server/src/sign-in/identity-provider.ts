/**
 * An OpenID Connect provider, as the server sees it: whether an ID token is really the provider's, meant for
 * us, and fresh. Nothing a token says decides where its keys are fetched.
 *
 * Sources: OpenID Connect Core 1.0 section 3.1.3.7 (ID token validation), OpenID Connect Discovery 1.0
 * section 4.3, RFC 8725 (JSON Web Token best current practices).
 */
import { AppError } from '@lamina/contract';
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
import type { ExternalProvider } from '../config.ts';
import { isProviderAddress } from '../domain/provider-address.ts';

/** Whom an ID token names. */
export interface ExternalPerson {
  readonly issuer: string;
  /** The provider's own name of the person: never given to another one. */
  readonly subject: string;
  /** Null when the provider tells none. */
  readonly email: string | null;
  /** Whether the provider says that the address is the person's. */
  readonly isEmailVerified: boolean;
  readonly displayName: string | null;
  /** After it the token is refused anyway. */
  readonly tokenEndsAt: Date;
}

export interface IdentityProvider {
  /**
   * @param nonce what the browser sent along when it went to the provider; undefined checks none
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
/** Two computers' clocks may differ by so much. */
const clockToleranceSeconds = 60;
const answerWithinMs = 5000;
const discoveryIsKeptMs = 60 * 60_000;
const keysAreKeptMs = 10 * 60_000;

interface Ground {
  readonly provider: ExternalProvider;
  readonly now: () => Date;
  /** After keys were fetched, a key nobody knows makes us ask again only when so much time has passed. */
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

  /** Whoever comes meanwhile waits for the same answer. */
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
    // What cannot be ours whoever signed it costs the provider no question.
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

/** Why a token is not taken; for the trail, never for whoever sent it. */
class Refused extends Error {
  override readonly name = 'Refused';
}

/** A token for several has to name the one it was issued to, and so must one that names anybody. */
function requireForUs({ aud, azp }: JWTPayload, clientId: string): void {
  const isForSeveral = Array.isArray(aud) && aud.length > 1;
  if (azp === undefined ? isForSeveral : azp !== clientId) throw new Refused('authorised party');
}

const Claims = z.object({
  sub: z.string().regex(/^\P{Cc}{1,255}$/u), // OpenID Connect Core 1.0 section 2 says ASCII; not all keep to it
  exp: z.number(),
  email: z.email().max(254).optional().catch(undefined),
  email_verified: z.union([z.boolean(), z.stringbool()]).optional().catch(undefined), // some send it as text
  preferred_username: z.email().max(254).optional().catch(undefined),
  name: z
    .string()
    .transform((name) => name.replaceAll(/\p{Cc}/gu, ' ').trim())
    .optional()
    .catch(undefined),
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

/** Rather than of the provider, or of the way to it. */
function isFaultOfToken(error: unknown): boolean {
  if (error instanceof errors.JWKSTimeout || error instanceof errors.JWKSInvalid) return false;
  return error instanceof errors.JOSEError && error.code !== errors.JOSEError.code;
}

const Discovery = z.object({ issuer: z.string(), jwks_uri: z.string() });

/** @throws when the provider cannot be asked, or its answer is another's */
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
