import { randomInt, randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/**
 * New request ids have the form of a UUID: the start is random for each process, and the last 12 digits count its requests
 * from a random number. A random UUID for each request would take 5 % of the time that the server's own code needs for a native tile.
 */
const idStart = randomUUID().slice(0, -12);
let nextNumber = randomInt(2 ** 40);

/** Returns the request id that a proxy has set, so that the logs of proxy and server have the same id; otherwise a new one. */
export function requestIdOf({ 'x-request-id': proxyRequestId }: IncomingHttpHeaders): string {
  return typeof proxyRequestId === 'string' && /^[A-Za-z0-9-]{8,64}$/.test(proxyRequestId)
    ? proxyRequestId
    : idStart + (nextNumber++).toString(16).padStart(12, '0');
}
