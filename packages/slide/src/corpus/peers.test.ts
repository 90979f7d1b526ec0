/**
 * Compares tiles of slides that OpenSlide or libvips ("peers") reads too. All samples must be equal, except for the differences
 * listed in peer-readings.ts. Generated slides are always compared, real ones if TEST_SLIDES names their folder.
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
import { ascii, buildTiff, type DirectoryPlan, short } from '../testing/build-tiff.ts';
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
import { type KnownDifference, readByLibvips, readByOpenSlide } from './peer-readings.ts';

const slides = process.env.TEST_SLIDES ?? '';
const openSlideReader = await openSlidePeer();
const libvipsReader = await libvipsPeer();
const skipReasons = {
  openSlide: openSlideReader ? '' : ' (skipped: libopenslide is not installed)',
  libvips: libvipsReader ? '' : ' (skipped: the command vips is not installed)',
  slides: slides === '' ? ' (skipped: TEST_SLIDES names no folder of real slides)' : '',
};
/** Number of compared tiles per level; fewer for levels of more than `LARGE_PIXELS`, whose tiles take longer. */
const COMPARED_TILES = { usual: 24, large: 12 };
const LARGE_PIXELS = 2 ** 24;

/** Returns the tiles in the corners, at the middle of the edges, in the centre, and pseudo-random others (fixed seed). */
function chooseTiles(level: number, { columns, rows, width, height }: Level): TileAddress[] {
  const lastColumn = columns - 1;
  const lastRow = rows - 1;
  const tiles = [0, lastColumn >> 1, lastColumn].flatMap((column) =>
    [0, lastRow >> 1, lastRow].map((row) => [column, row]),
  );
  const nextNumber = seededNumbers(columns * 65_536 + rows);
  const tileCount = width * height > LARGE_PIXELS ? COMPARED_TILES.large : COMPARED_TILES.usual;
  while (tiles.length < tileCount) tiles.push([nextNumber(columns), nextNumber(rows)]);
  const unique = new Map(tiles.map(([column = 0, row = 0]) => [`${column} ${row}`, { level, column, row }]));
  return [...unique.values()];
}

/**
 * Returns the largest difference of a sample between Lamina's and the peer's tiles, by level. The array has no element for
 * a level that the peer does not have.
 *
 * @param levels number of compared levels, from the largest on
 */
async function maxDifferences(slide: Slide, peer: Peer, path: string, levels: number): Promise<number[]> {
  const peerSlide = await peer(path);
  if (peerSlide === null) throw new Error('The peer does not read this file');
  try {
    const differences: number[] = [];
    for (const [index, level] of slide.levels.slice(0, levels).entries()) {
      const peerLevel = levelLike(peerSlide, level);
      if (peerLevel === null) continue;
      differences[index] = 0;
      for (const address of chooseTiles(index, level)) {
        const { x, y, raster } = await drawTile(slide, address);
        const peerRaster = await peerSlide.read(peerLevel, { ...raster, x, y }, slide.background);
        differences[index] = Math.max(differences[index], difference(raster, peerRaster).max);
      }
    }
    return differences;
  } finally {
    await peerSlide.close();
  }
}

/** Checks that the first level is compared, and that no level differs by more than the known difference. */
async function expectSameSamples(
  peer: Peer | null,
  path: string,
  knownDifference: KnownDifference | null = null,
) {
  if (!peer) throw new Error('The peer is not installed');
  const slide = await openSlide({ path });
  const differences = await maxDifferences(slide, peer, path, knownDifference?.levels ?? slide.levels.length);
  await slide.close();
  expect(differences[0]).toBeDefined();
  // Leaves out the missing elements.
  const largest = Math.max(...differences.filter(Number.isInteger));
  expect(largest, `by level: ${differences.join(', ')}`).toBeLessThanOrEqual(
    knownDifference?.maxDifference ?? 0,
  );
}

describe.skipIf(!openSlideReader || slides === '')(
  `the slide reader of Lamina compared with OpenSlide${skipReasons.openSlide || skipReasons.slides}`,
  () => {
    it.each(Object.entries(readByOpenSlide))(
      'reads from the real slide %s the samples that OpenSlide reads, apart from known differences',
      async (name, knownDifference) => {
        await expectSameSamples(openSlideReader, join(slides, name), knownDifference);
      },
    );
  },
);

