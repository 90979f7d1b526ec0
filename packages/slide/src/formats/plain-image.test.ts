import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { decodeImage } from '../decode/decode-image.ts';
import type { Raster } from '../decode/raster.ts';
import { describeDeepZoom, readNativeDziTile } from '../deep-zoom/deep-zoom.ts';
import { readJpegHeader } from '../jpeg/header.ts';
import type { Slide } from '../model/slide.ts';
import { openSlide } from '../open-slide.ts';
import { renderThumbnail } from '../render/render-thumbnail.ts';
import { renderTile } from '../render/render-tile.ts';
import { buildPng, type PngPlan, pngDensity } from '../testing/build-png.ts';
import { boxFilter, difference, pixelsOf } from '../testing/compare-pixels.ts';
import { encodeJpeg2000 } from '../testing/encode-frames.ts';
import { openBytes } from '../testing/open-bytes.ts';
import { paintTissue } from '../testing/paint-tissue.ts';

vi.setConfig({ testTimeout: 60_000 });

const picture = paintTissue(300, 200);
/** Returns a sharp pipeline that encodes an image. */
const encoder = ({ width, height, rgb }: Raster) => sharp(rgb, { raw: { width, height, channels: 3 } });

let jpeg: Buffer;
beforeAll(async () => {
  jpeg = await encoder(picture).jpeg({ quality: 90 }).toBuffer();
});

/** Reads and decodes the only tile of a slide. */
async function readPixels(slide: Slide): Promise<Raster> {
  const tile = await slide.readTile({ level: 0, column: 0, row: 0 });
  if (!tile) throw new Error('There is no tile');
  return decodeImage(tile);
}

