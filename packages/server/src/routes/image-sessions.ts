import { apiBase, createImageSession, deleteImageSession, getImageSessionStats } from '@lamina/contract';
import type { FastifyInstance } from 'fastify';
import { imageSessionCookieName } from '../http/access.ts';
import { serve } from '../http/serve.ts';
import type { Services } from '../services.ts';

export function imageSessionRoutes(
  app: FastifyInstance,
  { imageSessions, audit, config }: Pick<Services, 'imageSessions' | 'audit' | 'config'>,
): void {
  serve(app, createImageSession, async ({ caller, origin, reply }) => {
    const { sessionId, expiresInSeconds } = await imageSessions.create(caller, (tx) =>
      audit.record(tx, {
        action: 'image-session-created',
        actor: caller.user.uid,
        target: caller.user.uid,
        origin,
      }),
    );
    if (config.imageSessionCookie === 'strict') {
      reply.header(
        'Set-Cookie',
        `${imageSessionCookieName}=${sessionId}; Path=${apiBase}/image-catalog/proxy; Max-Age=${expiresInSeconds}; HttpOnly; Secure; SameSite=Strict`,
      );
    }
    return { session_id: sessionId, expires_in: expiresInSeconds };
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
