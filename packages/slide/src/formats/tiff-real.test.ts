/**
 * Tests the real Aperio slide in the repository, and every real TIFF and Aperio slide in the folder that TEST_SLIDES names. Pixels are compared
 * with libvips, which shares only the JPEG and WebP decoders with this package. Files that libvips cannot read are compared
 * with the same image in another file, or with pixels that OpenSlide 3.4.1 returns.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { decodeImage } from '../decode/decode-image.ts';
import { cropRaster, type Raster } from '../decode/raster.ts';
import { describeDeepZoom } from '../deep-zoom/deep-zoom.ts';
import type { Slide } from '../model/slide.ts';
import { openSlide } from '../open-slide.ts';
import { renderPixels } from '../render/render-pixels.ts';
import { renderThumbnail } from '../render/render-thumbnail.ts';
import { difference, pixelsOf } from '../testing/compare-pixels.ts';
import { drawLevel } from '../testing/draw-level.ts';
import { loadPeerSharp } from '../testing/peer-sharp.ts';
import { realSlide } from '../testing/real-slide.ts';

vi.setConfig({ testTimeout: 120_000 });

const slides = process.env.TEST_SLIDES ?? '';
const skipped = slides === '' ? ' (skipped: TEST_SLIDES names no folder of real slides)' : '';

type Sizes = readonly (readonly [width: number, height: number])[];

/** What the reader must return for a file. */
interface Expected {
  /** Pixels of each level. */
  readonly sizes: Sizes;
  /** Page number of a level in libvips; the level number when absent, null when libvips cannot read the level. */
  readonly pages?: readonly (number | { subifd: number })[] | null;
  /** Single pixels whose colour is known from another source. */
  readonly pixels?: readonly (readonly [x: number, y: number, colour: readonly [number, number, number]])[];
  /** Maximum difference of a sample from libvips; 0 when absent. A comment at the file says why it differs. */
  readonly maxDifference?: number;
}

/** Returns the sizes of `count` levels, each half of the one before, rounded down. */
const halves = (width: number, height: number, count: number): Sizes =>
  Array.from({ length: count }, (_, i) => [Math.floor(width / 2 ** i), Math.floor(height / 2 ** i)] as const);

