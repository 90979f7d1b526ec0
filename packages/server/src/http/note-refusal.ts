/** Who was turned away, at which call and why, for the audit trail. Nobody waits for it. */
import { AppError, type Endpoint } from '@lamina/contract';
import type { FastifyRequest } from 'fastify';
import type { Services } from '../services.ts';
import type { Caller } from './access.ts';

export function noteRefusal(
  error: unknown,
  endpoint: Endpoint,
  request: FastifyRequest,
  { audit, background }: Pick<Services, 'audit' | 'background'>,
): void {
  if (!(error instanceof AppError) || (error.status !== 401 && error.status !== 403)) return;
  const { code } = error;
  const caller = request.credential as Caller | null;
  const call = `${endpoint.method} ${endpoint.path}`; // never the address: that may carry an image session
  background.run('the record of a refusal', () =>
    audit.note({
      action: 'access-refused',
      result: 'refused',
      actor: caller?.user.uid ?? null,
      target: targetOf(request),
      detail: { code, call },
      origin: { address: request.ip, requestId: request.id },
    }),
  );
}

/** The account or the slide that was meant, where the address names one as our own addresses do. */
function targetOf({ params }: FastifyRequest): string | null {
  const { uid, imageId } = params as { uid?: string; imageId?: string };
  const id = uid ?? imageId ?? '';
  return /^[\da-f-]{36}$/.test(id) ? id : null;
}
