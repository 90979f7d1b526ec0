/**
 * API tokens: created and revoked by their owners and by administrators, and authenticated at each request against the
 * database, so that a revocation and a change of the owner's rights take effect at once in every process. Requests for single
 * tiles may use what the database said half a second ago (recent-tokens.ts).
 */
import { randomUUID } from 'node:crypto';
import {
  type ApiToken,
  AppError,
  apiTokenPrefix,
  type BodyOf,
  type createApiToken,
  type Endpoint,
  maxApiTokens,
  type OwnedApiToken,
  type ResponseOf,
  scopesOf,
  type User,
} from '@lamina/contract';
import type { Logger } from 'pino';
import type { Actor } from '../audit/actor.ts';
import { hourOf, recordApiTokenUse } from '../audit/api-token-uses.ts';
import type { AuditRecorder, Origin } from '../audit/audit-recorder.ts';
import type { LimitActions } from '../audit/limit-actions.ts';
import { effectiveAccount, wasIssuedBeforeExpiry } from '../domain/account.ts';
import { createApiTokenLimit } from '../domain/api-token-limit.ts';
import { type Reader, seesEveryDataset } from '../domain/dataset-access.ts';
import type { ImageSession, ViewKind } from '../domain/image-session.ts';
import { isFromTheFuture } from '../platform/clock.ts';
import { hashRecentSecret, hashSecret, newSecret } from '../platform/secrets.ts';
import type { ApiTokenAuthentication, ResolvedApiToken } from '../sessions/api-token-service.ts';
import { currentCaller } from '../sessions/current-caller.ts';
import type { ImageSessions } from '../sessions/image-sessions.ts';
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
import { change, type Database } from '../store/database.ts';
import { isDataset, restrictedDatasetsOf } from '../store/datasets.ts';
import { createRecentTokens, type RecentToken } from './recent-tokens.ts';

export interface ApiTokens extends ApiTokenAuthentication {
  /** Returns the valid tokens of an account, newest first. */
  listOf(uid: string): Promise<ApiToken[]>;
  /** Returns the valid tokens of all accounts, newest first. */
  listAll(): Promise<OwnedApiToken[]>;
  /**
   * @throws AppError forbidden for a scope that the caller may not give, not_found for a dataset that the caller may not
   *   see, too_many_api_tokens, rate_limited, token_invalid
   */
  create(actor: Actor, wanted: BodyOf<typeof createApiToken>): Promise<ResponseOf<typeof createApiToken>>;
  /** Revokes a token of the caller. @throws AppError not_found */
  revokeOwn(actor: Actor, id: string): Promise<void>;
  /** Revokes a token of any account. @throws AppError not_found, forbidden */
  revoke(actor: Actor, id: string): Promise<void>;
  /**
   * Records a call with a token: the first of an hour, and the first of an hour for each slide.
   *
   * @param request its origin is read only for a call that is recorded, so it may be a getter
   */
  recordCall(
    resolved: ResolvedApiToken,
    imageId: string | null,
    { method, path }: Pick<Endpoint, 'method' | 'path'>,
    request: { readonly origin: Origin },
  ): Promise<void> | undefined;
  deleteExpired(): Promise<void>;
}

interface Dependencies {
  readonly db: Database;
  readonly now: () => Date;
  readonly log: Logger;
  readonly audit: AuditRecorder;
  readonly signIn: Pick<SignInService, 'holderOf'>;
  readonly imageSessions: Pick<ImageSessions, 'countChanges'>;
  readonly limitActions: LimitActions;
  /** Names of the datasets that the reader may not see. */
  readonly inaccessibleTo: (reader: Reader) => Promise<ReadonlySet<string>>;
  /** Off for load tests. */
  readonly isThrottled: boolean;
}

const dayMs = 24 * 60 * 60_000;
/** The last use of a token is stored at most this often. */
const touchEveryMs = 60_000;
const tokenPattern = new RegExp(`^${apiTokenPrefix}[\\w-]{43}$`);
/** Characters of a token that its owner sees later. */
const prefixLength = apiTokenPrefix.length + 8;
const maxRemembered = 10_000;

/** What the audit log has of a token in the current hour, as far as this process knows. */
interface Hour {
  readonly hour: string;
  readonly shownImages: Map<string, ViewKind>;
  readonly calls: Set<string>;
}

