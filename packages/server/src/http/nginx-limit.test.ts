import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { apiBase, type Endpoint, endpoints } from '@lamina/contract';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { nginx, startLoadBalancer } from '../testing/load-balancer.ts';

describe.skipIf(nginx === null)('deploy/nginx.conf (nginx configuration for operators)', () => {
  it('forwards a body of 1 MiB to every endpoint that accepts large bodies', async () => {
    const server = http.createServer((request, response) => {
      request.resume().on('end', () => response.end(request.url));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => server.close().closeAllConnections());
    const balancer = await startLoadBalancer([(server.address() as AddressInfo).port]);
    onTestFinished(() => balancer.stop());
    const acceptLarge = Object.values<Endpoint>(endpoints).filter(
      ({ isStreamed, upload, maxBodyBytes }) => isStreamed || upload || maxBodyBytes,
    );
    expect(acceptLarge.length).toBeGreaterThan(5);
    for (const { method, path } of acceptLarge) {
      const url = apiBase + path.replaceAll(/:\w+/g, 'id');
      const body = Buffer.alloc(2 ** 20);
      const response = await fetch(balancer.address + url, { method, body });
      expect([response.status, await response.text()]).toEqual([200, url]);
    }
  });

  it('returns 429 above the limit of concurrent requests per client, and forwards requests again when earlier ones have ended', async () => {
    const unanswered: http.ServerResponse[] = [];
    const server = http.createServer((request, response) => {
      if (request.url === '/held') unanswered.push(response);
      else response.end('ok');
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => server.close().closeAllConnections());
    const limit = 5; // concurrent requests per client address
    const balancer = await startLoadBalancer([(server.address() as AddressInfo).port], undefined, limit);
    onTestFinished(() => balancer.stop());

    const statuses: number[] = [];
    const requests = Array.from({ length: 12 }, async () => {
      statuses.push((await fetch(`${balancer.address}/held`)).status);
    });
    await vi.waitFor(() => expect([statuses.length, unanswered.length]).toEqual([7, 5]), 10_000);
    for (const response of unanswered) response.end();
    await Promise.all(requests);
    expect(statuses.sort((a, b) => a - b)).toEqual([...Array(5).fill(200), ...Array(7).fill(429)]);
    expect((await fetch(`${balancer.address}/`)).status).toBe(200);
  });
});
