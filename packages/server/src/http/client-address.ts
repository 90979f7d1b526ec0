/** The IP address of a client behind trusted proxies, determined by the same library as Fastify's `request.ip`. */
import type { IncomingMessage } from 'node:http';
import proxyAddress from '@fastify/proxy-addr';

/** Returns a function that returns the client's address. @param trustedProxies proxies and networks whose X-Forwarded-For is used */
export function createClientAddress(trustedProxies: readonly string[]): (request: IncomingMessage) => string {
  if (trustedProxies.length === 0) return ({ socket }) => socket.remoteAddress ?? ''; // '' after a disconnect
  const isTrusted = proxyAddress.compile([...trustedProxies]);
  return (request) => proxyAddress(request, isTrusted);
}