/** One closure of more than 60 lines: all methods share the database and the caches. */
export function createApiTokens(dependencies: Dependencies): ApiTokens {
  const { db, now, log, audit, signIn, imageSessions, limitActions, inaccessibleTo, isThrottled } =
    dependencies;
  const limit = createApiTokenLimit();
  const hours = new Map<string, Hour>();
  const touchedAt = new Map<string, number>();

  function hourOfToken(id: string): Hour {
    const hour = hourOf(now());
    const known = hours.get(id);
    if (known?.hour === hour) return known;
    if (hours.size >= maxRemembered) hours.clear();
    const begun = { hour, shownImages: new Map<string, ViewKind>(), calls: new Set<string>() };
    hours.set(id, begun);
    return begun;
  }

  /** Saves the time of the last use, when the saved one is old. */
  function touch({ id }: StoredApiToken, at: number): Promise<void> | undefined {
    if (Math.abs(at - (touchedAt.get(id) ?? 0)) < touchEveryMs) return undefined;
    if (touchedAt.size >= maxRemembered) touchedAt.clear();
    touchedAt.set(id, at);
    return saveLastUse(id, at);
  }

  /** Logs a failed write instead of throwing it: a full disk must not stop reading. */
  async function saveLastUse(id: string, at: number): Promise<void> {
    try {
      await touchApiToken(db, id, new Date(at).toISOString());
    } catch (error) {
      log.warn({ err: error, apiToken: id }, 'last use of an API token not saved; a later request saves it');
    }
  }

  /** Returns the canonical names of datasets. @throws AppError not_found for one that the account may not see */
  async function datasetsFor(
    tx: Parameters<typeof isDataset>[0],
    user: User,
    wanted: readonly string[],
  ): Promise<string[]> {
    const closed = seesEveryDataset(user)
      ? undefined
      : (await restrictedDatasetsOf(tx, [user.uid])).get(user.uid);
    const names = new Set<string>();
    for (const each of wanted) {
      const name = await spellingOf(tx, 'dataset', each);
      if (closed?.has(name) || !(await isDataset(tx, name))) throw new AppError('not_found');
      names.add(name);
    }
    return [...names];
  }

  /** @throws AppError token_invalid */
  async function validToken(hash: string): Promise<StoredApiToken> {
    const found = await findApiToken(db, hash);
    if (found === null || !isValid(found, now())) throw new AppError('token_invalid');
    return found;
  }

  /** Counts a request with a token; there is rarely something to wait for. @throws AppError rate_limited */
  function use(found: StoredApiToken, at: number): Promise<void> | undefined {
    const wait = isThrottled ? limit.take(found.user.uid, at) : 0;
    if (wait > 0) throw new AppError('rate_limited', { retryAfterSeconds: wait });
    return touch(found, at);
  }

  function resolvedOf({ user, id, prefix, scopes, datasets, hash, createdAt }: StoredApiToken) {
    const given = scopesOf(user);
    const reader: Reader = datasets === null ? user : { ...user, onlyDatasets: datasets };
    return {
      user: reader,
      tokenHash: hash,
      signedInAt: new Date(createdAt),
      apiToken: { id, prefix, scopes: new Set(scopes.filter((scope) => given.includes(scope))) },
    };
  }

  /** Returns what takes the place of an image session. */
  async function sessionOf({
    user,
    tokenHash,
    signedInAt,
    apiToken,
  }: ResolvedApiToken): Promise<ImageSession> {
    return {
      hash: `api-token ${apiToken.id}`,
      uid: user.uid,
      tokenHash,
      createdAt: signedInAt.getTime(),
      expiresAt: Number.POSITIVE_INFINITY, // checked at each request
      restrictedDatasets: await inaccessibleTo(user),
      seesHidden: seesEveryDataset(user),
      visitor: null,
      // Of the current hour, also when the session is used in the next one.
      get shownImages() {
        return hourOfToken(apiToken.id).shownImages;
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

  const recent = createRecentTokens(async (hash) => {
    const found = await validToken(hash);
    const resolved = resolvedOf(found);
    return { found, resolved, session: await sessionOf(resolved), endsAt: endOf(found) };
  }, imageSessions.countChanges);

  /** Returns a promise only when the use has to be saved. @throws AppError token_invalid, rate_limited */
  function admit(token: RecentToken): RecentToken | Promise<RecentToken> {
    const at = now().getTime();
    if (at >= token.endsAt) throw new AppError('token_invalid');
    const saving = use(token.found, at);
    return saving === undefined ? token : saving.then(() => token);
  }

  return {
    async listOf(uid) {
      return (await listApiTokens(db, uid, now().toISOString())).map(publicTokenOf);
    },

    async listAll() {
      const tokens = await listApiTokens(db, null, now().toISOString());
      return tokens.map((token) => {
        const { uid, email, displayName } = token.user;
        return { ...publicTokenOf(token), uid, email, displayName };
      });
    },

    create(actor, wanted) {
      const token = apiTokenPrefix + newSecret();
      const id = randomUUID();
      return change(db, 'accounts', async (tx) => {
        const user = await currentCaller(tx, signIn, actor, 'api-tokens.own');
        const allowed = scopesOf(user);
        if (!wanted.scopes.every((scope) => allowed.includes(scope))) throw new AppError('forbidden');
        const datasets = wanted.datasets ? await datasetsFor(tx, user, wanted.datasets) : null;
        await limitActions.require(tx, 'api-token-created', actor);
        const createdAt = now();
        const valid = await listApiTokens(tx, user.uid, createdAt.toISOString());
        if (valid.length >= maxApiTokens) throw new AppError('too_many_api_tokens');
        const expiresAt = new Date(createdAt.getTime() + wanted.expires_in_days * dayMs).toISOString();
        const made = { id, prefix: token.slice(0, prefixLength), name: wanted.name, datasets };
        await insertApiToken(tx, {
          ...made,
          hash: hashSecret(token),
          uid: user.uid,
          scopes: wanted.scopes,
          created_at: createdAt.toISOString(),
          expires_at: expiresAt,
        });
        await audit.record(tx, {
          action: 'api-token-created',
          actor: user.uid,
          target: user.uid,
          detail: {
            token: made.prefix,
            scopes: wanted.scopes.join(' '),
            datasets: datasets?.length ?? null,
            expires_at: expiresAt,
          },
          origin: actor.origin,
        });
        return { ...made, token, scopes: wanted.scopes, expires_at: expiresAt };
      });
    },

    async revokeOwn(actor, id) {
      await change(db, 'accounts', async (tx) => {
        await currentCaller(tx, signIn, actor, 'api-tokens.own');
        const deleted = await deleteApiToken(tx, id, actor.uid);
        if (deleted === null) throw new AppError('not_found');
        await audit.record(tx, revocationOf(actor, deleted));
      });
      recent.clear();
    },

    async revoke(actor, id) {
      await change(db, 'accounts', async (tx) => {
        await currentCaller(tx, signIn, actor, 'users.manage');
        const deleted = await deleteApiToken(tx, id, null);
        if (deleted === null) throw new AppError('not_found');
        await audit.record(tx, revocationOf(actor, deleted));
      });
      recent.clear();
    },

    async authenticate(token) {
      const found = await validToken(hashSecret(requireForm(token)));
      await use(found, now().getTime());
      return resolvedOf(found);
    },

    authenticateForPixels(token) {
      const known = recent.get(hashRecentSecret(requireForm(token)));
      return known instanceof Promise ? known.then(admit) : admit(known);
    },

    async pixelSessionOf(resolved) {
      if (!resolved.apiToken.scopes.has('slides:read')) throw new AppError('forbidden');
      return sessionOf(resolved);
    },

    recordCall(resolved, imageId, endpoint, request) {
      const { calls } = hourOfToken(resolved.apiToken.id);
      const target = imageId ?? '';
      if (calls.has(target)) return undefined;
      return recordFirstCall(resolved, imageId, endpoint, request).then(() => void calls.add(target));
    },

    async deleteExpired() {
      await deleteExpiredApiTokens(db, now().toISOString());
    },
  };
}

/** @throws AppError token_invalid for a text that is no token */
function requireForm(token: string): string {
  if (!tokenPattern.test(token)) throw new AppError('token_invalid');
  return token;
}

/** Whether the token may still be used: it has not ended, and its owner's account is active. */
function isValid({ user, createdAt, expiresAt }: StoredApiToken, now: Date): boolean {
  const issuedAt = new Date(createdAt);
  return (
    effectiveAccount(user, now).status === 'active' &&
    !wasIssuedBeforeExpiry(issuedAt, user, now) &&
    !isFromTheFuture(issuedAt, now) &&
    Date.parse(expiresAt) > now.getTime()
  );
}

/** Returns when a valid token stops being one by itself, in milliseconds since 1970. */
function endOf({ user, expiresAt }: StoredApiToken): number {
  return Math.min(...[expiresAt, user.expiresAt ?? expiresAt].map((end) => Date.parse(end)));
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

function revocationOf({ uid, origin }: Actor, token: { readonly uid: string; readonly prefix: string }) {
  const detail = { token: token.prefix };
  return { action: 'api-token-revoked', actor: uid, target: token.uid, detail, origin } as const;
}
