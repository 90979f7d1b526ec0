/** What connections may do, and how they end: every one of them has a limit, so that nobody who is slow is a burden. */
import type { Server, ServerOptions } from 'node:http';
import type { Socket } from 'node:net';

/** Longer than the minute after which most proxies give up an idle connection, so that they do it first. */
export const keepAliveMs = 72_000;

/** A slow client has so long for its headers and for the whole request. */
export const serverOptions: ServerOptions = {
  keepAliveTimeout: keepAliveMs,
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  /** So often it is looked who has taken longer. */
  connectionsCheckingInterval: 2000,
};

export interface ConnectionLimits {
  /** Without a byte in either direction for so long, a connection on which something is under way ends. */
  readonly stalledAfterMs: number;
  /** Of one process; a further one is closed at once. */
  readonly mostConnections: number;
}

/** What stalls is noticed after twice the time at most; a thousand viewers have six connections each. */
const usualLimits: ConnectionLimits = { stalledAfterMs: 30_000, mostConnections: 10_000 };
/** How often a server that is ending looks for connections that have nothing more to do. */
const lookEveryMs = 50;
/** A connection that was made and never said anything is left alone for so long: a request may be on its way. */
const silentForMs = 500;

export interface Connections {
  count(): number;
  /** After the server has stopped to listen: ends every connection as soon as nothing is under way on it. */
  windDown(): void;
}

export function guardConnections(server: Server, limits = usualLimits): Connections {
  const open = new Set<Socket>();
  server.setTimeout(limits.stalledAfterMs);
  server.on('connection', (socket) => {
    // Counted here, since they come from several listeners (listening.ts).
    if (open.size >= limits.mostConnections) {
      socket.destroy();
      return;
    }
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  return {
    count: () => open.size,
    windDown() {
      const startedAt = performance.now();
      const timer = setInterval(() => {
        server.closeIdleConnections();
        if (performance.now() - startedAt < silentForMs) return;
        // To Node, one that has never said anything is not idle but about to speak.
        for (const socket of open) if (socket.bytesRead === 0) socket.destroy();
        if (open.size === 0) clearInterval(timer);
      }, lookEveryMs).unref();
    },
  };
}