/** Files that must open, by name. */
const supported: Readonly<Record<string, Expected>> = {
  'BigTIFFLong8Tiles.tif': { sizes: [[64, 64]] },
  'BigTIFFSubIFD8.tif': { sizes: halves(64, 64, 2), pages: [0, { subifd: 0 }] },
  'CMU-1-small.tiff': { sizes: halves(718, 514, 3) },
  'be_cog.tiff': { sizes: halves(64, 64, 5) },
  'boxes.tiff': { sizes: halves(300, 250, 4) },
  'cog.tiff': { sizes: halves(64, 64, 5) },
  'grey10kx5k.tif': { sizes: [[10_000, 5000]] },
  'kidney-48-5.tif': { sizes: [[1493, 901]] },
  'quad-tile.jpg.tiff': { sizes: [[512, 384]] },
  // Its alpha is 255 except in a few corners, where libvips truncates and this package rounds.
  'rgba8_tiled.tiff': { sizes: halves(64, 64, 5), maxDifference: 1 },
  // All of its tiles are empty.
  'sparse.tiff': {
    sizes: [
      [20_480, 20_480],
      [10_240, 10_240],
      [5120, 5120],
      [2048, 2048],
      [1024, 1024],
      [512, 512],
    ],
    pages: null,
    pixels: [[10_000, 10_000, [255, 255, 255]]],
  },
  'test_orient1.tif': { sizes: halves(120, 180, 3) },
  'test_orient3.tif': { sizes: halves(120, 180, 3) },
  'test_orient6.tif': { sizes: halves(180, 120, 3) },
  'test_orient8.tif': { sizes: halves(180, 120, 3) },
  // libvips reads it as CMYK; these are OpenSlide's colours.
  'tiff_tiled_cmyk_jpeg.tif': {
    sizes: [[100, 100]],
    pages: null,
    pixels: [
      [0, 0, [255, 13, 25]],
      [50, 50, [1, 4, 4]],
    ],
  },
  'tiff_tiled_planar_lzw.tiff': {
    sizes: [[278, 374]],
    pages: null,
    pixels: [
      [0, 100, [78, 83, 141]],
      [200, 10, [184, 185, 209]],
      [50, 300, [64, 20, 8]],
      [277, 373, [255, 255, 255]],
    ],
  },
  'tiff_tiled_ycbcr_jpeg_2x2_sampling.tif': { sizes: [[480, 360]] },
  'tiled-jpeg-rgb-u8.tif': { sizes: [[374, 499]] },
  // libvips reads its signed samples above 127 as black; a separate test below compares its pixels.
  'tiled-oversize-gray-i8.tif': { sizes: [[499, 374]], pages: null },
  'yb10kx5k.zstd.tiff': {
    sizes: halves(10_000, 5000, 5),
    pages: null,
    pixels: [
      [5000, 0, [0, 0, 255]],
      [5000, 2500, [255, 255, 0]],
      [9999, 4999, [0, 0, 255]],
    ],
  },
  // libvips shows the 12 bits of the two files `u2` as nearly black; a separate test below compares their pixels.
  'imagecodecs/gray.bigendian.u2.tif': { sizes: [[111, 83]], pages: null },
  'imagecodecs/gray.bigtiff.u1.tif': { sizes: [[111, 83]] },
  'imagecodecs/gray.tiled.u2.tif': { sizes: [[111, 83]], pages: null },
  'imagecodecs/rgb.predict.u1.tif': { sizes: [[111, 83]] },
  'imagecodecs/rgb.separate.tiled.u1.tif': { sizes: [[111, 83]], pages: null },
  'imagecodecs/rgb.tiled.jpeg.u1.tif': { sizes: [[111, 83]] },
  'imagecodecs/rgb.tiled.jpeg2000.u1.tif': { sizes: [[111, 83]], pages: null },
  'imagecodecs/rgb.tiled.lzw.u1.tif': { sizes: [[111, 83]] },
  'imagecodecs/rgb.tiled.packbits.u1.tif': { sizes: [[111, 83]] },
  'imagecodecs/rgb.tiled.u1.tif': { sizes: [[111, 83]] },
  'imagecodecs/rgb.tiled.webp.u1.tif': { sizes: [[111, 83]] },
  'imagecodecs/rgb.tiled.zstd.u1.tif': { sizes: [[111, 83]], pages: null },
  'imagecodecs/rgba.tiled.u1.tif': { sizes: [[111, 83]], maxDifference: 1 },
};

/** Files that are not supported, with the message of the error. */
const unsupported: Readonly<Record<string, string>> = {
  'imagecodecs/gray.tiled.f4.tif': 'Not supported: floating point of 32 bits a sample',
  'old-style-jpeg-compression.tif': 'Not supported: old-style JPEG (compression 6)',
};

const pathOf = (name: string) => join(slides, 'generic-tiff', name);
const open = (name: string) => openSlide({ path: pathOf(name) });

/** Reads a page of a TIFF, or a part of it, with libvips, upright and on white. */
async function readWithLibvips(
  input: string | Uint8Array,
  page: number | { subifd: number },
  part?: { left: number; top: number; width: number; height: number },
): Promise<Raster> {
  const pageOption = typeof page === 'number' ? { page } : page;
  const sharp = await loadPeerSharp();
  const picture = sharp(input, { ...pageOption, limitInputPixels: false, ignoreIcc: true }).autoOrient();
  if (part) picture.extract(part);
  const { data, info } = await picture
    .toColourspace('srgb')
    .flatten({ background: '#fff' })
    .raw()
    .toBuffer({ resolveWithObject: true });
  return { width: info.width, height: info.height, rgb: data };
}

function renderFullResolution(slide: Slide): Promise<Raster> {
  const { width, height, maxLevel } = describeDeepZoom(slide);
  return renderPixels(slide, { dziLevel: maxLevel, x: 0, y: 0, width, height });
}

