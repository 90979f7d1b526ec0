import { createImageSession, deleteImageSession, getImageSessionStats } from '@lamina/contract';
import type { FastifyInstance } from 'fastify';
import { serve } from '../http/serve.ts';
import type { Services } from '../services.ts';
import { setSessionCookie } from './session-cookie.ts';

/** Routes that create, count and revoke image sessions, the credential with which a viewer loads pixels. */
export function imageSessionRoutes(
  app: FastifyInstance,
  {
    imageSessions,
    actionLimiter,
    audit,
    config,
  }: Pick<Services, 'imageSessions' | 'actionLimiter' | 'audit' | 'config'>,
): void {
  serve(app, createImageSession, async ({ caller, origin, reply }) => {
    const { uid } = caller.user;
    // The transaction that creates the session also checks the rate limit and records the audit event.
    const { sessionId, expiresInSeconds } = await imageSessions.create(caller, async (tx) => {
      await actionLimiter.requireAllowed(tx, 'image-session-created', { uid, origin });
      await audit.record(tx, { action: 'image-session-created', actor: uid, target: uid, origin });
    });
    const session = { session_id: sessionId, expires_in: expiresInSeconds };
    setSessionCookie(reply, config, session);
    return session;
  });

  serve(app, getImageSessionStats, ({ caller }) => imageSessions.statsOf(caller.user.uid));

  serve(app, deleteImageSession, async ({ params, caller, origin }) => {
    await imageSessions.revoke(caller.user.uid, params.sessionId, (tx) =>
      audit.record(tx, {
        action: 'image-session-revoked',
        actor: caller.user.uid,
        target: caller.user.uid,
        origin,
      }),
    );
  });
}
