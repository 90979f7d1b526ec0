/**
 * Serves one healthy slide from a folder of broken and hostile files: a client requests its tiles all the time and compares
 * every byte, while the catalogue reads the other files and a second client requests them.
 */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { getImage, type Image, listImages } from '@lamina/contract';
import { badSlides, buildCzi, buildDicom, buildSvs, buildTiledTiff } from '@lamina/slide/testing';
import { describe, expect, it, vi } from 'vitest';
import { type SlideServer, slideServer } from '../testing/slide-server.ts';

// The server reads about 200 files one after the other, on a machine that may be busy.
vi.setConfig({ testTimeout: 600_000 });

/** A file, and the outcome that a test expects when the server opens it. */
interface BadFile {
  /** File name with the extension of a slide format. */
  readonly name: string;
  readonly bytes: Uint8Array;
  /** `failed`: the file cannot be opened; `broken`: it opens, but its pixels cannot be read; `shown`: it opens and renders. */
  readonly outcome: 'failed' | 'broken' | 'shown';
}

/** The folder bad-slides beside the folder that TEST_SLIDES names: a collection of damaged and hostile slide files. */
const folder = path.join(process.env.TEST_SLIDES ?? '', '../bad-slides');
const hasBadSlidesFolder = process.env.TEST_SLIDES !== undefined && existsSync(folder);

/** Extensions by the first folder of a file's path. The files in these folders have names without a slide extension. */
const extensions: Readonly<Record<string, string>> = { tiff: '.tif', jpeg: '.jpg', png: '.png', jp2: '.jp2' };

/** Returns the files of the folder bad-slides, with short unique names. */
function readBadSlidesFolder(): BadFile[] {
  return badSlides.map(([filePath, statedOutcome], i) => {
    const [firstFolder = ''] = filePath.split('/');
    const extension = extensions[firstFolder] ?? path.extname(filePath);
    return {
      name: `${i}${extension}`,
      bytes: readFileSync(path.join(folder, filePath)),
      outcome: outcomeOfStated(statedOutcome),
    };
  });
}

/** Converts an outcome as `badSlides` states it: `opens, then …`, an error code in capitals, or the name of a format. */
function outcomeOfStated(statedOutcome: string): BadFile['outcome'] {
  if (statedOutcome.startsWith('opens')) return 'broken';
  return /[A-Z]/.test(statedOutcome) ? 'failed' : 'shown';
}

/** Returns truncated slides of several formats, and files of pseudo-random bytes. */
async function buildDamagedFiles(): Promise<BadFile[]> {
  const completeFiles = {
    svs: await buildSvs(),
    tif: await buildTiledTiff(),
    dcm: await buildDicom(),
    czi: buildCzi({ subblocks: [] }).bytes,
  };
  const truncatedFiles = Object.entries(completeFiles).flatMap(([extension, bytes]) =>
    // Values of at least 1 are lengths in bytes; values below 1 are shares of the complete file.
    [8, 100, 0.2, 0.4, 0.6, 0.9].map((lengthOrShare, i) => ({
      name: `cut-${i}.${extension}`,
      bytes: bytes.subarray(0, lengthOrShare < 1 ? Math.floor(bytes.length * lengthOrShare) : lengthOrShare),
      outcome: 'failed' as const,
    })),
  );
  const noiseFiles = ['svs', 'ndpi', 'bif', 'scn', 'jpg', 'png', 'vsi'].map((extension) => ({
    name: `noise.${extension}`,
    bytes: Uint8Array.from({ length: 5000 }, (_, i) => (i * i * 31 + (i >> 3)) & 255),
    outcome: 'failed' as const,
  }));
  return [...truncatedFiles, ...noiseFiles];
}

/** Options of the healthy slide; sizes in pixels. */
const healthySlide = { width: 1400, height: 1100, tileSize: 128, downsamples: [1, 4] } as const;
/** Deep Zoom level of full resolution: 2 ** 11 is the first power of two that is at least the width. */
const maxLevel = 11;

/** Returns the addresses of the descriptor, the thumbnail, and every tile of every level of the healthy slide. */
function addressesOf(id: string): string[] {
  const addresses = [`${id}/image.dzi`, `${id}/thumbnail.jpg`];
  for (let level = 0; level <= maxLevel; level++) {
    const tileSide = 2 ** (maxLevel - level) * healthySlide.tileSize; // in pixels of full resolution
    for (let column = 0; column * tileSide < healthySlide.width; column++) {
      for (let row = 0; row * tileSide < healthySlide.height; row++)
        addresses.push(`${id}/image_files/${level}/${column}_${row}.jpg`);
    }
  }
  return addresses;
}

/** Returns the responses for the healthy slide on a server without other files, by the part of the address after the id. */
async function expectedPayloads(svs: Uint8Array): Promise<ReadonlyMap<string, Buffer>> {
  const server = await slideServer();
  await server.put('Healthy/good.svs', svs);
  await server.rescan();
  const id = await server.idOf('good.svs');
  const session = await server.sessionOf(await server.fixtures.user());
  const payloads = new Map<string, Buffer>();
  for (const address of addressesOf(id)) {
    const { statusCode, rawPayload } = await server.pixels(address, session);
    expect(statusCode, address).toBe(200);
    payloads.set(address.slice(id.length), rawPayload);
  }
  await server.close();
  return payloads;
}

