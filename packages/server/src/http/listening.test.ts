import { once } from 'node:events';
import { connect } from 'node:net';
import fastify, { type FastifyInstance } from 'fastify';
import { afterEach, describe, expect, it } from 'vitest';
import { listenOn } from './listening.ts';

const opened: FastifyInstance[] = [];
afterEach(() => Promise.all(opened.splice(0).map((app) => app.close())));

async function listening(port = 0) {
  const app = fastify();
  opened.push(app);
  app.get('/', async () => 'here');
  return { app, port: await listenOn(app, { host: '127.0.0.1', port }) };
}

async function isTaken(port: number): Promise<boolean> {
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

describe('listening on a port with several listeners', () => {
  it('answers every connection, whichever listener accepts it', async () => {
    const { port } = await listening();
    const answers = await Promise.all(
      // Each request has an own connection with another local port, by which the system spreads connections over the listening sockets.
      Array.from({ length: 64 }, () =>
        fetch(`http://127.0.0.1:${port}/`, { headers: { connection: 'close' } }).then((answer) =>
          answer.text(),
        ),
      ),
    );
    expect(new Set(answers)).toEqual(new Set(['here']));
  });

  it('fails when another program already listens on the port', async () => {
    const { port } = await listening();
    await expect(listening(port)).rejects.toMatchObject({ code: 'EADDRINUSE' });
  });

  it('stops when the application closes: no listener accepts another connection', async () => {
    const { app, port } = await listening();
    expect(await isTaken(port)).toBe(true);
    await app.close();
    for (let time = 0; time < 32; time++) expect(await isTaken(port)).toBe(false);
  });
});
