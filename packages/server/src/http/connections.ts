/** Limits of connections: time, number, and the end of idle ones when the server stops. Slow clients cannot exhaust the server. */
import type { Server, ServerOptions } from 'node:http';
import type { Socket } from 'node:net';
import { networkOf } from '../domain/network-of.ts';

/** Longer than the minute after which most proxies close an idle connection, so that the proxy closes it first. */
export const keepAliveMs = 72_000;

/** Time limits of the headers and of the whole request of a slow client. */
export const serverOptions: ServerOptions = {
  keepAliveTimeout: keepAliveMs,
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  /** Interval of the checks of these limits. */
  connectionsCheckingInterval: 2000,
};

export interface ConnectionLimits {
  /** A connection with an unfinished request is closed after this time without a byte in either direction. */
  readonly stalledAfterMs: number;
  /** Maximum of one process; the server closes further connections at once. */
  readonly mostConnections: number;
  /** Maximum of one process and one IPv4 address or IPv6 /64; absent: no limit. */
  readonly maxPerAddress?: number;
  /** Whether the limit does not apply to an address: a proxy connects for all clients behind it. */
  readonly isUnlimited?: (address: string) => boolean;
  /** Called when an address reaches its limit, at most once a minute. */
  readonly onLimit?: (network: string) => void;
}

/** A stalled connection is closed after twice the time at most. A thousand viewers have six connections each. */
export const processLimits = { stalledAfterMs: 30_000, mostConnections: 10_000 } as const;
/** Minimum interval between two log lines about clients that have reached their limit. */
const limitLoggedEveryMs = 60_000;
/** Interval at which a stopping server closes idle connections. */
const closeIdleEveryMs = 50;
/** A stopping server leaves a connection without any request open for this time: a request may be on its way. */
const silentForMs = 500;

export interface Connections {
  count(): number;
  /** Number of connections that were closed at once because their address had too many. */
  rejected(): number;
  /** Closes every connection as soon as it has no unfinished request. Called after the server has stopped listening. */
  windDown(): void;
}

export function limitConnections(server: Server, limits: ConnectionLimits = processLimits): Connections {
  const open = new Set<Socket>();
  const perAddress = limitPerAddress(limits);
  server.setTimeout(limits.stalledAfterMs);
  server.on('connection', (socket) => {
    // Counted here, because connections come from several listeners (listening.ts).
    if (open.size >= limits.mostConnections) {
      socket.destroy();
      return;
    }
    if (!perAddress.admit(socket)) {
      socket.destroy();
      return;
    }
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  return {
    count: () => open.size,
    rejected: perAddress.rejected,
    windDown() {
      const startedAt = performance.now();
      const timer = setInterval(() => {
        server.closeIdleConnections();
        if (performance.now() - startedAt < silentForMs) return;
        // Node does not count a connection without any request as idle.
        for (const socket of open) if (socket.bytesRead === 0) socket.destroy();
        if (open.size === 0) clearInterval(timer);
      }, closeIdleEveryMs).unref();
    },
  };
}

interface AddressLimit {
  /** Counts the connection until it is closed. @returns false when its address has too many already */
  admit(socket: Socket): boolean;
  rejected(): number;
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
    if (now - loggedAt >= limitLoggedEveryMs) {
      loggedAt = now;
      onLimit(network);
    }
    return false;
  }

  return {
    rejected: () => rejected,
    admit(socket) {
      const address = socket.remoteAddress;
      // Undefined: the client has left already.
      if (maxPerAddress === Infinity || address === undefined || isUnlimited(address)) return true;
      const network = networkOf(address);
      const count = counts.get(network) ?? 0;
      if (count >= maxPerAddress) return reject(network);
      counts.set(network, count + 1);
      socket.once('close', () => {
        const left = (counts.get(network) ?? 1) - 1;
        if (left === 0) counts.delete(network);
        else counts.set(network, left);
      });
      return true;
    },
  };
}
