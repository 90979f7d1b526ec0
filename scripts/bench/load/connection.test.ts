import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { openConnection, requestOf, timeOf } from './connection.ts';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** Starts an HTTP server and returns its port. */
async function serve(listener: RequestListener): Promise<number> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** Requests paths one after the other on one connection. @returns status and body length of each response */
async function get(port: number, ...paths: string[]): Promise<[status: number, bytes: number][]> {
  const responses: [number, number][] = [];
  let onResponse: (response: [number, number]) => void = () => {};
  const connection = openConnection({ port, onResponse: (status, bytes) => onResponse([status, bytes]) });
  for (const path of paths) {
    const { promise, resolve } = Promise.withResolvers<[number, number]>();
    onResponse = resolve;
    connection.send(requestOf(path));
    responses.push(await promise);
  }
  connection.close();
  return responses;
}

describe('openConnection', () => {
  it('sends all requests over one TCP connection and counts the bytes of each body', async () => {
    const ports = new Set<number | undefined>();
    const port = await serve((request, response) => {
      ports.add(request.socket.remotePort);
      response.statusCode = request.url === '/none' ? 404 : 200;
      response.setHeader('Content-Length', '5');
      response.end('12345');
    });
    expect(await get(port, '/a', '/none', '/b')).toEqual([
      [200, 5],
      [404, 5],
      [200, 5],
    ]);
    expect(ports.size).toBe(1);
  });

  it('recognises the end of a chunked response', async () => {
    const port = await serve((_, response) => {
      response.write('a part, ');
      response.end('and the rest');
    });
    const statuses = (await get(port, '/a', '/b')).map(([status]) => status);
    expect(statuses).toEqual([200, 200]);
  });

  it('reconnects after the server has closed the connection and reports a missing response as status 0', async () => {
    let count = 0;
    const port = await serve((request, response) => {
      count += 1;
      if (count === 2) request.socket.destroy();
      else response.setHeader('Connection', 'close').end('fine');
    });
    const statuses = (await get(port, '/a', '/b', '/c')).map(([status]) => status);
    expect(statuses).toEqual([200, 0, 200]);
  });
});

describe('timeOf', () => {
  it('returns null for a response whose status is not 200', async () => {
    const port = await serve((request, response) => {
      response.statusCode = request.url === '/good' ? 200 : 500;
      response.end();
    });
    expect(await timeOf(port, '/good')).toBeGreaterThan(0);
    expect(await timeOf(port, '/bad')).toBeNull();
  });
});
