/**
 * Creates, lists, revokes and authenticates API tokens. For each request the token is read from the database, so that a revocation
 * or a change of the owner's rights takes effect immediately in every process. Only requests for pixels may use a token that
 * was read up to half a second earlier (recent-tokens.ts). The file is long because all operations share the checks and the caches.
 */
import { randomUUID } from 'node:crypto';
import {
  type ApiToken,
  AppError,
  apiTokenPrefix,
  type BodyOf,
  type createApiToken,
  type Endpoint,
  grantableScopes,
  maxApiTokens,
  type OwnedApiToken,
  type ResponseOf,
  type User,
} from '@lamina/contract';
import type { Logger } from 'pino';
import type { ActionLimiter } from '../audit/action-limiter.ts';
import type { Actor } from '../audit/actor.ts';
import { hourOf, recordApiTokenUse } from '../audit/api-token-uses.ts';
import type { AuditRecorder, Origin } from '../audit/audit-recorder.ts';
import { effectiveAccount, wasIssuedBeforeExpiry } from '../domain/account.ts';
import { createApiTokenLimit } from '../domain/api-token-limit.ts';
import { type Reader, seesEveryDataset } from '../domain/dataset-access.ts';
import type { ImageSession, ViewKind } from '../domain/image-session.ts';
import { isFromTheFuture } from '../platform/clock.ts';
import { hashRecentSecret, hashSecret, newSecret } from '../platform/secrets.ts';
import type { ApiTokenAuthentication, ResolvedApiToken } from '../sessions/api-token-service.ts';
import type { ImageSessions } from '../sessions/image-sessions.ts';
import { recheckCaller } from '../sessions/recheck-caller.ts';
import type { SignInService } from '../sessions/sign-in-service.ts';
import {
  deleteApiToken,
  deleteExpiredApiTokens,
  findApiToken,
  insertApiToken,
  listApiTokens,
  type StoredApiToken,
  touchApiToken,
} from '../store/api-tokens.ts';
import { spellingOf } from '../store/catalogue-names.ts';
import { type Database, runLockedTransaction } from '../store/database.ts';
import { datasetExists, restrictedDatasetsOf } from '../store/datasets.ts';
import { findImageIdOfLayer } from '../store/result-layers.ts';
import { createRecentTokens, type RecentToken } from './recent-tokens.ts';

/** Manages API tokens; the methods of `ApiTokenAuthentication` authenticate requests with tokens. */
export interface ApiTokens extends ApiTokenAuthentication {
  /** Returns the valid tokens of an account, newest first. */
  listOf(uid: string): Promise<ApiToken[]>;
  /** Returns the valid tokens of all accounts, newest first. */
  listAll(): Promise<OwnedApiToken[]>;
  /**
   * Creates a token and returns it with its secret, which is not stored.
   *
   * @throws AppError forbidden for a scope that the caller may not give, not_found for a dataset that the caller may not
   *   see, too_many_api_tokens, rate_limited, token_invalid
   */
  create(actor: Actor, settings: BodyOf<typeof createApiToken>): Promise<ResponseOf<typeof createApiToken>>;
  /** Revokes a token of the caller. @throws AppError not_found */
  revokeOwn(actor: Actor, id: string): Promise<void>;
  /** Revokes a token of any account. @throws AppError not_found, forbidden */
  revoke(actor: Actor, id: string): Promise<void>;
  /**
   * Records a call with a token in the audit log, if it is the first one of the hour for this slide.
   *
   * @param imageId null for a call that concerns no slide
   * @param request its `origin` is read only for a call that is recorded, so it may be a getter
   * @returns undefined if the call is already recorded
   */
  recordCall(
    resolved: ResolvedApiToken,
    imageId: string | null,
    { method, path }: Pick<Endpoint, 'method' | 'path'>,
    request: { readonly origin: Origin },
  ): Promise<void> | undefined;
  /** Returns the id of the slide of an annotation layer or result layer; null for an unknown layer. */
  imageIdOfLayer(layerId: string): Promise<string | null>;
  deleteExpired(): Promise<void>;
}

interface Dependencies {
  readonly db: Database;
  readonly now: () => Date;
  readonly log: Logger;
  readonly audit: AuditRecorder;
  readonly signIn: Pick<SignInService, 'holderOf'>; // recheckCaller() reads the caller's account again with it
  readonly imageSessions: Pick<ImageSessions, 'countChanges'>;
  readonly actionLimiter: ActionLimiter;
  /** Names of the datasets that the reader may not see. */
  readonly inaccessibleTo: (reader: Reader) => Promise<ReadonlySet<string>>;
  /** Whether `actionLimiter` and the rate limit apply; false in load tests. */
  readonly isThrottled: boolean;
}

