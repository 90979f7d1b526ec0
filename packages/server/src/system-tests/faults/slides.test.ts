/** Tests slides whose file is replaced, overwritten, truncated or deleted while they are viewed (REL-6, REL-7, REL-8). */
import fs from 'node:fs/promises';
import path from 'node:path';
import { buildSvs } from '@lamina/slide/testing';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { type SlideServer, slideServer } from '../../testing/slide-server.ts';
import { type Pixels, type RequestPixels, startPixelClient } from '../../testing/wire.ts';

const plan = { width: 480, height: 400, tileSize: 128, downsamples: [1, 4] } as const;
/** Builds a slide. Two slides with different shifts have the same size and differ in every tile. */
const slideOf = (shift: number) => {
  const { width, height } = plan;
  const rgb = Uint8Array.from(
    { length: width * height * 3 },
    (_, i) => ((i >> 5) * 7 + (i % 3) * 80 + shift) & 255,
  );
  return buildSvs({ ...plan, picture: { width, height, rgb } });
};
const [first, second] = [await slideOf(0), await slideOf(90)];

/** Tiles of Deep Zoom levels 9 and 7 are native (full resolution and downsample 4); those of level 8 are rendered. */
const tiles = ['9/0_0', '9/1_1', '9/2_2', '9/3_3', '7/0_0', '8/0_0', '8/1_0', '8/1_1'].map(
  (name) => `image_files/${name}.jpg`,
);
const waitOptions = { timeout: 50_000, interval: 20 };

interface Viewing extends SlideServer {
  readonly ask: RequestPixels;
  readonly session: string;
  readonly file: string;
  readonly imageId: string;
  readonly otherId: string;
}

/** Starts a server with a slide and another one in the same folder, and opens an image session. */
async function startViewing(slide: Uint8Array, more: { readonly isShared?: true } = {}): Promise<Viewing> {
  const server = await slideServer({ hasOwnRenderPool: true, config: { logLevel: 'info' }, ...more });
  await server.put('Tissue/a.svs', slide);
  await server.put('Tissue/other.svs', first);
  await server.rescan();
  const [imageId, otherId] = [await server.idOf('a.svs'), await server.idOf('other.svs')];
  const session = await server.sessionOf(await server.fixtures.user());
  const ask = await startPixelClient(server);
  const file = path.join(server.config.slidesDir, 'Tissue/a.svs');
  return { ...server, ask, session, file, imageId, otherId };
}

/** Returns the bytes of each tile on a server without faults. */
async function expectedBytes(slide: Uint8Array): Promise<ReadonlyMap<string, Buffer>> {
  const server = await startViewing(slide, { isShared: true });
  const answers = new Map<string, Buffer>();
  for (const tile of tiles) {
    const { status, bytes } = await server.ask(`${server.imageId}/${tile}`, server.session);
    expect([tile, status]).toEqual([tile, 200]);
    answers.set(tile, bytes);
  }
  await server.close();
  return answers;
}

/** Sends 50 requests at a time, four of five for tiles of the slide and the others for tiles of the other slide, until it is stopped. */
function watch({ ask, session, imageId, otherId }: Viewing) {
  const seen: { readonly tile: string; readonly slide: 'a' | 'other'; readonly answer: Pixels }[] = [];
  let isStopped = false;
  const requestTiles = async (firstIndex: number) => {
    for (let i = firstIndex; !isStopped; i++) {
      const tile = tiles[i % tiles.length] ?? '';
      const slide = i % 5 === 0 ? 'other' : 'a';
      const answer = await ask(`${slide === 'a' ? imageId : otherId}/${tile}`, session);
      seen.push({ tile, slide, answer });
    }
  };
  const clients = Array.from({ length: 50 }, (_, index) => requestTiles(index));
  return {
    seen,
    async stop() {
      isStopped = true;
      await Promise.all(clients);
      return seen;
    },
  };
}

let versions: Readonly<Record<'before' | 'after', ReadonlyMap<string, Buffer>>>;
beforeAll(async () => {
  versions = { before: await expectedBytes(first), after: await expectedBytes(second) };
});

/** Returns whether a tile shows the slide before or after its replacement. */
function versionOf(tile: string, bytes: Buffer): 'before' | 'after' | 'neither' {
  if (versions.before.get(tile)?.equals(bytes)) return 'before';
  return versions.after.get(tile)?.equals(bytes) ? 'after' : 'neither';
}

const acceptedErrors = ['404 not_found', '502 slide_corrupt', '503 unavailable'];

