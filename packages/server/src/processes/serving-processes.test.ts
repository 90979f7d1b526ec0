/** The program with several processes that answer, as it is started in earnest. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { apiBase } from '@lamina/contract';
import { buildSvs } from '@lamina/slide/testing';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';

const main = path.join(import.meta.dirname, '../main.ts');
const admin = { email: 'admin@example.org', password: 'bir-parola-1' };
const processes = 2;
/** 480 × 400 pixels, tiles of 128, stored at 1 and at 1/4: Deep Zoom levels 9 and 7 of 0…9. */
const plan = { width: 480, height: 400, tileSize: 128, downsamples: [1, 4] } as const;
const stored = 'image_files/9/1_1.jpg';
const made = 'image_files/8/0_0.jpg';

let dataDir: string;
let server: ChildProcess;
let port: number;
let token: string;
let imageId: string;
/** One connection to each process, for connections are dealt out in turn. */
let connections: http.Agent[];

beforeAll(async () => {
  dataDir = fs.mkdtempSync(path.join(os.tmpdir(), 'lamina-serving-'));
  fs.mkdirSync(path.join(dataDir, 'slides/Tissue'), { recursive: true });
  fs.writeFileSync(path.join(dataDir, 'slides/Tissue/a.svs'), await buildSvs(plan));
  server = spawn(process.execPath, [main], {
    env: {
      WORKERS: String(processes),
      PORT: '0',
      DATA_DIR: dataDir,
      SLIDES_DIR: path.join(dataDir, 'slides'),
      DEMO: 'off',
      LOG_LEVEL: 'info',
      ADMIN_EMAIL: admin.email,
      ADMIN_PASSWORD: admin.password,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const listening = new Set<unknown>();
  const all = Promise.withResolvers<void>();
  createInterface({ input: server.stderr as NodeJS.ReadableStream }).on('line', (line) => {
    const { msg = '', pid } = JSON.parse(line) as { msg?: string; pid: number };
    if (msg.startsWith('Server listening')) listening.add(pid);
    if (listening.size === processes) all.resolve();
  });
  port = await new Promise<number>((resolve, reject) => {
    createInterface({ input: server.stdout as NodeJS.ReadableStream }).on('line', (line) => {
      const found = /running at http:\S+:(\d+)/.exec(line)?.[1];
      if (found !== undefined) resolve(Number(found));
    });
    server.once('exit', () => reject(new Error('the server ended without a word')));
  });
  await all.promise;
  connections = Array.from({ length: processes }, () => new http.Agent({ keepAlive: true, maxSockets: 1 }));
  ({ token } = (await call('POST', '/auth/login', { body: admin })).json as { token: string });
  await vi.waitFor(
    async () => {
      const { images } = (await call('GET', '/image-catalog/images', { token })).json as {
        images: { id: string; status: string }[];
      };
      if (images[0]?.status !== 'ready') throw new Error('the slide has not been read yet');
      imageId = images[0].id;
    },
    { timeout: 50_000, interval: 100 },
  );
});
afterAll(() => {
  for (const agent of connections) agent.destroy();
  server.kill('SIGKILL');
  fs.rmSync(dataDir, { recursive: true, force: true });
});

interface Reply {
  readonly status: number;
  readonly bytes: Buffer;
  readonly json: unknown;
}

function call(
  method: string,
  address: string,
  asked: { body?: object; token?: string; agent?: http.Agent } = {},
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const headers = {
      ...(asked.body && { 'content-type': 'application/json' }),
      ...(asked.token && { authorization: `Bearer ${asked.token}` }),
    };
    const agent = asked.agent ?? connections[0];
    const request = http.request({ port, method, path: apiBase + address, headers, agent }, (response) => {
      const pieces: Buffer[] = [];
      response.on('data', (piece: Buffer) => pieces.push(piece));
      response.on('end', () => {
        const bytes = Buffer.concat(pieces);
        const isJson = response.headers['content-type']?.startsWith('application/json') ?? false;
        const json: unknown = isJson ? JSON.parse(bytes.toString()) : null;
        resolve({ status: response.statusCode ?? 0, bytes, json });
      });
    });
    request.on('error', reject);
    request.end(asked.body && JSON.stringify(asked.body));
  });
}

const session = async () =>
  ((await call('POST', '/auth/image-session', { token })).json as { session_id: string }).session_id;
const pixels = (what: string, sessionId: string, agent?: http.Agent) =>
  call('GET', `/image-catalog/proxy/${imageId}/${what}?session=${sessionId}`, { ...(agent && { agent }) });
const fromEach = (what: string, sessionId: string) =>
  Promise.all(connections.map((agent) => pixels(what, sessionId, agent)));

/** Which processes there are is looked up as Linux tells it. */
describe.skipIf(process.platform !== 'linux')('several processes that answer', () => {
  it('serve the same descriptor, thumbnail, stored and made tiles', async () => {
    const sessionId = await session();
    for (const what of ['image.dzi', 'thumbnail.jpg', stored, made]) {
      const [one, other] = await fromEach(what, sessionId);
      expect([one?.status, other?.status]).toEqual([200, 200]);
      expect(one?.bytes.length).toBeGreaterThan(100);
      expect(other?.bytes.equals(one?.bytes ?? Buffer.of())).toBe(true);
    }
  });

  it('refuse a slide by the same sentence whichever is asked', async () => {
    const sessionId = await session();
    const [one, other] = await fromEach('image_files/9/99_99.jpg', sessionId);
    expect([one?.status, other?.status]).toEqual([404, 404]);
  });

  it('all refuse a session within a second of its end, whichever ended it', async () => {
    const sessionId = await session();
    for (const { status } of await fromEach(stored, sessionId)) expect(status).toBe(200);
    expect((await call('DELETE', `/auth/image-session/${sessionId}`, { token })).status).toBe(204);
    const endedAt = performance.now();
    const open = new Set(connections);
    let longestAskedAfterMs = 0;
    while (open.size > 0) {
      for (const agent of open) {
        const askedAfterMs = performance.now() - endedAt;
        const { status } = await pixels(stored, sessionId, agent);
        if (status === 200) longestAskedAfterMs = Math.max(longestAskedAfterMs, askedAfterMs);
        else open.delete(agent);
      }
    }
    expect(longestAskedAfterMs).toBeLessThan(1000); // what is asked a second later is refused
  });

  it('are replaced when they die, while the others go on', async () => {
    const sessionId = await session();
    await fromEach(stored, sessionId);
    const before = childrenOf(server);
    process.kill(before[0] ?? 0, 'SIGKILL');
    // One of the two connections is lost, the other one is not.
    const replies = await Promise.allSettled(connections.map((agent) => pixels(made, sessionId, agent)));
    expect(replies.some((reply) => reply.status === 'fulfilled' && reply.value.status === 200)).toBe(true);
    await vi.waitFor(() => expect(childrenOf(server)).not.toContain(before[0]), { timeout: 10_000 });
    await vi.waitFor(() => expect(childrenOf(server).length).toBeGreaterThanOrEqual(processes), {
      timeout: 50_000,
      interval: 100,
    });
    for (const { status } of await fromEach(stored, sessionId)) expect(status).toBe(200);
  });

  it('end when the program is told to end', async () => {
    const children = childrenOf(server);
    const ended = once(server, 'exit');
    server.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
    for (const pid of children) expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  });
});

/** Process ids of the serving processes. */
function childrenOf({ pid }: ChildProcess): number[] {
  const listed = fs.readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  return listed
    .split(' ')
    .filter((child) => child !== '' && isServing(child))
    .map(Number);
}

function isServing(pid: string): boolean {
  return fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('main.ts');
}
