/** Tests a server whose clock is set back and forward by a day while it is in use (REL-18). */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { createImageSession, getProfile } from '@lamina/contract';
import { buildSvs } from '@lamina/slide/testing';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { databaseKinds } from '../../store/testing/test-database.ts';
import { askServer, startServerProcess } from '../../testing/server-process.ts';
import { testServer } from '../../testing/test-server.ts';

const day = 24 * 3_600_000;
const waitOptions = { timeout: 50_000, interval: 50 };
const admin = { email: 'admin@example.org', password: 'bir-parola-1' };
const shiftedClock = pathToFileURL(path.join(import.meta.dirname, '../../testing/shifted-clock.ts')).href;
const plan = { width: 480, height: 400, tileSize: 128 } as const;
const tile = 'image_files/9/1_1.jpg';

describe.skipIf(process.platform === 'win32')('a running server whose clock is changed', () => {
  it('keeps sign-ins and image sessions (credentials for tiles) when the clock is set back by a day, and ends both when the clock is set forward by a day', async () => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'lamina-clock-'));
    onTestFinished(() => fs.rmSync(folder, { recursive: true, force: true }));
    const slide = path.join(folder, 'slides/Tissue/a.svs');
    fs.mkdirSync(path.dirname(slide), { recursive: true });
    fs.writeFileSync(slide, await buildSvs({ ...plan, downsamples: [1, 4] }));
    const shiftFile = path.join(folder, 'shift');
    const server = await startServerProcess(path.join(folder, 'lamina.db'), {
      DATA_DIR: path.join(folder, 'data'),
      SLIDES_DIR: path.join(folder, 'slides'),
      ADMIN_EMAIL: admin.email,
      ADMIN_PASSWORD: admin.password,
      NODE_OPTIONS: `--import=${shiftedClock}`,
      CLOCK_SHIFT_FILE: shiftFile,
    });
    onTestFinished(() => server.kill());

    const ask = (method: string, url: string, token?: string, body?: object) =>
      askServer(server, method, url, { ...(token && { token }), ...(body && { body }) });
    const signIn = async () => (await ask('POST', '/auth/login', undefined, admin)).body as { token: string };
    const { token } = await signIn();
    const { images } = (await ask('GET', '/image-catalog/images', token)).body as {
      images: { id: string }[];
    };
    const { session_id: session } = (await ask('POST', '/auth/image-session', token)).body;
    const pixels = (id: unknown = session) =>
      fetch(`${server.address}/api/v1/image-catalog/proxy/${images[0]?.id}/${tile}?session=${id as string}`);
    const setClock = async (ms: number) => {
      fs.writeFileSync(shiftFile, String(ms));
      server.process.kill('SIGUSR2');
      await vi.waitFor(() => expect(fs.existsSync(shiftFile)).toBe(false), waitOptions);
    };

    const before = await pixels();
    expect(before.status).toBe(200);
    await setClock(-day);
    expect((await ask('GET', '/user/profile', token)).status).toBe(200);
    expect((await pixels()).status).toBe(200);
    // The server still detects replaced slides and ended sessions.
    fs.writeFileSync(`${slide}.new`, await buildSvs({ ...plan, downsamples: [1, 2] }));
    fs.renameSync(`${slide}.new`, slide);
    await vi.waitFor(async () => {
      const after = await pixels();
      expect([after.status, after.headers.get('etag') === before.headers.get('etag')]).toEqual([200, false]);
    }, waitOptions);
    const { session_id: other } = (await ask('POST', '/auth/image-session', token)).body;
    expect((await pixels(other)).status).toBe(200);
    await ask('DELETE', `/auth/image-session/${other as string}`, token);
    expect((await pixels(other)).status).toBe(401);

    await setClock(day);
    expect((await pixels()).status).toBe(401);
    expect((await ask('GET', '/user/profile', token)).status).toBe(401);
    expect((await ask('GET', '/user/profile', (await signIn()).token)).status).toBe(200);
  });
});

describe.each(databaseKinds)('restart of a server with the clock set back (database: %s)', (database) => {
  it.each([
    ['a day', -day],
    ['two minutes', -2 * 60_000],
  ])(
    'by %s ends all earlier sign-ins and image sessions (credentials for tiles), because their age is unknown',
    async (_, ms) => {
      const { fixtures, as, clock, another, services } = await testServer({ database });
      const token = await fixtures.token(await fixtures.user());
      const { session_id: session } = (await as(token).call(createImageSession)).body;
      expect(await services.imageSessions.resolve(session)).not.toBeNull();
      clock.advance(ms);
      const restarted = await another();
      expect((await restarted.as(token).call(getProfile)).status).toBe(401);
      const answer = await restarted.as(null).inject({
        method: 'GET',
        url: `/image-catalog/proxy/00000000-0000-4000-8000-000000000000/image.dzi?session=${session}`,
      });
      expect(answer).toMatchObject({ status: 401, body: { code: 'session_invalid' } });
    },
  );

  it('by 50 s, which may be clock skew, keeps earlier sign-ins', async () => {
    const { fixtures, as, clock, another } = await testServer({ database });
    const token = await fixtures.token(await fixtures.user());
    clock.advance(-50_000);
    expect((await (await another()).as(token).call(getProfile)).status).toBe(200);
    clock.advance(50_000);
    expect((await as(token).call(getProfile)).status).toBe(200);
  });
});