describe('a JPEG file', () => {
  it('is a slide with one level of one tile', async () => {
    const slide = await openBytes(jpeg);
    expect(slide).toMatchObject({
      format: 'jpeg',
      vendor: null,
      mpp: null,
      objectivePower: null,
      levels: [
        { width: 300, height: 200, tileWidth: 300, tileHeight: 200, columns: 1, rows: 1, downsample: 1 },
      ],
    });
    expect(await slide.readIccProfile()).toBeNull();
    expect(describeDeepZoom(slide)).toMatchObject({ tileSize: 256, maxLevel: 9 });
    expect(difference(await readPixels(slide), await pixelsOf(jpeg)).max).toBe(0);
  });

  it.each<[string, () => Promise<Buffer>]>([
    ['that is progressive', () => encoder(picture).jpeg({ progressive: true }).toBuffer()],
    ['in grey', () => encoder(picture).toColourspace('b-w').jpeg().toBuffer()],
    ['in CMYK', () => encoder(picture).toColourspace('cmyk').jpeg().toBuffer()],
    ['without chroma subsampling', () => encoder(picture).jpeg({ chromaSubsampling: '4:4:4' }).toBuffer()],
    ['with a colour profile', () => encoder(picture).jpeg().withIccProfile('p3').toBuffer()],
  ])('%s has the same pixels as libvips reads', async (_, encode) => {
    const bytes = await encode();
    expect(difference(await readPixels(await openBytes(bytes)), await pixelsOf(bytes)).max).toBe(0);
  });

  it.each([1, 2, 3, 4, 5, 6, 7, 8])(
    'is displayed upright if its EXIF orientation is %i',
    async (orientation) => {
      const bytes = await encoder(picture).jpeg().withMetadata({ orientation }).toBuffer();
      const slide = await openBytes(bytes);
      const upright = await pixelsOf(await sharp(bytes).autoOrient().png().toBuffer());
      expect(slide.levels[0]).toMatchObject({ width: upright.width, height: upright.height });
      expect(difference(await readPixels(slide), upright).max).toBe(0);
    },
  );

  it('has a tile rendered at half size whose pixels differ from box-filtered pixels by less than 2 of 255 on average', async () => {
    const slide = await openBytes(jpeg);
    const tile = await pixelsOf(await renderTile(slide, { dziLevel: 8, column: 0, row: 0 }));
    const expected = boxFilter(await pixelsOf(jpeg), 2, { x: 0, y: 0, width: 150, height: 100 });
    expect(difference(tile, expected).mean).toBeLessThan(2);
  });

  it('of 256 × 256 pixels, the size of a rendered tile, is encoded again, so that its EXIF text is not sent', async () => {
    const square = paintTissue(256, 256);
    const bytes = await encoder(square)
      .withExif({ IFD0: { Artist: 'PATIENT 4711' } })
      .jpeg()
      .toBuffer();
    expect(bytes.includes('PATIENT 4711')).toBe(true);
    const slide = await openBytes(bytes);
    expect(await readNativeDziTile(slide, { dziLevel: 8, column: 0, row: 0 })).toBeNull();
    expect(Buffer.from(await renderTile(slide, { dziLevel: 8, column: 0, row: 0 })).includes('PATIENT')).toBe(
      false,
    );
  });

  it.each<[string, (bytes: Buffer) => Promise<Buffer> | Buffer, Slide['mpp']]>([
    [
      'JFIF of 40,000 and 20,000 pixels per centimetre',
      (bytes) => withJfif(bytes, 2, 40_000, 20_000),
      { x: 0.25, y: 0.5 },
    ],
    ['JFIF of 50,800 pixels per inch', (bytes) => withJfif(bytes, 1, 50_800, 50_800), { x: 0.5, y: 0.5 }],
    ['JFIF without a unit', (bytes) => withJfif(bytes, 0, 40_000, 40_000), null],
    ['JFIF of 300 pixels per inch, as cameras write', (bytes) => withJfif(bytes, 1, 300, 300), null],
    ['JFIF of 0 pixels per centimetre', (bytes) => withJfif(bytes, 2, 0, 0), null],
    [
      'EXIF of 50,800 pixels per inch',
      (bytes) => sharp(bytes).withMetadata({ density: 50_800 }).toBuffer(),
      { x: 0.5, y: 0.5 },
    ],
    ['EXIF of 72 pixels per inch', (bytes) => sharp(bytes).withMetadata({ density: 72 }).toBuffer(), null],
  ])('has the pixel size $2 for a density in %s', async (_, change, mpp) => {
    const slide = await openBytes(await change(jpeg));
    expect(slide.mpp && { x: round(slide.mpp.x), y: round(slide.mpp.y) }).toEqual(mpp);
  });

  it('has the same pixels as without EXIF data if its EXIF data are damaged', async () => {
    const damaged = Buffer.from('\xff\xe1\0\x12Exif\0\0II*\0\xff\xff\xff\xff\0\0', 'latin1');
    const slide = await openBytes(Buffer.concat([jpeg.subarray(0, 2), damaged, jpeg.subarray(2)]));
    expect(difference(await readPixels(slide), await pixelsOf(jpeg)).max).toBe(0);
  });
});

