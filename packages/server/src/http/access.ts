/**
 * Access control: decides for every endpoint who may call it, before any other part of the request is parsed. The
 * decision uses the current state of the database or, for pixels, a state that is cached for a short time. The checks
 * run in the order that docs/permissions.md specifies. sessions/pixel-access.ts decides about requests with an image
 * session (a short-lived credential for pixels). For tiles, the fast path (a handler in front of Fastify) may have
 * decided already; see refused-tiles.ts.
 */
import { AppError, type Endpoint, may, type Permission, type User } from '@lamina/contract';
import type { FastifyRequest } from 'fastify';
import type { Origin } from '../audit/audit-recorder.ts';
import { onlyDatasetsOf } from '../domain/dataset-access.ts';
import type { ImageSession } from '../domain/image-session.ts';
import type { Services } from '../services.ts';
import type { ResolvedApiToken, TokenForPixels } from '../sessions/api-token-service.ts';
import { bearerTokenIn, isApiToken, resolveBearerToken } from '../sessions/bearer-token.ts';
import type { Caller, Credential } from './caller.ts';
import { type RefusedTile, refusedTileOf } from './refused-tiles.ts';

export type AccessServices = Pick<
  Services,
  'signIn' | 'apiTokens' | 'imageSessions' | 'bearerSessions' | 'pixelAccess' | 'catalogue'
>;

/**
 * Returns the credential of the request: null for an endpoint that anyone may call.
 *
 * @throws AppError token_*, session_*, forbidden, account_not_active, unavailable; for API tokens also rate_limited, not_found
 */
export async function checkAccess(
  endpoint: Endpoint,
  request: FastifyRequest,
  services: AccessServices,
): Promise<Credential> {
  if (endpoint.access === 'anyone') return null;
  const sessionId = sessionParameterOf(request);
  if (endpoint.access === 'image-session') {
    const refused = refusedTileOf(request.raw); // undefined unless the fast path refused the request
    if (refused?.session) return refused.session; // access was allowed; the route handler throws the error of the fast path
    if (refused !== undefined) throw refused.error;
    const { headers, rawHeaders } = request.raw; // only `rawHeaders` shows whether Authorization is repeated, which is invalid
    const session = await services.pixelAccess.authorize({ sessionId, headers, rawHeaders });
    if (session.visitor !== null && !endpoint.allowsVisitors) throw new AppError('session_invalid');
    return session;
  }
  if (isOpenToVisitors(endpoint) && request.headers.authorization === undefined) {
    return visitorSessionOf(request, sessionId, services);
  }
  // A tile request with a bearer token uses the token's image session, so that most requests need no database query.
  if (endpoint.isTile && sessionId === undefined) {
    const refused = refusedTileOf(request.raw);
    if (refused !== undefined) return sessionOfRefusedTile(refused, request);
    const session = await pixelSessionOfToken(endpoint, tokenRequestOf(request), services);
    if (session !== null) return session;
  }
  const caller = await resolveBearerToken(request.raw.rawHeaders, services);
  request.credential = caller; // set before a refusal, so that the access log and the audit log name the account
  if ('apiToken' in caller) requireScope(caller, endpoint);
  const permission = endpoint.access === 'reader-or-visitor' ? 'catalogue.read' : endpoint.access;
  requirePermission(caller.user, permission);
  // At endpoints of the catalogue and for visitors, the query may contain an image session. With a bearer token it is not needed, but
  // it must be valid and belong to the same account.
  if ((permission === 'catalogue.read' || isOpenToVisitors(endpoint)) && sessionId !== undefined) {
    const imageSession = await services.imageSessions.resolve(sessionId);
    const isOwnSession = imageSession?.uid === caller.user.uid && imageSession.visitor === null;
    if (!isOwnSession) throw new AppError('session_invalid');
  }
  if ('apiToken' in caller) await recordTokenCall(caller, endpoint, tokenRequestOf(request), services);
  return caller;
}

/** A request with a bearer token. */
export interface TokenRequest {
  /** Alternating names and values of the headers, as Node provides them. */
  readonly rawHeaders: readonly string[];
  /** Id of the slide in the path; undefined when the path contains none. */
  readonly imageId: string | undefined;
  /** Id of the annotation layer or result layer in the path. */
  readonly layerId?: string | undefined;
  readonly origin: Origin;
  /** Called with the account before its rights are checked, so that the access log and audit log also name it after a refusal. */
  onCaller(caller: Caller): void;
}

function tokenRequestOf(request: FastifyRequest): TokenRequest {
  const { imageId, layerId } = request.params as { readonly imageId?: string; readonly layerId?: string };
  return {
    rawHeaders: request.raw.rawHeaders,
    imageId,
    layerId,
    origin: { address: request.ip, requestId: request.id },
    onCaller: (caller) => {
      request.credential = caller;
    },
  };
}

/** Returns the session of a tile request that the fast path has refused. @throws the error of the fast path, if it refused access */
function sessionOfRefusedTile(
  { caller, session, error }: RefusedTile,
  request: FastifyRequest,
): ImageSession {
  request.credential = caller ?? null;
  if (session === null) throw error;
  return session;
}

