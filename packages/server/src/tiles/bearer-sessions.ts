/**
 * Image sessions (the credential of pixel requests) for programs that load pixels through DICOMweb or IIIF with the bearer token
 * of a sign-in. The first request with a token opens a session, and later requests use it. Rights, revocation, limits and audit events
 * are therefore the same as for the viewer of the web app, which opens an image session itself.
 *
 * The id of the session is computed from the token, so all processes that get requests with the token use one session. The id is
 * as secret as the token: only a client with the token could compute it, and the server never sends it.
 */
import { AppError } from '@lamina/contract';
import type { AuditRecorder, Origin } from '../audit/audit-recorder.ts';
import type { ImageSession } from '../domain/image-session.ts';
import { hashRecentSecret, hashSecret } from '../platform/secrets.ts';
import { bearerTokenIn } from '../sessions/bearer-token.ts';
import type { ImageSessions } from '../sessions/image-sessions.ts';
import type { ResolvedToken } from '../sessions/sign-in-service.ts';

export interface BearerSessions {
  /**
   * Returns the session of the caller's token; opens one when there is none.
   *
   * @param request the request of the caller, which contains the token
   * @throws AppError token_invalid when the sign-in ended during the call; unavailable
   */
  sessionOf(caller: ResolvedToken, request: BearerRequest): Promise<ImageSession>;
  /**
   * Returns the session that this process has opened for a token; null when there is none, or when it has ended. The
   * state of the session is at most one second old, or 30 s while the database does not answer. The result is a promise
   * only when the database has to be queried, or while the session is being opened.
   *
   * @throws AppError unavailable; token_invalid when the sign-in ended while the session was being opened
   */
  knownSessionOf(token: string): ImageSession | null | Promise<ImageSession | null>;
}

/** A request with the bearer token of a sign-in. */
interface BearerRequest {
  /** Alternating names and values of the headers, as Node provides them. */
  readonly rawHeaders: readonly string[];
  readonly origin: Origin;
}

/** Maximum number of tokens whose session this process knows. A full map is cleared, and later requests open new sessions. */
const maxKnownSessions = 10_000;

export function createBearerSessions({
  imageSessions,
  audit,
}: {
  readonly imageSessions: Pick<ImageSessions, 'create' | 'resolve'>;
  readonly audit: Pick<AuditRecorder, 'record'>;
}): BearerSessions {
  /** Session ids by token hash; promises while a session is being opened, so that concurrent first requests share one. */
  const sessionIds = new Map<string, string | Promise<string>>();

  /** Opens the session of a token, unless another process has opened it. */
  async function openSession(caller: ResolvedToken, { rawHeaders, origin }: BearerRequest): Promise<string> {
    const { uid } = caller.user;
    const fixedId = hashSecret(`image session of ${bearerTokenIn(rawHeaders)}`);
    const { sessionId } = await imageSessions.create(
      caller,
      (tx) => audit.record(tx, { action: 'image-session-created', actor: uid, target: uid, origin }),
      fixedId,
    );
    return sessionId;
  }

  function sessionIdOf(caller: ResolvedToken, request: BearerRequest): string | Promise<string> {
    const sessionId = sessionIds.get(caller.tokenHash);
    if (sessionId !== undefined) return sessionId;
    if (sessionIds.size >= maxKnownSessions) sessionIds.clear();
    const { tokenHash } = caller;
    const opening = openSession(caller, request);
    sessionIds.set(tokenHash, opening);
    /** False when the map was cleared while the session was being opened. */
    const isCurrent = () => sessionIds.get(tokenHash) === opening;
    opening.then(
      (id) => isCurrent() && sessionIds.set(tokenHash, id),
      () => isCurrent() && sessionIds.delete(tokenHash),
    );
    return opening;
  }

  return {
    knownSessionOf(token) {
      const sessionId = sessionIds.get(hashRecentSecret(token)); // hashes from a cache, because this runs for each tile
      if (sessionId === undefined) return null;
      return sessionId instanceof Promise
        ? sessionId.then(imageSessions.resolve)
        : imageSessions.resolve(sessionId);
    },

    async sessionOf(caller, request) {
      // The first attempt may find a session that has ended; then the second attempt opens a new one.
      for (let attempt = 0; attempt < 2; attempt++) {
        const sessionId = await sessionIdOf(caller, request);
        const session = await imageSessions.resolve(sessionId);
        if (session !== null) return session;
        if (sessionIds.get(caller.tokenHash) === sessionId) sessionIds.delete(caller.tokenHash);
      }
      throw new AppError('token_invalid');
    },
  };
}
