/**
 * Every picture that OpenSlide or libvips reads too, tile by tile as the file stores it: what our readers show is the same
 * to the last bit, but for what is listed here with its reason. Real files where TEST_SLIDES names them, built ones always.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSlide } from '../open-slide.ts';
import type { Level, Slide, TileAddress } from '../slide.ts';
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
const without = {
  openSlide: byOpenSlide ? '' : ' (skipped: libopenslide is not installed)',
  libvips: byLibvips ? '' : ' (skipped: the command vips is not installed)',
  slides: slides === '' ? ' (skipped: TEST_SLIDES names no folder of real slides)' : '',
};
/** Of a level; of one that is large, each costs more. */
const MOST_TILES = { usual: 24, large: 12 };
const LARGE_PIXELS = 2 ** 24;

/** Corners, middles of the edges, and others by chance, always the same. */
function chosenTiles(level: number, { columns, rows, width, height }: Level): TileAddress[] {
  const [right, bottom] = [columns - 1, rows - 1];
  const [middle, centre] = [right >> 1, bottom >> 1];
  const places = [0, middle, right].flatMap((column) => [0, centre, bottom].map((row) => [column, row]));
  const next = seededNumbers(columns * 65_536 + rows);
  const most = width * height > LARGE_PIXELS ? MOST_TILES.large : MOST_TILES.usual;
  while (places.length < most) places.push([next(columns), next(rows)]);
  const different = new Map(
    places.map(([column = 0, row = 0]) => [`${column} ${row}`, { level, column, row }]),
  );
  return [...different.values()];
}

/** How far our tiles and those of the other program are apart at most, by levels that both have. */
async function apart(slide: Slide, peer: Peer, path: string, levels: number): Promise<number[]> {
  const other = await peer(path);
  if (other === null) throw new Error('The other program does not read it');
  try {
    const most: number[] = [];
    for (const [index, level] of slide.levels.slice(0, levels).entries()) {
      const same = levelLike(other, level);
      if (same === null) continue;
      most[index] = 0;
      for (const address of chosenTiles(index, level)) {
        const { x, y, raster } = await drawTile(slide, address);
        const theirs = await other.read(same, { ...raster, x, y }, slide.background);
        most[index] = Math.max(most[index], difference(raster, theirs).most);
      }
    }
    return most;
  } finally {
    await other.close();
  }
}

async function expectSame(peer: Peer | null, path: string, exception: Exception | null = null) {
  if (!peer) throw new Error('The other program is not installed');
  const slide = await openSlide({ path });
  const most = await apart(slide, peer, path, exception?.levels ?? slide.levels.length);
  await slide.close();
  expect(most[0]).toBeDefined();
  expect(Math.max(...most.filter(Number.isInteger)), `by level: ${most.join(', ')}`).toBeLessThanOrEqual(
    exception?.most ?? 0,
  );
}

describe.skipIf(!byOpenSlide || slides === '')(
  `a real slide beside OpenSlide${without.openSlide || without.slides}`,
  () => {
    it.each(Object.entries(readByOpenSlide))('%s is the same', async (name, exception) => {
      await expectSame(byOpenSlide, join(slides, name), exception);
    });
  },
);

describe.skipIf(!byLibvips || slides === '')(
  `a real slide beside libvips${without.libvips || without.slides}`,
  () => {
    it.each(Object.entries(readByLibvips))('%s is the same', async (name, exception) => {
      await expectSame(byLibvips, join(slides, name), exception);
    });
  },
);

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'beside-peers-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function put(name: string, bytes: Uint8Array): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, bytes);
  return path;
}

const [WIDTH, HEIGHT, TILE] = [300, 260, 64];
const tissue = paintTissue(WIDTH, HEIGHT);

/** An Aperio slide whose tiles are JPEG 2000, as compression 33003 has it: colours at half resolution. */
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

describe.skipIf(!byOpenSlide)(`a built slide beside OpenSlide${without.openSlide}`, () => {
  it.each<[string, () => Promise<Uint8Array> | Uint8Array]>([
    ['Aperio, RGB', () => buildSvs({ colour: 'rgb' })],
    ['Aperio, YCbCr', () => buildSvs({ colour: 'ycbcr' })],
    ['Aperio, BigTIFF', () => buildSvs({ isBig: true, width: 700, height: 300 })],
    // Where any is empty OpenSlide draws smaller levels from the largest.
    [
      'Aperio, empty tiles',
      () => buildSvs({ downsamples: [1], isEmpty: (_, column, row) => (column + row) % 2 === 1 }),
    ],
    ['Aperio, JPEG 2000 with colours at half resolution', buildJpeg2000Svs],
    ['TIFF, a pyramid', () => buildTiledTiff()],
    // Rows of blocks that are cut by the lower edge OpenSlide does not draw.
    ['Hamamatsu NDPI', async () => ndpiBytes(layOutNdpi(await ndpiDirectories({ height: 256 })))],
    ['Philips', () => vendor('philips-tiff')],
    // OpenSlide knows joints to the right and upwards alone.
    [
      'Ventana',
      () => vendor('ventana-bif', (text) => text.replace(/<TileJointInfo[^>]*(LEFT|DOWN)[^>]*>/g, '')),
    ],
    ['Trestle', () => vendor('trestle')],
  ])('%s is the same', async (name, build) => {
    await expectSame(byOpenSlide, await put(`${name}.tif`, await build()));
  });
});

describe.skipIf(!byLibvips)(`a built picture beside libvips${without.libvips}`, () => {
  const tile = { width: TILE, height: TILE };
  const raw = { raw: { width: WIDTH, height: HEIGHT, channels: 3 } } as const;
  const tiff = (plan: Partial<SamplesPlan>, littleEndian = true) =>
    buildTiff({ directories: [samplesDirectory({ ...plan, littleEndian })], littleEndian }).bytes;

  it.each<[string, () => Promise<Uint8Array> | Uint8Array]>([
    ['TIFF, deflate with differences', () => tiff({ tile, isDifferenced: true })],
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
  ])('%s is the same', async (name, build) => {
    await expectSame(byLibvips, await put(name, await build()));
  });
});
