import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { memorySource } from '../source/memory-source.ts';
import { ascii, buildTiff, long, short, type TagValue } from '../testing/build-tiff.ts';
import { encodeSamples } from '../testing/encode-samples.ts';
import { loadPeerSharp } from '../testing/peer-sharp.ts';
import { tag } from './tags.ts';
import { openValueTiff } from './value-image.ts';

/** Image size in pixels; not a multiple of the tile side, so the last column and row of tiles are partly filled. */
const [width, height] = [333, 210];

/** Returns a grey image of smooth waves, as values and as a sharp image that can be written as TIFF. */
function greyWaves(type: 'uchar' | 'ushort' = 'uchar') {
  const length = width * height;
  const wave = (i: number) => 0.5 + 0.5 * Math.sin((i % width) / 20) * Math.cos(Math.floor(i / width) / 15);
  const values =
    type === 'uchar'
      ? Uint8Array.from({ length }, (_, i) => Math.round(255 * wave(i)))
      : Uint16Array.from({ length }, (_, i) => Math.round(65_535 * wave(i)));
  const picture = sharp(values, { raw: { width, height, channels: 1 } });
  return { values, picture: picture.toColourspace(type === 'uchar' ? 'b-w' : 'grey16') };
}

async function readAllValues(tiff: Uint8Array) {
  const image = await openValueTiff(memorySource(tiff));
  const values = image.type === 'uint16' ? new Uint16Array(width * height) : new Uint8Array(width * height);
  const rowsPerRead = 37; // Reads do not end where blocks end.
  for (let top = 0; top < height; top += rowsPerRead) {
    const rows = Math.min(rowsPerRead, height - top);
    await image.readRows(top, rows, values.subarray(top * width, (top + rows) * width));
  }
  return { ...image, values };
}

describe('openValueTiff (reads one value per pixel of a TIFF) from a TIFF that libvips wrote', () => {
  it.each([
    ['JPEG tiles of a pyramid', { tile: true, tileWidth: 128, tileHeight: 128, pyramid: true }],
    ['JPEG strips', {}],
  ])('returns from %s the values that libvips reads', async (_, layout) => {
    const tiff = await greyWaves()
      .picture.tiff({ compression: 'jpeg', quality: 75, ...layout })
      .toBuffer();
    const read = await readAllValues(tiff);
    const peer = await loadPeerSharp();
    const expected = await peer(tiff).toColourspace('b-w').raw().toBuffer();
    expect([read.width, read.height, read.type]).toEqual([width, height, 'uint8']);
    expect(Buffer.compare(read.values as Uint8Array, expected)).toBe(0);
    // The values vary and the compression is lossy, so the comparison is not one of empty or copied arrays.
    expect(new Set(expected).size).toBeGreaterThan(100);
    expect(Buffer.compare(expected, greyWaves().values as Uint8Array)).not.toBe(0);
  });

  it.each([
    ['uchar', 'deflate'],
    ['ushort', 'deflate'],
    ['ushort', 'lzw'],
  ] as const)(
    'returns the written values of the libvips type %s from %s compression with horizontal differencing',
    async (type, compression) => {
      const { values, picture } = greyWaves(type);
      const tiff = await picture.tiff({ compression, predictor: 'horizontal' }).toBuffer();
      expect((await readAllValues(tiff)).values).toEqual(values);
    },
  );

  it('throws FILE_CORRUPT when the bytes of a JPEG tile are not a JPEG', async () => {
    const tiff = await greyWaves().picture.tiff({ compression: 'jpeg', tile: true }).toBuffer();
    const firstTile = tiff.indexOf(Buffer.from([0xff, 0xd8, 0xff]));
    tiff.fill(0, firstTile, firstTile + 3);
    await expect(readAllValues(tiff)).rejects.toMatchObject({ code: 'FILE_CORRUPT' });
  });

  it('throws FORMAT_NOT_SUPPORTED for a JPEG of three bands, with the number of bands in the message', async () => {
    const rgb = sharp({ create: { width: 64, height: 64, channels: 3, background: 'red' } });
    const tiff = await rgb.tiff({ compression: 'jpeg' }).toBuffer();
    await expect(openValueTiff(memorySource(tiff))).rejects.toMatchObject({
      code: 'FORMAT_NOT_SUPPORTED',
      message: expect.stringContaining('3 bands'),
    });
  });
});

