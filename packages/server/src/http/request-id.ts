import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** Returns the request id that a proxy has set, so that the logs of proxy and server have the same id; otherwise a new one. */
export function requestIdOf({ 'x-request-id': proxyRequestId }: IncomingHttpHeaders): string {
  return typeof proxyRequestId === 'string' && /^[A-Za-z0-9-]{8,64}$/.test(proxyRequestId)
    ? proxyRequestId
    : randomUUID();
}