describe('a PNG file', () => {
  it.each<[string, PngPlan, (x: number, y: number) => [number, number, number]]>([
    ['RGB', {}, (x, y) => rgbOf((i) => (x * 5 + y * 3 + i * 40) % 256)],
    ['grey', { colourType: 0 }, (x, y) => grey((x * 5 + y * 3) % 256)],
    ['grey of 1 bit', { colourType: 0, bits: 1 }, (x, y) => grey(((x * 5 + y * 3) % 2) * 255)],
    ['grey of 2 bits', { colourType: 0, bits: 2 }, (x, y) => grey(((x * 5 + y * 3) % 4) * 85)],
    ['grey of 4 bits', { colourType: 0, bits: 4 }, (x, y) => grey(((x * 5 + y * 3) % 16) * 17)],
    [
      'grey of 16 bits',
      { colourType: 0, bits: 16, sample: (x, y) => x * 1000 + y },
      (x, y) => grey((x * 1000 + y) / 257),
    ],
    [
      'RGB of 16 bits',
      { bits: 16, sample: (x, y, i) => x * 1000 + y * 7 + i * 8000 },
      (x, y) => rgbOf((i) => (x * 1000 + y * 7 + i * 8000) / 257),
    ],
    [
      'a palette',
      {
        colourType: 3,
        bits: 2,
        before: [{ type: 'PLTE', data: Uint8Array.of(255, 0, 0, 0, 255, 0, 0, 0, 255, 9, 9, 9) }],
      },
      (x, y) =>
        [
          [255, 0, 0],
          [0, 255, 0],
          [0, 0, 255],
          [9, 9, 9],
        ][(x * 5 + y * 3) % 4] as [number, number, number],
    ],
    [
      'RGB and alpha (drawn on white)',
      { colourType: 6, sample: (x, _, i) => (i === 3 ? x * 6 : 100 + i * 50) },
      (x) => rgbOf((i) => 255 - ((155 - i * 50) * x * 6) / 255),
    ],
    [
      'grey and alpha (drawn on white)',
      { colourType: 4, sample: (x, _, i) => (i === 1 ? x * 6 : 0) },
      (x) => grey(255 - x * 6),
    ],
    [
      'RGB and alpha of 16 bits (drawn on white)',
      { colourType: 6, bits: 16, sample: (x, _, i) => (i === 3 ? x * 6 : i * 100) * 257 },
      (x) => rgbOf((i) => 255 - ((255 - i * 100) * x * 6) / 255),
    ],
    [
      'one transparent grey value (drawn on white)',
      { colourType: 0, bits: 8, sample: (x) => x, before: [{ type: 'tRNS', data: Uint8Array.of(0, 7) }] },
      (x) => grey(x === 7 ? 255 : x),
    ],
  ])('has the original colours if it contains %s', async (_, plan, colour) => {
    const slide = await openBytes(buildPng(plan));
    expect(slide).toMatchObject({ format: 'png', levels: [{ width: 40, height: 30 }] });
    const { rgb } = await readPixels(slide);
    const expected = Uint8Array.from({ length: rgb.length }, (_, i) => {
      const pixel = Math.floor(i / 3);
      return Math.round(colour(pixel % 40, Math.floor(pixel / 40))[i % 3] ?? 0);
    });
    expect(
      difference({ width: 40, height: 30, rgb }, { width: 40, height: 30, rgb: expected }).max,
    ).toBeLessThanOrEqual(1);
  });

  it('has the original pixels if it is interlaced', async () => {
    const slide = await openBytes(await encoder(picture).png({ progressive: true }).toBuffer());
    expect(difference(await readPixels(slide), picture).max).toBe(0);
  });

  it.each<[string, number, number, number, Slide['mpp']]>([
    ['4,000,000 and 2,000,000 pixels per metre', 4_000_000, 2_000_000, 1, { x: 0.25, y: 0.5 }],
    ['72 pixels per inch', 2835, 2835, 1, null],
    ['4,000,000 pixels per unknown unit', 4_000_000, 4_000_000, 0, null],
    ['0 pixels per metre', 0, 0, 1, null],
  ])('has the pixel size $4 for a density of %s', async (_, x, y, unit, mpp) => {
    expect((await openBytes(buildPng({ before: [pngDensity(x, y, unit)] }))).mpp).toEqual(mpp);
  });
});

describe('a JPEG 2000 file', () => {
  it.each<[string, (stream: Uint8Array) => Uint8Array]>([
    ['only a code stream', (stream) => stream],
    ['a code stream in boxes (.jp2)', inBoxes],
    ['a code stream in boxes, after a box of 200,000 bytes', (stream) => inBoxes(stream, 200_000)],
  ])('has the original pixels if it consists of %s', async (_, wrap) => {
    const stream = await encodeJpeg2000({ ...picture, samplesPerPixel: 3, values: picture.rgb });
    const slide = await openBytes(wrap(stream));
    expect(slide).toMatchObject({ format: 'jpeg2000', levels: [{ width: 300, height: 200, columns: 1 }] });
    expect(difference(await readPixels(slide), picture).max).toBe(0);
  });
});

