/**
 * Compares every picture that OpenSlide or libvips reads too, tile by tile. Samples must be equal, except for
 * the listed differences. Real files are used when TEST_SLIDES names them, built ones always.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Level, Slide, TileAddress } from '../model/slide.ts';
import { openSlide } from '../open-slide.ts';
import { layOutNdpi, ndpiBytes, ndpiDirectories } from '../testing/build-ndpi.ts';
import { buildSvs } from '../testing/build-svs.ts';
import { buildTiff, type DirectoryPlan } from '../testing/build-tiff.ts';
import { buildTiledTiff } from '../testing/build-tiled-tiff.ts';
import { difference } from '../testing/compare-pixels.ts';
import { drawTile } from '../testing/draw-level.ts';
import { encodeJpeg2000, encodeSubsampledJpeg2000 } from '../testing/encode-frames.ts';
import { encodeSamples, type SamplesPlan } from '../testing/encode-samples.ts';
import { paintTissue } from '../testing/paint-tissue.ts';
import { levelLike, libvipsPeer, openSlidePeer, type Peer } from '../testing/peers.ts';
import { seededNumbers } from '../testing/seeded-numbers.ts';
import { vendorSlides } from '../testing/vendor-slides.ts';
import { tag } from '../tiff/tags.ts';
import { type Exception, readByLibvips, readByOpenSlide } from './peer-readings.ts';

const slides = process.env.TEST_SLIDES ?? '';
const [byOpenSlide, byLibvips] = [await openSlidePeer(), await libvipsPeer()];
const skipReasons = {
  openSlide: byOpenSlide ? '' : ' (skipped: libopenslide is not installed)',
  libvips: byLibvips ? '' : ' (skipped: the command vips is not installed)',
  slides: slides === '' ? ' (skipped: TEST_SLIDES names no folder of real slides)' : '',
};
/** Tiles per level; tiles of large levels take longer. */
const MAX_TILES = { usual: 24, large: 12 };
const LARGE_PIXELS = 2 ** 24;

/** Corners, middles of the edges, and pseudo-random others, always the same. */
function chosenTiles(level: number, { columns, rows, width, height }: Level): TileAddress[] {
  const [right, bottom] = [columns - 1, rows - 1];
  const [middle, centre] = [right >> 1, bottom >> 1];
  const places = [0, middle, right].flatMap((column) => [0, centre, bottom].map((row) => [column, row]));
  const next = seededNumbers(columns * 65_536 + rows);
  const most = width * height > LARGE_PIXELS ? MAX_TILES.large : MAX_TILES.usual;
  while (places.length < most) places.push([next(columns), next(rows)]);
  const unique = new Map(places.map(([column = 0, row = 0]) => [`${column} ${row}`, { level, column, row }]));
  return [...unique.values()];
}

/** The largest sample differences between Lamina's tiles and the peer's, for each level that both have. */
async function maxDifferences(slide: Slide, peer: Peer, path: string, levels: number): Promise<number[]> {
  const peerSlide = await peer(path);
  if (peerSlide === null) throw new Error('The peer does not read this file');
  try {
    const most: number[] = [];
    for (const [index, level] of slide.levels.slice(0, levels).entries()) {
      const peerLevel = levelLike(peerSlide, level);
      if (peerLevel === null) continue;
      most[index] = 0;
      for (const address of chosenTiles(index, level)) {
        const { x, y, raster } = await drawTile(slide, address);
        const peerRaster = await peerSlide.read(peerLevel, { ...raster, x, y }, slide.background);
        most[index] = Math.max(most[index], difference(raster, peerRaster).most);
      }
    }
    return most;
  } finally {
    await peerSlide.close();
  }
}

async function expectSame(peer: Peer | null, path: string, exception: Exception | null = null) {
  if (!peer) throw new Error('The peer is not installed');
  const slide = await openSlide({ path });
  const most = await maxDifferences(slide, peer, path, exception?.levels ?? slide.levels.length);
  await slide.close();
  expect(most[0]).toBeDefined();
  expect(Math.max(...most.filter(Number.isInteger)), `by level: ${most.join(', ')}`).toBeLessThanOrEqual(
    exception?.most ?? 0,
  );
}

describe.skipIf(!byOpenSlide || slides === '')(
  `a real slide beside OpenSlide${skipReasons.openSlide || skipReasons.slides}`,
  () => {
    it.each(Object.entries(readByOpenSlide))(
      '%s has the same samples as in OpenSlide',
      async (name, exception) => {
        await expectSame(byOpenSlide, join(slides, name), exception);
      },
    );
  },
);

describe.skipIf(!byLibvips || slides === '')(
  `a real slide beside libvips${skipReasons.libvips || skipReasons.slides}`,
  () => {
    it.each(Object.entries(readByLibvips))(
      '%s has the same samples as in libvips',
      async (name, exception) => {
        await expectSame(byLibvips, join(slides, name), exception);
      },
    );
  },
);

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'beside-peers-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function writeSlide(name: string, bytes: Uint8Array): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, bytes);
  return path;
}

const [WIDTH, HEIGHT, TILE] = [300, 260, 64];
const tissue = paintTissue(WIDTH, HEIGHT);

