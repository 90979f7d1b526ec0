/** The web app through HTTP: its page with the settings, its files, and unknown paths of the API. */
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

async function startWebApp({
  isBuilt = true,
  productName = 'Lamina',
  tokenSyncUrl = null as string | null,
} = {}) {
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

describe('the HTML page of the web app', () => {
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
    const { app } = await startWebApp();
    const response = await app.inject(address);
    expect(response.statusCode).toBe(200);
    expect(response.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(response.headers['cache-control']).toBe('no-cache');
    expect(response.body).toContain('<title>Lamina</title>');
  });

  it.each(['/nowhere', '/index.html', '/.git/config', '/admin/users/1', '/src/main.tsx', '/%00'])(
    'is served with status 404 at the unknown path %s',
    async (address) => {
      const { app } = await startWebApp();
      const response = await app.inject(address);
      expect(response.statusCode).toBe(404);
      expect(response.body).toContain('<title>Lamina</title>');
    },
  );

  it('contains product name and sign-in settings of the deployment, with HTML characters escaped', async () => {
    const productName = `Lab "A" & <b>'s`;
    const { app } = await startWebApp({ productName, tokenSyncUrl: '/sync?$&' });
    const { body } = await app.inject('/');
    const [, content = ''] = /name="settings" content="([^"]*)"/.exec(body) ?? [];
    const unescaped = content.replace(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)));
    expect(JSON.parse(unescaped)).toEqual({
      productName,
      tokenSyncUrl: '/sync?$&',
      contact: null,
      privacyNotice: null,
      confirmsRegistrations: false,
      signIn: { embedded: true, external: null },
    });
    expect(body).not.toContain('<b>');
  });

  it('is replaced by a message with status 503 that names the start command when the web app is not built', async () => {
    const { app } = await startWebApp({ isBuilt: false });
    const response = await app.inject('/dashboard');
    expect(response.statusCode).toBe(503);
    expect(response.body).toContain('npm start');
  });
});

describe('the static files of the web app', () => {
  it('with a hash in their name may be cached for a year', async () => {
    const { app } = await startWebApp();
    const response = await app.inject('/assets/main-abc123.js');
    expect(response.statusCode).toBe(200);
    expect(response.headers['content-type']).toMatch(/javascript/);
    expect(response.headers['cache-control']).toBe('public, max-age=31536000, immutable');
    expect(response.body).toBe(script);
  });

  it('are compressed with Brotli for browsers that accept it', async () => {
    const { app } = await startWebApp();
    const response = await app.inject({
      url: '/assets/main-abc123.js',
      headers: { 'accept-encoding': 'gzip, br' },
    });
    expect(response.headers['content-encoding']).toBe('br');
    expect(response.headers.vary).toMatch(/accept-encoding/i);
    expect(response.rawPayload.length).toBeLessThan(script.length / 10);
    expect(brotliDecompressSync(response.rawPayload).toString()).toBe(script);
  });

  it('without a hash in their name may be cached for an hour', async () => {
    const { app } = await startWebApp();
    const response = await app.inject('/icon.svg');
    expect(response.statusCode).toBe(200);
    expect(response.headers['cache-control']).toBe('public, max-age=3600');
  });

  it.each(['/assets/main-000000.js', '/assets/', '/assets/../index.html', '/assets/..%2findex.html'])(
    'return 404 for the path %s, at which there is no static file',
    async (address) => {
      const { app } = await startWebApp();
      expect((await app.inject(address)).statusCode).toBe(404);
    },
  );

  it('do not include files outside their folder when the URL path contains ".."', async () => {
    const { app, folder } = await startWebApp();
    const name = `${path.basename(folder)}-secret`;
    for (const address of [`/../${name}`, `/..%2f${name}`, `/%2e%2e/${name}`, `/assets/../../${name}`]) {
      expect((await app.inject(address)).body).not.toBe('secret');
    }
  });
});

describe('a request with an unknown path or a wrong method:', () => {
  it.each([
    ['GET', '/api'],
    ['GET', '/api/'],
    ['GET', '/api/v1'],
    ['GET', '/api/v2/auth/login'],
    ['GET', '/api/v1/nowhere'],
    ['POST', '/nowhere'],
  ] as const)('%s %s returns 404 with a JSON body', async (method, url) => {
    const { app } = await testServer();
    const response = await app.inject({ method, url });
    expect(response.statusCode).toBe(404);
    expect(response.headers['content-type']).toMatch(/^application\/json/);
    expect(response.json()).toMatchObject({ code: 'not_found' });
  });

  it('GET /api/v1/auth/login returns 405, because only POST is allowed', async () => {
    const { app } = await testServer();
    const response = await app.inject('/api/v1/auth/login');
    expect(response.statusCode).toBe(405);
    expect(response.headers.allow).toBe('POST');
    expect(response.json()).toMatchObject({ code: 'method_not_allowed' });
  });
});
