/**
 * Revocation in one server process takes effect in two others over the same database within one second (permissions.md
 * section 5), measured with an API call, a descriptor, a thumbnail, a tile, a DICOMweb frame and a IIIF image.
 */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { buildSvs } from '@lamina/slide/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { uidOf } from '../dicomweb/uids.ts';
import { databaseKinds, openTestDatabase, type TestDatabase } from '../store/testing/test-database.ts';
import { askServer, type ServerProcess, startServerProcess } from '../testing/server-process.ts';

const admin = { email: 'admin@example.org', password: 'bir-parola-1' };
const newPassword = 'yepyeni-şifre';
/** Maximum time until a revocation takes effect in other processes (permissions.md section 5). */
const promisedMs = 1000;
const pauseMs = 10;

interface Person {
  readonly uid: string;
  readonly token: string;
  /** Token of another sign-in of the user. */
  readonly otherToken: string;
  readonly session: string;
}

type Revoke = (at: ServerProcess, person: Person, adminToken: string) => Promise<{ readonly status: number }>;
const byAdmin =
  (method: string, action: string, body?: object): Revoke =>
  (at, { uid }, token) =>
    askServer(at, method, `/admin/users/${uid}/${action}`, { token, ...(body && { body }) });

const revocations: Readonly<Record<string, Revoke>> = {
  'an administrator suspends the account': byAdmin('POST', 'suspend'),
  'an administrator deactivates the account': byAdmin('POST', 'deactivate'),
  'an administrator promotes the account': byAdmin('POST', 'promote'),
  'an administrator sets the password': byAdmin('PUT', 'password', { new_password: newPassword }),
  'the owner deletes the account': (at, { token }) => askServer(at, 'DELETE', '/user/account', { token }),
  'the owner changes the password in another sign-in': (at, { otherToken: token }) =>
    askServer(at, 'PUT', '/user/password', { token, body: { new_password: newPassword } }),
  'the owner signs out': (at, { token }) => askServer(at, 'POST', '/auth/logout', { token }),
  'the owner signs out everywhere': (at, { otherToken: token }) =>
    askServer(at, 'DELETE', '/user/sign-ins', { token }),
};

