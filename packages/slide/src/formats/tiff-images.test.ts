/** Tests every supported TIFF encoding: an image is built in the encoding, read, and compared with the original pixels. */
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { decodeImage } from '../decode/decode-image.ts';
import { orientRaster } from '../decode/orient-raster.ts';
import type { Raster } from '../decode/raster.ts';
import { describeDeepZoom } from '../deep-zoom/deep-zoom.ts';
import type { Orientation, Packing } from '../model/slide.ts';
import { renderPixels } from '../render/render-pixels.ts';
import { buildTiff, type DirectoryPlan, long, short } from '../testing/build-tiff.ts';
import { encodeJpeg2000 } from '../testing/encode-frames.ts';
import { encodePicture } from '../testing/encode-picture.ts';
import { encodeSamples, type SamplesPlan } from '../testing/encode-samples.ts';
import { openBytes } from '../testing/open-bytes.ts';
import { paintPlain, paintTissue } from '../testing/paint-tissue.ts';
import {
  expectedGrey,
  greyPicture,
  greyPlan,
  HEIGHT,
  imageSize,
  openTiffOf,
  pictureOf,
  renderFull,
  rgbPlan,
  tissue,
  tissueSample,
  tissueSamples,
  WIDTH,
} from '../testing/tissue-tiff.ts';
import { tag } from '../tiff/tags.ts';

/** Ways to divide an image into tiles or strips, with their names in tests. */
const cuts: readonly [string, Pick<SamplesPlan, 'tile' | 'rowsPerStrip'>][] = [
  ['tiles', { tile: { width: 32, height: 16 } }],
  ['one tile larger than the image', { tile: { width: 128, height: 112 } }],
  ['strips of one row', { rowsPerStrip: 1 }],
  ['strips of 7 rows', { rowsPerStrip: 7 }],
  ['one strip', {}],
  ['one strip declared with 2^32 − 1 rows', { rowsPerStrip: 2 ** 32 - 1 }],
];
/** Lossless compressions; `old-lzw` is the LZW of early TIFF writers, with another bit order. */
const packings: readonly (Packing | 'old-lzw')[] = ['none', 'lzw', 'old-lzw', 'packbits', 'deflate', 'zstd'];

describe.each(cuts)('a TIFF image in %s', (_, cut) => {
  it.each(packings)(
    'with compression "%s" has the original pixels in interleaved RGB, in planar RGB and in grey of 8 and 1 bits',
    async (packing) => {
      for (const isPlanar of [false, true]) {
        expect(
          await renderFull(await openTiffOf(encodeSamples({ ...rgbPlan, ...cut, packing, isPlanar }))),
        ).toEqual(tissue);
      }
      const grey = await renderFull(await openTiffOf(encodeSamples({ ...greyPlan(8), ...cut, packing })));
      expect(grey).toEqual(greyPicture(expectedGrey(8)));
      const blackAndWhite = await renderFull(
        await openTiffOf(encodeSamples({ ...greyPlan(1), ...cut, packing })),
      );
      expect(blackAndWhite).toEqual(greyPicture(expectedGrey(1)));
    },
  );

  it.each(['lzw', 'deflate', 'zstd'] as const)(
    'with compression "%s" and predictor 2 has the original pixels in interleaved RGB, in planar RGB and in 16-bit grey',
    async (packing) => {
      const plan = { ...cut, packing, isDifferenced: true };
      for (const isPlanar of [false, true]) {
        expect(await renderFull(await openTiffOf(encodeSamples({ ...rgbPlan, ...plan, isPlanar })))).toEqual(
          tissue,
        );
      }
      for (const isLittleEndian of [true, false]) {
        const directory = encodeSamples({ ...greyPlan(16), ...plan, isLittleEndian });
        expect(await renderFull(await openTiffOf(directory, isLittleEndian))).toEqual(
          greyPicture(expectedGrey(16)),
        );
      }
    },
  );

  it('in grey of 1, 2, 4, 8 and 16 bits has the original pixels as classic TIFF and as BigTIFF, in either byte order', async () => {
    for (const [isLittleEndian, isBig] of [
      [true, false],
      [false, false],
      [true, true],
      [false, true],
    ] as const) {
      for (const bits of [1, 2, 4, 8, 16] as const) {
        const directory = encodeSamples({ ...greyPlan(bits), ...cut, isLittleEndian });
        expect(await renderFull(await openTiffOf(directory, isLittleEndian, isBig)), `${bits} bits`).toEqual(
          greyPicture(expectedGrey(bits)),
        );
      }
    }
  });
});

