/**
 * Tests that a session or account that floods the render queue does not delay other accounts: their tiles are rendered next. Also tests
 * that pixels which wait in the queue are not sent after the access has ended.
 */
import type childProcess from 'node:child_process';
import os from 'node:os';
import path from 'node:path';
import {
  apiBase,
  createShareLink,
  endShareLink,
  openShareLink,
  suspendUser,
  updateDataset,
} from '@lamina/contract';
import { buildCzi, buildSvs } from '@lamina/slide/testing';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { injectRequest, tileAdapters } from '../testing/inject.ts';
import { type SlideServer, slideServer } from '../testing/slide-server.ts';

/** Jobs in the order in which the pool sent them to render processes: kind and file, for example `tile other.svs`. */
const startedJobs: string[] = [];
/** File whose jobs keep a render process busy: the mock of `fork` withholds these jobs until the test releases them. */
const slowFile = 'slow.svs';
/** Functions that send the withheld jobs. */
const withheld: (() => void)[] = [];

vi.mock('node:child_process', async (original) => {
  const real = await original<typeof childProcess>();
  const fork = (...args: Parameters<typeof real.fork>) => {
    const child = real.fork(...args);
    const send = child.send.bind(child) as (...sent: unknown[]) => boolean;
    child.send = (message: unknown, ...more: unknown[]) => {
      const { job } = message as { job?: { kind: string; location: { path: string } } | null };
      const file = job && path.basename(job.location.path);
      if (job) startedJobs.push(`${job.kind} ${file}`);
      if (file !== slowFile) return send(message, ...more);
      withheld.push(() => send(message, ...more));
      return true;
    };
    return child;
  };
  return { ...real, fork };
});

const waitOptions = { timeout: 50_000, interval: 20 };
const side = 4096; // pixels of the large slides
/** Returns the n-th of the 16 × 16 tiles of Deep Zoom level 11, which have to be rendered. The file only stores level 12. */
const tileAt = (n: number) => `image_files/11/${n % 16}_${Math.floor(n / 16)}.jpg`;
/** The number of render processes, as in createRenderPool. */
const processCount = Math.min(4, Math.max(2, os.availableParallelism() - 1));
// Limits of waiting jobs, as in rendered-tiles.ts.
const sessionQueueLimit = 64;
const accountQueueLimit = 256;

let largeSvs: Uint8Array;
let czi: Uint8Array;
beforeAll(async () => {
  const picture = { width: side, height: side, rgb: new Uint8Array(side * side * 3).fill(210) };
  largeSvs = await buildSvs({ ...picture, tileSize: 128, downsamples: [1, 64], picture });
  const block = { x: 0, y: 0, width: 64, height: 64, pixelType: 3, compression: 0 };
  czi = buildCzi({ subblocks: [{ ...block, data: new Uint8Array(64 * 64 * 3).fill(99) }] }).bytes;
});

/** Sends the withheld jobs, so that the busy render processes finish them. */
function releaseWithheld(): void {
  for (const send of withheld.splice(0)) send();
}

async function countWaitingJobs({ services }: SlideServer): Promise<number> {
  const metric = (await services.metrics.now()).find(({ name }) => name === 'decode_queue_length');
  return metric?.values[0]?.value ?? Number.NaN;
}

const untilWaiting = (server: SlideServer, jobCount: number) =>
  vi.waitFor(async () => expect(await countWaitingJobs(server)).toBe(jobCount), waitOptions);