describe.skipIf(slides === '')(`openSlide with a real TIFF${skipped}`, () => {
  it('is tested with every file in the folder generic-tiff of TEST_SLIDES', () => {
    const files = readdirSync(join(slides, 'generic-tiff'), { recursive: true, withFileTypes: true });
    const names = files
      .filter((file) => file.isFile())
      .map((file) => relative(pathOf('.'), join(file.parentPath, file.name)));
    expect(names.sort()).toEqual([...Object.keys(supported), ...Object.keys(unsupported)].sort());
  });

  it.each(Object.entries(supported))(
    'finds all levels of %s, with the widths and heights that the test lists',
    async (name, { sizes }) => {
      const slide = await open(name);
      expect(slide.format).toBe('tiff');
      expect(slide.levels.map(({ width, height }) => [width, height])).toEqual(sizes);
      await slide.close();
    },
  );

  it.each(Object.entries(unsupported))('rejects %s with the message "%s"', async (name, message) => {
    await expect(open(name)).rejects.toMatchObject({ code: 'FORMAT_NOT_SUPPORTED', message });
  });

  it.each(Object.entries(supported).filter(([, { pages }]) => pages !== null))(
    'reads the same pixels of %s as libvips',
    async (name, { sizes, pages, maxDifference = 0 }) => {
      const slide = await open(name);
      for (const [level, [width, height]] of sizes.entries()) {
        const page = pages?.[level] ?? level;
        // Of a large level, three rectangles are compared.
        if (width * height > 2 ** 24) {
          const { maxLevel } = describeDeepZoom(slide);
          for (const [x, y] of [
            [0, 0],
            [width - 777, height - 777],
            [3333, 2222],
          ] as const) {
            const part = { x, y, width: 777, height: 777 };
            const rendered = await renderPixels(slide, { dziLevel: maxLevel, ...part });
            const libvipsPixels = await readWithLibvips(pathOf(name), page, {
              left: x,
              top: y,
              width: 777,
              height: 777,
            });
            expect(difference(rendered, libvipsPixels).max, `${x}, ${y}`).toBeLessThanOrEqual(maxDifference);
          }
        } else {
          const libvipsPixels = await readWithLibvips(pathOf(name), page);
          expect(
            difference(await drawLevel(slide, level), libvipsPixels).max,
            `level ${level}`,
          ).toBeLessThanOrEqual(maxDifference);
        }
      }
      await slide.close();
    },
  );

  it.each(
    Object.entries(supported).flatMap(([name, { pixels }]) => (pixels ? [[name, pixels] as const] : [])),
  )(
    'reads from %s the colours of single pixels that the test lists, because libvips cannot be the reference',
    async (name, pixels) => {
      const slide = await open(name);
      const { maxLevel } = describeDeepZoom(slide);
      for (const [x, y, colour] of pixels) {
        const { rgb } = await renderPixels(slide, { dziLevel: maxLevel, x, y, width: 1, height: 1 });
        expect([...rgb], `${x}, ${y}`).toEqual(colour);
      }
      await slide.close();
    },
  );

  it.each([
    ['imagecodecs/rgb.predict.u1.tif', 0],
    ['imagecodecs/rgb.separate.tiled.u1.tif', 0],
    ['imagecodecs/rgb.tiled.lzw.u1.tif', 0],
    ['imagecodecs/rgb.tiled.packbits.u1.tif', 0],
    ['imagecodecs/rgb.tiled.zstd.u1.tif', 0],
    ['imagecodecs/rgb.tiled.jpeg2000.u1.tif', 0],
    ['imagecodecs/rgb.tiled.jpeg.u1.tif', 4],
    ['imagecodecs/rgb.tiled.webp.u1.tif', 6],
  ])(
    'reads from %s the same image as from the uncompressed rgb.tiled.u1.tif, with a mean difference of at most %i',
    async (name, mean) => {
      const slide = await open(name);
      const plain = await open('imagecodecs/rgb.tiled.u1.tif');
      expect(
        difference(await renderFullResolution(slide), await renderFullResolution(plain)).mean,
      ).toBeLessThanOrEqual(mean);
      await Promise.all([slide.close(), plain.close()]);
    },
  );

  it.each(['imagecodecs/gray.bigendian.u2.tif', 'imagecodecs/gray.tiled.u2.tif'])(
    'stretches the 16-bit grey of %s to black and white, like the stretched 8-bit gray.bigtiff.u1.tif (mean difference at most 6)',
    async (name) => {
      const slide = await open(name);
      const plain = await open('imagecodecs/gray.bigtiff.u1.tif');
      const grey = await renderFullResolution(plain);
      const min = Math.min(...grey.rgb);
      const max = Math.max(...grey.rgb);
      const rgb = grey.rgb.map((sample) => Math.round(((sample - min) * 255) / (max - min)));
      expect(difference(await renderFullResolution(slide), { ...grey, rgb }).mean).toBeLessThanOrEqual(6);
      await Promise.all([slide.close(), plain.close()]);
    },
  );

  it('reads the signed samples of tiled-oversize-gray-i8.tif as libvips reads a copy that declares them as unsigned', async () => {
    const slide = await open('tiled-oversize-gray-i8.tif');
    const file = readFileSync(pathOf('tiled-oversize-gray-i8.tif'));
    // The directory entry of SampleFormat 2 (signed), which is changed to 1 (unsigned) for libvips.
    const sampleFormat = file.indexOf(Buffer.of(0x53, 1, 3, 0, 1, 0, 0, 0, 2, 0));
    expect(sampleFormat).toBeGreaterThan(0);
    file[sampleFormat + 8] = 1;
    expect(difference(await renderFullResolution(slide), await readWithLibvips(file, 0)).max).toBe(0);
    await slide.close();
  });

  it('reads the 588 bytes of the colour profile of boxes.tiff', async () => {
    const slide = await open('boxes.tiff');
    expect(await slide.readIccProfile()).toHaveLength(588);
    await slide.close();
  });
});

