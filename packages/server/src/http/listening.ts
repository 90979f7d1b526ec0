/**
 * The listening sockets of the server: several at the same address (SO_REUSEPORT).
 *
 * In each turn of the event loop, Node accepts one connection per listening socket, and a turn may contain a thousand responses. When
 * hundreds of viewers connect to a busy server with one listening socket, the last ones would wait for many seconds. With several
 * listening sockets, Node accepts several connections in each turn.
 *
 * Source: libuv since 1.45, uv__server_io in src/unix/stream.c; Linux socket(7).
 */
import { createServer, type ListenOptions, type Server } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';

/** Number of listening sockets in addition to the first one. */
const additionalListeners = 7;
/** Maximum number of waiting connections per listening socket. The operating system may lower the limit. */
const backlog = 4096;

interface ListenAddress {
  readonly host: string;
  /** 0 selects any free port. */
  readonly port: number;
}

/**
 * Starts to listen, on Linux with eight sockets and on other systems with one.
 *
 * @returns the port
 * @throws Node's error when the address cannot be used; EADDRINUSE also when another Lamina server listens there
 */
export async function listenOn(app: FastifyInstance, { host, port }: ListenAddress): Promise<number> {
  if (process.platform !== 'linux') {
    await app.listen({ host, port, backlog });
    return portOf(app.server);
  }
  // Binds the port once without SO_REUSEPORT: this fails when another program listens there, even if that program has set SO_REUSEPORT.
  const freePort = await freePortAt({ host, port });
  const additionalServers = Array.from({ length: additionalListeners }, () =>
    // node:http creates its own sockets with the same options.
    createServer({ noDelay: true, allowHalfOpen: true }, (socket) => app.server.emit('connection', socket)),
  );
  const closures: Promise<unknown>[] = []; // of the additional listening sockets
  app.addHook('preClose', async () => {
    await acceptWaitingConnections(app.server);
    for (const additionalServer of additionalServers)
      closures.push(new Promise((resolve) => additionalServer.close(resolve)));
  });
  // A listening socket counts as closed when all connections that it has accepted have ended.
  app.addHook('onClose', async () => void (await Promise.all(closures)));
  const options = { host, port: freePort, backlog, reusePort: true };
  await app.listen(options);
  // The additional sockets use the IP address that the host name was resolved to.
  const bound = app.server.address();
  if (bound === null || typeof bound === 'string') throw new Error('The server has no port.');
  for (const additionalServer of additionalServers)
    await startListening(additionalServer, { ...options, host: bound.address });
  return freePort;
}

/**
 * Waits until two successive event loop turns accept no connection, but at most `backlog` turns: closing a listening
 * socket resets the connections that it has not accepted yet.
 */
async function acceptWaitingConnections(server: Server): Promise<void> {
  let acceptedCount = 0;
  const countConnection = () => acceptedCount++;
  server.on('connection', countConnection);
  for (let turns = 0, quietTurns = 0; turns < backlog && quietTurns < 2; turns++) {
    const countBefore = acceptedCount;
    await setImmediate();
    quietTurns = acceptedCount === countBefore ? quietTurns + 1 : 0;
  }
  server.off('connection', countConnection);
}

/** Listens in an HTTP worker process of node:cluster; the primary process accepts the connections. @returns the port */
export async function listenInCluster(app: FastifyInstance, { host, port }: ListenAddress): Promise<number> {
  await app.listen({ host, port, backlog });
  return portOf(app.server);
}

/** Returns the requested port, or for port 0 a free one. @throws Node's error, such as EADDRINUSE, when the port cannot be used */
async function freePortAt(address: ListenAddress): Promise<number> {
  const probe = createServer();
  await startListening(probe, address);
  const port = portOf(probe);
  await new Promise((resolve) => probe.close(resolve));
  return port;
}

function startListening(server: Server, options: ListenOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(options, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

function portOf(server: Pick<Server, 'address'>): number {
  const bound = server.address();
  if (bound === null || typeof bound === 'string') throw new Error('The server has no port.');
  return bound.port;
}
