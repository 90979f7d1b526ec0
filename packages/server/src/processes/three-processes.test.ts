/**
 * Tests three processes behind nginx, over PostgreSQL and object storage (or a slide folder, if no object storage is installed).
 * Under load, one process is killed and all are restarted in turn; every request succeeds with at most one retry.
 */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { createObjectStore } from '@lamina/slide';
import { buildSvs, makeBucket, withoutObjectStore } from '@lamina/slide/testing';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { everyDatabaseKind, openTestDatabase, type TestDatabase } from '../store/testing/test-database.ts';
import { freePort, type LoadBalancer, nginx, startLoadBalancer } from '../testing/load-balancer.ts';
import { askServer, type ServerAnswer, type ServerProcess, startProgram } from '../testing/server-process.ts';

const admin = { email: 'admin@example.org', password: 'bir-parola-1' };
const viewerCount = 6;
/** Delay before a request is retried, as in the web app. */
const retryAfterMs = 1000;
/** 480 × 400 pixels, tiles of 128, downsamples 1 and 4: native tiles at Deep Zoom levels 9 and 7, rendered ones at 8. */
const slideOptions = { width: 480, height: 400, tileSize: 128, downsamples: [1, 4] } as const;
const slides = ['a.svs', 'b.svs', 'c.svs'];
const tiles = ['9/0_0', '9/1_1', '9/2_1', '9/3_3', '8/0_0', '8/1_1', '8/0_1', '7/0_0'];
const waitOptions = { timeout: 60_000, interval: 100 };

const canRun = everyDatabaseKind.includes('PostgreSQL') && nginx !== null;
if (!canRun) console.log('The tests with three processes are skipped: they need PostgreSQL and nginx.');

