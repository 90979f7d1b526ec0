/** Health, outside the API: a status and nothing else, to anyone. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Health } from '@lamina/contract';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Services } from '../services.ts';
import { checkDatabase } from '../store/database.ts';

const databaseAnswersWithinMs = 1000;

export function healthRoutes(
  app: FastifyInstance,
  { db, stopping, log }: Pick<Services, 'db' | 'stopping' | 'log'>,
): void {
  /** The process answers. */
  app.get('/health/live', { config: { open: true } }, (_, reply) => answer(reply, 'ok'));

  /** The process can do its work. */
  app.get('/health/ready', { config: { open: true } }, async (_, reply) =>
    answer(reply, !stopping.aborted && (await isDatabaseThere()) ? 'ok' : 'unavailable'),
  );

  async function isDatabaseThere(): Promise<boolean> {
    const tooLate = new AbortController();
    try {
      return await Promise.race([
        checkDatabase(db).then(() => true),
        delay(databaseAnswersWithinMs, false, { signal: tooLate.signal }),
      ]);
    } catch (error) {
      log.warn({ err: error }, 'the database does not answer');
      return false;
    } finally {
      tooLate.abort();
    }
  }
}

function answer(reply: FastifyReply, status: Health['status']): FastifyReply {
  const body: Health = { status };
  return reply
    .code(status === 'ok' ? 200 : 503)
    .header('Cache-Control', 'no-store')
    .send(body);
}
