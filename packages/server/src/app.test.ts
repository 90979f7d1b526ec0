import { apiBase, createImageSession, getProfile } from '@lamina/contract';
import { describe, expect, it } from 'vitest';
import { testServer } from './testing/test-server.ts';

const login = `${apiBase}/auth/login`;

describe('a request that is not what it should be', () => {
  it.each([
    [
      'no JSON',
      { payload: '{"email":', headers: { 'content-type': 'application/json' } },
      400,
      'invalid_request',
    ],
    ['a list', { payload: '[]', headers: { 'content-type': 'application/json' } }, 400, 'invalid_request'],
    ['nothing', {}, 400, 'invalid_request'],
    [
      'a form',
      { payload: 'email=a', headers: { 'content-type': 'application/x-www-form-urlencoded' } },
      415,
      'unsupported_type',
    ],
    [
      'JSON that says it is text',
      { payload: '{}', headers: { 'content-type': 'text/plain' } },
      415,
      'unsupported_type',
    ],
    [
      'too much',
      {
        payload: JSON.stringify({ email: 'x'.repeat(70_000) }),
        headers: { 'content-type': 'application/json' },
      },
      413,
      'too_large',
    ],
    ['an endless address', { query: { q: 'x'.repeat(5000) } }, 413, 'too_large'],
  ])('is refused with a sentence and nothing of its content: %s', async (_, request, status, code) => {
    const { app, given } = await testServer();
    await given.user();
    const answer = await app.inject({ method: 'POST', url: login, ...request });
    expect(answer.statusCode).toBe(status);
    expect(answer.json()).toMatchObject({ code, message: expect.any(String), requestId: expect.any(String) });
    expect(answer.body).not.toContain('xxx');
  });
});

describe('an answer', () => {
  it('carries the id of its request: the one that was sent, when it is one', async () => {
    const { app, logged } = await testServer();
    const ask = (id: string) =>
      app.inject({ url: `${apiBase}/user/profile`, headers: { 'x-request-id': id } });
    const good = await ask('my-request-1');
    expect(good.headers['x-request-id']).toBe('my-request-1');
    expect(good.json()).toMatchObject({ requestId: 'my-request-1' });
    for (const bad of ['short', 'x'.repeat(65), 'line\u001b[31m-red-request']) {
      const answer = await ask(bad);
      expect(answer.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
      expect(logged()).not.toContain(JSON.stringify(bad));
    }
  });

  it('lets nobody frame, sniff or load from elsewhere', async () => {
    const { app } = await testServer();
    const { headers } = await app.inject({ url: `${apiBase}/user/profile` });
    expect(headers).toMatchObject({
      'x-frame-options': 'DENY',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-resource-policy': 'same-origin',
    });
    expect(headers['content-security-policy']).toContain("default-src 'self'");
    expect(headers['content-security-policy']).toContain("frame-ancestors 'none'");
    expect(headers).not.toHaveProperty('access-control-allow-origin');
    expect(headers).not.toHaveProperty('x-powered-by');
  });
});

describe('the log', () => {
  it('has one line for each request, and neither a token nor an image session', async () => {
    const { as, given, logged } = await testServer();
    const user = await given.user();
    const token = await given.token(user);
    const { body } = await as(token).call(createImageSession);
    await as(token).call(getProfile);
    const url = `/image-catalog/proxy/00000000-0000-4000-8000-000000000000/image.dzi?session=${body.session_id}`;
    await as(null).inject({ method: 'GET', url });

    const lines = logged()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { msg: string; route?: string; uid?: string });
    const requests = lines.filter(({ msg }) => msg === 'request');
    expect(requests.map(({ route, uid = null }) => [route, uid])).toEqual([
      [`${apiBase}/auth/login`, null],
      [`${apiBase}/auth/image-session`, user.uid],
      [`${apiBase}/user/profile`, user.uid],
      [`${apiBase}/image-catalog/proxy/:imageId/image.dzi`, user.uid],
    ]);
    for (const line of requests) {
      expect(line).toMatchObject({
        level: 30,
        time: expect.any(Number) as number,
        requestId: expect.stringMatching(/^[\w-]{8,64}$/) as string,
        method: expect.any(String) as string,
        status: expect.any(Number) as number,
        ms: expect.any(Number) as number,
        bytes: expect.any(Number) as number,
        address: '127.0.0.1',
      });
    }
    expect(logged()).not.toContain(token);
    expect(logged()).not.toContain(body.session_id);
  });
});
