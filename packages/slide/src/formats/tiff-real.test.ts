/**
 * Tests of every real TIFF and Aperio slide in the folder TEST_SLIDES, as described in its README. Pixels are compared
 * with libvips, which shares only the JPEG and WebP decoders with this package. Files that libvips cannot read are
 * compared with the same image in another file, or with pixels that OpenSlide 3.4.1 returns.
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

vi.setConfig({ testTimeout: 120_000 });

const slides = process.env.TEST_SLIDES ?? '';
const skipped = slides === '' ? ' (skipped: TEST_SLIDES names no folder of real slides)' : '';

type Sizes = readonly (readonly [width: number, height: number])[];

interface Expected {
  readonly sizes: Sizes;
  /** Page number of a level in libvips; the level number when absent, null when libvips cannot read the level. */
  readonly pages?: readonly (number | { subifd: number })[] | null;
  /** Pixels known from another source: column, row, colour. */
  readonly pixels?: readonly (readonly [x: number, y: number, colour: readonly [number, number, number]])[];
  /** Explained differences from libvips; default 0. */
  readonly most?: number;
}

const halves = (width: number, height: number, count: number): Sizes =>
  Array.from({ length: count }, (_, i) => [Math.floor(width / 2 ** i), Math.floor(height / 2 ** i)] as const);

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
  'rgba8_tiled.tiff': { sizes: halves(64, 64, 5), most: 1 },
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
  // See below: libvips reads half of its greys as black.
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
  // See below: libvips reads their 12 bits as nearly black.
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
  'imagecodecs/rgba.tiled.u1.tif': { sizes: [[111, 83]], most: 1 },
};

const refused: Readonly<Record<string, string>> = {
  'imagecodecs/gray.tiled.f4.tif': 'Not supported: floating point of 32 bits a sample',
  'old-style-jpeg-compression.tif': 'Not supported: old-style JPEG (compression 6)',
};

const pathOf = (name: string) => join(slides, 'generic-tiff', name);
const open = (name: string) => openSlide({ path: pathOf(name) });

/** Reads a page of a TIFF, or a part of it, with libvips, upright and on white. */
async function byLibvips(
  input: string | Uint8Array,
  page: number | { subifd: number },
  part?: { left: number; top: number; width: number; height: number },
): Promise<Raster> {
  const which = typeof page === 'number' ? { page } : page;
  const sharp = await loadPeerSharp();
  const picture = sharp(input, { ...which, limitInputPixels: false, ignoreIcc: true }).autoOrient();
  if (part) picture.extract(part);
  const { data, info } = await picture
    .toColourspace('srgb')
    .flatten({ background: '#fff' })
    .raw()
    .toBuffer({ resolveWithObject: true });
  return { width: info.width, height: info.height, rgb: data };
}

function full(slide: Slide): Promise<Raster> {
  const { width, height, maxLevel } = describeDeepZoom(slide);
  return renderPixels(slide, { dziLevel: maxLevel, x: 0, y: 0, width, height });
}

