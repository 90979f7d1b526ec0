import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import fastify from 'fastify';
import { describe, expect, it, onTestFinished } from 'vitest';
import { testServer } from '../testing/test-server.ts';
import { webRoutes } from './web.ts';

const page = `<!doctype html><meta name="settings" content="__SETTINGS__"><title>__PRODUCT_NAME__</title>`;
const script = `console.log("${'lamina '.repeat(500)}");`;

async function webApp({ isBuilt = true, productName = 'Lamina', tokenSyncUrl = null as string | null } = {}) {
  const folder = await fs.mkdtemp(path.join(os.tmpdir(), 'web-app-'));
  onTestFinished(() => fs.rm(folder, { recursive: true }));
  await fs.writeFile(path.join(folder, '..', `${path.basename(folder)}-secret`), 'secret');
  onTestFinished(() => fs.rm(`${folder}-secret`));
  if (isBuilt) {
    await fs.mkdir(path.join(folder, 'assets'));
    await fs.writeFile(path.join(folder, 'index.html'), page);
    await fs.writeFile(path.join(folder, 'icon.svg'), '<svg xmlns="http://www.w3.org/2000/svg"/>');
    await fs.writeFile(path.join(folder, 'assets', 'main-abc123.js'), script);
  }
  const { config } = await testServer();
  const app = fastify();
  onTestFinished(() => app.close());
  await webRoutes(app, { config: { ...config, productName, tokenSyncUrl } }, folder);
  return { app, folder };
}

describe('the page of the web app', () => {
  it.each([
    '/',
    '/auth',
    '/auth/login',
    '/auth/register',
    '/auth/callback?code=abc&state=x',
    '/auth/confirm',
    '/auth/password-reset?code=abc',
    '/account-status',
    '/dashboard',
    '/dashboard/profile',
    '/wsi-viewer',
    '/collections',
    '/collections/0a1b-2c',
    '/collections/0a1b-2c/edit',
    '/collections/0a1b-2c/answers',
    '/shared',
    '/admin',
    '/admin/users',
    '/admin/users/',
    '/admin/audit',
    '/admin/datasets',
    '/admin/slides',
    '/admin/cases',
    '/admin/api-tokens',
  ])('is served at %s', async (address) => {
    const { app } = await webApp();
    const answer = await app.inject(address);
    expect(answer.statusCode).toBe(200);
    expect(answer.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(answer.headers['cache-control']).toBe('no-cache');
    expect(answer.body).toContain('<title>Lamina</title>');
  });

  it.each(['/nowhere', '/index.html', '/.git/config', '/admin/users/1', '/src/main.tsx', '/%00'])(
    'is served with status 404 at %s',
    async (address) => {
      const { app } = await webApp();
      const answer = await app.inject(address);
      expect(answer.statusCode).toBe(404);
      expect(answer.body).toContain('<title>Lamina</title>');
    },
  );

  it('contains the settings of the deployment, with HTML characters escaped', async () => {
    const productName = `Lab "A" & <b>'s`;
    const { app } = await webApp({ productName, tokenSyncUrl: '/sync?$&' });
    const { body } = await app.inject('/');
    const [, content = ''] = /name="settings" content="([^"]*)"/.exec(body) ?? [];
    const unescaped = content.replace(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)));
    expect(JSON.parse(unescaped)).toEqual({
      productName,
      tokenSyncUrl: '/sync?$&',
      contact: null,
      privacyNotice: null,
      signIn: { embedded: true, external: null },
    });
    expect(body).not.toContain('<b>');
  });

  it('explains what to do when the web app is not built', async () => {
    const { app } = await webApp({ isBuilt: false });
    const answer = await app.inject('/dashboard');
    expect(answer.statusCode).toBe(503);
    expect(answer.body).toContain('npm start');
  });
});

describe('the files of the web app', () => {
  it('with a hash in their name may be cached for a year', async () => {
    const { app } = await webApp();
    const answer = await app.inject('/assets/main-abc123.js');
    expect(answer.statusCode).toBe(200);
    expect(answer.headers['content-type']).toMatch(/javascript/);
    expect(answer.headers['cache-control']).toBe('public, max-age=31536000, immutable');
    expect(answer.body).toBe(script);
  });

  it('are compressed for browsers that accept it', async () => {
    const { app } = await webApp();
    const answer = await app.inject({
      url: '/assets/main-abc123.js',
      headers: { 'accept-encoding': 'gzip, br' },
    });
    expect(answer.headers['content-encoding']).toBe('br');
    expect(answer.headers.vary).toMatch(/accept-encoding/i);
    expect(answer.rawPayload.length).toBeLessThan(script.length / 10);
    expect(brotliDecompressSync(answer.rawPayload).toString()).toBe(script);
  });

  it('without a hash in their name may be cached for an hour', async () => {
    const { app } = await webApp();
    const answer = await app.inject('/icon.svg');
    expect(answer.statusCode).toBe(200);
    expect(answer.headers['cache-control']).toBe('public, max-age=3600');
  });

  it.each(['/assets/main-000000.js', '/assets/', '/assets/../index.html', '/assets/..%2findex.html'])(
    'do not include %s',
    async (address) => {
      const { app } = await webApp();
      expect((await app.inject(address)).statusCode).toBe(404);
    },
  );

  it('are never served from outside their folder', async () => {
    const { app, folder } = await webApp();
    const name = `${path.basename(folder)}-secret`;
    for (const address of [`/../${name}`, `/..%2f${name}`, `/%2e%2e/${name}`, `/assets/../../${name}`]) {
      expect((await app.inject(address)).body).not.toBe('secret');
    }
  });
});

describe('an unknown path of the API', () => {
  it.each([
    ['GET', '/api'],
    ['GET', '/api/'],
    ['GET', '/api/v1'],
    ['GET', '/api/v2/auth/login'],
    ['GET', '/api/v1/nowhere'],
    ['POST', '/nowhere'],
  ] as const)('%s %s returns 404 as JSON', async (method, url) => {
    const { app } = await testServer();
    const answer = await app.inject({ method, url });
    expect(answer.statusCode).toBe(404);
    expect(answer.headers['content-type']).toMatch(/^application\/json/);
    expect(answer.json()).toMatchObject({ code: 'not_found' });
  });

  it('returns 405 for a path that another method serves', async () => {
    const { app } = await testServer();
    const answer = await app.inject('/api/v1/auth/login');
    expect(answer.statusCode).toBe(405);
    expect(answer.headers.allow).toBe('POST');
    expect(answer.json()).toMatchObject({ code: 'method_not_allowed' });
  });
});
