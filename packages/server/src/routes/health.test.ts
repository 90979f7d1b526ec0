/** The health endpoints, with which an orchestrator checks the liveness and the readiness of a process. */
import { describe, expect, it } from 'vitest';
import { buildApp } from '../app.ts';
import { testServer } from '../testing/test-server.ts';

describe('health endpoints (/health/live and /health/ready)', () => {
  it('return 200 and only the field status, with the value ok, when the server and its database run', async () => {
    const { app } = await testServer();
    for (const url of ['/health/live', '/health/ready', '/health/ready/']) {
      const response = await app.inject({ url });
      expect([response.statusCode, response.json()]).toEqual([200, { status: 'ok' }]);
      expect(response.headers['cache-control']).toBe('no-store');
    }
  });

  it('return 200 for live and 503 for ready when the database does not answer', async () => {
    const { app, services } = await testServer();
    await services.db.destroy();
    const ready = await app.inject({ url: '/health/ready' });
    expect([ready.statusCode, ready.json()]).toEqual([503, { status: 'unavailable' }]);
    expect((await app.inject({ url: '/health/live' })).statusCode).toBe(200);
  });

  it('return 503 for ready when the process is stopping', async () => {
    const { services } = await testServer();
    const stopping = new AbortController();
    const app = await buildApp({ ...services, stopping: stopping.signal });
    expect((await app.inject({ url: '/health/ready' })).statusCode).toBe(200);
    stopping.abort();
    expect((await app.inject({ url: '/health/ready' })).statusCode).toBe(503);
    await app.close();
  });
});