describe.each(databaseKinds)('three server processes that share one %s database', (kind) => {
  let folder: string;
  let database: TestDatabase | null = null;
  let here: ServerProcess;
  let elsewhere: readonly ServerProcess[];
  let adminToken: string;
  let imageId: string;

  beforeAll(async () => {
    folder = fs.mkdtempSync(path.join(os.tmpdir(), 'lamina-processes-'));
    const slidesDir = path.join(folder, 'slides');
    fs.mkdirSync(path.join(slidesDir, 'Set'), { recursive: true });
    fs.writeFileSync(path.join(slidesDir, 'Set', 'a.svs'), await buildSvs());
    database = kind === 'PostgreSQL' ? await openTestDatabase(kind) : null;
    const start = (name: string) =>
      startServerProcess(database === null ? path.join(folder, 'lamina.db') : null, {
        DATA_DIR: path.join(folder, name),
        SLIDES_DIR: slidesDir,
        DATABASE_URL: database?.url ?? '',
        ADMIN_EMAIL: admin.email,
        ADMIN_PASSWORD: admin.password,
      });
    here = await start('here');
    elsewhere = [await start('second'), await start('third')];
    adminToken = await signIn(admin);
    const { body } = await askServer(here, 'GET', '/image-catalog/images', { token: adminToken });
    imageId = (body as { images: { id: string }[] }).images[0]?.id ?? 'no slide was read';
  }, 120_000);
  afterAll(async () => {
    for (const each of [here, ...(elsewhere ?? [])]) await each?.kill();
    await database?.close();
    fs.rmSync(folder, { recursive: true, force: true });
  });

  async function signIn(credentials: { email: string; password: string }): Promise<string> {
    const { body } = await askServer(here, 'POST', '/auth/login', { body: credentials });
    return body.token as string;
  }

  /** Creates an approved account with two sign-ins and an image session. */
  async function createPerson(): Promise<Person> {
    const credentials = { email: `${crypto.randomUUID()}@example.org`, password: 'uzun-bir-şifre' };
    const { body } = await askServer(here, 'POST', '/auth/register', { body: credentials });
    const { uid } = body.user as { uid: string };
    await askServer(here, 'POST', `/admin/users/${uid}/approve`, { token: adminToken, body: {} });
    const token = await signIn(credentials);
    const session = await askServer(here, 'POST', '/auth/image-session', { token });
    return {
      uid,
      token,
      otherToken: await signIn(credentials),
      session: session.body.session_id as string,
    };
  }

  /** Repeats a request until it is rejected. @returns when each accepted request was sent, and the rejection arrived */
  async function untilRejected(ask: () => Promise<{ readonly status: number }>) {
    let lastAcceptedSentAt = Number.NEGATIVE_INFINITY;
    for (;;) {
      const sentAt = performance.now();
      const { status } = await ask();
      if (status === 401) return { lastAcceptedSentAt, rejectedAt: performance.now() };
      expect(status).toBe(200);
      lastAcceptedSentAt = sentAt;
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }

  /** Requests of other software with a bearer token, which a process accepts from a cache that is at most 1 s old. */
  function tilesOf(at: ServerProcess, token: string) {
    const series = `studies/${uidOf(imageId, 'study')}/series/${uidOf(imageId, 'series')}`;
    const frame = `/dicom-web/${series}/instances/${uidOf(imageId, 0)}/frames/1`;
    return [
      { what: 'frame', ask: () => askServer(at, 'GET', frame, { token }) },
      {
        what: 'IIIF image',
        ask: () => askServer(at, 'GET', `/iiif/image/${imageId}/full/20,/0/default.jpg`, { token }),
      },
    ];
  }

  it('all reject tile requests with an API token within a second after one of them has revoked the token', async () => {
    const { token: owner } = await createPerson();
    const body = { name: 'Script', scopes: ['slides:read'] };
    const apiToken = (await askServer(here, 'POST', '/user/api-tokens', { token: owner, body })).body;
    const token = apiToken.token as string;
    const requestsHere = tilesOf(here, token);
    const requests = elsewhere.flatMap((at) => tilesOf(at, token));
    for (const { ask } of [...requestsHere, ...requests]) expect((await ask()).status).toBe(200);
    const watching = requests.map(async ({ what, ask }) => [what, await untilRejected(ask)] as const);
    const { status } = await askServer(here, 'DELETE', `/user/api-tokens/${apiToken.id as string}`, {
      token: owner,
    });
    const answeredAt = performance.now();
    expect(status).toBe(204);
    for (const { ask } of requestsHere) expect((await ask()).status).toBe(401);
    for (const [what, { lastAcceptedSentAt, rejectedAt }] of await Promise.all(watching)) {
      expect(lastAcceptedSentAt - answeredAt).toBeLessThanOrEqual(promisedMs);
      const ms = Math.max(0, Math.round(rejectedAt - answeredAt));
      process.stdout.write(`${kind}, API token: ${what} refused elsewhere after ${ms} ms\n`);
    }
  });

  it.each(Object.keys(revocations))(
    'all reject API and tile requests of an account within a second after one of them handles this request: %s',
    async (name) => {
      const { uid, token, otherToken, session } = await createPerson();
      const pixels = (at: ServerProcess, file: string) => () =>
        askServer(at, 'GET', `/image-catalog/proxy/${imageId}/${file}?session=${session}`);
      const requests = elsewhere.flatMap((at) => [
        { what: 'API', ask: () => askServer(at, 'GET', '/user/profile', { token }) },
        { what: 'descriptor', ask: pixels(at, 'image.dzi') },
        { what: 'thumbnail', ask: pixels(at, 'thumbnail.jpg') },
        { what: 'tile', ask: pixels(at, 'image_files/9/0_0.jpeg') },
        ...tilesOf(at, token),
      ]);
      // The other processes have cached the access before the revocation.
      for (const { ask } of requests) expect((await ask()).status).toBe(200);

      const watching = requests.map(async ({ what, ask }) => [what, await untilRejected(ask)] as const);
      const answer = await revocations[name]?.(here, { uid, token, otherToken, session }, adminToken);
      const answeredAt = performance.now();
      expect([200, 204]).toContain(answer?.status);

      const figures: string[] = [];
      for (const [what, { lastAcceptedSentAt, rejectedAt }] of await Promise.all(watching)) {
        // No request was accepted that was sent 1 s after the revocation. This does not depend on the speed of the machine.
        expect(lastAcceptedSentAt - answeredAt).toBeLessThanOrEqual(promisedMs);
        figures.push(`${what} ${Math.max(0, Math.round(rejectedAt - answeredAt))} ms`);
      }
      process.stdout.write(`${kind}, ${name}: refused elsewhere after ${figures.join(', ')}\n`);
    },
  );
});