describe('an image of more than 2^24 pixels', () => {
  const size = { width: 5000, height: 3500 };
  let large: Buffer;
  beforeAll(async () => {
    const { width, height } = size;
    const rgb = new Uint8Array(width * height * 3);
    // Samples are set one by one, because rgb.set would take seconds for 17.5 million pixels.
    for (let y = 0, i = 0; y < height; y++) {
      for (let x = 0; x < width; x++) {
        rgb[i++] = x >> 5;
        rgb[i++] = y >> 4;
        rgb[i++] = (x + y) >> 6;
      }
    }
    large = await encoder({ ...size, rgb })
      .png({ compressionLevel: 1 })
      .toBuffer();
  });
  const colourAt = (x: number, y: number) => [x >> 5, y >> 4, (x + y) >> 6];

  it('is read from a temporary tiled copy, with the levels of the copy and the original pixels', async () => {
    const slide = await openBytes(large);
    expect(slide.levels).toMatchObject([
      { ...size, tileWidth: 512, tileHeight: 512, columns: 10, rows: 7, needsRendering: true },
      { width: 2500, height: 1750 },
      { width: 1250, height: 875 },
      { width: 625, height: 437 },
      { width: 312, height: 218 },
    ]);
    expect(describeDeepZoom(slide).tileSize).toBe(512);
    const tile = await slide.readTile({ level: 0, column: 3, row: 2 });
    const { rgb } = await decodeImage(tile as NonNullable<typeof tile>);
    expect([...rgb.subarray(0, 3)]).toEqual(colourAt(1536, 1024));
    const last = await slide.readTile({ level: 4, column: 0, row: 0 });
    expect((await decodeImage(last as NonNullable<typeof last>)).rgb[0]).toBeLessThanOrEqual(1);
    expect(await pixelsOf(await renderThumbnail(slide, 100))).toMatchObject({ width: 100, height: 70 });
    for (const address of [
      { level: 0, column: 10, row: 0 },
      { level: 5, column: 0, row: 0 },
    ]) {
      await expect(slide.readTile(address)).rejects.toMatchObject({ code: 'TILE_OUT_OF_RANGE' });
    }
    await slide.close();
  });

  it('is displayed upright if its EXIF orientation is 6', async () => {
    const rotated = await sharp(large).jpeg({ quality: 95 }).withMetadata({ orientation: 6 }).toBuffer();
    const slide = await openBytes(rotated);
    expect(slide.levels[0]).toMatchObject({ width: 3500, height: 5000, columns: 7, rows: 10 });
    const tile = await slide.readTile({ level: 0, column: 6, row: 0 });
    const { width, rgb } = await decodeImage(tile as NonNullable<typeof tile>);
    // The displayed top right corner, column 3499, is the stored top left corner, which is almost black.
    const corner = (3500 - 1 - 6 * 512) * 3;
    expect(width).toBeGreaterThanOrEqual(3500 - 6 * 512);
    expect(Math.max(...rgb.subarray(corner, corner + 3))).toBeLessThan(8);
    await slide.close();
  });

  describe('with an empty folder for temporary files', () => {
    let folder: string;
    beforeEach(async () => {
      folder = await mkdtemp(join(tmpdir(), 'plain-image-'));
      vi.stubEnv('TMPDIR', folder);
    });
    afterEach(async () => {
      vi.unstubAllEnvs();
      await rm(folder, { recursive: true });
    });

    it('leaves no temporary file after it was closed', async () => {
      const path = join(folder, 'large.png');
      await writeFile(path, large);
      const slide = await openSlide({ path });
      expect(await slide.readTile({ level: 0, column: 0, row: 0 })).not.toBeNull();
      await slide.close();
      expect(await readdir(folder)).toEqual(['large.png']);
    });

    it('throws FILE_CORRUPT and leaves no temporary file if it cannot be decoded', async () => {
      const slide = await openBytes(Buffer.concat([large.subarray(0, -5000), Buffer.alloc(5000)]));
      const reading = slide.readTile({ level: 0, column: 0, row: 0 });
      await expect(reading).rejects.toMatchObject({ code: 'FILE_CORRUPT' });
      await slide.close();
      expect(await readdir(folder)).toEqual([]);
    });
  });
});