describe('a TIFF image', () => {
  it.each([1, 2, 4, 8, 16] as const)('in WhiteIsZero grey of %d bits shows 0 as white', async (bits) => {
    const slide = await openTiffOf(encodeSamples({ ...greyPlan(bits), photometric: 0 }));
    expect(await renderFull(slide)).toEqual(greyPicture((pixel) => 255 - expectedGrey(bits)(pixel)));
  });

  it('in RGB of 16 bits is shown with the high byte of each sample', async () => {
    const samples = Array.from(tissueSamples, (value, i) => value * 256 + (i % 256));
    for (const isPlanar of [false, true]) {
      const directory = encodeSamples({ ...rgbPlan, samples, bits: 16, isPlanar });
      expect(await renderFull(await openTiffOf(directory))).toEqual(tissue);
    }
  });

  it.each([1, 2, 4, 8] as const)(
    'with a palette and %d bits per pixel has the colours of the palette',
    async (bits) => {
      const entries = 2 ** bits;
      const paletteOf = (sample: number) =>
        Array.from({ length: entries }, (_, i) => (i * 61 + sample * 80) % 256);
      const palette = [paletteOf(0), paletteOf(1), paletteOf(2)];
      const expectedPixels = pictureOf((pixel) => {
        const index = (pixel * 7919) % entries; // the samples of greyPlan
        return [palette[0]?.[index] ?? 0, palette[1]?.[index] ?? 0, palette[2]?.[index] ?? 0];
      });
      // TIFF requires 16-bit entries (factor 257); some writers store 8-bit ones (factor 1).
      for (const factor of [257, 1]) {
        const colorMap = short(...palette.flat().map((value) => value * factor));
        const plan = { ...greyPlan(bits), photometric: 3, tags: { [tag.ColorMap]: colorMap } };
        expect(await renderFull(await openTiffOf(encodeSamples(plan)))).toEqual(expectedPixels);
      }
    },
  );

  it('in CMYK is converted to RGB', async () => {
    const samples = Array.from({ length: WIDTH * HEIGHT * 4 }, (_, i) => (i * 37) % 256);
    const expectedPixels = pictureOf((pixel) => {
      const [c, m, y, k] = samples.slice(pixel * 4, pixel * 4 + 4) as [number, number, number, number];
      return [c, m, y].map((ink) => Math.floor(((255 - k) * (255 - ink)) / 255)) as [number, number, number];
    });
    const slide = await openTiffOf(
      encodeSamples({ ...imageSize, samples, samplesPerPixel: 4, photometric: 5 }),
    );
    expect(await renderFull(slide)).toEqual(expectedPixels);
  });

  it('in YCbCr without chroma subsampling is converted to RGB', async () => {
    // YCbCr 76, 85, 255 is RGB 254, 0, 0.
    const samples = Array.from({ length: WIDTH * HEIGHT }, () => [76, 85, 255]).flat();
    const tags = {
      [tag.YCbCrSubSampling]: short(1, 1),
      [tag.ReferenceBlackWhite]: { type: 5, numbers: [0, 1, 255, 1, 128, 1, 255, 1, 128, 1, 255, 1] },
    };
    const slide = await openTiffOf(
      encodeSamples({ ...imageSize, samples, samplesPerPixel: 3, photometric: 6, tags }),
    );
    expect(await renderFull(slide)).toEqual(pictureOf(() => [254, 0, 0]));
  });

  it.each<[string, number, (colour: number, alpha: number) => number]>([
    ['alpha is drawn on white', 2, (colour, alpha) => (colour * alpha + 255 * (255 - alpha)) / 255],
    [
      'associated (premultiplied) alpha is drawn on white',
      1,
      (colour, alpha) => Math.min(255, colour + 255 - alpha),
    ],
    ['an unspecified extra sample is drawn without this sample', 0, (colour) => colour],
  ])('in RGB with %s', async (_, extraSampleType, expectedSample) => {
    const alphaOf = (pixel: number) => (pixel * 13) % 256;
    const samples = Array.from({ length: WIDTH * HEIGHT * 4 }, (_, i) => {
      const pixel = Math.floor(i / 4);
      return i % 4 === 3 ? alphaOf(pixel) : tissueSample(pixel, i % 4);
    });
    const tags = { [tag.ExtraSamples]: short(extraSampleType) };
    const expectedPixels = pictureOf((pixel) => {
      const alpha = alphaOf(pixel);
      const expected = (sample: number) => Math.round(expectedSample(tissueSample(pixel, sample), alpha));
      return [expected(0), expected(1), expected(2)];
    });
    for (const isPlanar of [false, true]) {
      const plan = { ...imageSize, samples, samplesPerPixel: 4, photometric: 2, tags, isPlanar };
      expect(await renderFull(await openTiffOf(encodeSamples(plan)))).toEqual(expectedPixels);
    }
  });

  it('in grey with alpha is drawn on white', async () => {
    const samples = Array.from({ length: WIDTH * HEIGHT * 2 }, (_, i) => (i % 2 === 0 ? 100 : 51));
    const tags = { [tag.ExtraSamples]: short(2) };
    const slide = await openTiffOf(
      encodeSamples({ ...imageSize, samples, samplesPerPixel: 2, photometric: 1, tags }),
    );
    // 51 of 255 is an alpha of 1/5.
    expect(await renderFull(slide)).toEqual(greyPicture(() => 100 / 5 + 255 * (4 / 5)));
  });

  it('of signed 8-bit samples is read as if the samples were unsigned, as libtiff does', async () => {
    const tags = { [tag.SampleFormat]: short(2) };
    expect(await renderFull(await openTiffOf(encodeSamples({ ...greyPlan(8), tags })))).toEqual(
      greyPicture(expectedGrey(8)),
    );
  });

  it.each<Packing>(['none', 'lzw', 'packbits'])(
    'with FillOrder 2 (reversed bits) and compression "%s" has the original pixels',
    async (packing) => {
      const plan = { ...greyPlan(1), packing, isBitReversed: true };
      expect(await renderFull(await openTiffOf(encodeSamples(plan)))).toEqual(greyPicture(expectedGrey(1)));
    },
  );

  it('that is uncompressed but declares predictor 2 is read without the predictor, as libtiff does', async () => {
    const tags = { [tag.Predictor]: short(2) };
    expect(await renderFull(await openTiffOf(encodeSamples({ ...rgbPlan, packing: 'none', tags })))).toEqual(
      tissue,
    );
  });

  it('whose last strip extends below the image has the original pixels, without the extra rows', async () => {
    const padded = encodeSamples({ ...rgbPlan, height: 80, rowsPerStrip: 20 });
    const slide = await openTiffOf({ ...padded, tags: { ...padded.tags, [tag.ImageLength]: long(HEIGHT) } });
    expect(await renderFull(slide)).toEqual(tissue);
  });

  it('that is uncompressed has the original pixels if its StripByteCounts are 0', async () => {
    const { strips, tags } = encodeSamples({ ...rgbPlan, packing: 'none', rowsPerStrip: 40 });
    const zeroByteCounts = { [tag.StripByteCounts]: long(0, 0) };
    const slide = await openTiffOf({ strips: strips ?? [], tags: { ...tags, ...zeroByteCounts } });
    expect(await renderFull(slide)).toEqual(tissue);
  });

  it('in one large uncompressed strip is divided into tiles of 2048 × 256 pixels', async () => {
    const wide: SamplesPlan = {
      width: 5000,
      height: 300,
      samples: Array.from({ length: 5000 * 300 }, (_, i) => i % 251),
      samplesPerPixel: 1,
      photometric: 1,
      packing: 'none',
    };
    const slide = await openTiffOf(encodeSamples(wide));
    expect(slide.levels[0]).toMatchObject({ tileWidth: 2048, tileHeight: 256, columns: 3, rows: 2 });
    const tile = await slide.readTile({ level: 0, column: 1, row: 1 });
    expect(tile?.bytes).toHaveLength(2048 * (300 - 256)); // the second row of tiles has 44 lines
    const expectedPixels = await renderFull(slide);
    expect(expectedPixels.rgb.filter((_, i) => i % 3 === 0)).toEqual(Uint8Array.from(wide.samples));
  });
});

