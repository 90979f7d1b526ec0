/**
 * Takes connections at the server's address, several at a time.
 *
 * Node takes one waiting connection for every batch of other events, and a batch may be a thousand answers. When hundreds
 * of people arrive at a server that is busy, those who come last would wait for many seconds without anything
 * being wrong. So the address is listened at several times over (SO_REUSEPORT): of each batch, each takes one.
 *
 * Source: libuv since 1.45, uv__server_io in src/unix/stream.c; Linux socket(7).
 */
import { createServer, type ListenOptions, type Server } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';

/** Beside the first one. */
const moreListeners = 7;
/** Connections that may wait to be taken: a browser opens six. The system's own bound applies. */
const backlog = 4096;

interface Place {
  readonly host: string;
  /** 0: any that is free. */
  readonly port: number;
}

/**
 * @returns the port
 * @throws what Node throws when the place cannot be listened at, EADDRINUSE also when it is taken by another Lamina
 */
export async function listenAt(app: FastifyInstance, { host, port }: Place): Promise<number> {
  if (process.platform !== 'linux') {
    await app.listen({ host, port, backlog });
    return portOf(app.server);
  }
  // Alone first: of two programs that both share their port, neither would notice.
  const free = await freePortAt({ host, port });
  const others = Array.from({ length: moreListeners }, () =>
    // As node:http sets up its own connections.
    createServer({ noDelay: true, allowHalfOpen: true }, (socket) => app.server.emit('connection', socket)),
  );
  const closed: Promise<unknown>[] = [];
  app.addHook('preClose', async () => {
    await allTaken(app.server);
    for (const other of others) closed.push(new Promise((resolve) => other.close(resolve)));
  });
  // Each ends with the last connection that it took.
  app.addHook('onClose', async () => void (await Promise.all(closed)));
  const options = { host, port: free, backlog, reusePort: true };
  await app.listen(options);
  const bound = app.server.address();
  if (bound === null || typeof bound === 'string') throw new Error('The server listens at no port.');
  for (const other of others) await listening(other, { ...options, host: bound.address });
  return free;
}

/** What waits to be taken when its listener closes is cut off: first they are all taken, one from each listener a turn. */
async function allTaken(server: Server): Promise<void> {
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

/** Whoever takes connections in place of this process (node:cluster) does so for nothing else. */
export async function listenInCluster(app: FastifyInstance, { host, port }: Place): Promise<number> {
  await app.listen({ host, port, backlog });
  return portOf(app.server);
}

async function freePortAt(place: Place): Promise<number> {
  const probe = createServer();
  await listening(probe, place);
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
  if (bound === null || typeof bound === 'string') throw new Error('The server listens at no port.');
  return bound.port;
}