describe.skipIf(slides === '')(`openSlide with a real Aperio slide${skipped}`, () => {
  const aperio = (name: string) => join(slides, 'aperio', name);

  it.each([
    ['CMU-1-Small-Region.svs', [[2220, 2967]], 0.499, ['label', 'macro', 'thumbnail']],
    ['small.svs', [[16, 16]], 0.499, ['thumbnail']],
    [
      '1065626.svs',
      [
        [11_952, 10_249],
        [2988, 2562],
      ],
      0.5026,
      ['thumbnail'],
    ],
  ])(
    'reads from %s the level sizes %j, the pixel size %d µm and the associated images %j',
    async (name, sizes, mpp, associated) => {
      const slide = await openSlide({ path: aperio(name) });
      expect(slide).toMatchObject({ format: 'aperio', vendor: 'Aperio', objectivePower: 20 });
      expect(slide.levels.map(({ width, height }) => [width, height])).toEqual(sizes);
      expect(slide.mpp).toEqual({ x: mpp, y: mpp });
      expect([...slide.associatedImages].sort()).toEqual(associated);
      await slide.close();
    },
  );

  it('reads the same pixels of small.svs as libvips', async () => {
    const slide = await openSlide({ path: aperio('small.svs') });
    const libvipsPixels = await readWithLibvips(aperio('small.svs'), 0);
    expect(difference(await renderFullResolution(slide), libvipsPixels).max).toBe(0);
    await slide.close();
  });

  it('renders 1065626.svs, whose JPEG 2000 does not declare YCbCr, in the colours of its stored thumbnail', async () => {
    const slide = await openSlide({ path: aperio('1065626.svs') });
    const stored = await pixelsOf((await slide.readAssociatedImage('thumbnail')).bytes);
    // The stored thumbnail has the colours of the scanner. Without the colour profile, the rendered one has them too.
    const withoutProfile: Slide = { ...slide, readIccProfile: async () => null };
    const rendered = await pixelsOf(await renderThumbnail(withoutProfile, 895));
    const crop = (raster: Raster) => cropRaster(raster, 0, 0, 895, 767);
    expect(difference(crop(stored), crop(rendered)).mean).toBeLessThan(2);
    await slide.close();
  });

  it('reads the 1.7 MB of the colour profile of 1065626.svs', async () => {
    const slide = await openSlide({ path: aperio('1065626.svs') });
    expect(await slide.readIccProfile()).toHaveLength(1_687_824);
    await slide.close();
  });
});

describe('openSlide with CMU-1-Small-Region.svs', () => {
  it('reads the same pixels as libvips', async () => {
    const slide = await openSlide({ path: realSlide });
    expect(difference(await renderFullResolution(slide), await readWithLibvips(realSlide, 0)).max).toBe(0);
    await slide.close();
  });

  it('reads the LZW-compressed label with the same pixels as libvips', async () => {
    const slide = await openSlide({ path: realSlide });
    const label = await decodeImage(await slide.readAssociatedImage('label'));
    expect(difference(label, await readWithLibvips(realSlide, 2)).max).toBe(0);
    await slide.close();
  });
});