describe.skipIf(!process.env.TEST_SLIDES)(
  'a real image file (needs TEST_SLIDES, a folder of real slides)',
  () => {
    const path = (name: string) => join(process.env.TEST_SLIDES ?? '', 'plain-images', name);

    it.each([
      ['diagnostic-slide-thumb-rgb.png', 468, 525],
      ['frame_2048x512.jpg', 2048, 512],
      ['high-nuclei-score-level0.png', 956, 779],
      ['tcga-green-pen.png', 754, 631],
      ['test-image.jpeg', 896, 862],
      ['test-image.png', 896, 862],
    ])('(%s) has the same pixels as libvips reads from it', async (name, width, height) => {
      const slide = await openSlide({ path: path(name) });
      expect(slide.levels).toMatchObject([{ width, height }]);
      const onWhite = await sharp(path(name)).flatten({ background: '#fff' }).png().toBuffer();
      expect(difference(await readPixels(slide), await pixelsOf(onWhite)).max).toBeLessThanOrEqual(1);
      await slide.close();
    });

    it('(cells-1.jp2) is read as JPEG 2000, with one level and one tile of 185 × 261 pixels', async () => {
      const slide = await openSlide({ path: path('cells-1.jp2') });
      expect(slide).toMatchObject({ format: 'jpeg2000', levels: [{ width: 185, height: 261 }] });
      expect(await readPixels(slide)).toMatchObject({ width: 185, height: 261 });
      await slide.close();
    });

    it('(Tumor.png) of 1.1 gigapixels is rejected with LIMIT_EXCEEDED and the advice to save it as a pyramidal TIFF', async () => {
      await expect(openSlide({ path: path('Tumor.png') })).rejects.toMatchObject({
        code: 'LIMIT_EXCEEDED',
        message: expect.stringContaining('pyramidal TIFF'),
      });
    });
  },
);

