/** Tests that three server processes, started independently over one PostgreSQL, do each shared task exactly once. */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { buildSvs } from '@lamina/slide/testing';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { checkChain } from '../audit/chain-check.ts';
import { failureLimits } from '../domain/throttle-limits.ts';
import { statesOfJobs } from '../store/testing/job-states.ts';
import { everyDatabaseKind, openTestDatabase, type TestDatabase } from '../store/testing/test-database.ts';
import { askServer, type ServerProcess, startServerProcess } from '../testing/server-process.ts';

const admin = { email: 'admin@example.org', password: 'bir-parola-1' };
const waitOptions = { timeout: 60_000, interval: 100 };
const slideCount = 24;
const demoSlideCount = 2;
const hasPostgres = everyDatabaseKind.includes('PostgreSQL');
if (!hasPostgres) console.log('The tests with three processes are skipped: they need PostgreSQL.');

describe.skipIf(!hasPostgres)('three server processes over one PostgreSQL database', () => {
  let folder: string;
  let database: TestDatabase;
  let servers: ServerProcess[];
  let adminToken: string;

  const start = (name: string, settings: Readonly<Record<string, string>> = {}) => {
    // The slide roots are shared, as on a shared file system; the rest of the data folder belongs to each process.
    const dataDir = path.join(folder, name);
    fs.mkdirSync(dataDir, { recursive: true });
    const demo = path.join(dataDir, 'demo');
    if (!fs.existsSync(demo)) fs.symlinkSync(path.join(folder, 'demo'), demo);
    return startServerProcess(null, {
      DATA_DIR: dataDir,
      SLIDES_DIR: path.join(folder, 'slides'),
      DATABASE_URL: database.url ?? '',
      SECRET_KEY: 'the same sentence for all three of them',
      ADMIN_EMAIL: admin.email,
      ADMIN_PASSWORD: admin.password,
      DEMO: 'on',
      THROTTLE: 'on',
      ...settings,
    });
  };

  beforeAll(async () => {
    folder = fs.mkdtempSync(path.join(os.tmpdir(), 'lamina-shared-'));
    for (const name of ['slides/Set', 'demo']) fs.mkdirSync(path.join(folder, name), { recursive: true });
    database = await openTestDatabase('PostgreSQL');
    // All start at the same moment, over an empty database.
    servers = await Promise.all(['one', 'two', 'three'].map((name) => start(name)));
    adminToken = await signIn(servers[0], admin);
  }, 180_000);
  afterAll(async () => {
    await Promise.all((servers ?? []).map((server) => server.kill()));
    await database?.close();
    fs.rmSync(folder, { recursive: true, force: true });
  });

  const serverAt = (index: number) => servers[index % servers.length] as ServerProcess;

  async function signIn(server: ServerProcess | undefined, credentials: object): Promise<string> {
    if (server === undefined) throw new Error('no server was started');
    const { body } = await askServer(server, 'POST', '/auth/login', { body: credentials });
    return String(body.token);
  }

  /** Registers and approves a user, each step at another process, and signs the user in. */
  async function createPerson(): Promise<{
    readonly uid: string;
    readonly token: string;
    readonly email: string;
  }> {
    const credentials = { email: `${crypto.randomUUID()}@example.org`, password: 'uzun-bir-şifre' };
    const { body } = await askServer(serverAt(0), 'POST', '/auth/register', { body: credentials });
    const { uid } = body.user as { uid: string };
    await askServer(serverAt(1), 'POST', `/admin/users/${uid}/approve`, { token: adminToken, body: {} });
    return { uid, email: credentials.email, token: await signIn(serverAt(2), credentials) };
  }

  async function auditEntries(action: string): Promise<{ target: string | null; detail: string }[]> {
    return database.db
      .selectFrom('audit')
      .select(['target', 'detail'])
      .where('action', '=', action)
      .orderBy('seq')
      .execute();
  }

  async function listImages(): Promise<{ id: string; file_name: string; status: string }[]> {
    const { body } = await askServer(serverAt(0), 'GET', '/image-catalog/images', { token: adminToken });
    return body.images as { id: string; file_name: string; status: string }[];
  }

  const createSession = async (token: string, index: number) =>
    String((await askServer(serverAt(index), 'POST', '/auth/image-session', { token })).body.session_id);

  it('create one first administrator when all start at the same moment', async () => {
    expect(await auditEntries('first-admin-made')).toHaveLength(1);
    expect(await database.db.selectFrom('users').selectAll().execute()).toHaveLength(1);
  });

  it('write one settings-changed audit event in total when all start for the first time', async () => {
    const events = await auditEntries('settings-changed');
    // The event of a first start has no member `changed`, because there are no earlier settings.
    expect(events.map(({ detail }) => Object.hasOwn(JSON.parse(detail) as object, 'changed'))).toEqual([
      false,
    ]);
  });

  it('generate the demonstration slides once when all start at the same moment', async () => {
    await vi.waitFor(async () => {
      expect((await listImages()).map(({ file_name, status }) => [file_name, status])).toEqual([
        ['colon-demo.svs', 'ready'],
        ['liver-demo.svs', 'ready'],
      ]);
    }, waitOptions);
    await vi.waitFor(
      async () => expect(await statesOfJobs(database.db, 'draw-demo-slides')).toEqual(['completed']),
      waitOptions,
    );
  });

  it('accept an image session (credential for tiles) immediately after another process has created the session', async () => {
    const { token } = await createPerson();
    const [image] = await listImages();
    for (const index of [0, 1, 2]) {
      const session = await createSession(token, index);
      for (const otherIndex of [0, 1, 2]) {
        const url = `/image-catalog/proxy/${image?.id}/image.dzi?session=${session}`;
        expect((await askServer(serverAt(otherIndex), 'GET', url)).status).toBe(200);
      }
    }
  });

  it('report the number of requests with an image session (credential for tiles) as the sum over all processes', async () => {
    const { token } = await createPerson();
    const [image] = await listImages();
    const session = await createSession(token, 0);
    const url = `/image-catalog/proxy/${image?.id}/image.dzi?session=${session}`;
    for (let request = 0; request < 12; request++) await askServer(serverAt(request), 'GET', url);
    await vi.waitFor(async () => {
      for (const index of [0, 1, 2]) {
        const { body } = await askServer(serverAt(index), 'GET', '/auth/image-session/stats', { token });
        expect(body).toMatchObject({ active_sessions: 1, sessions: [{ request_count: 12 }] });
      }
    }, waitOptions);
  });

  it('write one image-opened audit event when all three serve one image to one image session (credential for tiles)', async () => {
    const { token, uid } = await createPerson();
    const [image] = await listImages();
    const session = await createSession(token, 0);
    const url = `/image-catalog/proxy/${image?.id}/image.dzi?session=${session}`;
    const requests = [0, 1, 2, 0, 1, 2].map((index) => askServer(serverAt(index), 'GET', url));
    for (const { status } of await Promise.all(requests)) expect(status).toBe(200);
    const opened = await database.db
      .selectFrom('audit')
      .select('target')
      .where('action', '=', 'image-opened')
      .where('actor_uid', '=', uid)
      .execute();
    expect(opened).toEqual([{ target: image?.id }]);
  });

  it('count failed sign-ins of an account together, and all return 429 at the limit', async () => {
    const { email } = await createPerson();
    const body = { email, password: 'yanlış-bir-şifre' }; // a wrong password
    const { maxCount } = failureLimits['account-and-network'];
    for (let attempt = 0; attempt < maxCount; attempt++) {
      expect((await askServer(serverAt(attempt), 'POST', '/auth/login', { body })).status).toBe(401);
    }
    for (const index of [0, 1, 2]) {
      expect((await askServer(serverAt(index), 'POST', '/auth/login', { body })).status).toBe(429);
    }
  });

  it('ingest each new slide file once even when one of the processes is killed while it ingests a file', async () => {
    const [one, two, three] = servers as [ServerProcess, ServerProcess, ServerProcess];
    // While the other two are stopped, only the third process ingests.
    for (const server of [one, two]) server.process.kill('SIGSTOP');
    for (let slide = 0; slide < slideCount; slide++) {
      const file = path.join(folder, 'slides/Set', `${slide}.svs`);
      fs.writeFileSync(`${file}.part`, await buildSvs());
      fs.renameSync(`${file}.part`, file);
    }
    await vi.waitFor(async () => expect(await statesOfJobs(database.db, 'read-slide')).toContain('active'), {
      ...waitOptions,
      interval: 5,
    });
    await three.kill();
    expect(await statesOfJobs(database.db, 'read-slide')).toContain('active');
    servers = [one, two];
    for (const server of servers) server.process.kill('SIGCONT');
    await vi.waitFor(async () => {
      const readyImages = (await listImages()).filter(({ status }) => status === 'ready');
      expect(readyImages).toHaveLength(slideCount + demoSlideCount);
    }, waitOptions);
    const imported = (await auditEntries('image-imported')).map(({ target }) => target);
    expect(imported).toHaveLength(slideCount + demoSlideCount);
    expect(new Set(imported).size).toBe(slideCount + demoSlideCount);
  }, 120_000);

  it('keep the catalogue entries of all slides when a fourth process starts without the slide folder', async () => {
    for (const server of servers) server.process.kill('SIGSTOP');
    const withoutFolder = await start('four', { SLIDES_DIR: path.join(folder, 'none') });
    await withoutFolder.kill();
    for (const server of servers) server.process.kill('SIGCONT');
    expect(await listImages()).toHaveLength(slideCount + demoSlideCount);
  });

  it('write audit events that form one unbroken hash chain', async () => {
    expect(await checkChain(database.db)).toMatchObject({ state: 'intact', brokenAt: null });
  });
});
