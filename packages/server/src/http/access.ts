/**
 * Who may call what, decided in this one place from the database as it is now, before anything else of
 * a request is parsed. The order of the checks is that of permissions.md section 7.
 */
import { AppError, type Endpoint, may, type Permission, type User } from '@lamina/contract';
import type { FastifyRequest } from 'fastify';
import type { ImageSession } from '../domain/image-session.ts';
import type { Services } from '../services.ts';

/** Someone with a good bearer token and the permission the endpoint asks for. */
export interface Caller {
  readonly user: User;
  readonly tokenHash: string;
  readonly signedInAt: Date;
}

/** What stands behind an accepted request: nobody, an account, or an image session. */
export type Credential = Caller | ImageSession | null;

export type AccessServices = Pick<Services, 'signIn' | 'imageSessions' | 'config'>;

/** @throws AppError with a code of permissions.md section 7, steps 3 to 5 */
export async function checkAccess(
  endpoint: Endpoint,
  request: FastifyRequest,
  services: AccessServices,
): Promise<Credential> {
  if (endpoint.access === 'anyone') return null;
  if (endpoint.access === 'image-session') return imageSessionOf(request, services);
  const caller = await callerOf(request, services);
  request.credential = caller; // also of whom is refused: the log and the audit trail name them
  requirePermission(caller.user, endpoint.access);
  // A session that is sent along must be the caller's own and alive, though the token alone would do.
  const session = sessionParameter(request);
  if (endpoint.access === 'catalogue.read' && session !== undefined) {
    const imageSession = await services.imageSessions.resolve(session);
    if (imageSession === null || imageSession.uid !== caller.user.uid) throw new AppError('session_invalid');
  }
  return caller;
}

function requirePermission(user: User, permission: Permission): void {
  if (may(user, permission)) return;
  if (user.status === 'active') throw new AppError('forbidden');
  throw new AppError('account_not_active', { status: user.status });
}

/** @throws AppError token_missing, token_invalid */
async function callerOf(request: FastifyRequest, { signIn }: AccessServices): Promise<Caller> {
  const { rawHeaders } = request.raw; // Node keeps the first of two and drops the other
  const headers = rawHeaders.filter(
    (_, i) => i % 2 === 1 && /^authorization$/i.test(rawHeaders[i - 1] ?? ''),
  );
  if (headers.length === 0) throw new AppError('token_missing');
  const token = /^Bearer ([\w.~+/-]{1,8192}=*)$/i.exec(headers.length === 1 ? (headers[0] ?? '') : '')?.[1];
  const caller = token === undefined ? null : await signIn.resolveToken(token);
  if (caller === null) throw new AppError('token_invalid');
  return caller;
}

/** @throws AppError session_missing, session_invalid, token_invalid */
async function imageSessionOf(request: FastifyRequest, services: AccessServices): Promise<ImageSession> {
  const parameter = sessionParameter(request);
  if (parameter === undefined || parameter === '') throw new AppError('session_missing');
  const found = services.imageSessions.resolve(parameter);
  const session = found instanceof Promise ? await found : found;
  if (session === null) throw new AppError('session_invalid');
  if (services.config.imageSessionCookie === 'strict' && imageSessionCookieOf(request) !== parameter) {
    throw new AppError('session_invalid');
  }
  // An <img> sends no token; one that is sent must be good, and of the same account.
  if (request.headers.authorization !== undefined) {
    const caller = await callerOf(request, services);
    if (caller.user.uid !== session.uid) throw new AppError('session_invalid');
  }
  return session;
}

function sessionParameter(request: FastifyRequest): string | undefined {
  const { session } = request.query as { session?: string };
  return session;
}

/** Name of the cookie of the strict mode. */
export const imageSessionCookieName = 'image_session';

function imageSessionCookieOf(request: FastifyRequest): string | undefined {
  for (const cookie of request.headers.cookie?.split(/;\s*/) ?? []) {
    if (cookie.startsWith(`${imageSessionCookieName}=`))
      return cookie.slice(imageSessionCookieName.length + 1);
  }
  return undefined;
}
