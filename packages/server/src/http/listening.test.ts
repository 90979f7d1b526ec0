import { once } from 'node:events';
import { connect } from 'node:net';
import fastify, { type FastifyInstance } from 'fastify';
import { afterEach, describe, expect, it } from 'vitest';
import { listenOn } from './listening.ts';

const opened: FastifyInstance[] = [];
afterEach(() => Promise.all(opened.splice(0).map((app) => app.close())));

/** Starts an application that responds to GET / with `here`. */
async function startApp(port = 0) {
  const app = fastify();
  opened.push(app);
  app.get('/', async () => 'here');
  return { app, port: await listenOn(app, { host: '127.0.0.1', port }) };
}

async function acceptsConnection(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect'); // an error rejects
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

describe('listenOn (opens several sockets on the port of the server)', () => {
  it('responds to each of 64 concurrent connections to the port', async () => {
    const { port } = await startApp();
    const answers = await Promise.all(
      // Each request opens its own connection, from another local port. The system spreads connections by their ports.
      Array.from({ length: 64 }, () =>
        fetch(`http://127.0.0.1:${port}/`, { headers: { connection: 'close' } }).then((answer) =>
          answer.text(),
        ),
      ),
    );
    expect(new Set(answers)).toEqual(new Set(['here']));
  });

  it('throws EADDRINUSE when another program already listens on the port', async () => {
    const { port } = await startApp();
    await expect(startApp(port)).rejects.toMatchObject({ code: 'EADDRINUSE' });
  });

  it('closes all listening sockets when the application closes, so that none accepts a connection', async () => {
    const { app, port } = await startApp();
    expect(await acceptsConnection(port)).toBe(true);
    await app.close();
    // Enough attempts to reach each listening socket that might still be open.
    for (let attempt = 0; attempt < 32; attempt++) expect(await acceptsConnection(port)).toBe(false);
  });
});