describe.skipIf(slides === '')(`the real TIFF files${skipped}`, () => {
  it('are all listed in one of the tables', () => {
    const files = readdirSync(join(slides, 'generic-tiff'), { recursive: true, withFileTypes: true });
    const names = files
      .filter((file) => file.isFile())
      .map((file) => relative(pathOf('.'), join(file.parentPath, file.name)));
    expect(names.sort()).toEqual([...Object.keys(supported), ...Object.keys(refused)].sort());
  });

  it.each(Object.entries(supported))('%s has the expected levels', async (name, { sizes }) => {
    const slide = await open(name);
    expect(slide.format).toBe('tiff');
    expect(slide.levels.map(({ width, height }) => [width, height])).toEqual(sizes);
    await slide.close();
  });

  it.each(Object.entries(refused))('%s is rejected with the expected message', async (name, message) => {
    await expect(open(name)).rejects.toMatchObject({ code: 'FORMAT_NOT_SUPPORTED', message });
  });

  it.each(Object.entries(supported).filter(([, { pages }]) => pages !== null))(
    '%s has the pixels that libvips reads',
    async (name, { sizes, pages, most = 0 }) => {
      const slide = await open(name);
      for (const [level, [width, height]] of sizes.entries()) {
        const page = pages?.[level] ?? level;
        if (width * height > 2 ** 24) {
          const { maxLevel } = describeDeepZoom(slide);
          for (const [x, y] of [
            [0, 0],
            [width - 777, height - 777],
            [3333, 2222],
          ] as const) {
            const part = { x, y, width: 777, height: 777 };
            const rendered = await renderPixels(slide, { dziLevel: maxLevel, ...part });
            const libvipsPixels = await byLibvips(pathOf(name), page, {
              left: x,
              top: y,
              width: 777,
              height: 777,
            });
            expect(difference(rendered, libvipsPixels).most, `${x}, ${y}`).toBeLessThanOrEqual(most);
          }
        } else {
          const libvipsPixels = await byLibvips(pathOf(name), page);
          expect(
            difference(await drawLevel(slide, level), libvipsPixels).most,
            `level ${level}`,
          ).toBeLessThanOrEqual(most);
        }
      }
      await slide.close();
    },
  );

  it.each(
    Object.entries(supported).flatMap(([name, { pixels }]) => (pixels ? [[name, pixels] as const] : [])),
  )('%s has the known colours', async (name, pixels) => {
    const slide = await open(name);
    const { maxLevel } = describeDeepZoom(slide);
    for (const [x, y, colour] of pixels) {
      const { rgb } = await renderPixels(slide, { dziLevel: maxLevel, x, y, width: 1, height: 1 });
      expect([...rgb], `${x}, ${y}`).toEqual(colour);
    }
    await slide.close();
  });

  it.each([
    ['imagecodecs/rgb.predict.u1.tif', 0],
    ['imagecodecs/rgb.separate.tiled.u1.tif', 0],
    ['imagecodecs/rgb.tiled.lzw.u1.tif', 0],
    ['imagecodecs/rgb.tiled.packbits.u1.tif', 0],
    ['imagecodecs/rgb.tiled.zstd.u1.tif', 0],
    ['imagecodecs/rgb.tiled.jpeg2000.u1.tif', 0],
    ['imagecodecs/rgb.tiled.jpeg.u1.tif', 4],
    ['imagecodecs/rgb.tiled.webp.u1.tif', 6],
  ])('%s has the pixels of rgb.tiled.u1.tif within the loss of its codec', async (name, mean) => {
    const [slide, plain] = [await open(name), await open('imagecodecs/rgb.tiled.u1.tif')];
    expect(difference(await full(slide), await full(plain)).mean).toBeLessThanOrEqual(mean);
    await Promise.all([slide.close(), plain.close()]);
  });

  it.each(['imagecodecs/gray.bigendian.u2.tif', 'imagecodecs/gray.tiled.u2.tif'])(
    '%s has the pixels of gray.bigtiff.u1.tif, stretched',
    async (name) => {
      const [slide, plain] = [await open(name), await open('imagecodecs/gray.bigtiff.u1.tif')];
      const bytes = await full(plain);
      const [least, most] = [Math.min(...bytes.rgb), Math.max(...bytes.rgb)];
      const rgb = bytes.rgb.map((sample) => Math.round(((sample - least) * 255) / (most - least)));
      expect(difference(await full(slide), { ...bytes, rgb }).mean).toBeLessThanOrEqual(6);
      await Promise.all([slide.close(), plain.close()]);
    },
  );

  it('tiled-oversize-gray-i8.tif has the pixels that libvips reads as unsigned bytes', async () => {
    const slide = await open('tiled-oversize-gray-i8.tif');
    const file = readFileSync(pathOf('tiled-oversize-gray-i8.tif'));
    const sampleFormat = file.indexOf(Buffer.of(0x53, 1, 3, 0, 1, 0, 0, 0, 2, 0));
    expect(sampleFormat).toBeGreaterThan(0);
    file[sampleFormat + 8] = 1;
    expect(difference(await full(slide), await byLibvips(file, 0)).most).toBe(0);
    await slide.close();
  });

  it('boxes.tiff has its colour profile', async () => {
    const slide = await open('boxes.tiff');
    expect(await slide.readIccProfile()).toHaveLength(588);
    await slide.close();
  });
});

describe.skipIf(slides === '')(`the real Aperio slides${skipped}`, () => {
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
    '%s has the levels, pixel size and associated images of its README',
    async (name, sizes, mpp, associated) => {
      const slide = await openSlide({ path: aperio(name) });
      expect(slide).toMatchObject({ format: 'aperio', vendor: 'Aperio', objectivePower: 20 });
      expect(slide.levels.map(({ width, height }) => [width, height])).toEqual(sizes);
      expect(slide.mpp).toEqual({ x: mpp, y: mpp });
      expect([...slide.associatedImages].sort()).toEqual(associated);
      await slide.close();
    },
  );

  it.each(['CMU-1-Small-Region.svs', 'small.svs'])('%s has the pixels that libvips reads', async (name) => {
    const slide = await openSlide({ path: aperio(name) });
    expect(difference(await full(slide), await byLibvips(aperio(name), 0)).most).toBe(0);
    await slide.close();
  });

  it('CMU-1-Small-Region.svs has a readable label in LZW', async () => {
    const slide = await openSlide({ path: aperio('CMU-1-Small-Region.svs') });
    const label = await decodeImage(await slide.readAssociatedImage('label'));
    const libvipsPixels = await byLibvips(aperio('CMU-1-Small-Region.svs'), 2);
    expect(difference(label, libvipsPixels).most).toBe(0);
    await slide.close();
  });

  it('1065626.svs, in undeclared YCbCr JPEG 2000, has the colours of its thumbnail', async () => {
    const slide = await openSlide({ path: aperio('1065626.svs') });
    const stored = await pixelsOf((await slide.readAssociatedImage('thumbnail')).bytes);
    // The stored thumbnail has the colours of the scanner; without a profile the rendered one has them, too.
    const asScanned: Slide = { ...slide, readIccProfile: async () => null };
    const made = await pixelsOf(await renderThumbnail(asScanned, 895));
    const side = { width: 895, height: 767 };
    const [one, other] = [stored, made].map((raster) => cropRaster(raster, 0, 0, side.width, side.height));
    expect(difference(one as Raster, other as Raster).mean).toBeLessThan(2);
    await slide.close();
  });

  it('1065626.svs has its colour profile of 1.7 MB', async () => {
    const slide = await openSlide({ path: aperio('1065626.svs') });
    expect(await slide.readIccProfile()).toHaveLength(1_687_824);
    await slide.close();
  });
});
