/** The program with several processes that answer, as it is started in earnest. */
import type { ChildProcess } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { apiBase } from '@lamina/contract';
import { buildSvs } from '@lamina/slide/testing';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createEmptyPostgres, databaseKinds } from '../store/testing/test-database.ts';
import { type ServerProcess, startProgram } from '../testing/server-process.ts';

const admin = { email: 'admin@example.org', password: 'bir-parola-1' };
const processes = 2;
/** 480 × 400 pixels, tiles of 128, stored at 1 and at 1/4: Deep Zoom levels 9 and 7 of 0…9. */
const plan = { width: 480, height: 400, tileSize: 128, downsamples: [1, 4] } as const;
const stored = 'image_files/9/1_1.jpg';
const made = 'image_files/8/0_0.jpg';

const patience = { timeout: 50_000, interval: 100 };

interface Reply {
  readonly status: number;
  readonly bytes: Buffer;
  readonly json: unknown;
}

/** Which processes there are is looked up as Linux tells it. */
const kinds = process.platform === 'linux' ? databaseKinds : [];

describe.each(kinds)('several processes that answer, over %s,', (database) => {
  let dataDir: string;
  let server: ServerProcess;
  let token: string;
  let imageId: string;
  /** One connection to each process, for connections are dealt out in turn. */
  let connections: http.Agent[];

  beforeAll(async () => {
    dataDir = fs.mkdtempSync(path.join(os.tmpdir(), 'lamina-serving-'));
    fs.mkdirSync(path.join(dataDir, 'slides/Tissue'), { recursive: true });
    fs.writeFileSync(path.join(dataDir, 'slides/Tissue/a.svs'), await buildSvs(plan));
    const listening = new Set<unknown>();
    server = await startProgram(
      {
        WORKERS: String(processes),
        DATA_DIR: dataDir,
        SLIDES_DIR: path.join(dataDir, 'slides'),
        LOG_LEVEL: 'info',
        ADMIN_EMAIL: admin.email,
        ADMIN_PASSWORD: admin.password,
        ...(database === 'PostgreSQL' && { DATABASE_URL: await createEmptyPostgres() }),
      },
      'pipe',
    );
    createInterface({ input: server.process.stderr as NodeJS.ReadableStream }).on('line', (line) => {
      const { msg = '', pid } = JSON.parse(line) as { msg?: string; pid: number };
      if (msg.startsWith('Server listening')) listening.add(pid);
    });
    await vi.waitUntil(() => listening.size === processes, patience);
    connections = Array.from({ length: processes }, () => new http.Agent({ keepAlive: true, maxSockets: 1 }));
    ({ token } = (await call('POST', '/auth/login', { body: admin })).json as { token: string });
    await vi.waitFor(async () => {
      const { images } = (await call('GET', '/image-catalog/images', { token })).json as {
        images: { id: string; status: string }[];
      };
      if (images[0]?.status !== 'ready') throw new Error('the slide has not been read yet');
      imageId = images[0].id;
    }, patience);
  });
  afterAll(async () => {
    for (const agent of connections) agent.destroy();
    await server.kill();
    fs.rmSync(dataDir, { recursive: true, force: true });
  });

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
      const request = http.request(
        server.address + apiBase + address,
        { method, headers, agent },
        (response) => {
          const pieces: Buffer[] = [];
          response.on('data', (piece: Buffer) => pieces.push(piece));
          response.on('end', () => {
            const bytes = Buffer.concat(pieces);
            const isJson = response.headers['content-type']?.startsWith('application/json') ?? false;
            const json: unknown = isJson ? JSON.parse(bytes.toString()) : null;
            resolve({ status: response.statusCode ?? 0, bytes, json });
          });
        },
      );
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
    const before = childrenOf(server.process);
    process.kill(before[0] ?? 0, 'SIGKILL');
    // One of the two connections is lost, the other one is not.
    const replies = await Promise.allSettled(connections.map((agent) => pixels(made, sessionId, agent)));
    expect(replies.some((reply) => reply.status === 'fulfilled' && reply.value.status === 200)).toBe(true);
    await vi.waitFor(() => expect(childrenOf(server.process)).not.toContain(before[0]), { timeout: 10_000 });
    await vi.waitFor(
      () => expect(childrenOf(server.process).length).toBeGreaterThanOrEqual(processes),
      patience,
    );
    for (const { status } of await fromEach(stored, sessionId)) expect(status).toBe(200);
  });

  it('end when the program is told to end', async () => {
    const children = childrenOf(server.process);
    expect(await server.stop()).toBe(0);
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
