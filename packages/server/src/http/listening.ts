/**
 * Listening at the server's address with several sockets (SO_REUSEPORT).
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

/** Listening sockets besides the first one. */
const moreListeners = 7;
/** Maximum number of connections that wait to be accepted (a browser opens six). The operating system may lower it. */
const backlog = 4096;

interface ListenAddress {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
}

/**
 * @returns the port
 * @throws what Node throws when the address cannot be used; EADDRINUSE also when another Lamina listens there
 */
export async function listenOn(app: FastifyInstance, { host, port }: ListenAddress): Promise<number> {
  if (process.platform !== 'linux') {
    await app.listen({ host, port, backlog });
    return portOf(app.server);
  }
  // Without SO_REUSEPORT first: two programs that both set it would not notice each other.
  const free = await freePortAt({ host, port });
  const others = Array.from({ length: moreListeners }, () =>
    // The same options as those of node:http.
    createServer({ noDelay: true, allowHalfOpen: true }, (socket) => app.server.emit('connection', socket)),
  );
  const closed: Promise<unknown>[] = [];
  app.addHook('preClose', async () => {
    await acceptWaiting(app.server);
    for (const other of others) closed.push(new Promise((resolve) => other.close(resolve)));
  });
  // A listener closes after the last connection that it has accepted.
  app.addHook('onClose', async () => void (await Promise.all(closed)));
  const options = { host, port: free, backlog, reusePort: true };
  await app.listen(options);
  const bound = app.server.address();
  if (bound === null || typeof bound === 'string') throw new Error('The server has no port.');
  for (const other of others) await listening(other, { ...options, host: bound.address });
  return free;
}

/** Accepts all waiting connections: those that still wait when a listener closes are reset. */
async function acceptWaiting(server: Server): Promise<void> {
  let taken = 0;
  const count = () => taken++;
  server.on('connection', count);
  for (let turns = 0, quietTurns = 0; turns < backlog && quietTurns < 2; turns++) {
    const before = taken;
    await setImmediate();
    quietTurns = taken === before ? quietTurns + 1 : 0;
  }
  server.off('connection', count);
}

/** Listens in a worker of node:cluster, whose primary process accepts the connections and does little else. */
export async function listenInCluster(app: FastifyInstance, { host, port }: ListenAddress): Promise<number> {
  await app.listen({ host, port, backlog });
  return portOf(app.server);
}

async function freePortAt(address: ListenAddress): Promise<number> {
  const probe = createServer();
  await listening(probe, address);
  const port = portOf(probe);
  await new Promise((resolve) => probe.close(resolve));
  return port;
}

function listening(server: Server, options: ListenOptions): Promise<void> {
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
