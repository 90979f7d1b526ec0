/**
 * Limits the duration and number of connections, so that slow clients cannot exhaust the server, and closes idle
 * connections when the server stops.
 */
import type { Server, ServerOptions } from 'node:http';
import type { Socket } from 'node:net';
import { networkOf } from '../domain/network-of.ts';

/**
 * Time after which the server closes an idle connection. It is longer than the 60 s of most proxies, so that the proxy closes the
 * connection first. Otherwise the proxy could send a request on a connection that the server is closing.
 */
export const keepAliveMs = 72_000;

/** Options of the HTTP server: time limits, in milliseconds, for the headers and for the whole request. */
export const serverOptions: ServerOptions = {
  keepAliveTimeout: keepAliveMs,
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  /** Interval at which Node checks `headersTimeout` and `requestTimeout`. */
  connectionsCheckingInterval: 2000,
};

export interface ConnectionLimits {
  /** A connection with an unfinished request is closed after this time without a byte in either direction. */
  readonly stalledAfterMs: number;
  /** Maximum number of connections of one process; further ones are closed at once. */
  readonly maxConnections: number;
  /** Maximum number of connections of one IPv4 address or IPv6 /64 network to one process. Default: no limit. */
  readonly maxPerAddress?: number;
  /** Returns true for an address without a limit, for example the address of a proxy, which connects for many clients. */
  readonly isUnlimited?: (address: string) => boolean;
  /** Called when a connection is rejected because its address has reached the limit, at most once a minute for all addresses. */
  readonly onLimit?: (network: string) => void;
}

/**
 * Default limits. Node checks only once per `stalledAfterMs` whether a write has progressed, so it closes a stalled connection
 * after 30 to 60 s. A thousand browsers with six connections each need 6,000 connections.
 */
export const processLimits = { stalledAfterMs: 30_000, maxConnections: 10_000 } as const;
/** Minimum interval between two calls of `onLimit`. */
const limitLogIntervalMs = 60_000;
/** Interval at which a stopping server closes idle connections. */
const closeIdleIntervalMs = 50;
/** A stopping server keeps a new connection open for this time, because its first request may be on its way. */
const newConnectionGraceMs = 500;

export interface Connections {
  openCount(): number;
  /** Number of connections that were closed at once because their address had too many. */
  rejectedCount(): number;
  /** Closes every connection as soon as it has no unfinished request. Called after the server has stopped listening. */
  closeWhenIdle(): void;
}

/** Applies the limits to all connections of the server. */
export function limitConnections(server: Server, limits: ConnectionLimits = processLimits): Connections {
  const openSockets = new Set<Socket>();
  const addressLimit = limitPerAddress(limits);
  server.setTimeout(limits.stalledAfterMs);
  server.on('connection', (socket) => {
    // Node's `server.maxConnections` would not count the connections that other listening sockets have accepted (listening.ts).
    if (openSockets.size >= limits.maxConnections || !addressLimit.admit(socket)) {
      socket.destroy();
      return;
    }
    openSockets.add(socket);
    socket.once('close', () => openSockets.delete(socket));
  });
  return {
    openCount: () => openSockets.size,
    rejectedCount: addressLimit.rejectedCount,
    closeWhenIdle() {
      const startedAt = performance.now();
      const timer = setInterval(() => {
        server.closeIdleConnections();
        if (performance.now() - startedAt < newConnectionGraceMs) return;
        // closeIdleConnections leaves connections open that have not yet sent any request.
        for (const socket of openSockets) if (socket.bytesRead === 0) socket.destroy();
        if (openSockets.size === 0) clearInterval(timer);
      }, closeIdleIntervalMs).unref();
    },
  };
}

interface AddressLimit {
  /** Counts the connection until it is closed. @returns false when the address of the client has too many connections already */
  admit(socket: Socket): boolean;
  rejectedCount(): number;
}

function limitPerAddress({
  maxPerAddress = Infinity,
  isUnlimited = () => false,
  onLimit = () => undefined,
}: ConnectionLimits): AddressLimit {
  /** Open connections by network. */
  const counts = new Map<string, number>();
  let rejected = 0;
  let loggedAt = -Infinity;

  function reject(network: string): false {
    rejected++;
    const now = performance.now();
    if (now - loggedAt >= limitLogIntervalMs) {
      loggedAt = now;
      onLimit(network);
    }
    return false;
  }

  return {
    rejectedCount: () => rejected,
    admit(socket) {
      const address = socket.remoteAddress;
      // An undefined address means that the client has already disconnected.
      if (maxPerAddress === Infinity || address === undefined || isUnlimited(address)) return true;
      const network = networkOf(address);
      const count = counts.get(network) ?? 0;
      if (count >= maxPerAddress) return reject(network);
      counts.set(network, count + 1);
      socket.once('close', () => {
        const openCount = (counts.get(network) ?? 1) - 1;
        if (openCount === 0) counts.delete(network);
        else counts.set(network, openCount);
      });
      return true;
    },
  };
}
