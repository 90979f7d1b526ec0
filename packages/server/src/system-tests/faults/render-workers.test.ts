/** Tests render workers that are killed, hang, or get more jobs than they can handle (REL-12, REL-14, REL-17). */
import fs from 'node:fs';
import { signIn } from '@lamina/contract';
import { buildSvs } from '@lamina/slide/testing';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { type SlideServer, slideServer } from '../../testing/slide-server.ts';
import { type RequestPixels, startPixelClient } from '../../testing/wire.ts';

const waitOptions = { timeout: 50_000, interval: 50 };
const svs = await buildSvs({ width: 1280, height: 1280, tileSize: 128, downsamples: [1, 8] });
/** Tiles that have to be rendered: all of Deep Zoom levels 10 and 9 (downsample 2 and 4), of 5 × 5 and 3 × 3 tiles. */
const renderedTiles = [5, 3].flatMap((tiles, i) =>
  Array.from(
    { length: tiles ** 2 },
    (_, n) => `image_files/${10 - i}/${n % tiles}_${Math.floor(n / tiles)}.jpg`,
  ),
);
/** A tile of full resolution, which the file contains. */
const nativeTile = 'image_files/11/3_4.jpg';

interface Viewing extends SlideServer {
  readonly ask: RequestPixels;
  readonly session: string;
  readonly imageIds: readonly string[];
}

/** Starts a server with copies of a slide, without disk cache and prerendering, and opens an image session. */
async function startViewing(copies = 1, slide = svs): Promise<Viewing> {
  const server = await slideServer({
    hasOwnRenderPool: true,
    config: { logLevel: 'info', tileCacheBytes: 0 },
  });
  const names = Array.from({ length: copies }, (_, i) => `slide-${i}.svs`);
  for (const name of names) await server.put(`Tissue/${name}`, slide);
  await server.rescan();
  const imageIds: string[] = [];
  for (const name of names) imageIds.push(await server.idOf(name));
  const session = await server.sessionOf(await server.fixtures.user());
  return { ...server, ask: await startPixelClient(server), session, imageIds };
}

/** Returns the ids of this process's render workers, from /proc. */
function renderWorkerPids(): number[] {
  const children = fs.readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, 'utf8');
  return children
    .trim()
    .split(' ')
    .filter((pid) => pid !== '' && commandOf(pid).includes('workers/render-process'))
    .map(Number);
}

function commandOf(pid: string): string {
  try {
    return fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return ''; // the process has exited
  }
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // the process has exited
  }
}

