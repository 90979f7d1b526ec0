/** Tests that a viewer or account that floods the render queue does not delay the tiles of others: they are rendered next. */
import type childProcess from 'node:child_process';
import os from 'node:os';
import path from 'node:path';
import { buildCzi, buildSvs } from '@lamina/slide/testing';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { tileAdapters } from '../testing/inject.ts';
import { type SlideServer, slideServer } from '../testing/slide-server.ts';

/** Jobs (kind and file) in the order in which the pool sent them to render processes. */
const started: string[] = [];
/** File whose jobs keep a render process busy: the mock withholds these jobs until the test releases them. */
const slowFile = 'slow.svs';
const withheld: (() => void)[] = [];

vi.mock('node:child_process', async (original) => {
  const real = await original<typeof childProcess>();
  const fork = (...args: Parameters<typeof real.fork>) => {
    const child = real.fork(...args);
    const send = child.send.bind(child) as (...sent: unknown[]) => boolean;
    child.send = (message: unknown, ...more: unknown[]) => {
      const { job } = message as { job?: { kind: string; location: { path: string } } | null };
      const file = job && path.basename(job.location.path);
      if (job) started.push(`${job.kind} ${file}`);
      if (file !== slowFile) return send(message, ...more);
      withheld.push(() => send(message, ...more));
      return true;
    };
    return child;
  };
  return { ...real, fork };
});

const waitOptions = { timeout: 50_000, interval: 20 };
const side = 4096;
/** Deep Zoom level 12 is stored; the 256 tiles of level 11 have to be rendered. */
const tileAt = (n: number) => `image_files/11/${n % 16}_${Math.floor(n / 16)}.jpg`;
/** The number of render processes, as in createRenderPool. */
const processCount = Math.min(4, Math.max(2, os.availableParallelism() - 1));
const sessionQueueLimit = 64;
const accountQueueLimit = 256;

let large: Uint8Array;
let czi: Uint8Array;
beforeAll(async () => {
  const picture = { width: side, height: side, rgb: new Uint8Array(side * side * 3).fill(210) };
  large = await buildSvs({ ...picture, tileSize: 128, downsamples: [1, 64], picture });
  const block = { x: 0, y: 0, width: 64, height: 64, pixelType: 3, compression: 0 };
  czi = buildCzi({ subblocks: [{ ...block, data: new Uint8Array(64 * 64 * 3).fill(99) }] }).bytes;
});

/** Sends the withheld jobs, so that the busy render processes finish them. */
function releaseWithheld(): void {
  for (const send of withheld.splice(0)) send();
}

async function waitingJobs({ services }: SlideServer): Promise<number> {
  const figure = (await services.metrics.now()).find(({ name }) => name === 'decode_queue_length');
  return figure?.values[0]?.value ?? Number.NaN;
}

const untilWaiting = (server: SlideServer, count: number) =>
  vi.waitFor(async () => expect(await waitingJobs(server)).toBe(count), waitOptions);