describe.skipIf(!libvipsReader || slides === '')(
  `the slide reader of Lamina compared with libvips${skipReasons.libvips || skipReasons.slides}`,
  () => {
    it.each(Object.entries(readByLibvips))(
      'reads from the real slide %s the samples that libvips reads, apart from known differences',
      async (name, knownDifference) => {
        await expectSameSamples(libvipsReader, join(slides, name), knownDifference);
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

/** Builds an Aperio slide with JPEG 2000 tiles of compression 33003 (YCbCr), whose chroma has half the columns. */
async function buildJpeg2000Svs(): Promise<Uint8Array> {
  const columns = Math.ceil(WIDTH / TILE);
  const rows = Math.ceil(HEIGHT / TILE);
  const tiles: Uint8Array[] = [];
  for (let i = 0; i < columns * rows; i++) {
    const left = (i % columns) * TILE;
    const top = Math.floor(i / columns) * TILE;
    // The RGB samples of the tissue serve as Y, Cb and Cr, because the comparison works with any values.
    const values = Uint8Array.from({ length: TILE * TILE * 3 }, (_, sample) => {
      const pixel = Math.floor(sample / 3);
      const x = Math.min(WIDTH - 1, left + (pixel % TILE));
      const y = Math.min(HEIGHT - 1, top + Math.floor(pixel / TILE));
      return tissue.rgb[(y * WIDTH + x) * 3 + (sample % 3)] as number;
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
          [tag.Compression]: short(33_003),
          [tag.ImageDescription]: ascii(description),
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

/** Builds the generated slide of a format; `change` may edit its metadata text. */
const vendorSlide = (format: string, change: (text: string) => string = (text) => text) => {
  const slide = vendorSlides.find((candidate) => candidate.format === format);
  if (!slide) throw new Error(`There is no ${format}`);
  return slide.build(change(slide.text));
};

describe.skipIf(!openSlideReader)(
  `the slide reader of Lamina compared with OpenSlide${skipReasons.openSlide}`,
  () => {
    it.each<[string, () => Promise<Uint8Array> | Uint8Array]>([
      ['Aperio, RGB', () => buildSvs({ colour: 'rgb' })],
      ['Aperio, YCbCr', () => buildSvs({ colour: 'ycbcr' })],
      ['Aperio, BigTIFF', () => buildSvs({ isBig: true, width: 700, height: 300 })],
      // In a slide with an empty tile, OpenSlide draws smaller levels from the largest, so this one has no smaller levels.
      [
        'Aperio, empty tiles',
        () => buildSvs({ downsamples: [1], isEmpty: (_, column, row) => (column + row) % 2 === 1 }),
      ],
      ['Aperio, JPEG 2000 with subsampled chroma', buildJpeg2000Svs],
      ['TIFF, a pyramid', () => buildTiledTiff()],
      // The height is a multiple of the block size, because OpenSlide does not draw rows of blocks that the edge cuts.
      ['Hamamatsu NDPI', async () => ndpiBytes(layOutNdpi(await ndpiDirectories({ height: 256 })))],
      ['Philips', () => vendorSlide('philips-tiff')],
      // OpenSlide reads only overlaps to the right and upwards.
      [
        'Ventana',
        () => vendorSlide('ventana-bif', (text) => text.replace(/<TileJointInfo[^>]*(LEFT|DOWN)[^>]*>/g, '')),
      ],
      ['Trestle', () => vendorSlide('trestle')],
    ])('reads from a generated slide (%s) the samples that OpenSlide reads', async (name, build) => {
      await expectSameSamples(openSlideReader, await writeSlide(`${name}.tif`, await build()));
    });
  },
);

describe.skipIf(!libvipsReader)(
  `the slide reader of Lamina compared with libvips${skipReasons.libvips}`,
  () => {
    const tile = { width: TILE, height: TILE };
    const raw = { raw: { width: WIDTH, height: HEIGHT, channels: 3 } } as const;
    const tiff = (plan: Partial<SamplesPlan>, { isLittleEndian = true } = {}) =>
      buildTiff({ directories: [samplesDirectory({ ...plan, isLittleEndian })], isLittleEndian }).bytes;

    it.each<[string, () => Promise<Uint8Array> | Uint8Array]>([
      ['TIFF, deflate with differencing', () => tiff({ tile, isDifferenced: true })],
      ['TIFF, LZW in strips', () => tiff({ packing: 'lzw', rowsPerStrip: 17 })],
      ['TIFF, PackBits, big-endian', () => tiff({ packing: 'packbits', tile }, { isLittleEndian: false })],
      ['TIFF, zstd', () => tiff({ packing: 'zstd', tile })],
      ['TIFF, planes in strips', () => tiff({ packing: 'none', rowsPerStrip: 20, isPlanar: true })],
      ['TIFF, JPEG', () => buildTiledTiff({ downsamples: [1] })],
      ['PNG', () => sharp(tissue.rgb, raw).png().toBuffer()],
      ['JPEG', () => sharp(tissue.rgb, raw).jpeg({ chromaSubsampling: '4:2:0' }).toBuffer()],
      [
        'JPEG 2000',
        () => encodeJpeg2000({ width: WIDTH, height: HEIGHT, samplesPerPixel: 3, values: tissue.rgb }),
      ],
    ])('reads from a generated image (%s) the samples that libvips reads', async (name, build) => {
      await expectSameSamples(libvipsReader, await writeSlide(name, await build()));
    });
  },
);