describe.skipIf(process.platform !== 'linux')('render workers, which decode tiles', () => {
  afterEach(() => {
    for (const pid of renderWorkerPids()) send(pid, 'SIGCONT');
  });

  it('start when the first image session (credential for tiles) is created, before a tile is requested', async () => {
    const server = await slideServer({ hasOwnRenderPool: true });
    expect(renderWorkerPids()).toEqual([]);
    const user = await server.fixtures.user();
    await server.sessionOf(user);
    await vi.waitFor(() => expect(renderWorkerPids()).toHaveLength(1), waitOptions);
    await server.sessionOf(user); // a second session needs no second worker
    expect(renderWorkerPids()).toHaveLength(1);
  });

  it('are restarted after they are killed: requests that they were rendering get 502 or 503, and later requests get their tile', async () => {
    const { ask, session, imageIds, app } = await startViewing();
    const [imageId] = imageIds;
    const killed = new Set<number>();
    const outcomes = new Set<string>();
    let answered = 0;
    const requests = renderedTiles.map(async (tile) => {
      const { status, code } = await ask(`${imageId}/${tile}`, session);
      answered++;
      outcomes.add(status === 200 ? '200' : `${status} ${code}`);
    });
    for (let round = 0; round < 4; round++) {
      await vi.waitFor(() => {
        const alive = renderWorkerPids().filter((pid) => !killed.has(pid));
        if (answered < renderedTiles.length) expect(alive).not.toEqual([]);
        for (const pid of alive.slice(0, 1)) {
          killed.add(pid);
          send(pid, 'SIGKILL');
        }
      }, waitOptions);
      expect(await ask(`${imageId}/${nativeTile}`, session)).toMatchObject({ status: 200 });
    }
    await Promise.all(requests);
    expect(
      [...outcomes].filter((outcome) => !/^(200|502 slide_corrupt|503 unavailable)$/.test(outcome)),
    ).toEqual([]);
    for (const tile of renderedTiles)
      expect(await ask(`${imageId}/${tile}`, session)).toMatchObject({ status: 200 });
    expect((await app.inject({ url: '/health/live' })).statusCode).toBe(200);
  });

  it('are restarted when they hang: waiting requests get 200, 502 or 503, and later requests get their tile', async () => {
    const { ask, session, imageIds } = await startViewing();
    const [imageId] = imageIds;
    expect(await ask(`${imageId}/${renderedTiles[0]}`, session)).toMatchObject({ status: 200 });
    const stoppedPids = renderWorkerPids();
    expect(stoppedPids).not.toEqual([]);
    for (const pid of stoppedPids) send(pid, 'SIGSTOP');
    const answers = await Promise.all(
      renderedTiles.slice(1, 9).map((tile) => ask(`${imageId}/${tile}`, session)),
    );
    for (const { status } of answers) expect([200, 502, 503]).toContain(status);
    for (const tile of renderedTiles)
      expect(await ask(`${imageId}/${tile}`, session)).toMatchObject({ status: 200 });
    expect(renderWorkerPids().filter((pid) => stoppedPids.includes(pid))).toEqual([]);
  });

  it('return equal bytes to 500 concurrent requests for the same tile', async () => {
    const { ask, session, imageIds } = await startViewing();
    const address = `${imageIds[0]}/${renderedTiles[0]}`;
    const answers = await Promise.all(Array.from({ length: 500 }, () => ask(address, session)));
    const [first] = answers;
    expect(first?.status).toBe(200);
    for (const { status, bytes } of answers) {
      expect([status, bytes.equals(first?.bytes ?? Buffer.of())]).toEqual([200, true]);
    }
  });

  it('reject requests with 503 at once when the render queue is full, while other requests are served', async () => {
    const side = 4096;
    const picture = { width: side, height: side, rgb: new Uint8Array(side * side * 3).fill(210) };
    const large = await buildSvs({ ...picture, tileSize: 128, downsamples: [1, 64], picture });
    const server = await startViewing(8, large);
    const { ask, session, imageIds, app, as, fixtures } = server;
    // All tiles of Deep Zoom levels 11 to 8, which have to be rendered.
    const tiles = [16, 8, 4, 2].flatMap((across, i) =>
      Array.from(
        { length: across ** 2 },
        (_, n) => `image_files/${11 - i}/${n % across}_${Math.floor(n / across)}.jpg`,
      ),
    );
    const { email, password } = await fixtures.user();
    const disconnection = new AbortController();
    const outcomes = new Map<string, number>();
    const requests = imageIds.flatMap((imageId) =>
      tiles.map(async (tile) => {
        try {
          const answer = await server.pixels(`${imageId}/${tile}`, session, {
            signal: disconnection.signal,
          });
          const outcome = `${answer.statusCode} ${answer.headers['retry-after'] ?? ''}`;
          outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
        } catch {
          // cancelled by the client
        }
      }),
    );
    await vi.waitFor(() => expect(outcomes.get('503 2')).toBeGreaterThan(0), waitOptions);
    expect((await app.inject({ url: '/health/live' })).statusCode).toBe(200);
    expect((await as(null).call(signIn, { body: { email, password } })).status).toBe(200);
    expect(await ask(`${imageIds[0]}/image_files/12/3_4.jpg`, session)).toMatchObject({ status: 200 });
    disconnection.abort();
    await Promise.all(requests);
    expect([...outcomes.keys()].filter((outcome) => outcome !== '200 ' && outcome !== '503 2')).toEqual([]);
    // All clients have disconnected: the next request is rendered.
    expect(await ask(`${imageIds[7]}/${tiles.at(-1)}`, session)).toMatchObject({ status: 200 });
  });
});