describe('a TIFF image stored rotated or mirrored', () => {
  const orientations = [2, 3, 4, 5, 6, 7, 8] as const;
  /** For each value of Orientation, the one that undoes it. */
  const inverse: Readonly<Record<Orientation, Orientation>> = {
    1: 1,
    2: 2,
    3: 3,
    4: 4,
    5: 5,
    6: 8,
    7: 7,
    8: 6,
  };

  it.each(orientations)('is displayed upright if its Orientation is %d', async (orientation) => {
    const stored = orientRaster(tissue, inverse[orientation]);
    for (const [name, cut] of cuts) {
      const plan: SamplesPlan = {
        ...rgbPlan,
        ...cut,
        width: stored.width,
        height: stored.height,
        samples: stored.rgb,
        tags: { [tag.Orientation]: short(orientation) },
      };
      const slide = await openTiffOf(encodeSamples(plan));
      expect(slide.levels[0]).toMatchObject(imageSize);
      expect(await renderFull(slide), name).toEqual(tissue);
    }
  });

  it.each(orientations)(
    'in JPEG tiles is displayed upright if its Orientation is %d',
    async (orientation) => {
      const uprightSlide = await openTiffOf(await encodePicture(tissue, 16, 'rgb'));
      const stored = orientRaster(await renderFull(uprightSlide), inverse[orientation]);
      const directory = await encodePicture(stored, 48, 'rgb');
      const storedPixels = await renderFull(await openTiffOf(directory));
      const slide = await openTiffOf({
        ...directory,
        tags: { ...directory.tags, [tag.Orientation]: short(orientation) },
      });
      expect(await renderFull(slide)).toEqual(orientRaster(storedPixels, orientation));
    },
  );

  it('has no level for a reduced image whose Orientation differs from that of full resolution', async () => {
    const half = await encodePicture(paintTissue(64, 32), 32, 'rgb');
    const full = await encodePicture(paintTissue(128, 64), 32, 'rgb');
    const withOrientation = (directory: DirectoryPlan, orientation: number): DirectoryPlan => ({
      ...directory,
      tags: {
        ...directory.tags,
        [tag.Orientation]: short(orientation),
        [tag.NewSubfileType]: long(directory === half ? 1 : 0),
      },
    });
    for (const [orientationOfHalf, levelCount] of [
      [6, 2],
      [8, 1],
    ] as const) {
      const directories = [withOrientation(full, 6), withOrientation(half, orientationOfHalf)];
      const slide = await openBytes(buildTiff({ directories }).bytes);
      expect(slide.levels).toHaveLength(levelCount);
      expect(slide.levels[0]).toMatchObject({ width: 64, height: 128 });
    }
  });
});