describe('openSlideFrom (opens a slide from its files)', () => {
  /** Changes bytes of the JPEG frame header, counted from its marker. */
  const frame = (offset: number, ...numbers: number[]) => {
    const bytes = Buffer.from(jpeg);
    bytes.set(numbers, readJpegHeader(bytes).frameAt + offset);
    return bytes;
  };

  it.each<[string, () => Promise<Uint8Array> | Uint8Array, string, RegExp?]>([
    ['an arithmetic-coded JPEG', () => frame(1, 0xc9), 'FORMAT_NOT_SUPPORTED'],
    ['a lossless JPEG', () => frame(1, 0xc3), 'FORMAT_NOT_SUPPORTED'],
    ['a JPEG of 12 bits per sample', () => frame(4, 12), 'FORMAT_NOT_SUPPORTED'],
    ['a JPEG of two components', () => frame(9, 2), 'FORMAT_NOT_SUPPORTED'],
    [
      'a JPEG of height 0, whose real height would follow in a DNL marker',
      () => frame(5, 0, 0),
      'FILE_CORRUPT',
    ],
    [
      'a JPEG of 65,535 × 65,535 pixels (limit 200,000,000 pixels)',
      () => frame(5, 255, 255, 255, 255),
      'LIMIT_EXCEEDED',
      /at most 200000000 pixels/,
    ],
    [
      'a progressive JPEG of 14,000 × 14,000 pixels, which needs more than 192 MiB to decode',
      () => {
        const bytes = frame(5, 54, 176, 54, 176);
        bytes[readJpegHeader(bytes).frameAt + 1] = 0xc2;
        return bytes;
      },
      'LIMIT_EXCEEDED',
      /progressive/,
    ],
    [
      'an animated PNG',
      () => buildPng({ before: [{ type: 'acTL', data: new Uint8Array(8) }] }),
      'FORMAT_NOT_SUPPORTED',
      /animated/,
    ],
    [
      'a PNG of 67,727 × 16,588 pixels (limit 200,000,000 pixels)',
      () => pngOfSize(67_727, 16_588),
      'LIMIT_EXCEEDED',
      /pyramidal TIFF/,
    ],
    ['a PNG of width 2^31 − 1 (limit 1,000,000)', () => pngOfSize(2 ** 31 - 1, 1), 'LIMIT_EXCEEDED'],
    ['a PNG of width 100,000,000 (limit 1,000,000)', () => pngOfSize(100_000_000, 2), 'LIMIT_EXCEEDED'],
    [
      'an interlaced PNG of 14,000 × 14,000 pixels, which needs more than 192 MiB to decode',
      () => pngOfSize(14_000, 14_000, 1),
      'LIMIT_EXCEEDED',
      /interlaced/,
    ],
    [
      'a JPEG 2000 of 10,000 × 10,000 pixels (limit 2^23 pixels)',
      () => jpeg2000OfSize(10_000, 10_000),
      'LIMIT_EXCEEDED',
      /at most 8388608 pixels/,
    ],
    ['a GIF file', () => encoder(picture).gif().toBuffer(), 'FORMAT_NOT_RECOGNISED'],
    ['a WebP file', () => encoder(picture).webp().toBuffer(), 'FORMAT_NOT_RECOGNISED'],
    ['an SVG file', () => Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'), 'FORMAT_NOT_RECOGNISED'],
    [
      'a JPEG preceded by other bytes',
      () => Buffer.concat([Buffer.from('GIF89a'), jpeg]),
      'FORMAT_NOT_RECOGNISED',
    ],
    ['an empty file', () => new Uint8Array(), 'FORMAT_NOT_RECOGNISED'],
    [
      'a Git LFS pointer file',
      () => Buffer.from('version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 4\n'),
      'FORMAT_NOT_RECOGNISED',
      /pointer/,
    ],
  ])('throws $2 for %s', async (_, build, code, message = /./) => {
    const opening = openBytes(await build());
    await expect(opening).rejects.toMatchObject({
      name: 'SlideError',
      code,
      message: expect.stringMatching(message),
    });
  });
});

/** Builds a PNG whose header states this size, although its image data are smaller. */
function pngOfSize(width: number, height: number, interlace = 0): Buffer {
  const png = buildPng();
  png.writeUInt32BE(width, 16);
  png.writeUInt32BE(height, 20);
  png[28] = interlace;
  return png;
}

/** Builds a JPEG 2000 whose header states this size, although its image data are smaller. */
async function jpeg2000OfSize(width: number, height: number): Promise<Uint8Array> {
  const stream = Buffer.from(await encodeJpeg2000({ ...picture, samplesPerPixel: 3, values: picture.rgb }));
  stream.writeUInt32BE(width, 8);
  stream.writeUInt32BE(height, 12);
  stream.writeUInt32BE(width, 24);
  stream.writeUInt32BE(height, 28);
  return stream;
}

/** Sets the density in the JFIF marker of a JPEG. Source: JFIF 1.02. */
function withJfif(bytes: Buffer, unit: number, x: number, y: number): Buffer {
  const jfif = Buffer.from('\xff\xe0\0\x10JFIF\0\x01\x02\0\0\0\0\0\0\0', 'latin1');
  jfif[11] = unit;
  jfif.writeUInt16BE(x, 12);
  jfif.writeUInt16BE(y, 14);
  return Buffer.concat([bytes.subarray(0, 2), jfif, bytes.subarray(2)]);
}

/** Wraps a code stream into a .jp2 file. Source: ITU-T T.800, annex I. */
function inBoxes(stream: Uint8Array, commentBytes = 0): Uint8Array {
  const box = (type: string, ...contents: Uint8Array[]) => {
    const body = Buffer.concat(contents);
    const head = Buffer.alloc(8);
    head.writeUInt32BE(8 + body.length);
    head.write(type, 4, 'latin1');
    return Buffer.concat([head, body]);
  };
  // Height 200, width 300, 3 components of 8 bits in the standard compression.
  const size = Buffer.from([0, 0, 0, 200, 0, 0, 1, 44, 0, 3, 7, 7, 0, 0]);
  const sRgb = Buffer.from([1, 0, 0, 0, 0, 0, 16]);
  return Buffer.concat([
    box('jP  ', Buffer.from([0x0d, 0x0a, 0x87, 0x0a])),
    box('ftyp', Buffer.from('jp2 \0\0\0\0jp2 ', 'latin1')),
    box('xml ', Buffer.alloc(commentBytes, ' ')),
    box('jp2h', box('ihdr', size), box('colr', sRgb)),
    box('jp2c', stream),
  ]);
}

function grey(value: number): [number, number, number] {
  return [value, value, value];
}

/** Returns the colour whose sample `index` (0 red, 1 green, 2 blue) is `sample(index)`. */
function rgbOf(sample: (index: number) => number): [number, number, number] {
  return [sample(0), sample(1), sample(2)];
}

/** Rounds to three decimals. */
const round = (value: number) => Math.round(value * 1000) / 1000;
