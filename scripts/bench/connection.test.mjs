import { once } from 'node:events';
import { createServer } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { openConnection, requestOf, timeOf } from './connection.mjs';

const servers = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

async function serve(answer) {
  const server = createServer(answer).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  return server.address().port;
}

/** Asks for paths one after the other. */
async function ask(port, ...paths) {
  const answers = [];
  let answered;
  const connection = openConnection({ port, onAnswer: (...answer) => answered(answer) });
  for (const path of paths) {
    const next = new Promise((resolve) => {
      answered = resolve;
    });
    connection.ask(requestOf(path));
    const [status, bytes] = await next;
    answers.push([status, bytes]);
  }
  connection.close();
  return answers;
}

describe('a kept connection', () => {
  it('asks for one thing after the other, and counts bytes', async () => {
    const ports = new Set();
    const port = await serve((request, response) => {
      ports.add(request.socket.remotePort);
      response.statusCode = request.url === '/none' ? 404 : 200;
      response.setHeader('Content-Length', 5);
      response.end('12345');
    });
    expect(await ask(port, '/a', '/none', '/b')).toEqual([
      [200, 5],
      [404, 5],
      [200, 5],
    ]);
    expect(ports.size).toBe(1);
  });

  it('knows the end of an answer in chunks', async () => {
    const port = await serve((_, response) => {
      response.write('a part, ');
      response.end('and the rest');
    });
    const [[status], [again]] = await ask(port, '/a', '/b');
    expect([status, again]).toEqual([200, 200]);
  });

  it('dials again when the server has hung up, and tells of an answer that never came', async () => {
    let count = 0;
    const port = await serve((request, response) => {
      count += 1;
      if (count === 2) request.socket.destroy();
      else response.setHeader('Connection', 'close').end('fine');
    });
    const statuses = (await ask(port, '/a', '/b', '/c')).map(([status]) => status);
    expect(statuses).toEqual([200, 0, 200]);
  });

  it('times a good answer alone', async () => {
    const port = await serve((request, response) => {
      response.statusCode = request.url === '/good' ? 200 : 500;
      response.end();
    });
    expect(await timeOf(port, '/good')).toBeGreaterThan(0);
    expect(await timeOf(port, '/bad')).toBeNull();
  });
});
