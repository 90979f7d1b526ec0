/** Health routes, outside the API. They return only a status, and need no credential. */
import type { Health } from '@lamina/contract';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Services } from '../services.ts';

export function healthRoutes(
  app: FastifyInstance,
  { readiness, stopping }: Pick<Services, 'readiness' | 'stopping'>,
): void {
  /** Liveness: 200 whenever the process answers. */
  app.get('/health/live', { config: { isPublic: true } }, (_, reply) => sendStatus(reply, 'ok'));

  /** Readiness: 503 during a shutdown, when the database or all slides are inaccessible, or when the render queue is full. */
  app.get('/health/ready', { config: { isPublic: true } }, async (_, reply) =>
    sendStatus(reply, !stopping.aborted && (await readiness.isReady()) ? 'ok' : 'unavailable'),
  );
}

function sendStatus(reply: FastifyReply, status: Health['status']): FastifyReply {
  const body: Health = { status };
  return reply
    .code(status === 'ok' ? 200 : 503)
    .header('Cache-Control', 'no-store')
    .send(body);
}