describe.each(tileAdapters)('through $tileAdapter', ({ tileFastPath }) => {
  /** Starts a server whose render processes are all busy until `releaseWithheld` is called. */
  async function busyServer() {
    // The time limit of a job is long, so that the render processes stay busy until the test releases them, also on a slow machine.
    const renderTimeoutMs = 600_000;
    const server = await slideServer({ renderTimeoutMs, config: { tileCacheBytes: 0, tileFastPath } });
    await server.put('Set/flooded.svs', large);
    await server.put('Set/other.svs', large);
    await server.put('Set/other.czi', czi);
    await server.put(`Set/${slowFile}`, large);
    // The scan also reads the header of the slow file, with a job that is withheld.
    const scanning = server.rescan();
    await vi.waitFor(() => expect(withheld.length).toBe(1), waitOptions);
    releaseWithheld();
    await scanning;
    const ids = {
      flooded: await server.idOf('flooded.svs'),
      other: await server.idOf('other.svs'),
      czi: await server.idOf('other.czi'),
      slow: await server.idOf(slowFile),
    };
    started.length = 0;
    const occupying = await server.sessionOf(await server.fixtures.user());
    for (let n = 0; n < processCount; n++) void server.pixels(`${ids.slow}/${tileAt(n)}`, occupying);
    await vi.waitFor(() => expect(withheld).toHaveLength(processCount), waitOptions);
    return {
      server,
      ids,
      /** Releases the withheld jobs, and returns the next two jobs that are sent to render processes. */
      async freeUntilTwoStarted(): Promise<readonly string[]> {
        started.length = 0;
        releaseWithheld();
        await vi.waitFor(() => expect(started.length).toBeGreaterThanOrEqual(2), waitOptions);
        return started.slice(0, 2);
      },
    };
  }

  /** Requests many tiles with one session at the same time. `answers` has the responses so far. */
  function flood(server: SlideServer, imageId: string, session: string, places: readonly number[]) {
    const answers: { status: number; retryAfter: unknown }[] = [];
    const all = places.map(async (place) => {
      const { statusCode, headers } = await server.pixels(`${imageId}/${tileAt(place)}`, session);
      answers.push({ status: statusCode, retryAfter: headers['retry-after'] });
    });
    return { answers, all: Promise.all(all) };
  }

  /** Returns `count` consecutive numbers. */
  const range = (first: number, count: number) => Array.from({ length: count }, (_, n) => first + n);

  describe('a session that requests more tiles than the render queue accepts from one session', () => {
    it('gets 503 with Retry-After for the excess, and another account gets its tile in the next turn', async () => {
      const { server, ids, freeUntilTwoStarted } = await busyServer();
      const flooding = await server.sessionOf(await server.fixtures.user());
      const viewing = await server.sessionOf(await server.fixtures.user());
      const { answers, all } = flood(server, ids.flooded, flooding, range(0, 200));
      await vi.waitFor(() => expect(answers.length).toBe(200 - sessionQueueLimit), waitOptions);
      expect(new Set(answers.map(({ status, retryAfter }) => `${status} ${String(retryAfter)}`))).toEqual(
        new Set(['503 2']),
      );
      const answer = server.pixels(`${ids.other}/${tileAt(0)}`, viewing);
      await untilWaiting(server, sessionQueueLimit + 1);
      expect(await freeUntilTwoStarted()).toContain('tile other.svs');
      expect((await answer).statusCode).toBe(200);
      await all;
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(sessionQueueLimit);
    });

    it('does not delay the first view of a slide whose header has to be read in a render process', async () => {
      const { server, ids, freeUntilTwoStarted } = await busyServer();
      const flooding = await server.sessionOf(await server.fixtures.user());
      const viewing = await server.sessionOf(await server.fixtures.user());
      const { all } = flood(server, ids.flooded, flooding, range(0, sessionQueueLimit));
      await untilWaiting(server, sessionQueueLimit);
      const answer = server.pixels(`${ids.czi}/image_files/6/0_0.jpg`, viewing);
      await untilWaiting(server, sessionQueueLimit + 1);
      expect(await freeUntilTwoStarted()).toContain('inspect other.czi');
      expect((await answer).statusCode).toBe(200);
      await all;
    });

    it('does not delay the first view of a slide that it opens itself', async () => {
      const { server, ids, freeUntilTwoStarted } = await busyServer();
      const flooding = await server.sessionOf(await server.fixtures.user());
      const viewing = await server.sessionOf(await server.fixtures.user());
      const { all } = flood(server, ids.flooded, flooding, range(0, sessionQueueLimit - 1));
      await untilWaiting(server, sessionQueueLimit - 1);
      const own = server.pixels(`${ids.czi}/image.dzi`, flooding);
      await untilWaiting(server, sessionQueueLimit);
      const answer = server.pixels(`${ids.czi}/image.dzi`, viewing);
      // Both accounts wait for the same header read. A later request of the second account makes the queue longer, which shows that its
      // earlier request has arrived.
      const later = server.pixels(`${ids.other}/${tileAt(0)}`, viewing);
      await untilWaiting(server, sessionQueueLimit + 1);
      expect(await freeUntilTwoStarted()).toContain('inspect other.czi');
      expect((await answer).statusCode).toBe(200);
      expect((await own).statusCode).toBe(200);
      expect((await later).statusCode).toBe(200);
      await all;
    });
  });

  describe('an account that requests tiles in many sessions', () => {
    it('gets 503 beyond the limit of an account, and another account gets its thumbnail in the next turn', async () => {
      const { server, ids, freeUntilTwoStarted } = await busyServer();
      const user = await server.fixtures.user();
      const sessions: string[] = [];
      for (let n = 0; n < 6; n++) sessions.push(await server.sessionOf(user));
      const floods = sessions.map((session, n) => {
        const imageId = n % 2 === 0 ? ids.flooded : ids.other;
        return flood(
          server,
          imageId,
          session,
          range(Math.floor(n / 2) * sessionQueueLimit, sessionQueueLimit),
        );
      });
      const answered = () => floods.flatMap(({ answers }) => answers);
      await vi.waitFor(
        () => expect(answered()).toHaveLength(6 * sessionQueueLimit - accountQueueLimit),
        waitOptions,
      );
      expect(new Set(answered().map(({ status }) => status))).toEqual(new Set([503]));
      const answer = server.pixels(
        `${ids.czi}/thumbnail.jpg`,
        await server.sessionOf(await server.fixtures.user()),
      );
      await untilWaiting(server, accountQueueLimit + 1);
      expect(await freeUntilTwoStarted()).toContain('thumbnail other.czi');
      expect((await answer).statusCode).toBe(200);
      await Promise.all(floods.map(({ all }) => all));
    });
  });
});