describe('a TIFF image in JPEG', () => {
  it.each([
    ['strips', null],
    ['tiles', 32],
  ])(
    'in $0 is rendered at full resolution with the same pixels as when one of the $0 is decoded separately',
    async (_, tileSize) => {
      for (const colour of ['rgb', 'ycbcr', 'grey'] as const) {
        const slide = await openTiffOf(await encodePicture(tissue, tileSize, colour));
        const expectedPixels = await renderFull(slide);
        const [level] = slide.levels;
        const row = Math.min(1, level.rows - 1);
        const tile = await slide.readTile({ level: 0, column: 0, row });
        const decoded = await decodeImage(
          tile ?? { codec: 'rgb', bytes: new Uint8Array(), width: 0, height: 0 },
        );
        const width = Math.min(decoded.width, WIDTH);
        for (let y = 0; y < Math.min(decoded.height, HEIGHT); y++) {
          const lineStart = (row * level.tileHeight + y) * WIDTH * 3;
          const line = decoded.rgb.subarray(y * decoded.width * 3, (y * decoded.width + width) * 3);
          expect(expectedPixels.rgb.subarray(lineStart, lineStart + width * 3)).toEqual(new Uint8Array(line));
        }
      }
    },
  );

  it('in WhiteIsZero grey shows 0 as white and needs rendering: no JPEG tile is sent without decoding', async () => {
    const directory = await encodePicture(tissue, 32, 'grey');
    const upright = await renderFull(await openTiffOf(directory));
    const inverted = await openTiffOf({
      ...directory,
      tags: { ...directory.tags, [tag.PhotometricInterpretation]: short(0) },
    });
    expect((await renderFull(inverted)).rgb).toEqual(upright.rgb.map((value) => 255 - value));
    expect(inverted.levels[0].needsRendering).toBe(true);
  });

  it('with one JPEG plane per colour has RGB pixels with one sample from each plane', async () => {
    const planes: DirectoryPlan[] = [];
    for (const sample of [0, 1, 2]) {
      planes.push(
        await encodePicture(
          greyPicture((pixel) => tissueSample(pixel, sample)),
          32,
          'grey',
        ),
      );
    }
    const [first] = planes as [DirectoryPlan, ...DirectoryPlan[]];
    const slide = await openTiffOf({
      tiles: planes.flatMap(({ tiles }) => tiles ?? []),
      tags: {
        ...first.tags,
        [tag.SamplesPerPixel]: short(3),
        [tag.BitsPerSample]: short(8, 8, 8),
        [tag.PhotometricInterpretation]: short(2),
        [tag.PlanarConfiguration]: short(2),
      },
    });
    const planePixels = await Promise.all(
      planes.map(async (directory) => renderFull(await openTiffOf(directory))),
    );
    const joined = await renderFull(slide);
    for (const i of [0, 1, 2, 5000, 5001, 5002]) expect(joined.rgb[i]).toBe(planePixels[i % 3]?.rgb[i]);
  });
});