describe('a slide whose file changes while clients request its tiles', () => {
  it.each([
    [
      'a new file is renamed to the path of the slide',
      (server: Viewing, bytes: Uint8Array) => server.put('Tissue/a.svs', bytes),
    ],
    // A scanner or a copy overwrites a file in place, so that it contains parts of both versions for a moment.
    [
      'the file of the slide is overwritten in place',
      ({ file }: Viewing, bytes: Uint8Array) => fs.writeFile(file, bytes),
    ],
  ])('returns tiles of the old or the new slide, never a mixture, while %s', async (_, replace) => {
    const server = await startViewing(first);
    const watching = watch(server);
    for (let round = 0; round < 10; round++) {
      const expectedCount = watching.seen.length + 40;
      await vi.waitFor(() => expect(watching.seen.length).toBeGreaterThan(expectedCount), waitOptions);
      await replace(server, round % 2 === 0 ? second : first);
    }
    await replace(server, second);
    const { ask, session, imageId } = server;
    await vi.waitFor(async () => {
      const { bytes } = await ask(`${imageId}/${tiles[0]}`, session);
      expect(versionOf(tiles[0] ?? '', bytes)).toBe('after');
    }, waitOptions);
    const seen = await watching.stop();

    const outcomes = new Set<string>();
    const tags = new Map<string, Set<string>>();
    for (const { tile, slide, answer } of seen) {
      const { status, code, etag, bytes } = answer;
      if (slide === 'other') expect([status, versionOf(tile, bytes)]).toEqual([200, 'before']);
      else if (status !== 200) outcomes.add(`${status} ${code}`);
      else {
        const version = versionOf(tile, bytes);
        outcomes.add(version);
        const versionsOfTag = tags.get(etag ?? '') ?? new Set();
        tags.set(etag ?? '', versionsOfTag.add(version));
      }
    }
    expect(
      [...outcomes].filter((outcome) => !['before', 'after', ...acceptedErrors].includes(outcome)),
    ).toEqual([]);
    expect(outcomes).toContain('after');
    // An ETag never identifies two different contents.
    expect([...tags.values()].filter((versionsOfTag) => versionsOfTag.size > 1)).toEqual([]);
  });

  it('returns 404 after its file is deleted, while tiles of another slide are still returned', async () => {
    const server = await startViewing(first);
    const { ask, session, imageId, otherId, file } = server;
    const watching = watch(server);
    await vi.waitFor(() => expect(watching.seen.length).toBeGreaterThan(100), waitOptions);
    await fs.rm(file);
    await vi.waitFor(async () => {
      expect(await ask(`${imageId}/${tiles[0]}`, session)).toMatchObject({ status: 404, code: 'not_found' });
    }, waitOptions);
    const seen = await watching.stop();
    for (const { slide, tile, answer } of seen) {
      const outcome =
        answer.status === 200 ? versionOf(tile, answer.bytes) : `${answer.status} ${answer.code}`;
      expect(slide === 'other' ? ['before'] : ['before', '404 not_found']).toContain(outcome);
    }
    for (const address of ['image.dzi', 'thumbnail.jpg', ...tiles]) {
      expect(await ask(`${imageId}/${address}`, session)).toMatchObject({ status: 404, code: 'not_found' });
      expect(await ask(`${otherId}/${address}`, session)).toMatchObject({ status: 200 });
    }
  });

  it('returns 404 while its folder is missing, and its tiles again when the folder is back', async () => {
    const server = await startViewing(first);
    const { ask, session, imageId, config } = server;
    const folder = path.join(config.slidesDir, 'Tissue');
    const tile = `${imageId}/${tiles[0]}`;
    expect(await ask(tile, session)).toMatchObject({ status: 200 });
    await fs.rename(folder, path.join(config.slidesDir, '.away'));
    await vi.waitFor(
      async () => expect(await ask(tile, session)).toMatchObject({ status: 404 }),
      waitOptions,
    );
    await fs.rename(path.join(config.slidesDir, '.away'), folder);
    await vi.waitFor(
      async () => expect(await ask(tile, session)).toMatchObject({ status: 200 }),
      waitOptions,
    );
  });

  it.skipIf(process.platform !== 'linux')(
    'has no open file handle after its file is deleted, even without further requests',
    async () => {
      const server = await startViewing(first);
      const { ask, session, imageId, file, services } = server;
      for (const tile of tiles) await ask(`${imageId}/${tile}`, session);
      expect(await timesOpen(file)).toBe(1);
      await fs.rm(file);
      await services.catalogue.rescan(); // as the folder watcher triggers it
      await vi.waitFor(async () => expect(await timesOpen(file)).toBe(0), waitOptions);
    },
  );

  it('returns the error slide_corrupt for tiles in the cut-off part after its file is truncated', async () => {
    const server = await startViewing(first);
    const { ask, session, imageId, otherId, file } = server;
    for (const tile of tiles) await ask(`${imageId}/${tile}`, session);
    await fs.truncate(file, 20_000);
    const seen = new Map<string, number>();
    await vi.waitFor(async () => {
      for (const tile of tiles) {
        const { status, code, bytes } = await ask(`${imageId}/${tile}`, session);
        const outcome = status === 200 ? versionOf(tile, bytes) : `${status} ${code}`;
        seen.set(outcome, (seen.get(outcome) ?? 0) + 1);
      }
      expect(seen.get('502 slide_corrupt')).toBeGreaterThan(0);
    }, waitOptions);
    expect([...seen.keys()].filter((outcome) => !['before', ...acceptedErrors].includes(outcome))).toEqual(
      [],
    );
    for (const tile of tiles) {
      expect(await ask(`${otherId}/${tile}`, session)).toMatchObject({ status: 200 });
    }
  });
});

/** Returns how often this process has a file open, deleted or not; from /proc. */
async function timesOpen(file: string): Promise<number> {
  const handles = await fs.readdir('/proc/self/fd');
  const targets = await Promise.all(
    handles.map((handle) => fs.readlink(`/proc/self/fd/${handle}`).catch(() => '')),
  );
  return targets.filter((target) => target.replace(/ \(deleted\)$/, '') === file).length;
}
