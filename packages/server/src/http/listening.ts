/**
 * Listens at the server's address with several sockets (SO_REUSEPORT).
 *
 * Node accepts one waiting connection per batch of other events, and a batch may be a thousand responses. When hundreds of
 * viewers connect to a busy server, the last ones would wait for many seconds. With several listening sockets, each of them
 * accepts one connection per batch.
 *
 * Source: libuv since 1.45, uv__server_io in src/unix/stream.c; Linux socket(7).
 */
import { createServer, type ListenOptions, type Server } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';

/** Number of listening sockets in addition to the first one. */
const additionalListeners = 7;
/** Maximum number of connections that wait to be accepted (a browser opens six). The operating system may lower it. */
const backlog = 4096;

interface ListenAddress {
  readonly host: string;
  /** 0 selects any free port. */
  readonly port: number;
}

/**
 * Starts to listen. @returns the port
 * @throws Node's error when the address cannot be used; EADDRINUSE also when another Lamina server listens there
 */
export async function listenOn(app: FastifyInstance, { host, port }: ListenAddress): Promise<number> {
  if (process.platform !== 'linux') {
    await app.listen({ host, port, backlog });
    return portOf(app.server);
  }
  // First binds without SO_REUSEPORT, because two programs that both set it would not notice each other.
  const freePort = await freePortAt({ host, port });
  const additionalServers = Array.from({ length: additionalListeners }, () =>
    // These are the options that node:http uses.
    createServer({ noDelay: true, allowHalfOpen: true }, (socket) => app.server.emit('connection', socket)),
  );
  const closed: Promise<unknown>[] = [];
  app.addHook('preClose', async () => {
    await acceptWaiting(app.server);
    for (const additionalServer of additionalServers)
      closed.push(new Promise((resolve) => additionalServer.close(resolve)));
  });
  // A listener is closed when the last connection that it has accepted has ended.
  app.addHook('onClose', async () => void (await Promise.all(closed)));
  const options = { host, port: freePort, backlog, reusePort: true };
  await app.listen(options);
  const bound = app.server.address();
  if (bound === null || typeof bound === 'string') throw new Error('The server has no port.');
  for (const additionalServer of additionalServers)
    await startListening(additionalServer, { ...options, host: bound.address });
  return freePort;
}

/** Accepts all waiting connections, because closing a listener resets the ones that still wait. */
async function acceptWaiting(server: Server): Promise<void> {
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

/** Listens in a worker of node:cluster, whose primary process accepts the connections. @returns the port */
export async function listenInCluster(app: FastifyInstance, { host, port }: ListenAddress): Promise<number> {
  await app.listen({ host, port, backlog });
  return portOf(app.server);
}

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
