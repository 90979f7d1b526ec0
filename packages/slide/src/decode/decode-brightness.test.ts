import { deflateSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { EncodedImage, GreyRange, TiffCoding } from '../model/slide.ts';
import { memorySource } from '../source/memory-source.ts';
import { buildTiff, type DirectoryPlan, short } from '../testing/build-tiff.ts';
import { encodePicture } from '../testing/encode-picture.ts';
import { type LosslessPlan, losslessDirectory, withTags } from '../testing/lossless-directory.ts';
import { paintPlain } from '../testing/paint-tissue.ts';
import { openImageTiles } from '../tiff/image-tiles.ts';
import { tag } from '../tiff/tags.ts';
import { openTiff } from '../tiff/tiff-file.ts';
import { readTiffImage } from '../tiff/tiff-image.ts';
import { decodeBrightness } from './decode-brightness.ts';

const plan: LosslessPlan = {
  width: 32,
  height: 16,
  tileSize: 32,
  samplesPerPixel: 1,
  bits: 8,
  sampleAt: (x, y) => x * 8 + (y % 8),
};

/** Builds a TIFF file with this directory and reads its tile at column 0, row 0. */
async function firstTile(directory: DirectoryPlan, isLittleEndian = true): Promise<EncodedImage> {
  const source = memorySource(buildTiff({ directories: [directory], isLittleEndian }).bytes);
  const picture = await readTiffImage((await openTiff(source)).first);
  const tile = await (await openImageTiles(source, picture)).readTile(0, 0);
  if (!tile) throw new Error('The tile is empty');
  return tile;
}

/** Returns the brightness of the pixels of the first row, which must all be grey. */
async function firstRow(tile: EncodedImage, range: GreyRange): Promise<number[]> {
  const { rgb, width } = await decodeBrightness(tile, range);
  return Array.from({ length: width }, (_, x) => {
    const [r, g, b] = rgb.subarray(x * 3, x * 3 + 3);
    expect([g, b]).toEqual([r, r]);
    return r as number;
  });
}

const columns = Array.from({ length: 32 }, (_, x) => x);
const clamped = (value: number) => Math.max(0, Math.min(255, Math.round(value)));

describe('decodeBrightness (decodes a grey tile, and maps a given range of samples to 0…255)', () => {
  it('returns 8-bit samples unchanged for the range 0 to 255', async () => {
    const row = await firstRow(await firstTile(losslessDirectory(plan)), { black: 0, white: 255 });
    expect(row).toEqual(columns.map((x) => x * 8));
  });

  it('stretches samples inside the range to 0…255 and clamps samples outside the range', async () => {
    const row = await firstRow(await firstTile(losslessDirectory(plan)), { black: 50, white: 100 });
    expect(row).toEqual(columns.map((x) => clamped(((x * 8 - 50) * 255) / 50)));
  });

  it.each([
    ['little-endian', true],
    ['big-endian', false],
  ] as const)('uses both bytes of a 16-bit sample in a %s file', async (_, isLittleEndian) => {
    const words = losslessDirectory({ ...plan, bits: 16, isLittleEndian, sampleAt: (x) => 1000 + x * 3 });
    const row = await firstRow(await firstTile(words, isLittleEndian), { black: 1000, white: 1093 });
    expect(row).toEqual(columns.map((x) => clamped((x * 3 * 255) / 93)));
  });

  it.each([
    ['one compressed block', 1],
    ['eight compressed blocks', 8],
  ])(
    'sums up 16-bit samples that are stored as differences from the left neighbour in %s',
    async (_, blocks) => {
      const rows = 16 / blocks;
      const bytes = new Uint8Array(32 * 16 * 2);
      // Every row starts with 500 and grows by 700, which exceeds one byte at every step.
      const view = new DataView(bytes.buffer);
      for (let i = 0; i < 32 * 16; i++) view.setUint16(i * 2, i % 32 === 0 ? 500 : 700, true);
      const coding: TiffCoding = {
        packing: 'deflate',
        blockBytes: [],
        blockRows: rows,
        samplesPerPixel: 1,
        bits: 16,
        isPlanar: false,
        isLittleEndian: true,
        isBitReversed: false,
        isDifferenced: true,
        colour: { model: 'grey', isInverted: false, alpha: null },
      };
      const bytesPerRow = 32 * 2;
      const packed = Array.from({ length: blocks }, (_, i) =>
        deflateSync(bytes.subarray(i * rows * bytesPerRow, (i + 1) * rows * bytesPerRow)),
      );
      const tile: EncodedImage = {
        codec: 'tiff',
        bytes: Buffer.concat(packed),
        width: 32,
        height: 16,
        coding: { ...coding, blockBytes: packed.map(({ length }) => length) },
      };
      const { rgb } = await decodeBrightness(tile, { black: 500, white: 500 + 31 * 700 });
      for (const row of [0, 7, 15]) {
        expect(columns.map((x) => rgb[(row * 32 + x) * 3])).toEqual(
          columns.map((x) => clamped((x * 255) / 31)),
        );
      }
    },
  );

  it('returns the palette indices of a palette image as brightness, and ignores the colours of the palette', async () => {
    const palette = short(...Array.from({ length: 768 }, (_, i) => (i * 977) % 65_536));
    const page = withTags(losslessDirectory(plan), {
      [tag.PhotometricInterpretation]: short(3),
      [tag.ColorMap]: palette,
    });
    expect(await firstRow(await firstTile(page), { black: 0, white: 255 })).toEqual(
      columns.map((x) => x * 8),
    );
  });

  it('inverts the samples when sample 0 means white', async () => {
    const inverted = withTags(losslessDirectory(plan), { [tag.PhotometricInterpretation]: short(0) });
    const row = await firstRow(await firstTile(inverted), { black: 0, white: 255 });
    expect(row).toEqual(columns.map((x) => 255 - x * 8));
    const words = withTags(losslessDirectory({ ...plan, bits: 16, sampleAt: (x) => 65_535 - x * 100 }), {
      [tag.PhotometricInterpretation]: short(0),
    });
    const dark = await firstRow(await firstTile(words), { black: 0, white: 3100 });
    expect(dark).toEqual(columns.map((x) => clamped((x * 255) / 31)));
  });

  it('returns about 128 for samples of a grey JPEG in the middle of the range (100 in 50 to 150)', async () => {
    const tile = await firstTile(await encodePicture(paintPlain(32, 32, [100, 100, 100]), 32, 'grey'));
    const row = await firstRow(tile, { black: 50, white: 150 });
    for (const value of row) expect(Math.abs(value - 128)).toBeLessThan(8);
  });

  it('rejects a tile of three samples per pixel with FORMAT_NOT_SUPPORTED', async () => {
    const colours = await firstTile(losslessDirectory({ ...plan, samplesPerPixel: 3 }));
    await expect(decodeBrightness(colours, { black: 0, white: 255 })).rejects.toMatchObject({
      code: 'FORMAT_NOT_SUPPORTED',
    });
  });
});