const dayMs = 24 * 60 * 60_000;
/** The time of the last use of a token is saved at most this often. */
const touchIntervalMs = 60_000;
const tokenPattern = new RegExp(`^${apiTokenPrefix}[\\w-]{43}$`); // the prefix and the result of `newSecret`
/** Number of characters of a token that are stored, so that its owner can recognise it later. */
const prefixLength = apiTokenPrefix.length + 8;
const maxCachedTokens = 10_000;
const maxCachedLayers = 10_000;

/** Uses of a token for which this process knows that the audit log has an event in the current hour. */
interface RecordedUses {
  /** Start of the hour, ISO 8601. */
  readonly hour: string;
  /** How each image was shown in recorded views (only as a thumbnail, or in the viewer), by image id. */
  readonly auditedViews: Map<string, ViewKind>;
  /** Ids of the images of recorded calls (requests for anything but pixels); '' for a call that concerns no image. */
  readonly calls: Set<string>;
}

export function createApiTokens(dependencies: Dependencies): ApiTokens {
  const { db, now, log, audit, signIn, imageSessions, actionLimiter, inaccessibleTo, isThrottled } =
    dependencies;
  const rateLimit = createApiTokenLimit();
  const recordedUsesById = new Map<string, RecordedUses>();
  /** Times at which last uses were saved, in milliseconds since 1970, by id of the token. */
  const touchedAt = new Map<string, number>();

  /** Ids of slides by layer id. A layer never changes its slide, so the cache needs no invalidation. */
  const imageIdsByLayer = new Map<string, string>();

  function recordedUsesOf(id: string): RecordedUses {
    const hour = hourOf(now());
    const recordedUses = recordedUsesById.get(id);
    if (recordedUses?.hour === hour) return recordedUses; // otherwise a new hour has begun, without recorded uses
    if (recordedUsesById.size >= maxCachedTokens) recordedUsesById.clear();
    const emptyUses = { hour, auditedViews: new Map<string, ViewKind>(), calls: new Set<string>() };
    recordedUsesById.set(id, emptyUses);
    return emptyUses;
  }

  /** Saves the time of the last use, unless that was done less than a minute ago. */
  function touch({ id }: StoredApiToken, usedAtMs: number): Promise<void> | undefined {
    const elapsedMs = usedAtMs - (touchedAt.get(id) ?? 0); // negative if the clock was set back
    if (Math.abs(elapsedMs) < touchIntervalMs) return undefined;
    if (touchedAt.size >= maxCachedTokens) touchedAt.clear();
    touchedAt.set(id, usedAtMs);
    return saveLastUse(id, usedAtMs);
  }

  /** Saves the time of the last use. Logs a failure instead of throwing it, because a full disk must not prevent reading. */
  async function saveLastUse(id: string, usedAtMs: number): Promise<void> {
    try {
      await touchApiToken(db, id, new Date(usedAtMs).toISOString());
    } catch (error) {
      log.warn(
        { err: error, apiTokenId: id },
        'last-used time of an API token not saved; a later request saves it',
      );
    }
  }

  /** Returns the stored spellings of dataset names. @throws AppError not_found for a dataset that the account may not see */
  async function datasetsFor(
    tx: Parameters<typeof datasetExists>[0],
    user: User,
    requestedNames: readonly string[],
  ): Promise<string[]> {
    const inaccessible = seesEveryDataset(user)
      ? undefined
      : (await restrictedDatasetsOf(tx, [user.uid])).get(user.uid);
    const names = new Set<string>();
    for (const requestedName of requestedNames) {
      const name = await spellingOf(tx, 'dataset', requestedName);
      if (inaccessible?.has(name) || !(await datasetExists(tx, name))) throw new AppError('not_found');
      names.add(name);
    }
    return [...names];
  }

  /** Finds a valid token. @throws AppError token_invalid */
  async function requireValidToken(hash: string): Promise<StoredApiToken> {
    const token = await findApiToken(db, hash);
    if (token === null || !isValid(token, now())) throw new AppError('token_invalid');
    return token;
  }

  /** Counts a request with a token. Returns a promise only if the last use has to be saved. @throws AppError rate_limited */
  function countUse(token: StoredApiToken, usedAtMs: number): Promise<void> | undefined {
    const waitSeconds = isThrottled ? rateLimit.countRequest(token.user.uid, usedAtMs) : 0;
    if (waitSeconds > 0) throw new AppError('rate_limited', { retryAfterSeconds: waitSeconds });
    return touch(token, usedAtMs);
  }

  /** Returns the owner with the datasets and scopes of the token. Scopes that the owner's role no longer allows are left out. */
  function resolvedOf({ user, id, prefix, scopes, datasets, hash, createdAt }: StoredApiToken) {
    const allowedScopes = grantableScopes(user);
    const reader: Reader = datasets === null ? user : { ...user, onlyDatasets: datasets };
    return {
      user: reader,
      tokenHash: hash,
      signedInAt: new Date(createdAt),
      apiToken: { id, prefix, scopes: new Set(scopes.filter((scope) => allowedScopes.includes(scope))) },
    };
  }

  /** Returns the image session (the credential of pixel requests) that represents a token. */
  async function sessionOf({
    user,
    tokenHash,
    signedInAt,
    apiToken,
  }: ResolvedApiToken): Promise<ImageSession> {
    return {
      hash: `api-token ${apiToken.id}`, // an API token has no session id that could be hashed
      uid: user.uid,
      tokenHash,
      createdAt: signedInAt.getTime(),
      expiresAt: Number.POSITIVE_INFINITY, // the expiry of the token is checked at each request
      inaccessibleDatasets: await inaccessibleTo(user),
      seesHidden: seesEveryDataset(user),
      visitor: null, // an API token has an owner; only share links have visitors
      // A getter, because the map covers one hour, and the session may be used for longer.
      get auditedViews() {
        return recordedUsesOf(apiToken.id).auditedViews;
      },
      apiToken,
    };
  }

  async function recordFirstCall(
    { user, apiToken }: ResolvedApiToken,
    imageId: string | null,
    { method, path }: Pick<Endpoint, 'method' | 'path'>,
    request: { readonly origin: Origin },
  ): Promise<void> {
    const detail = { call: `${method} ${path}` };
    const { address, requestId } = request.origin;
    const action = 'api-token-used';
    const use = { token: apiToken, uid: user.uid, imageId, kind: 'call', action, detail } as const;
    await recordApiTokenUse({ db, audit }, { ...use, origin: { address, requestId }, at: now() });
  }

  const recentTokens = createRecentTokens(async (hash) => {
    const storedToken = await requireValidToken(hash);
    const resolved = resolvedOf(storedToken);
    return { storedToken, resolved, session: await sessionOf(resolved), endsAt: endOf(storedToken) };
  }, imageSessions.countChanges);

  /** Counts a use of a cached token and returns the token. @throws AppError token_invalid, rate_limited */
  function admit(token: RecentToken): RecentToken | Promise<RecentToken> {
    const usedAtMs = now().getTime();
    if (usedAtMs >= token.endsAt) throw new AppError('token_invalid');
    const saving = countUse(token.storedToken, usedAtMs);
    return saving === undefined ? token : saving.then(() => token);
  }

  return {
    async listOf(uid) {
      return (await listApiTokens(db, uid, now().toISOString())).map(publicTokenOf);
    },

    async listAll() {
      const tokens = await listApiTokens(db, null, now().toISOString()); // null: tokens of all accounts
      return tokens.map((token) => {
        const { uid, email, displayName } = token.user;
        return { ...publicTokenOf(token), uid, email, displayName };
      });
    },

    create(actor, settings) {
      const token = apiTokenPrefix + newSecret();
      const id = randomUUID();
      return runLockedTransaction(db, 'accounts', async (tx) => {
        const user = await recheckCaller(tx, signIn, actor, 'api-tokens.own');
        const allowedScopes = grantableScopes(user);
        if (!settings.scopes.every((scope) => allowedScopes.includes(scope))) throw new AppError('forbidden');
        const datasets = settings.datasets ? await datasetsFor(tx, user, settings.datasets) : null;
        await actionLimiter.requireAllowed(tx, 'api-token-created', actor);
        const createdAt = now();
        const validTokens = await listApiTokens(tx, user.uid, createdAt.toISOString());
        if (validTokens.length >= maxApiTokens) throw new AppError('too_many_api_tokens');
        const expiresAt = new Date(createdAt.getTime() + settings.expires_in_days * dayMs).toISOString();
        const created = { id, prefix: token.slice(0, prefixLength), name: settings.name, datasets };
        await insertApiToken(tx, {
          ...created,
          hash: hashSecret(token),
          uid: user.uid,
          scopes: settings.scopes,
          created_at: createdAt.toISOString(),
          expires_at: expiresAt,
        });
        await audit.record(tx, {
          action: 'api-token-created',
          actor: user.uid,
          target: user.uid,
          detail: {
            token: created.prefix,
            scopes: settings.scopes.join(' '),
            datasets: datasets?.length ?? null,
            expires_at: expiresAt,
          },
          origin: actor.origin,
        });
        return { ...created, token, scopes: settings.scopes, expires_at: expiresAt };
      });
    },

    async revokeOwn(actor, id) {
      await runLockedTransaction(db, 'accounts', async (tx) => {
        await recheckCaller(tx, signIn, actor, 'api-tokens.own');
        const deleted = await deleteApiToken(tx, id, actor.uid);
        if (deleted === null) throw new AppError('not_found');
        await audit.record(tx, revocationEntry(actor, deleted));
      });
      recentTokens.clear();
    },

    async revoke(actor, id) {
      await runLockedTransaction(db, 'accounts', async (tx) => {
        await recheckCaller(tx, signIn, actor, 'users.manage'); // a permission of administrators
        const deleted = await deleteApiToken(tx, id, null); // null: a token of any owner
        if (deleted === null) throw new AppError('not_found');
        await audit.record(tx, revocationEntry(actor, deleted));
      });
      recentTokens.clear();
    },

    async authenticate(token) {
      const storedToken = await requireValidToken(hashSecret(requireTokenForm(token)));
      await countUse(storedToken, now().getTime());
      return resolvedOf(storedToken);
    },

    authenticateForPixels(token) {
      const recentToken = recentTokens.get(hashRecentSecret(requireTokenForm(token))); // a cached hash, because tiles are frequent
      return recentToken instanceof Promise ? recentToken.then(admit) : admit(recentToken);
    },

    async pixelSessionOf(resolved) {
      if (!resolved.apiToken.scopes.has('slides:read')) throw new AppError('forbidden');
      return sessionOf(resolved);
    },

    async currentPixelSessionOf(tokenHash) {
      const { resolved, session, endsAt } = await recentTokens.get(tokenHash);
      if (now().getTime() >= endsAt) throw new AppError('token_invalid');
      if (!resolved.apiToken.scopes.has('slides:read')) throw new AppError('forbidden');
      return session;
    },

    recordCall(resolved, imageId, endpoint, request) {
      const { calls } = recordedUsesOf(resolved.apiToken.id);
      const calledImageId = imageId ?? '';
      if (calls.has(calledImageId)) return undefined;
      return recordFirstCall(resolved, imageId, endpoint, request).then(() => void calls.add(calledImageId));
    },

    async imageIdOfLayer(layerId) {
      const cached = imageIdsByLayer.get(layerId);
      if (cached !== undefined) return cached;
      const imageId = await findImageIdOfLayer(db, layerId);
      if (imageId === null) return null;
      if (imageIdsByLayer.size >= maxCachedLayers) imageIdsByLayer.clear();
      imageIdsByLayer.set(layerId, imageId);
      return imageId;
    },

    async deleteExpired() {
      await deleteExpiredApiTokens(db, now().toISOString());
    },
  };
}