/** Builds a directory of the tissue in tiles of 64 × 48 pixels. @param encode encodes one tile */
async function encodedTiles(
  compression: number,
  encode: (tile: Raster) => Promise<Uint8Array>,
  tags: DirectoryPlan['tags'] = {},
): Promise<DirectoryPlan> {
  const tile = { width: 64, height: 48 };
  const tiles: Uint8Array[] = [];
  for (let top = 0; top < HEIGHT; top += tile.height) {
    for (let left = 0; left < WIDTH; left += tile.width) {
      const part = new Uint8Array(tile.width * tile.height * 3);
      for (let y = 0; y < Math.min(tile.height, HEIGHT - top); y++) {
        const lineStart = ((top + y) * WIDTH + left) * 3;
        const lineBytes = Math.min(tile.width, WIDTH - left) * 3;
        part.set(tissueSamples.subarray(lineStart, lineStart + lineBytes), y * tile.width * 3);
      }
      tiles.push(await encode({ ...tile, rgb: part }));
    }
  }
  const plain = encodeSamples({ ...rgbPlan, tile, packing: 'none' });
  return { tiles, tags: { ...plain.tags, [tag.Compression]: short(compression), ...tags } };
}

/** Encodes a tile as lossless WebP. */
const webp = (raster: Raster) =>
  sharp(raster.rgb, { raw: { width: raster.width, height: raster.height, channels: 3 } })
    .webp({ lossless: true })
    .toBuffer();
