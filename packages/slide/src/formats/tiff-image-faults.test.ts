/** Tests damaged and unsupported TIFF images: each row of a table is a defect, the change that causes it, and the expected error. */
import { describe, expect, it } from 'vitest';
import { decodeImage } from '../decode/decode-image.ts';
import { type DirectoryPlan, long, rational, short } from '../testing/build-tiff.ts';
import { encodeSamples } from '../testing/encode-samples.ts';
import { openTiffOf, rgbPlan } from '../testing/tissue-tiff.ts';
import { tag } from '../tiff/tags.ts';

/** Tags that declare the samples as 8-bit grey. */
const grey8 = {
  [tag.SamplesPerPixel]: short(1),
  [tag.BitsPerSample]: short(8),
  [tag.PhotometricInterpretation]: short(1),
};

describe('openSlideFrom (opens a slide from its files)', () => {
  it.each<[string, DirectoryPlan['tags'], string, string]>([
    ['with old-style JPEG', { [tag.Compression]: short(6) }, 'FORMAT_NOT_SUPPORTED', 'old-style JPEG'],
    ['with CCITT RLE', { [tag.Compression]: short(2) }, 'FORMAT_NOT_SUPPORTED', 'CCITT RLE'],
    ['with CCITT Group 3', { [tag.Compression]: short(3) }, 'FORMAT_NOT_SUPPORTED', 'CCITT Group 3'],
    ['with CCITT Group 4', { [tag.Compression]: short(4) }, 'FORMAT_NOT_SUPPORTED', 'CCITT Group 4'],
    ['with LERC', { [tag.Compression]: short(34887) }, 'FORMAT_NOT_SUPPORTED', 'LERC'],
    ['with LZMA', { [tag.Compression]: short(34925) }, 'FORMAT_NOT_SUPPORTED', 'LZMA'],
    ['with JPEG XR', { [tag.Compression]: short(34934) }, 'FORMAT_NOT_SUPPORTED', 'JPEG XR'],
    ['with JPEG XL', { [tag.Compression]: short(50002) }, 'FORMAT_NOT_SUPPORTED', 'JPEG XL'],
    ['with an unknown compression', { [tag.Compression]: short(52479) }, 'FORMAT_NOT_SUPPORTED', '52479'],
    [
      'of 12 bits per sample',
      { [tag.BitsPerSample]: short(12, 12, 12) },
      'FORMAT_NOT_SUPPORTED',
      '12, 12, 12 bits',
    ],
    [
      'of 32 bits per sample',
      { [tag.BitsPerSample]: short(32, 32, 32) },
      'FORMAT_NOT_SUPPORTED',
      '32, 32, 32 bits',
    ],
    ['of 0 bits per sample', { [tag.BitsPerSample]: short(0, 0, 0) }, 'FORMAT_NOT_SUPPORTED', '0, 0, 0 bits'],
    [
      'with samples of different numbers of bits',
      { [tag.BitsPerSample]: short(8, 8, 16) },
      'FORMAT_NOT_SUPPORTED',
      '8, 8, 16 bits',
    ],
    [
      'with floating-point samples',
      { [tag.SampleFormat]: short(3), [tag.BitsPerSample]: short(32, 32, 32) },
      'FORMAT_NOT_SUPPORTED',
      'floating point',
    ],
    [
      'with signed 16-bit samples',
      { [tag.SampleFormat]: short(2), [tag.BitsPerSample]: short(16, 16, 16) },
      'FORMAT_NOT_SUPPORTED',
      'signed samples of 16 bits',
    ],
    [
      'with complex-number samples',
      { [tag.SampleFormat]: short(6) },
      'FORMAT_NOT_SUPPORTED',
      'sample format 6',
    ],
    ['of 0 samples per pixel', { [tag.SamplesPerPixel]: short(0) }, 'FORMAT_NOT_SUPPORTED', '0 samples'],
    [
      'of 65,535 samples per pixel',
      { [tag.SamplesPerPixel]: short(65_535) },
      'FORMAT_NOT_SUPPORTED',
      '65535 samples',
    ],
    ['of two samples per pixel', { [tag.SamplesPerPixel]: short(2) }, 'FORMAT_NOT_SUPPORTED', '2 samples'],
    [
      'of three samples per pixel that are declared as grey',
      { [tag.PhotometricInterpretation]: short(1) },
      'FORMAT_NOT_SUPPORTED',
      '3 samples',
    ],
    ['in CIE L*a*b*', { [tag.PhotometricInterpretation]: short(8) }, 'FORMAT_NOT_SUPPORTED', 'CIE L*a*b*'],
    [
      'of raw sensor data (colour filter array)',
      { [tag.PhotometricInterpretation]: short(32_803) },
      'FORMAT_NOT_SUPPORTED',
      'a colour filter array',
    ],
    [
      'that is a transparency mask',
      { [tag.PhotometricInterpretation]: short(4) },
      'FORMAT_NOT_SUPPORTED',
      'mask',
    ],
    [
      'in YCbCr without the tag YCbCrSubSampling (default: chroma at half the resolution)',
      { [tag.PhotometricInterpretation]: short(6) },
      'FORMAT_NOT_SUPPORTED',
      '1/2 × 1/2',
    ],
    [
      'in YCbCr with samples in the video range (16 to 235)',
      {
        [tag.PhotometricInterpretation]: short(6),
        [tag.YCbCrSubSampling]: short(1, 1),
        [tag.ReferenceBlackWhite]: { type: 5, numbers: [16, 1, 235, 1, 128, 1, 240, 1, 128, 1, 240, 1] },
      },
      'FORMAT_NOT_SUPPORTED',
      '16, 235',
    ],
    [
      'with predictor 3 (floating point)',
      { [tag.Predictor]: short(3) },
      'FORMAT_NOT_SUPPORTED',
      'predictor 3',
    ],
    [
      'with an unknown predictor',
      { [tag.Predictor]: short(34_892) },
      'FORMAT_NOT_SUPPORTED',
      'predictor 34892',
    ],
    [
      'with an ImageDepth of 2 planes',
      { [tag.ImageDepth]: long(2) },
      'FORMAT_NOT_SUPPORTED',
      '2 planes in depth',
    ],
    ['with strips of 0 rows', { [tag.RowsPerStrip]: long(0) }, 'FILE_CORRUPT', 'RowsPerStrip'],
    [
      'with 2 strips instead of 25',
      { [tag.RowsPerStrip]: long(3) },
      'FILE_CORRUPT',
      '25 tiles or strips and lists 2',
    ],
    [
      'with more strips than the limit',
      { [tag.RowsPerStrip]: long(1), [tag.ImageLength]: long(2 ** 23) },
      'LIMIT_EXCEEDED',
      '8388608 strips',
    ],
    [
      'of more pixels than the limit, in one uncompressed strip',
      {
        [tag.Compression]: short(1),
        [tag.ImageWidth]: long(2 ** 31 - 1),
        [tag.ImageLength]: long(2 ** 31 - 1),
        [tag.RowsPerStrip]: long(2 ** 32 - 1),
      },
      'LIMIT_EXCEEDED',
      '2147483647 × 2147483647',
    ],
    [
      'with a compressed strip above the memory limit',
      { [tag.ImageWidth]: long(20_000), [tag.ImageLength]: long(20_000), [tag.RowsPerStrip]: long(20_000) },
      'LIMIT_EXCEEDED',
      '20000 × 20000',
    ],
    [
      'declared as a palette image without a palette',
      { ...grey8, [tag.PhotometricInterpretation]: short(3) },
      'FILE_CORRUPT',
      '256',
    ],
    [
      'with a palette of 16 bits',
      {
        ...grey8,
        [tag.PhotometricInterpretation]: short(3),
        [tag.BitsPerSample]: short(16),
      },
      'FORMAT_NOT_SUPPORTED',
      '16 bits',
    ],
    [
      'with inks other than CMYK',
      {
        [tag.PhotometricInterpretation]: short(5),
        [tag.SamplesPerPixel]: short(4),
        [tag.BitsPerSample]: short(8, 8, 8, 8),
        [tag.InkSet]: short(2),
      },
      'FORMAT_NOT_SUPPORTED',
      'inks',
    ],
    [
      'in grey with WebP compression',
      { ...grey8, [tag.Compression]: short(50_001) },
      'FORMAT_NOT_SUPPORTED',
      'WebP with 1 samples',
    ],
    [
      'with a palette and JPEG 2000 compression',
      { ...grey8, [tag.Compression]: short(34_712), [tag.PhotometricInterpretation]: short(3) },
      'FORMAT_NOT_SUPPORTED',
      'JPEG 2000 with 1 samples',
    ],
    [
      'of two samples per pixel with JPEG compression',
      {
        ...grey8,
        [tag.Compression]: short(7),
        [tag.SamplesPerPixel]: short(2),
        [tag.BitsPerSample]: short(8, 8),
        [tag.ExtraSamples]: short(2),
      },
      'FORMAT_NOT_SUPPORTED',
      'JPEG of 2 samples',
    ],
  ])('throws $2 for a TIFF image %s, with "$3" in the message', async (_, tags, code, reason) => {
    const directory = encodeSamples({ ...rgbPlan, rowsPerStrip: 40 });
    const opening = openTiffOf({ ...directory, tags: { ...directory.tags, ...tags } });
    await expect(opening).rejects.toMatchObject({
      name: 'SlideError',
      code,
      message: expect.stringContaining(reason),
    });
  });

  it('opens a TIFF image with the XResolution 0/0 as a slide with the pixel size null', async () => {
    const directory = encodeSamples({ ...rgbPlan, rowsPerStrip: 40 });
    const slide = await openTiffOf({
      ...directory,
      tags: { ...directory.tags, [tag.XResolution]: rational(0, 0) },
    });
    expect(slide.mpp).toBeNull();
  });
});

