/** Records in the audit log, in the background, the requests that the server rejects with 401 or 403. */
import { AppError, type Endpoint } from '@lamina/contract';
import type { FastifyRequest } from 'fastify';
import type { Services } from '../services.ts';

export function recordRefusal(
  error: unknown,
  endpoint: Endpoint,
  request: FastifyRequest,
  { audit, background }: Pick<Services, 'audit' | 'background'>,
): void {
  if (!(error instanceof AppError) || (error.status !== 401 && error.status !== 403)) return;
  const { code } = error;
  const { credential } = request;
  const actor = credential !== null && 'user' in credential ? credential.user.uid : null;
  const call = `${endpoint.method} ${endpoint.path}`; // not the URL, which may contain a credential
  background.run(
    // the log message if the work below fails
    'rejected request could not be recorded in the audit log; the access log line with the same requestId is its only record',
    () =>
      // Several refusals of one account or network in a minute are recorded in one summary.
      audit.recordSeparately({
        action: 'access-refused',
        result: 'refused',
        actor,
        target: targetOf(request),
        detail: { code, call },
        origin: { address: request.ip, requestId: request.id },
      }),
    { requestId: request.id },
  );
}

/** Returns the id (a UUID) of the account or slide in the path; null if there is no well-formed one. */
function targetOf({ params }: FastifyRequest): string | null {
  const { uid, imageId } = params as { uid?: string; imageId?: string };
  const id = uid ?? imageId ?? '';
  return /^[\da-f-]{36}$/.test(id) ? id : null;
}
