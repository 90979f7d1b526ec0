/** Tests the whole program with several HTTP worker processes (`WORKERS`). */
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
const processCount = 2;
/** 480 × 400 pixels, tiles of 128, levels with downsample 1 and 4: native tiles at Deep Zoom levels 9 and 7. */
const slideOptions = { width: 480, height: 400, tileSize: 128, downsamples: [1, 4] } as const;
const nativeTile = 'image_files/9/1_1.jpg';
const renderedTile = 'image_files/8/0_0.jpg';

const waitOptions = { timeout: 50_000, interval: 100 };

interface Reply {
  readonly status: number;
  readonly bytes: Buffer;
  readonly json: unknown;
}

/** These tests need Linux, because they find the processes in /proc. */
const testedDatabases = process.platform === 'linux' ? databaseKinds : [];

describe.each(testedDatabases)(
  'the two HTTP worker processes of a server with WORKERS=2 (database: %s)',
  (database) => {
    let dataDir: string;
    let server: ServerProcess;
    let token: string;
    let imageId: string;
    let unreadableImageId: string;
    /** Ids of the processes that have read the unreadable slide, in the order of the log. */
    const unreadableReaders: number[] = [];
    /** One connection to each process: the cluster distributes connections in turn. */
    let connections: http.Agent[];

    beforeAll(async () => {
      dataDir = fs.mkdtempSync(path.join(os.tmpdir(), 'lamina-workers-'));
      fs.mkdirSync(path.join(dataDir, 'slides/Tissue'), { recursive: true });
      fs.writeFileSync(path.join(dataDir, 'slides/Tissue/a.svs'), await buildSvs(slideOptions));
      fs.writeFileSync(path.join(dataDir, 'slides/Tissue/b.svs'), 'not a slide');
      const listeningIds = new Set<number>();
      server = await startProgram(
        {
          WORKERS: String(processCount),
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
        if (msg.startsWith('Server listening')) listeningIds.add(pid);
        if (msg.startsWith('slide file unreadable')) unreadableReaders.push(pid);
      });
      await vi.waitUntil(() => listeningIds.size === processCount, waitOptions);
      connections = Array.from(
        { length: processCount },
        () => new http.Agent({ keepAlive: true, maxSockets: 1 }),
      );
      ({ token } = (await call('POST', '/auth/login', { body: admin })).json as { token: string });
      await vi.waitFor(async () => {
        const { images } = (await call('GET', '/image-catalog/images', { token })).json as {
          images: { id: string; status: string }[];
        };
        const [readable, unreadable] = images;
        if (readable?.status !== 'ready' || unreadable?.status !== 'failed')
          throw new Error('the slides have not been read yet');
        imageId = readable.id;
        unreadableImageId = unreadable.id;
      }, waitOptions);
    });
    afterAll(async () => {
      for (const agent of connections) agent.destroy();
      await server.kill();
      fs.rmSync(dataDir, { recursive: true, force: true });
    });

    function call(
      method: string,
      address: string,
      options: { body?: object; token?: string; agent?: http.Agent } = {},
    ): Promise<Reply> {
      return new Promise((resolve, reject) => {
        const headers = {
          ...(options.body && { 'content-type': 'application/json' }),
          ...(options.token && { authorization: `Bearer ${options.token}` }),
        };
        const agent = options.agent ?? connections[0];
        const request = http.request(
          server.address + apiBase + address,
          { method, headers, agent },
          (response) => {
            const chunks: Buffer[] = [];
            response.on('data', (chunk: Buffer) => chunks.push(chunk));
            response.on('end', () => {
              const bytes = Buffer.concat(chunks);
              const isJson = response.headers['content-type']?.startsWith('application/json') ?? false;
              const json: unknown = isJson ? JSON.parse(bytes.toString()) : null;
              resolve({ status: response.statusCode ?? 0, bytes, json });
            });
          },
        );
        request.on('error', reject);
        request.end(options.body && JSON.stringify(options.body));
      });
    }

    const createSession = async () =>
      ((await call('POST', '/auth/image-session', { token })).json as { session_id: string }).session_id;
    const pixels = (resource: string, sessionId: string, agent?: http.Agent) =>
      call('GET', `/image-catalog/proxy/${imageId}/${resource}?session=${sessionId}`, {
        ...(agent && { agent }),
      });
    const pixelsFromAll = (resource: string, sessionId: string) =>
      Promise.all(connections.map((agent) => pixels(resource, sessionId, agent)));

    it('both return the same Deep Zoom descriptor, thumbnail, tile stored in the file and rendered tile of a slide', async () => {
      const sessionId = await createSession();
      for (const resource of ['image.dzi', 'thumbnail.jpg', nativeTile, renderedTile]) {
        const [first, second] = await pixelsFromAll(resource, sessionId);
        expect([first?.status, second?.status]).toEqual([200, 200]);
        expect(first?.bytes.length).toBeGreaterThan(100);
        expect(second?.bytes.equals(first?.bytes ?? Buffer.of())).toBe(true);
      }
    });

    it('leave background jobs to the primary process, which reads a slide again at the request of an administrator', async () => {
      const readsBefore = unreadableReaders.length;
      const body = { ids: [unreadableImageId], read_again: true };
      expect((await call('POST', '/admin/images/changes', { token, body })).status).toBe(200);
      await vi.waitUntil(() => unreadableReaders.length > readsBefore, waitOptions);
      expect(new Set(unreadableReaders)).toEqual(new Set([server.process.pid]));
    });

    it('both return 404 for a tile outside the slide', async () => {
      const sessionId = await createSession();
      const [first, second] = await pixelsFromAll('image_files/9/99_99.jpg', sessionId);
      expect([first?.status, second?.status]).toEqual([404, 404]);
    });

    it('both reject tile requests within a second after one of the processes has ended the image session', async () => {
      const sessionId = await createSession();
      for (const { status } of await pixelsFromAll(nativeTile, sessionId)) expect(status).toBe(200);
      expect((await call('DELETE', `/auth/image-session/${sessionId}`, { token })).status).toBe(204);
      const endedAt = performance.now();
      const acceptingConnections = new Set(connections);
      let lastAcceptedAfterMs = 0;
      while (acceptingConnections.size > 0) {
        for (const agent of acceptingConnections) {
          const requestedAfterMs = performance.now() - endedAt;
          const { status } = await pixels(nativeTile, sessionId, agent);
          if (status === 200) lastAcceptedAfterMs = Math.max(lastAcceptedAfterMs, requestedAfterMs);
          else acceptingConnections.delete(agent);
        }
      }
      expect(lastAcceptedAfterMs).toBeLessThan(1000);
    });

    it('keep sending tiles while one of them is restarted after a crash', async () => {
      const sessionId = await createSession();
      await pixelsFromAll(nativeTile, sessionId);
      const before = childrenOf(server.process);
      process.kill(before[0] ?? 0, 'SIGKILL');
      // The crash breaks the connection to the killed process.
      const replies = await Promise.allSettled(
        connections.map((agent) => pixels(renderedTile, sessionId, agent)),
      );
      expect(replies.some((reply) => reply.status === 'fulfilled' && reply.value.status === 200)).toBe(true);
      await vi.waitFor(() => expect(childrenOf(server.process)).not.toContain(before[0]), {
        timeout: 10_000,
      });
      await vi.waitFor(
        () => expect(childrenOf(server.process).length).toBeGreaterThanOrEqual(processCount),
        waitOptions,
      );
      for (const { status } of await pixelsFromAll(nativeTile, sessionId)) expect(status).toBe(200);
    });

    it('exit when the primary process receives SIGTERM', async () => {
      const children = childrenOf(server.process);
      expect(await server.stop()).toBe(0);
      for (const pid of children) expect(() => process.kill(pid, 0)).toThrow('ESRCH');
    });
  },
);

/** Returns the process ids of the HTTP worker processes. */
function childrenOf({ pid }: ChildProcess): number[] {
  const listed = fs.readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  return listed
    .split(' ')
    .filter((child) => child !== '' && isHttpWorker(child))
    .map(Number);
}

function isHttpWorker(pid: string): boolean {
  return fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('main.ts');
}