/** An Aperio slide with JPEG 2000 tiles of compression 33003, whose chroma is subsampled. */
async function buildJpeg2000Svs(): Promise<Uint8Array> {
  const [columns, rows] = [Math.ceil(WIDTH / TILE), Math.ceil(HEIGHT / TILE)];
  const tiles: Uint8Array[] = [];
  for (let i = 0; i < columns * rows; i++) {
    const [left, top] = [(i % columns) * TILE, Math.floor(i / columns) * TILE];
    const values = Uint8Array.from({ length: TILE * TILE * 3 }, (_, at) => {
      const pixel = Math.floor(at / 3);
      const x = Math.min(WIDTH - 1, left + (pixel % TILE));
      const y = Math.min(HEIGHT - 1, top + Math.floor(pixel / TILE));
      return tissue.rgb[(y * WIDTH + x) * 3 + (at % 3)] as number;
    });
    tiles.push(
      await encodeSubsampledJpeg2000({ width: TILE, height: TILE, samplesPerPixel: 3, values }, [2, 1]),
    );
  }
  const directory = samplesDirectory({ packing: 'none', tile: { width: TILE, height: TILE } });
  const description = 'Aperio Image Library v11\r\n300x260|AppMag = 20|MPP = 0.5';
  return buildTiff({
    directories: [
      {
        tags: {
          ...directory.tags,
          [tag.Compression]: { type: 3, numbers: [33_003] },
          [tag.ImageDescription]: { type: 2, numbers: [...Buffer.from(`${description}\0`)] },
        },
        tiles,
      },
    ],
  }).bytes;
}

function samplesDirectory(plan: Partial<SamplesPlan>): DirectoryPlan {
  const { rgb } = tissue;
  return encodeSamples({
    width: WIDTH,
    height: HEIGHT,
    samples: rgb,
    samplesPerPixel: 3,
    photometric: 2,
    ...plan,
  });
}

const vendor = (format: string, change: (text: string) => string = (text) => text) => {
  const slide = vendorSlides.find((one) => one.format === format);
  if (!slide) throw new Error(`There is no ${format}`);
  return slide.build(change(slide.text));
};

describe.skipIf(!byOpenSlide)(`a built slide beside OpenSlide${skipReasons.openSlide}`, () => {
  it.each<[string, () => Promise<Uint8Array> | Uint8Array]>([
    ['Aperio, RGB', () => buildSvs({ colour: 'rgb' })],
    ['Aperio, YCbCr', () => buildSvs({ colour: 'ycbcr' })],
    ['Aperio, BigTIFF', () => buildSvs({ isBig: true, width: 700, height: 300 })],
    // With an empty tile OpenSlide draws smaller levels from the largest.
    [
      'Aperio, empty tiles',
      () => buildSvs({ downsamples: [1], isEmpty: (_, column, row) => (column + row) % 2 === 1 }),
    ],
    ['Aperio, JPEG 2000 with subsampled chroma', buildJpeg2000Svs],
    ['TIFF, a pyramid', () => buildTiledTiff()],
    // OpenSlide does not draw rows of blocks that the lower edge cuts.
    ['Hamamatsu NDPI', async () => ndpiBytes(layOutNdpi(await ndpiDirectories({ height: 256 })))],
    ['Philips', () => vendor('philips-tiff')],
    // OpenSlide knows only joints to the right and upwards.
    [
      'Ventana',
      () => vendor('ventana-bif', (text) => text.replace(/<TileJointInfo[^>]*(LEFT|DOWN)[^>]*>/g, '')),
    ],
    ['Trestle', () => vendor('trestle')],
  ])('%s has the same samples as in OpenSlide', async (name, build) => {
    await expectSame(byOpenSlide, await writeSlide(`${name}.tif`, await build()));
  });
});

describe.skipIf(!byLibvips)(`a built picture beside libvips${skipReasons.libvips}`, () => {
  const tile = { width: TILE, height: TILE };
  const raw = { raw: { width: WIDTH, height: HEIGHT, channels: 3 } } as const;
  const tiff = (plan: Partial<SamplesPlan>, littleEndian = true) =>
    buildTiff({ directories: [samplesDirectory({ ...plan, littleEndian })], littleEndian }).bytes;

  it.each<[string, () => Promise<Uint8Array> | Uint8Array]>([
    ['TIFF, deflate with differencing', () => tiff({ tile, isDifferenced: true })],
    ['TIFF, LZW in strips', () => tiff({ packing: 'lzw', rowsPerStrip: 17 })],
    ['TIFF, PackBits, big-endian', () => tiff({ packing: 'packbits', tile }, false)],
    ['TIFF, zstd', () => tiff({ packing: 'zstd', tile })],
    ['TIFF, planes in strips', () => tiff({ packing: 'none', rowsPerStrip: 20, isPlanar: true })],
    ['TIFF, JPEG', () => buildTiledTiff({ downsamples: [1] })],
    ['PNG', () => sharp(tissue.rgb, raw).png().toBuffer()],
    ['JPEG', () => sharp(tissue.rgb, raw).jpeg({ chromaSubsampling: '4:2:0' }).toBuffer()],
    [
      'JPEG 2000',
      () => encodeJpeg2000({ width: WIDTH, height: HEIGHT, samplesPerPixel: 3, values: tissue.rgb }),
    ],
  ])('%s has the same samples as in libvips', async (name, build) => {
    await expectSame(byLibvips, await writeSlide(name, await build()));
  });
});