/**
 * Returns the image session with which a bearer token loads single tiles: a promise if the database has to be queried, which few
 * calls need. The session is null when this process has not opened one for the sign-in yet.
 *
 * @throws AppError token_missing, token_invalid, forbidden, account_not_active, not_found, rate_limited, unavailable
 */
export function pixelSessionOfToken(
  endpoint: Endpoint,
  request: TokenRequest,
  services: Pick<AccessServices, 'apiTokens' | 'bearerSessions' | 'catalogue'>,
): ImageSession | null | Promise<ImageSession | null> {
  const token = bearerTokenIn(request.rawHeaders);
  if (!isApiToken(token)) return services.bearerSessions.knownSessionOf(token);
  const checkRights = ({ resolved, session }: TokenForPixels): ImageSession | Promise<ImageSession> => {
    request.onCaller(resolved);
    requireScope(resolved, endpoint);
    requirePermission(resolved.user, 'image.view');
    const recordingCall = recordTokenCall(resolved, endpoint, request, services);
    return recordingCall === undefined ? session : recordingCall.then(() => session);
  };
  const authentication = services.apiTokens.authenticateForPixels(token);
  return authentication instanceof Promise ? authentication.then(checkRights) : checkRights(authentication);
}

/**
 * Allows an API token to call only endpoints that declare one of its scopes. Endpoints of accounts and administration declare no
 * scope, so no API token can call them. @throws AppError forbidden
 */
function requireScope({ apiToken }: ResolvedApiToken, { apiTokenScope }: Endpoint): void {
  if (apiTokenScope === undefined || !apiToken.scopes.has(apiTokenScope)) {
    throw new AppError('forbidden', { missingScope: apiTokenScope ?? null });
  }
}

/**
 * Records the use of an API token in the audit log. Returns undefined when there is nothing to wait for. If the token is limited to
 * datasets, also checks, independently of the handler, that the slide (or the slide of the layer) in the path is in one of them.
 *
 * @throws AppError not_found; token_invalid if the token has been revoked meanwhile
 */
function recordTokenCall(
  caller: ResolvedApiToken,
  endpoint: Endpoint,
  request: Pick<TokenRequest, 'imageId' | 'layerId' | 'origin'>,
  services: Pick<AccessServices, 'apiTokens' | 'catalogue'>,
): Promise<void> | undefined {
  const { imageId, layerId } = request;
  if (layerId !== undefined) return recordLayerCall(layerId, caller, endpoint, request, services);
  return imageId === undefined
    ? services.apiTokens.recordCall(caller, null, endpoint, request) // null: no slide
    : recordSlideCall(imageId, caller, endpoint, request, services);
}

async function recordLayerCall(
  layerId: string,
  caller: ResolvedApiToken,
  endpoint: Endpoint,
  request: Pick<TokenRequest, 'origin'>,
  services: Pick<AccessServices, 'apiTokens' | 'catalogue'>,
): Promise<void> {
  const imageId = await services.apiTokens.imageIdOfLayer(layerId);
  await recordTokenCall(
    caller,
    endpoint,
    { imageId: imageId ?? undefined, origin: request.origin },
    services,
  );
}

async function recordSlideCall(
  imageId: string,
  caller: ResolvedApiToken,
  endpoint: Endpoint,
  request: Pick<TokenRequest, 'origin'>,
  { apiTokens, catalogue }: Pick<AccessServices, 'apiTokens' | 'catalogue'>,
): Promise<void> {
  if (onlyDatasetsOf(caller.user) !== null) await catalogue.get(imageId, caller.user); // throws not_found
  const slide = await catalogue.servable(imageId); // null when no account may open the slide
  await apiTokens.recordCall(caller, slide?.id ?? null, endpoint, request);
}

/**
 * Returns the session of a visitor who has opened a share link.
 *
 * @throws AppError token_missing without a session; session_invalid for any other session, such as one that a sign-in created, and
 *   without the cookie that IMAGE_SESSION_COOKIE=strict requires
 */
async function visitorSessionOf(
  request: FastifyRequest,
  sessionId: string | undefined,
  { pixelAccess }: Pick<AccessServices, 'pixelAccess'>,
): Promise<ImageSession> {
  if (sessionId === undefined) throw new AppError('token_missing');
  if (sessionId === '') throw new AppError('session_invalid');
  const { headers, rawHeaders } = request.raw;
  const session = await pixelAccess.authorize({ sessionId, headers, rawHeaders });
  if (session.visitor === null) throw new AppError('session_invalid');
  return session;
}

/** Checks that an account has a permission. @throws AppError forbidden; account_not_active for an inactive account */
function requirePermission(user: User, permission: Permission): void {
  if (may(user, permission)) return;
  if (user.status === 'active') throw new AppError('forbidden');
  throw new AppError('account_not_active', { status: user.status });
}

/** Returns whether an endpoint that accepts a bearer token also accepts the image session of a share link. */
function isOpenToVisitors({ access, allowsVisitors }: Endpoint): boolean {
  return access === 'reader-or-visitor' || allowsVisitors === true;
}

/** Returns the id of the image session in the query; for endpoints of pixels, a session in the path takes precedence. */
function sessionParameterOf(request: FastifyRequest): string | undefined {
  const { session } = request.query as { session?: string };
  const { sessionId } = request.params as { sessionId?: string };
  return request.routeOptions.config.endpoint?.access === 'image-session' ? (sessionId ?? session) : session;
}
