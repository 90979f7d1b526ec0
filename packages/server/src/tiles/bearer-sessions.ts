/**
 * Image sessions of programs that load pixels with a bearer token, through DICOMweb and IIIF. The first request of a sign-in
 * opens a session; the next ones use it. So rights, revocation, limits and audit are those of every image session.
 */

import { AppError } from '@lamina/contract';
import type { AuditRecorder, Origin } from '../audit/audit-recorder.ts';
import type { ImageSession } from '../domain/image-session.ts';
import { hashRecentSecret } from '../platform/secrets.ts';
import type { ImageSessions } from '../sessions/image-sessions.ts';
import type { ResolvedToken } from '../sessions/sign-in-service.ts';

export interface BearerSessions {
  /** @throws AppError token_invalid when the sign-in has ended meanwhile; unavailable */
  sessionOf(caller: ResolvedToken, origin: Origin): Promise<ImageSession>;
  /**
   * Returns the session that this process has opened for a sign-in, by its state of at most a second ago: it ends with the
   * sign-in. Null when there is none, or none any longer. A promise only when the database has to be asked.
   *
   * @throws AppError unavailable
   */
  knownSessionOf(token: string): ImageSession | null | Promise<ImageSession | null>;
}

/** Sign-ins whose session is remembered; the session of an evicted one is replaced by a new one. */
const maxRemembered = 10_000;

export function createBearerSessions({
  imageSessions,
  audit,
}: {
  readonly imageSessions: Pick<ImageSessions, 'create' | 'resolve'>;
  readonly audit: Pick<AuditRecorder, 'record'>;
}): BearerSessions {
  /** Session ids by token hash, as promises while they are opened. Concurrent first requests share one session. */
  const sessionIds = new Map<string, string | Promise<string>>();

  async function open(caller: ResolvedToken, origin: Origin): Promise<string> {
    const { uid } = caller.user;
    const { sessionId } = await imageSessions.create(caller, (tx) =>
      audit.record(tx, { action: 'image-session-created', actor: uid, target: uid, origin }),
    );
    return sessionId;
  }

  function sessionIdOf(caller: ResolvedToken, origin: Origin): string | Promise<string> {
    const known = sessionIds.get(caller.tokenHash);
    if (known !== undefined) return known;
    if (sessionIds.size >= maxRemembered) sessionIds.clear();
    const { tokenHash } = caller;
    const opening = open(caller, origin);
    sessionIds.set(tokenHash, opening);
    const isCurrent = () => sessionIds.get(tokenHash) === opening;
    opening.then(
      (id) => isCurrent() && sessionIds.set(tokenHash, id),
      () => isCurrent() && sessionIds.delete(tokenHash),
    );
    return opening;
  }

  return {
    knownSessionOf(token) {
      const known = sessionIds.get(hashRecentSecret(token));
      if (known === undefined) return null;
      return known instanceof Promise ? known.then(imageSessions.resolve) : imageSessions.resolve(known);
    },

    async sessionOf(caller, origin) {
      // The second attempt replaces a session that has ended.
      for (let attempt = 0; attempt < 2; attempt++) {
        const sessionId = await sessionIdOf(caller, origin);
        const session = await imageSessions.resolve(sessionId);
        if (session !== null) return session;
        if (sessionIds.get(caller.tokenHash) === sessionId) sessionIds.delete(caller.tokenHash);
      }
      throw new AppError('token_invalid');
    },
  };
}