describe('readTile of a TIFF (reads one tile)', () => {
  const cut = { tile: { width: 32, height: 16 } };
  it.each<[string, (stream: Uint8Array) => Uint8Array | null, string]>([
    ['is truncated', (stream) => stream.subarray(0, stream.length / 2), 'FILE_CORRUPT'],
    ['has random data', () => Uint8Array.from({ length: 99 }, (_, i) => i * 77), 'FILE_CORRUPT'],
    ['has one byte', () => Uint8Array.of(0), 'FILE_CORRUPT'],
  ])('throws FILE_CORRUPT for a tile that %s, and returns the other tiles', async (_, damage, code) => {
    for (const packing of ['lzw', 'packbits', 'deflate', 'zstd', 'none'] as const) {
      const directory = encodeSamples({ ...rgbPlan, ...cut, packing });
      const damagedTile = 4 + 1; // column 1, row 1 of 4 columns
      const tiles =
        directory.tiles?.map((tile, i) => (i === damagedTile && tile ? damage(tile) : tile)) ?? [];
      const slide = await openTiffOf({ ...directory, tiles });
      const read = async (column: number, row: number) => {
        const tile = await slide.readTile({ level: 0, column, row });
        return tile && decodeImage(tile);
      };
      await expect(read(1, 1), packing).rejects.toMatchObject({ name: 'SlideError', code });
      expect(await read(2, 1)).toMatchObject({ width: 32, height: 16 });
    }
  });

  it('throws FILE_CORRUPT if one colour plane of a tile is missing, and returns null if every plane is missing', async () => {
    const directory = encodeSamples({ ...rgbPlan, ...cut, isPlanar: true });
    const tilesPerPlane = 4 * 5;
    // One plane of the tile at column 1, row 1, and all planes of the tile at column 2, row 1.
    const isMissing = (i: number) => i === 5 || i % tilesPerPlane === 6;
    const tiles = directory.tiles?.map((tile, i) => (isMissing(i) ? null : tile)) ?? [];
    const slide = await openTiffOf({ ...directory, tiles });
    await expect(slide.readTile({ level: 0, column: 1, row: 1 })).rejects.toMatchObject({
      code: 'FILE_CORRUPT',
    });
    expect(await slide.readTile({ level: 0, column: 2, row: 1 })).toBeNull();
    expect(await slide.readTile({ level: 0, column: 3, row: 1 })).not.toBeNull();
  });

  it.each<[string, DirectoryPlan['tags'], string]>([
    ['lies past the end of the file', { [tag.StripOffsets]: long(8, 2 ** 31) }, 'FILE_TRUNCATED'],
    ['has its offset in the file header', { [tag.StripOffsets]: long(8, 3) }, 'FILE_CORRUPT'],
    ['is empty while another is not', { [tag.StripOffsets]: long(8, 0) }, 'FILE_CORRUPT'],
    ['has fewer bytes than its rows need', { [tag.StripByteCounts]: long(50 * 303, 5) }, 'FILE_CORRUPT'],
  ])('throws $2 for a tile of an uncompressed image if one of its strips %s', async (_, tags, code) => {
    const directory = encodeSamples({ ...rgbPlan, packing: 'none', rowsPerStrip: 50 });
    const slide = await openTiffOf({ ...directory, tags: { ...directory.tags, ...tags } });
    const reading = slide.readTile({ level: 0, column: 0, row: 0 });
    await expect(reading).rejects.toMatchObject({ name: 'SlideError', code });
  });

  it('throws FILE_CORRUPT for a tile of an uncompressed image if the strips of one colour plane are empty', async () => {
    const directory = encodeSamples({ ...rgbPlan, packing: 'none', rowsPerStrip: 200, isPlanar: true });
    const strips = directory.strips?.map((strip, plane) => (plane === 1 ? null : strip)) ?? [];
    expect(strips).toHaveLength(3);
    const slide = await openTiffOf({ ...directory, strips });
    await expect(slide.readTile({ level: 0, column: 0, row: 0 })).rejects.toMatchObject({
      name: 'SlideError',
      code: 'FILE_CORRUPT',
    });
  });

  it('returns null for a tile of an uncompressed image if all its strips are empty', async () => {
    const directory = encodeSamples({ ...rgbPlan, packing: 'none', rowsPerStrip: 50 });
    const tags = { ...directory.tags, [tag.StripOffsets]: long(0, 0), [tag.StripByteCounts]: long(0, 0) };
    const slide = await openTiffOf({ ...directory, tags });
    expect(await slide.readTile({ level: 0, column: 0, row: 0 })).toBeNull();
  });
});
