/** Tests the HTTP connection with which the benchmarks send requests. */
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { measureResponseTime, openConnection, requestOf } from './connection.ts';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** Starts an HTTP server and returns its port. */
async function startTestServer(listener: RequestListener): Promise<number> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** Requests paths one after the other on one connection. @returns status and body length of each response */
async function requestPaths(port: number, ...paths: string[]): Promise<[status: number, bytes: number][]> {
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

describe('openConnection (HTTP client of the load benchmark)', () => {
  it('sends all requests over one TCP connection and counts the bytes of each body', async () => {
    const ports = new Set<number | undefined>();
    const port = await startTestServer((request, response) => {
      ports.add(request.socket.remotePort);
      response.statusCode = request.url === '/none' ? 404 : 200;
      response.setHeader('Content-Length', '5');
      response.end('12345');
    });
    expect(await requestPaths(port, '/a', '/none', '/b')).toEqual([
      [200, 5],
      [404, 5],
      [200, 5],
    ]);
    expect(ports.size).toBe(1);
  });

  it('receives two chunked responses, which declare no length, one after the other', async () => {
    const port = await startTestServer((_, response) => {
      response.write('a part, ');
      response.end('and the rest');
    });
    const statuses = (await requestPaths(port, '/a', '/b')).map(([status]) => status);
    expect(statuses).toEqual([200, 200]);
  });

  it('reports status 0 for a request without a response, and reconnects for the next request', async () => {
    let count = 0;
    const port = await startTestServer((request, response) => {
      count += 1;
      if (count === 2) request.socket.destroy();
      else response.setHeader('Connection', 'close').end('fine');
    });
    const statuses = (await requestPaths(port, '/a', '/b', '/c')).map(([status]) => status);
    expect(statuses).toEqual([200, 0, 200]);
  });
});

describe('measureResponseTime (of one request of the load benchmark)', () => {
  it('returns the response time in milliseconds for a response with status 200, and null for another status', async () => {
    const port = await startTestServer((request, response) => {
      response.statusCode = request.url === '/good' ? 200 : 500;
      response.end();
    });
    expect(await measureResponseTime(port, '/good')).toBeGreaterThan(0);
    expect(await measureResponseTime(port, '/bad')).toBeNull();
  });
});