/** Encodes a tile as lossless JPEG 2000. */
const jpeg2000 = ({ width, height, rgb: values }: Raster) =>
  encodeJpeg2000({ width, height, samplesPerPixel: 3, values });

describe('a TIFF image in WebP or JPEG 2000 tiles', () => {
  it.each([
    ['WebP', 50_001, webp],
    ['JPEG 2000', 34_712, jpeg2000],
    ['JPEG 2000 with compression 33005 (Aperio RGB)', 33_005, jpeg2000],
    [
      'JPEG 2000 with compression 33003 (Aperio YCbCr) whose code stream declares its colour transform',
      33_003,
      jpeg2000,
    ],
  ])('has the original pixels in %s', async (_, compression, encode) => {
    const slide = await openTiffOf(await encodedTiles(compression, encode));
    expect(await renderFull(slide)).toEqual(tissue);
    expect(slide.levels[0]).toMatchObject({ tileWidth: 64, tileHeight: 48, needsRendering: true });
  });

  it.each([
    ['without a colour transform in the code stream', 33_003, false],
    ['that OpenJPEG wrote for libvips, with YCbCr samples declared as RGB', 33_004, true],
  ] as const)(
    'in JPEG 2000 %s (compression %i) is converted from YCbCr to RGB',
    async (_, number, isTransformed) => {
      // YCbCr 150, 100, 180 is RGB 223, 123, 100. A code stream that does not declare the transform stores 196, 144, 116
      // for the same colour.
      const encode = async ({ width, height }: Raster) => {
        const stream = await jpeg2000(
          paintPlain(width, height, isTransformed ? [150, 100, 180] : [196, 144, 116]),
        );
        const codMarker = stream.findIndex((byte, i) => byte === 0xff && stream[i + 1] === 0x52);
        if (!isTransformed) stream[codMarker + 8] = 0;
        return stream;
      };
      const { rgb: expectedPixels } = await renderFull(await openTiffOf(await encodedTiles(number, encode)));
      expect([...expectedPixels.subarray(0, 3)]).toEqual([223, 123, 100]);
    },
  );

  it('in JPEG 2000 with compression 33004 is read as RGB, not as YCbCr, if OpenJPEG did not write it', async () => {
    const encode = async (tile: Raster) => {
      const stream = Buffer.from(await jpeg2000(tile));
      stream.write('JJ2000', stream.indexOf('OpenJPEG'), 'latin1');
      return stream;
    };
    expect(await renderFull(await openTiffOf(await encodedTiles(33_004, encode)))).toEqual(tissue);
  });

  it('in WebP with alpha is drawn on white', async () => {
    const encode = ({ width, height }: Raster) =>
      sharp({ create: { width, height, channels: 4, background: { r: 0, g: 0, b: 0, alpha: 0.2 } } })
        .webp({ lossless: true })
        .toBuffer();
    const tags = {
      [tag.SamplesPerPixel]: short(4),
      [tag.BitsPerSample]: short(8, 8, 8, 8),
      [tag.ExtraSamples]: short(2),
    };
    // Black with an alpha of 0.2 on white is 255 × 0.8.
    expect(await renderFull(await openTiffOf(await encodedTiles(50_001, encode, tags)))).toEqual(
      greyPicture(() => 204),
    );
  });

  it.each<[string, number, (tile: Raster) => Promise<Uint8Array>]>([
    ['truncated WebP tile', 50_001, async (tile) => (await webp(tile)).subarray(0, 400)],
    ['JPEG 2000 tile declared as WebP', 50_001, jpeg2000],
    [
      'WebP tile of another size than the TIFF declares',
      50_001,
      (tile) => webp({ ...tile, width: 48, height: 64 }),
    ],
    [
      'WebP tile that claims to be 16,383 pixels wide and high',
      50_001,
      async (tile) => enlarged(await webp(tile)),
    ],
    ['truncated JPEG 2000 tile', 34_712, async (tile) => (await jpeg2000(tile)).subarray(0, 100)],
    ['WebP tile declared as JPEG 2000', 34_712, webp],
    [
      'JPEG 2000 tile of another size than the TIFF declares',
      34_712,
      (tile) => jpeg2000({ ...tile, width: 48, height: 64 }),
    ],
    ['tile of one byte declared as JPEG 2000', 34_712, async () => Uint8Array.of(255)],
  ])('throws FILE_CORRUPT for a %s (compression %d)', async (_, compression, encode) => {
    const slide = await openTiffOf(await encodedTiles(compression, encode));
    await expect(renderFull(slide)).rejects.toMatchObject({ name: 'SlideError', code: 'FILE_CORRUPT' });
  });
});