/** Returns the string if it has the form of a token. @throws AppError token_invalid for any other string */
function requireTokenForm(token: string): string {
  if (!tokenPattern.test(token)) throw new AppError('token_invalid');
  return token;
}

/** Returns whether the token may still be used: it has not expired, and the account of its owner is active. */
function isValid({ user, createdAt, expiresAt }: StoredApiToken, now: Date): boolean {
  const issuedAt = new Date(createdAt);
  return (
    effectiveAccount(user, now).status === 'active' &&
    !wasIssuedBeforeExpiry(issuedAt, user, now) && // otherwise the end date of the account passed after the token was issued
    !isFromTheFuture(issuedAt, now) && // otherwise the clock was set back, and the age of the token is unknown
    Date.parse(expiresAt) > now.getTime()
  );
}

/** Returns when a valid token or its owner's account expires, whichever is first, in milliseconds since 1970. */
function endOf({ user, expiresAt }: StoredApiToken): number {
  const tokenEnd = Date.parse(expiresAt);
  return user.expiresAt === null ? tokenEnd : Math.min(tokenEnd, Date.parse(user.expiresAt));
}

function publicTokenOf(token: StoredApiToken): ApiToken {
  const { id, prefix, name, scopes, datasets, createdAt, expiresAt, lastUsedAt } = token;
  return {
    id,
    prefix,
    name,
    scopes: [...scopes],
    datasets: datasets && [...datasets],
    created_at: createdAt,
    expires_at: expiresAt,
    last_used_at: lastUsedAt,
  };
}

function revocationEntry({ uid, origin }: Actor, token: { readonly uid: string; readonly prefix: string }) {
  const detail = { token: token.prefix };
  return { action: 'api-token-revoked', actor: uid, target: token.uid, detail, origin } as const;
}
