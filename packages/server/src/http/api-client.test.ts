/**
 * Tests the OpenAPI document with other programs: a linter reads it, and a client that is generated from it calls a running server.
 */
import { execFile } from 'node:child_process';
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { apiBase } from '@lamina/contract';
import openapiTS, { astToString, type OpenAPI3 } from 'openapi-typescript';
import { describe, expect, it, onTestFinished } from 'vitest';
import { testServer } from '../testing/test-server.ts';

const run = promisify(execFile);
const projectRoot = path.join(import.meta.dirname, '../../../..');

async function newFolder(): Promise<string> {
  const folder = await fs.mkdtemp(path.join(os.tmpdir(), 'lamina-api-'));
  onTestFinished(() => fs.rm(folder, { recursive: true }));
  return folder;
}

async function runningServer() {
  const server = await testServer();
  const address = await server.app.listen({ host: '127.0.0.1', port: 0 });
  const document = (await (await fetch(`${address}${apiBase}/openapi.json`)).json()) as OpenAPI3;
  return { ...server, baseUrl: address + apiBase, document };
}

/** Source of a program that calls the API only with the generated types, so that a wrong type fails the compilation. Prints results as JSON. */
const program = `
import createClient from 'openapi-fetch';
import type { components, paths } from './api.d.ts';

const [baseUrl = '', adminToken = '', uid = ''] = process.argv.slice(2);
const stranger = createClient<paths>({ baseUrl });
const admin = createClient<paths>({ baseUrl, headers: { Authorization: \`Bearer \${adminToken}\` } });
const email = 'client@example.org';
const password = 'uzun-bir-şifre';

const results: Record<string, string | number | undefined> = {};

const registered = await stranger.POST('/auth/register', { body: { email, password, displayName: 'Client' } });
results.register = registered.data?.user.email;
const signedIn = await stranger.POST('/auth/login', { body: { email, password } });
results.signIn = signedIn.data?.expires_in;
const verified = await stranger.POST('/auth/verify', { body: { token: signedIn.data?.token ?? '' } });
results.verifyToken = verified.data?.user.status;
const reset = await stranger.POST('/auth/password-reset', { body: { email } });
const message: components['schemas']['Message'] | undefined = reset.data;
results.requestPasswordReset = typeof message?.message;
const user = await admin.GET('/admin/users/{uid}', { params: { path: { uid } } });
results.getUser = user.data?.user.uid;
const approved = await admin.POST('/admin/users/{uid}/approve', { params: { path: { uid } }, body: { role: 'viewer' } });
results.approveUser = typeof approved.data?.message;
const statistics = await admin.GET('/admin/statistics', { params: { query: { zone: 'Europe/Istanbul' } } });
results.getStatistics = statistics.data?.usersByStatus.active;
const factor = await admin.GET('/user/second-factor');
results.getSecondFactor = factor.data?.recovery_codes_left;
const chain = await admin.GET('/admin/audit/chain');
results.getAuditChain = typeof chain.data?.state;
const images = await admin.GET('/image-catalog/images', { params: { query: { limit: 5 } } });
results.listImages = images.data?.images[0]?.file_name;
const session = await admin.POST('/auth/image-session');
results.createImageSession = session.data?.expires_in;
const stats = await admin.GET('/auth/image-session/stats');
results.getImageSessionStats = stats.data?.active_sessions;
const missing = await admin.GET('/admin/users/{uid}', { params: { path: { uid: 'unknown' } } });
const error: components['schemas']['Error'] | undefined = missing.error;
results.missing = error?.code;

console.log(JSON.stringify(results));
`;

describe('GET openapi.json (the OpenAPI document of the API)', () => {
  it('returns a document that @redocly/cli accepts without any warning', { timeout: 60_000 }, async () => {
    const { document } = await runningServer();
    const file = path.join(await newFolder(), 'openapi.json');
    await fs.writeFile(file, JSON.stringify(document));
    const linter = path.join(projectRoot, 'node_modules/@redocly/cli/bin/cli.js');
    const offline = { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true', CI: 'true' };
    const { stderr } = await run(process.execPath, [linter, 'lint', '--extends=recommended-strict', file], {
      cwd: path.dirname(file),
      // No proxy listens there, so the linter cannot fetch anything.
      env: {
        ...process.env,
        ...offline,
        HTTP_PROXY: 'http://127.0.0.1:9',
        HTTPS_PROXY: 'http://127.0.0.1:9',
      },
    });
    expect(stderr).toContain('Your API description is valid');
  });

  it('returns a document from which a TypeScript client is generated that compiles and calls the API', {
    timeout: 60_000,
  }, async () => {
    const { document, baseUrl, fixtures } = await runningServer();
    const folder = await newFolder();
    await fs.symlink(path.join(projectRoot, 'node_modules'), path.join(folder, 'node_modules'));
    await fs.writeFile(path.join(folder, 'package.json'), '{"type":"module"}');
    await fs.writeFile(path.join(folder, 'api.d.ts'), astToString(await openapiTS(document)));
    await fs.writeFile(path.join(folder, 'client.ts'), program);
    await fs.writeFile(
      path.join(folder, 'tsconfig.json'),
      JSON.stringify({
        extends: path.join(projectRoot, 'tsconfig.base.json'),
        compilerOptions: { types: ['node'], noEmit: true, skipLibCheck: true },
        files: ['client.ts'],
      }),
    );
    const compiler = path.join(projectRoot, 'node_modules/typescript/bin/tsc');
    await run(process.execPath, [compiler, '-p', folder]).catch((error: { stdout: string }) => {
      throw new Error(`The client does not compile:\n${error.stdout}`);
    });

    const admin = await fixtures.admin();
    const { uid } = await fixtures.user({ status: 'pending' });
    await fixtures.image({ file_name: 'a.svs' });
    const client = path.join(folder, 'client.ts');
    const { stdout } = await run(process.execPath, [client, baseUrl, await fixtures.token(admin), uid]);
    expect(JSON.parse(stdout)).toEqual({
      register: 'client@example.org',
      signIn: 43_200, // seconds: 12 hours
      verifyToken: 'pending',
      requestPasswordReset: 'string',
      getUser: uid,
      approveUser: 'string',
      getStatistics: 2, // active accounts: the administrator and the approved user
      getSecondFactor: 0,
      getAuditChain: 'string',
      listImages: 'a.svs',
      createImageSession: 3600, // seconds
      getImageSessionStats: 1,
      missing: 'not_found',
    });
  });
});
