import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { nginx, startLoadBalancer } from '../testing/load-balancer.ts';

describe.skipIf(nginx === null)('deploy/nginx.conf', () => {
  it('returns 429 to a client with too many concurrent requests, and forwards requests of other clients', async () => {
    const held: http.ServerResponse[] = [];
    const server = http.createServer((request, response) => {
      if (request.url === '/held') held.push(response);
      else response.end('ok');
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => server.close().closeAllConnections());
    const balancer = await startLoadBalancer([(server.address() as AddressInfo).port], undefined, 5);
    onTestFinished(() => balancer.stop());

    const statuses: number[] = [];
    const requests = Array.from({ length: 12 }, async () => {
      statuses.push((await fetch(`${balancer.address}/held`)).status);
    });
    await vi.waitFor(() => expect([statuses.length, held.length]).toEqual([7, 5]), 10_000);
    for (const response of held) response.end();
    await Promise.all(requests);
    expect(statuses.sort((a, b) => a - b)).toEqual([...Array(5).fill(200), ...Array(7).fill(429)]);
    expect((await fetch(`${balancer.address}/`)).status).toBe(200);
  });
});