/** Changes the width and the height of a lossless WebP to 16,383; they are 14 bits each, after the signature of the chunk. */
function enlarged(image: Uint8Array): Uint8Array {
  const sizeOffset = Buffer.from(image.buffer, image.byteOffset, image.length).indexOf('VP8L') + 9;
  const changed = Uint8Array.from(image);
  changed.set([0xfe, 0xbf, 0xff, 0x0f], sizeOffset);
  return changed;
}

describe('a TIFF image without a pyramid', () => {
  it.each(cuts)('in %s is rendered at half size with the mean of each 2 × 2 pixels', async (_, cut) => {
    const slide = await openTiffOf(encodeSamples({ ...rgbPlan, ...cut }));
    const { maxLevel } = describeDeepZoom(slide);
    const half = await renderPixels(slide, {
      dziLevel: maxLevel - 1,
      x: 0,
      y: 0,
      width: Math.ceil(WIDTH / 2),
      height: Math.ceil(HEIGHT / 2),
    });
    const mean = (x: number, y: number, sample: number) => {
      const columnOffsets = x * 2 + 1 < WIDTH ? [0, 1] : [0];
      const rowOffsets = y * 2 + 1 < HEIGHT ? [0, 1] : [0];
      const values = rowOffsets.flatMap((dy) =>
        columnOffsets.map((dx) => tissueSample((y * 2 + dy) * WIDTH + x * 2 + dx, sample)),
      );
      return values.reduce((sum, value) => sum + value, 0) / values.length;
    };
    for (const [x, y] of [
      [0, 0],
      [50, 37],
      [25, 37],
      [50, 12],
    ] as const) {
      for (const sample of [0, 1, 2]) {
        const value = half.rgb[(y * half.width + x) * 3 + sample] ?? 0;
        expect(Math.abs(value - mean(x, y, sample)), `${x}, ${y}`).toBeLessThanOrEqual(1);
      }
    }
  });
});

describe('the colour profile of a TIFF image', () => {
  const profile = Uint8Array.from({ length: 600 }, (_, i) => i % 256);

  it('is returned unchanged by readIccProfile', async () => {
    const tags = { [tag.ICCProfile]: { type: 7, numbers: [...profile] } };
    const slide = await openTiffOf(encodeSamples({ ...rgbPlan, tags }));
    expect(await slide.readIccProfile()).toEqual(profile);
  });

  it('is null from readIccProfile if the file has none', async () => {
    expect(await (await openTiffOf(encodeSamples(rgbPlan))).readIccProfile()).toBeNull();
  });

  it('is rejected by readIccProfile with LIMIT_EXCEEDED if it has 32 MiB (limit 16 MiB)', async () => {
    const built = buildTiff({
      directories: [
        encodeSamples({ ...rgbPlan, tags: { [tag.ICCProfile]: { type: 7, numbers: [1, 2, 3, 4, 5] } } }),
      ],
    });
    const view = new DataView(built.bytes.buffer, built.bytes.byteOffset, built.bytes.length);
    const [{ at } = { at: 0 }] = built.directories;
    for (let entry = at + 2; ; entry += 12) {
      if (view.getUint16(entry, true) !== tag.ICCProfile) continue;
      view.setUint32(entry + 4, 2 ** 25, true);
      break;
    }
    const slide = await openBytes(built.bytes);
    await expect(slide.readIccProfile()).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED' });
  });
});