/**
 * Requests all addresses of the healthy slide, and the health endpoints, again and again until `stop` is called, but at least
 * once. `stop` returns the responses that differ from the expected ones.
 */
function requestContinuously(
  server: SlideServer,
  id: string,
  session: string,
  expected: ReadonlyMap<string, Buffer>,
) {
  const wrongResponses: string[] = [];
  let rounds = 0;
  let isStopped = false;
  const requestUntilStopped = async () => {
    while (!isStopped || rounds === 0) {
      for (const address of addressesOf(id)) {
        const { statusCode, rawPayload } = await server.pixels(address, session);
        const isExpected =
          statusCode === 200 && rawPayload.equals(expected.get(address.slice(id.length)) as Buffer);
        if (!isExpected) wrongResponses.push(`${statusCode} ${address}`);
      }
      for (const url of ['/health/live', '/health/ready']) {
        const { statusCode } = await server.app.inject({ url });
        if (statusCode !== 200) wrongResponses.push(`${statusCode} ${url}`);
      }
      rounds++;
      await delay(100); // leaves processor time for reading the other files
    }
  };
  const running = requestUntilStopped();
  return {
    async stop() {
      isStopped = true;
      await running;
      return { wrongResponses, rounds };
    },
  };
}

/** Expects that the healthy slide is served unchanged beside these files, and that each file has its stated outcome. */
async function expectHealthySlideServed(files: readonly BadFile[]): Promise<void> {
  const svs = await buildSvs(healthySlide);
  const payloads = await expectedPayloads(svs);
  const server = await slideServer();
  await server.put('Healthy/good.svs', svs);
  await server.rescan();
  const healthyId = await server.idOf('good.svs');
  const [admin, user] = [await server.fixtures.admin(), await server.fixtures.user()];
  const reader = server.as(user); // signs in once: sign-ins of an account are limited
  const session = await server.sessionOf(user);
  const requests = requestContinuously(server, healthyId, await server.sessionOf(user), payloads);

  // Each file has its own folder, so that the server does not treat it as a companion of another file.
  for (const { name, bytes } of files) await server.put(`Bad/${name}.d/${name}`, bytes);
  await server.rescan();
  const { images } = (await server.as(admin).call(listImages)).body;
  const imagesByName = new Map(images.map((image) => [image.file_name, image]));
  const listedNames = (await reader.call(listImages)).body.images.map(({ file_name }) => file_name);
  const outcomes: Record<string, unknown> = {};
  const expected: Record<string, unknown> = {};
  for (const { name, outcome } of files) {
    expected[name] = outcome;
    outcomes[name] = await outcomeOf(imagesByName.get(name));
  }
  const { wrongResponses, rounds } = await requests.stop();
  expect(outcomes).toEqual(expected);
  expect(wrongResponses).toEqual([]);
  expect(rounds).toBeGreaterThan(0);

  /** Returns the outcome of a file; if it is none of the three outcomes, the details that the test then reports. */
  async function outcomeOf(image: Image | undefined): Promise<unknown> {
    if (!image) return 'not in the catalogue';
    const { id, status, error } = image;
    const pixels = [`${id}/image.dzi`, `${id}/thumbnail.jpg`, `${id}/image_files/0/0_0.jpg`];
    const responses = [];
    for (const address of pixels) responses.push(await server.pixels(address, session));
    const outcomesOfPixels = responses.map(({ statusCode, rawPayload }) =>
      statusCode === 200 ? 'served' : `${statusCode} ${JSON.parse(rawPayload.toString()).code}`,
    );
    if (status === 'failed') {
      const hasReason = /^[A-Z].{10,}/.test(error ?? '') && !listedNames.includes(image.file_name);
      const { status: detailsStatus } = await reader.call(getImage, { params: { imageId: id } });
      const isHidden = detailsStatus === 404 && outcomesOfPixels.every((code) => code === '404 not_found');
      return hasReason && isHidden ? 'failed' : { error, detailsStatus, outcomesOfPixels };
    }
    const [descriptor, thumbnail, tile] = outcomesOfPixels;
    if (status !== 'ready' || descriptor !== 'served') return { status, outcomesOfPixels };
    if (thumbnail === 'served' && tile === 'served') return 'shown';
    return thumbnail === '502 slide_corrupt' && tile === '502 slide_corrupt'
      ? 'broken'
      : { status, outcomesOfPixels };
  }
}

describe('valid slide beside damaged files', () => {
  it.skipIf(!hasBadSlidesFolder)(
    `is served while the server reads the files of the folder bad-slides and responds to requests for them${hasBadSlidesFolder ? '' : ' (skipped: TEST_SLIDES names no folder with bad-slides beside it)'}`,
    () => expectHealthySlideServed(readBadSlidesFolder()),
  );

  it('is served while the server reads truncated files and files of random bytes', async () => {
    await expectHealthySlideServed(await buildDamagedFiles());
  });
});
