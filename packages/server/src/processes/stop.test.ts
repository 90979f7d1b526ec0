/** Tests the graceful shutdown of the whole program under load. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { apiBase } from '@lamina/contract';
import { buildSvs } from '@lamina/slide/testing';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { startProgram } from '../testing/server-process.ts';

const admin = { email: 'admin@example.org', password: 'bir-parola-1' };
const waitOptions = { timeout: 60_000, interval: 50 };
const slideOptions = { width: 2000, height: 1600, tileSize: 128, downsamples: [1, 8] } as const;

interface Running {
  readonly process: ChildProcess;
  readonly port: number;
  /** Exit code and signal. */
  readonly exit: Promise<unknown[]>;
}

async function start(settings: Readonly<Record<string, string>>): Promise<Running> {
  const dataDir = fs.mkdtempSync(path.join(os.tmpdir(), 'lamina-stop-'));
  fs.mkdirSync(path.join(dataDir, 'slides/Tissue'), { recursive: true });
  fs.writeFileSync(path.join(dataDir, 'slides/Tissue/a.svs'), await buildSvs(slideOptions));
  const { address, process: child } = await startProgram({
    DATA_DIR: dataDir,
    SLIDES_DIR: path.join(dataDir, 'slides'),
    LOG_LEVEL: 'error',
    ADMIN_EMAIL: admin.email,
    ADMIN_PASSWORD: admin.password,
    ...settings,
  });
  const exit = once(child, 'exit');
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await exit;
    fs.rmSync(dataDir, { recursive: true, force: true });
  });
  return { process: child, port: Number(new URL(address).port), exit };
}

interface Reply {
  readonly status: number;
  readonly bytes: number;
  readonly connection: string | undefined;
}

async function readReply(response: http.IncomingMessage): Promise<Reply> {
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) bytes += chunk.byteLength;
  return { status: response.statusCode ?? 0, bytes, connection: response.headers.connection };
}

function get({ port }: Running, url: string, agent: http.Agent | false = false): Promise<Reply> {
  return new Promise((resolve, reject) => {
    http.get({ port, path: url, agent }, (response) => resolve(readReply(response))).on('error', reject);
  });
}

async function call(
  running: Running,
  method: string,
  url: string,
  { token, body }: { readonly token?: string; readonly body?: object },
) {
  const answer = await fetch(`http://127.0.0.1:${running.port}${apiBase}${url}`, {
    method,
    headers: {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  return (await answer.json()) as Record<string, unknown>;
}

/** Waits until the slide is ready, and returns a function that returns the URL of a tile with an image session. */
async function openSlide(running: Running): Promise<(tile: string) => string> {
  const { token } = (await call(running, 'POST', '/auth/login', { body: admin })) as { token: string };
  const imageId = await vi.waitFor(async () => {
    const { images } = (await call(running, 'GET', '/image-catalog/images', { token })) as {
      images: { id: string; status: string }[];
    };
    if (images[0]?.status !== 'ready') throw new Error('the slide has not been read yet');
    return images[0].id;
  }, waitOptions);
  const session = String((await call(running, 'POST', '/auth/image-session', { token })).session_id);
  const base = `${apiBase}/image-catalog/proxy/${imageId}`;
  expect((await get(running, `${base}/image.dzi?session=${session}`)).status).toBe(200);
  return (tile) => `${base}/image_files/${tile}.jpg?session=${session}`;
}

/** Native tiles (Deep Zoom level 11) alternating with tiles that need rendering (levels 10 and 9 in turn). */
const tiles = Array.from({ length: 200 }, (_, i) =>
  i % 2 === 0 ? `11/${i % 15}_${i % 12}` : `${9 + (i % 4 === 1 ? 1 : 0)}/${i % 3}_${i % 2}`,
);

describe.skipIf(process.platform === 'win32')('a server that receives SIGTERM', () => {
  it.each([1, 2])('answers all requests in flight before it exits, with WORKERS=%d', async (workers) => {
    const running = await start({ WORKERS: String(workers) });
    const address = await openSlide(running);
    const agent = new http.Agent({ keepAlive: true, maxSockets: 200 });
    onTestFinished(() => agent.destroy());
    const allSent = Promise.withResolvers<void>();
    let sentCount = 0;
    const inFlight = Promise.all(
      tiles.map(
        (tile) =>
          new Promise<Reply>((resolve, reject) => {
            const request = http.get({ port: running.port, path: address(tile), agent }, (response) =>
              resolve(readReply(response)),
            );
            request.on('error', reject);
            request.on('finish', () => {
              sentCount++;
              if (sentCount === tiles.length) allSent.resolve();
            });
          }),
      ),
    );
    await allSent.promise;
    // When a later request over a new connection has been answered, all these requests have reached the server.
    expect((await get(running, '/health/live')).status).toBe(200);
    running.process.kill('SIGTERM');
    const replies = await inFlight;
    expect(replies.filter(({ status, bytes }) => status !== 200 || bytes < 100)).toEqual([]);
    expect(await running.exit).toEqual([0, null]);
  });

  it('returns 503 from /health/ready immediately, and continues to answer other requests for DRAIN_SECONDS', async () => {
    const running = await start({ DRAIN_SECONDS: '2' });
    const address = await openSlide(running);
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
    onTestFinished(() => agent.destroy());
    expect(await get(running, address('11/0_0'), agent)).toMatchObject({
      status: 200,
      connection: 'keep-alive',
    });
    running.process.kill('SIGTERM');
    await vi.waitFor(async () => expect((await get(running, '/health/ready')).status).toBe(503), waitOptions);
    // Requests are answered over the earlier connection and over new ones; each response closes its connection.
    expect(await get(running, address('11/1_1'), agent)).toMatchObject({ status: 200, connection: 'close' });
    expect(await get(running, address('10/0_0'))).toMatchObject({ status: 200, connection: 'close' });
    expect((await get(running, '/health/live')).status).toBe(200);
    expect(await running.exit).toEqual([0, null]);
  });

  it('closes idle connections immediately instead of after the shutdown limit of ten seconds', async () => {
    const running = await start({});
    const silent = net.connect(running.port, '127.0.0.1');
    const idle = new http.Agent({ keepAlive: true });
    onTestFinished(() => {
      idle.destroy();
      silent.destroy();
    });
    await once(silent, 'connect');
    expect((await get(running, '/health/live', idle)).status).toBe(200);
    const ended = once(silent, 'close');
    const stoppedAt = performance.now();
    running.process.kill('SIGTERM');
    expect(await running.exit).toEqual([0, null]);
    await ended;
    // Connections with a request in flight are closed only after ten seconds.
    expect(performance.now() - stoppedAt).toBeLessThan(9000);
  });
});