describe.skipIf(!canRun)('three server processes behind nginx, over one PostgreSQL database', () => {
  let folder: string;
  let database: TestDatabase;
  let balancer: LoadBalancer;
  let ports: number[];
  const processes: ServerProcess[] = [];
  let token: string;
  let imageIds: string[];
  /** Settings that locate the slides. */
  let slideSettings: Readonly<Record<string, string>>;

  const start = (index: number) =>
    startProgram({
      PORT: String(ports[index]),
      DATA_DIR: path.join(folder, `data-${index}`),
      ...slideSettings,
      DATABASE_URL: database.url ?? '',
      SECRET_KEY: 'the same sentence for all three of them',
      PUBLIC_URL: 'http://slides.example.org',
      TRUSTED_PROXIES: '127.0.0.1',
      ADMIN_EMAIL: admin.email,
      ADMIN_PASSWORD: admin.password,
      LOG_LEVEL: 'error',
    });

  beforeAll(async () => {
    folder = fs.mkdtempSync(path.join(os.tmpdir(), 'lamina-three-'));
    slideSettings = await writeSlides();
    database = await openTestDatabase('PostgreSQL');
    ports = [await freePort(), await freePort(), await freePort()];
    // All start at the same moment, over an empty database.
    processes.push(...(await Promise.all(ports.map((_, index) => start(index)))));
    balancer = await startLoadBalancer(ports);
    const signedIn = await askServer(balancer, 'POST', '/auth/login', { body: admin });
    token = String(signedIn.body.token);
    imageIds = await vi.waitFor(async () => {
      const { body } = await askServer(balancer, 'GET', '/image-catalog/images', { token });
      const images = body.images as { id: string; status: string }[];
      const ready = images.filter(({ status }) => status === 'ready');
      if (ready.length < slides.length) throw new Error('the slides have not been read yet');
      return images.map(({ id }) => id);
    }, waitOptions);
  }, 180_000);
  afterAll(async () => {
    await Promise.all(processes.map((server) => server.kill()));
    await balancer?.stop();
    await database?.close();
    fs.rmSync(folder, { recursive: true, force: true });
  });

  async function writeSlides(): Promise<Readonly<Record<string, string>>> {
    const slidesDir = path.join(folder, 'slides');
    fs.mkdirSync(path.join(slidesDir, 'Set'), { recursive: true });
    for (const name of slides)
      fs.writeFileSync(path.join(slidesDir, 'Set', name), await buildSvs(slideOptions));
    if (withoutObjectStore !== null) return { SLIDES_DIR: slidesDir };
    const bucket = await makeBucket();
    const store = createObjectStore(bucket);
    for (const name of slides) await store.put(`Set/${name}`, path.join(slidesDir, 'Set', name));
    return {
      SLIDES_DIR: path.join(folder, 'none'),
      S3_ENDPOINT: bucket.endpoint,
      S3_BUCKET: bucket.bucket,
      S3_REGION: bucket.region,
      S3_ACCESS_KEY_ID: bucket.accessKeyId,
      S3_SECRET_ACCESS_KEY: bucket.secretAccessKey,
    };
  }

  it('answer every request, with at most one retry, while one of them is killed and then all are restarted', async () => {
    const tally = { requests: 0, retried: 0, failed: [] as string[] };
    const viewingEnded = new AbortController();

    /** Sends a request like a client: with one retry after a network error or an unexpected status. */
    async function send(
      method: string,
      url: string,
      expectedStatuses: readonly number[],
      bearerToken?: string,
    ): Promise<ServerAnswer> {
      const description = `${method} ${url.replace(/session[=/][\w-]+/, 'session')}`; // without the session id
      /** Returns the response, or a text that describes the failure. */
      const attempt = async (): Promise<ServerAnswer | string> => {
        try {
          const options = bearerToken === undefined ? {} : { token: bearerToken };
          const answer = await askServer(balancer, method, url, options);
          return expectedStatuses.includes(answer.status) ? answer : `${description}: ${answer.status}`;
        } catch (error) {
          return `${description}: ${String(error)}`;
        }
      };
      tally.requests++;
      const first = await attempt();
      if (typeof first !== 'string') return first;
      await wait(retryAfterMs);
      const second = await attempt();
      if (typeof second !== 'string') {
        tally.retried++;
        return second;
      }
      tally.failed.push(`${first}, then ${second}`);
      return { status: 0, body: {} };
    }

    /** Views slides like a user with the web app, until the test ends. */
    async function viewSlides(viewerIndex: number): Promise<void> {
      for (let step = viewerIndex; !viewingEnded.signal.aborted; ) {
        const created = await send('POST', '/auth/image-session', [201], token);
        const session = String(created.body.session_id);
        for (let visit = 0; visit < 8 && !viewingEnded.signal.aborted; visit++, step++) {
          const proxy = `/image-catalog/proxy/${imageIds[step % imageIds.length]}`;
          await send('GET', `${proxy}/image.dzi?session=${session}`, [200]);
          await send('GET', `${proxy}/thumbnail.jpg?session=${session}`, [200]);
          await Promise.all(
            [0, 1, 2].map((offset) => {
              const tile = tiles[(step + offset) % tiles.length];
              return send('GET', `${proxy}/image_files/${tile}.jpeg?session=${session}`, [200]);
            }),
          );
          await send('GET', '/image-catalog/images', [200], token);
          await send('GET', '/auth/image-session/stats', [200], token);
        }
        // The status is 404 if the first attempt has ended the session but its response was lost.
        await send('DELETE', `/auth/image-session/${session}`, [204, 404], token);
      }
    }

    /** Waits until the viewers have sent this many further requests. */
    const waitForRequests = async (count: number) => {
      const total = tally.requests + count;
      await vi.waitFor(() => expect(tally.requests).toBeGreaterThanOrEqual(total), waitOptions);
    };
    const waitUntilReady = (index: number) =>
      vi.waitFor(async () => {
        const { status } = await fetch(`http://127.0.0.1:${ports[index]}/health/ready`);
        expect(status).toBe(200);
      }, waitOptions);

    const startedAt = performance.now();
    const viewing = Promise.all(Array.from({ length: viewerCount }, (_, index) => viewSlides(index)));
    await waitForRequests(300);

    await processes[1]?.kill();
    await waitForRequests(300);
    processes[1] = await start(1);
    await waitUntilReady(1);

    for (const index of [0, 1, 2]) {
      expect(await processes[index]?.stop()).toBe(0);
      await waitForRequests(100);
      processes[index] = await start(index);
      await waitUntilReady(index);
    }
    await waitForRequests(100);
    viewingEnded.abort();
    await viewing;

    const seconds = (performance.now() - startedAt) / 1000;
    process.stdout.write(
      `Three processes over PostgreSQL and ${withoutObjectStore === null ? 'object storage' : 'a folder'}: ${tally.requests} requests in ${seconds.toFixed(0)} s, one killed and all three restarted: ` +
        `${tally.retried} succeeded on retry, ${tally.failed.length} failed\n`,
    );
    expect(tally.failed).toEqual([]);
  }, 240_000);
});
