import { describe, expect, it } from 'vitest';
import { buildApp } from '../app.ts';
import { testServer } from '../testing/test-server.ts';

describe('health', () => {
  it('says a status and nothing else', async () => {
    const { app } = await testServer();
    for (const url of ['/health/live', '/health/ready', '/health/ready/']) {
      const answer = await app.inject({ url });
      expect([answer.statusCode, answer.json()]).toEqual([200, { status: 'ok' }]);
      expect(answer.headers['cache-control']).toBe('no-store');
    }
  });

  it('is ready no longer when the database does not answer, though it lives', async () => {
    const { app, services } = await testServer();
    await services.db.destroy();
    const ready = await app.inject({ url: '/health/ready' });
    expect([ready.statusCode, ready.json()]).toEqual([503, { status: 'unavailable' }]);
    expect((await app.inject({ url: '/health/live' })).statusCode).toBe(200);
  });

  it('is ready no longer when the process is about to end', async () => {
    const { services } = await testServer();
    const stopping = new AbortController();
    const app = await buildApp({ ...services, stopping: stopping.signal });
    expect((await app.inject({ url: '/health/ready' })).statusCode).toBe(200);
    stopping.abort();
    expect((await app.inject({ url: '/health/ready' })).statusCode).toBe(503);
    await app.close();
  });
});