describe('openValueTiff (reads one value per pixel of a TIFF) with floating-point samples of 32 bits', () => {
  it('returns NaN for samples equal to the value of the tag GDAL_NODATA, rounded to 32 bits', async () => {
    const samples = Float32Array.of(1.5, -9999.9);
    const tags = {
      [tag.ImageWidth]: long(2),
      [tag.ImageLength]: long(1),
      [tag.BitsPerSample]: short(32),
      [tag.SampleFormat]: short(3),
      [tag.SamplesPerPixel]: short(1),
      [tag.Compression]: short(1),
      [tag.PhotometricInterpretation]: short(1),
      [tag.GdalNoData]: ascii('-9999.9'),
    };
    const { bytes } = buildTiff({ directories: [{ tags, strips: [new Uint8Array(samples.buffer)] }] });
    const values = new Float32Array(2);
    await (await openValueTiff(memorySource(bytes))).readRows(0, 1, values);
    expect([...values]).toEqual([1.5, Number.NaN]);
  });
});

describe('openValueTiff (reads one value per pixel of a TIFF) with integers of 64 bits', () => {
  it.each([
    ['signed', 2, BigInt64Array.of(-1n, 3n)],
    ['unsigned', 1, BigUint64Array.of(2n ** 32n, 3n)],
  ] as const)('returns %s samples as floating-point numbers', async (_, sampleFormat, samples) => {
    const tags = {
      [tag.ImageWidth]: long(2),
      [tag.ImageLength]: long(1),
      [tag.BitsPerSample]: short(64),
      [tag.SampleFormat]: short(sampleFormat),
      [tag.SamplesPerPixel]: short(1),
      [tag.Compression]: short(1),
      [tag.PhotometricInterpretation]: short(1),
    };
    const { bytes } = buildTiff({ directories: [{ tags, strips: [new Uint8Array(samples.buffer)] }] });
    const image = await openValueTiff(memorySource(bytes));
    expect(image.type).toBe('float64');
    const values = new Float64Array(2);
    await image.readRows(0, 1, values);
    expect([...values]).toEqual([...samples].map(Number));
  });
});

describe('openValueTiff (reads one value per pixel of a TIFF) with samples of 1, 2 or 4 bits', () => {
  const samples = Uint8Array.of(1, 0, 0, 1, 1, 0, 1, 0, 1, 1);

  it.each([
    ['none', 'in the highest bits of a byte (FillOrder 1)', false, 1],
    ['none', 'in the lowest bits of a byte (FillOrder 2)', true, 1],
    ['deflate', 'in the lowest bits of a byte (FillOrder 2)', true, 2],
    ['packbits', 'in the lowest bits of a byte (FillOrder 2)', true, 4],
  ] as const)(
    'returns the written samples of $3 bits from compression "$0" when the first sample is $1',
    async (packing, _, isBitReversed, bits) => {
      const image = {
        width: 5,
        height: 2,
        samples,
        samplesPerPixel: 1,
        bits,
        photometric: 1,
        packing,
        isBitReversed,
      };
      const { bytes } = buildTiff({ directories: [encodeSamples(image)] });
      const values = new Uint8Array(10);
      await (await openValueTiff(memorySource(bytes))).readRows(0, 2, values);
      expect(values).toEqual(samples);
    },
  );
});

describe('openValueTiff (reads one value per pixel of a TIFF) with a palette image of two pixels', () => {
  /** Opens an image of 2 × 1 pixels with the values 0 and 1. */
  const openPaletteImage = (tags: Readonly<Record<number, TagValue>>) => {
    const pixels = {
      width: 2,
      height: 1,
      samples: [0, 1],
      samplesPerPixel: 1,
      bits: 1,
      photometric: 3,
    } as const;
    const { bytes } = buildTiff({ directories: [encodeSamples({ ...pixels, tags })] });
    return openValueTiff(memorySource(bytes));
  };
  /** Two reds, two greens, two blues. */
  const colours = [0, 200, 10, 100, 20, 0];

  it.each([
    ['16 bits, as TIFF requires', 257],
    ['8 bits, as some writers store them', 1],
  ])('returns the colours of a palette whose values have %s', async (_, factor) => {
    const { palette } = await openPaletteImage({
      [tag.ColorMap]: short(...colours.map((colour) => colour * factor)),
    });
    expect(palette).toEqual([
      [0, 10, 20],
      [200, 100, 0],
    ]);
  });

  it('throws FILE_TRUNCATED from readRows when the file contains only the start of a strip', async () => {
    const image = await openPaletteImage({
      [tag.ColorMap]: short(...colours),
      [tag.StripByteCounts]: long(1_000_000),
    });
    await expect(image.readRows(0, 1, new Uint8Array(2))).rejects.toMatchObject({
      code: 'FILE_TRUNCATED',
      message: 'The file ends before the end of its tile or strip 0',
    });
  });
});