describe.each(tileAdapters)('tiles via $tileAdapter (the fast path skips Fastify):', ({ tileFastPath }) => {
  /** Starts a server whose render processes are all busy until `releaseWithheld` is called. */
  async function busyServer() {
    // The time limit of a job is long, so that the render processes stay busy until the test releases them, also on a slow machine.
    const renderTimeoutMs = 600_000;
    const server = await slideServer({ renderTimeoutMs, config: { tileCacheBytes: 0, tileFastPath } });
    await server.put('Set/flooded.svs', largeSvs);
    await server.put('Set/other.svs', largeSvs);
    await server.put('Set/third.svs', largeSvs);
    await server.put('Set/other.czi', czi);
    await server.put(`Set/${slowFile}`, largeSvs);
    // The scan also reads the header of the slow file, with a job that is withheld.
    const scanning = server.rescan();
    await vi.waitFor(() => expect(withheld.length).toBe(1), waitOptions);
    releaseWithheld();
    await scanning;
    const ids = {
      flooded: await server.idOf('flooded.svs'),
      other: await server.idOf('other.svs'),
      third: await server.idOf('third.svs'),
      czi: await server.idOf('other.czi'),
      slow: await server.idOf(slowFile),
    };
    startedJobs.length = 0;
    const occupyingSession = await server.sessionOf(await server.fixtures.user());
    for (let n = 0; n < processCount; n++) void server.pixels(`${ids.slow}/${tileAt(n)}`, occupyingSession);
    await vi.waitFor(() => expect(withheld).toHaveLength(processCount), waitOptions);
    return {
      server,
      ids,
      /** Releases the withheld jobs, and returns the next two jobs that are sent to render processes. */
      async releaseAndGetNextTwoJobs(): Promise<readonly string[]> {
        startedJobs.length = 0;
        releaseWithheld();
        await vi.waitFor(() => expect(startedJobs.length).toBeGreaterThanOrEqual(2), waitOptions);
        return startedJobs.slice(0, 2);
      },
    };
  }

  /** Requests many tiles (numbers of `tileAt`) with one session at the same time. `responses` has the responses so far. */
  function flood(server: SlideServer, imageId: string, session: string, tileNumbers: readonly number[]) {
    const responses: { status: number; retryAfter: unknown }[] = [];
    const requests = tileNumbers.map(async (tileNumber) => {
      const { statusCode, headers } = await server.pixels(`${imageId}/${tileAt(tileNumber)}`, session);
      responses.push({ status: statusCode, retryAfter: headers['retry-after'] });
    });
    return { responses, allDone: Promise.all(requests) };
  }

  const range = (first: number, count: number) => Array.from({ length: count }, (_, n) => first + n);

  describe('an image session (credential for tiles) that fills its share of the render queue', () => {
    it('gets 503 with Retry-After for further requests, while another account gets a tile', async () => {
      const { server, ids, releaseAndGetNextTwoJobs } = await busyServer();
      const floodingSession = await server.sessionOf(await server.fixtures.user());
      const viewingSession = await server.sessionOf(await server.fixtures.user());
      const { responses, allDone } = flood(server, ids.flooded, floodingSession, range(0, 200));
      await vi.waitFor(() => expect(responses.length).toBe(200 - sessionQueueLimit), waitOptions);
      expect(new Set(responses.map(({ status, retryAfter }) => `${status} ${String(retryAfter)}`))).toEqual(
        new Set(['503 2']),
      );
      const response = server.pixels(`${ids.other}/${tileAt(0)}`, viewingSession);
      await untilWaiting(server, sessionQueueLimit + 1);
      expect(await releaseAndGetNextTwoJobs()).toContain('tile other.svs');
      expect((await response).statusCode).toBe(200);
      await allDone;
      expect(responses.filter(({ status }) => status === 200)).toHaveLength(sessionQueueLimit);
    });

    it('does not delay another account that opens a slide: the slide header is read in one of the next two jobs', async () => {
      const { server, ids, releaseAndGetNextTwoJobs } = await busyServer();
      const floodingSession = await server.sessionOf(await server.fixtures.user());
      const viewingSession = await server.sessionOf(await server.fixtures.user());
      const { allDone } = flood(server, ids.flooded, floodingSession, range(0, sessionQueueLimit));
      await untilWaiting(server, sessionQueueLimit);
      const response = server.pixels(`${ids.czi}/image_files/6/0_0.jpg`, viewingSession);
      await untilWaiting(server, sessionQueueLimit + 1);
      expect(await releaseAndGetNextTwoJobs()).toContain('inspect other.czi');
      expect((await response).statusCode).toBe(200);
      await allDone;
    });

    it('does not delay another account that waits for the same slide header: it is read in one of the next two jobs', async () => {
      const { server, ids, releaseAndGetNextTwoJobs } = await busyServer();
      const floodingSession = await server.sessionOf(await server.fixtures.user());
      const viewingSession = await server.sessionOf(await server.fixtures.user());
      const { allDone } = flood(server, ids.flooded, floodingSession, range(0, sessionQueueLimit - 1));
      await untilWaiting(server, sessionQueueLimit - 1);
      const floodersDescriptor = server.pixels(`${ids.czi}/image.dzi`, floodingSession);
      await untilWaiting(server, sessionQueueLimit);
      const response = server.pixels(`${ids.czi}/image.dzi`, viewingSession);
      // Both accounts wait for the same header read. The next request of the second account makes the queue longer, which shows that its
      // first request has arrived.
      const laterTile = server.pixels(`${ids.other}/${tileAt(0)}`, viewingSession);
      await untilWaiting(server, sessionQueueLimit + 1);
      expect(await releaseAndGetNextTwoJobs()).toContain('inspect other.czi');
      expect((await response).statusCode).toBe(200);
      expect((await floodersDescriptor).statusCode).toBe(200);
      expect((await laterTile).statusCode).toBe(200);
      await allDone;
    });
  });

  describe('an account that fills its share of the render queue from six image sessions', () => {
    it('gets 503 for further requests, while another account gets a thumbnail', async () => {
      const { server, ids, releaseAndGetNextTwoJobs } = await busyServer();
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
      const answered = () => floods.flatMap(({ responses }) => responses);
      await vi.waitFor(
        () => expect(answered()).toHaveLength(6 * sessionQueueLimit - accountQueueLimit),
        waitOptions,
      );
      expect(new Set(answered().map(({ status }) => status))).toEqual(new Set([503]));
      const response = server.pixels(
        `${ids.czi}/thumbnail.jpg`,
        await server.sessionOf(await server.fixtures.user()),
      );
      await untilWaiting(server, accountQueueLimit + 1);
      expect(await releaseAndGetNextTwoJobs()).toContain('thumbnail other.czi');
      expect((await response).statusCode).toBe(200);
      await Promise.all(floods.map(({ allDone }) => allDone));
    });
  });

  describe('pixels that wait in the render queue', () => {
    /** The requests of a session for a tile, a thumbnail and an IIIF image, none of which the file stores. */
    const requestAll = async (server: SlideServer, imageId: string, session: string) => {
      const iiif = `${apiBase}/iiif/session/${session}/image/${imageId}/0,0,512,512/100,100/0/default.jpg`;
      const responses = await Promise.all([
        server.pixels(`${imageId}/${tileAt(3)}`, session),
        server.pixels(`${imageId}/thumbnail.jpg`, session),
        injectRequest(server.app, { url: iiif }),
      ]);
      return responses.map(({ statusCode }) => statusCode);
    };

    it('are replaced by 401 or 404 when the account is suspended, the share link ended or the dataset restricted during the wait', async () => {
      const { server, ids } = await busyServer();
      const admin = server.as(await server.fixtures.admin());
      await admin.call(updateDataset, { body: { dataset: 'Set', access: 'open', sharing: true } });
      const [suspended, teacher, viewer] = [
        await server.fixtures.user(),
        await server.fixtures.user(),
        await server.fixtures.user(),
      ];
      const target = { type: 'slide', id: ids.other } as const;
      const link = (await server.as(teacher).call(createShareLink, { body: { target, title: 'Ders' } })).body;
      const secret = link.url.split('#')[1] ?? '';
      // Each session requests another slide, because concurrent requests for the same pixels share one job.
      const requests = [
        { imageId: ids.flooded, session: await server.sessionOf(suspended) },
        {
          imageId: ids.other,
          session: (await server.as(null).call(openShareLink, { body: { secret } })).body.session_id,
        },
        { imageId: ids.third, session: await server.sessionOf(viewer) },
      ];
      // The descriptor is audited first, because the first audit event of a session would find that the session has ended.
      for (const { imageId, session } of requests) await server.pixels(`${imageId}/image.dzi`, session);
      const waiting = requests.map(({ imageId, session }) => requestAll(server, imageId, session));
      await untilWaiting(server, 9);
      expect((await admin.call(suspendUser, { params: { uid: suspended.uid } })).status).toBe(200);
      await server.as(teacher).call(endShareLink, { params: { linkId: link.id } });
      await admin.call(updateDataset, { body: { dataset: 'Set', access: 'restricted' } });
      releaseWithheld();
      expect(await Promise.all(waiting)).toEqual([
        [401, 401, 401],
        [401, 401, 401],
        [404, 404, 404],
      ]);
    });

    it('are sent when the access has not changed during the wait', async () => {
      const { server, ids } = await busyServer();
      const session = await server.sessionOf(await server.fixtures.user());
      const waiting = requestAll(server, ids.other, session);
      await untilWaiting(server, 3);
      releaseWithheld();
      expect(await waiting).toEqual([200, 200, 200]);
    });
  });
});
