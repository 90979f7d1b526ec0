import { describe, expect, it } from 'vitest';
import { cropRaster } from '../decode/raster.ts';
import { memorySource } from '../source/memory-source.ts';
import { difference, pixelsOf } from '../testing/compare-pixels.ts';
import { encodeIntervals, type IntervalCoding, type IntervalJpeg } from '../testing/encode-intervals.ts';
import { paintTissue } from '../testing/paint-tissue.ts';
import { readJpegHeader } from './header.ts';
import { readJpegHead } from './read-head.ts';
import { type IntervalArea, type IntervalStarts, intervalGrid, intervalReader } from './restart-intervals.ts';

/** The width is five intervals of 64 pixels, less four pixels, so that the image does not fill the last interval. */
const picture = paintTissue(316, 140);

async function largeJpeg(bytes: Uint8Array, width = picture.width, height = picture.height) {
  const source = memorySource(bytes);
  const head = await readJpegHead(source, 0, bytes.length);
  const grid = intervalGrid(readJpegHeader(head), width, height);
  if (!grid) throw new Error('The JPEG has no intervals');
  return { source, offset: 0, byteCount: bytes.length, head, width, height, grid, colour: 'ycbcr' as const };
}

/** Creates a reader of a JPEG's parts. @param starts the listed interval starts, by default the correct ones */
async function readerOf(jpeg: IntervalJpeg, starts: IntervalStarts | null = Uint32Array.from(jpeg.starts)) {
  return intervalReader(await largeJpeg(jpeg.bytes), async () => starts);
}

/** Returns an area of intervals; all numbers count intervals. */
const areaOf = (column: number, row: number, columns: number, rows: number): IntervalArea => ({
  column,
  row,
  columns,
  rows,
});

describe('intervalGrid (the grid of restart intervals of a JPEG, from its MCUs, minimum coded units)', () => {
  const header = { ...readJpegHeader(headOf(3)), restartInterval: 0 };
  it.each([
    ['returns null without restart markers', 0, 1024, 768, null],
    [
      'returns four columns when an interval is a quarter of a row of MCUs',
      32,
      1024,
      768,
      { width: 256, height: 8, columns: 4, rows: 96 },
    ],
    [
      'returns one column when an interval is a whole row of MCUs',
      128,
      1024,
      768,
      { width: 1024, height: 8, columns: 1, rows: 96 },
    ],
    [
      'returns 32 rows when the image has 96 rows of MCUs and an interval has three',
      384,
      1024,
      765,
      { width: 1024, height: 24, columns: 1, rows: 32 },
    ],
    [
      'rounds the image width of 1017 pixels up to 1024, to whole MCUs of 8 pixels',
      128,
      1017,
      768,
      { width: 1024, height: 8, columns: 1, rows: 96 },
    ],
    ['returns null when the MCUs of a row are not a multiple of those of an interval', 100, 1024, 768, null],
    ['returns null for intervals wider than 65,500 pixels, the limit of decoders', 8200, 65_600, 8, null],
    [
      'returns 40 columns of 2048 pixels for an image of 81,920 pixels, wider than a JPEG frame can declare',
      256,
      81_920,
      8,
      { width: 2048, height: 8, columns: 40, rows: 1 },
    ],
  ])('%s', (_, restartInterval, width, height, grid) => {
    expect(intervalGrid({ ...header, restartInterval }, width, height)).toEqual(grid);
  });

  it('counts MCUs of 16 × 16 pixels when chroma is subsampled in both directions', () => {
    const [luma, ...chroma] = header.components;
    const subsampled = {
      ...header,
      components: [{ id: 1, horizontalSampling: 2, verticalSampling: 2 }, ...chroma],
    };
    expect(luma).toBeDefined();
    expect(intervalGrid({ ...subsampled, restartInterval: 32 }, 1024, 768)).toEqual({
      width: 512,
      height: 16,
      columns: 2,
      rows: 48,
    });
  });
});

describe('intervalReader (reads a part of a large JPEG by its restart markers)', () => {
  it.each<[string, IntervalCoding, IntervalArea, [x: number, y: number, width: number, height: number]]>([
    ['a single interval', { width: 64, height: 8 }, areaOf(1, 3, 1, 1), [64, 24, 64, 8]],
    ['the first interval', { width: 64, height: 8 }, areaOf(0, 0, 1, 1), [0, 0, 64, 8]],
    [
      'the last interval (at the end of the image)',
      { width: 64, height: 8 },
      areaOf(4, 17, 1, 1),
      [256, 136, 60, 4],
    ],
    ['a rectangle of intervals', { width: 64, height: 8 }, areaOf(1, 2, 3, 12), [64, 16, 192, 96]],
    ['intervals at the right edge', { width: 64, height: 8 }, areaOf(3, 0, 2, 4), [192, 0, 124, 32]],
    ['whole rows of intervals', { width: 64, height: 8 }, areaOf(0, 5, 5, 9), [0, 40, 316, 72]],
    ['the whole image', { width: 64, height: 8 }, areaOf(0, 0, 5, 18), [0, 0, 316, 140]],
    ['intervals as wide as the image', { width: 320, height: 8 }, areaOf(0, 4, 1, 10), [0, 32, 316, 80]],
    ['intervals of three rows of MCUs', { width: 320, height: 24 }, areaOf(0, 4, 1, 2), [0, 96, 316, 44]],
    [
      'a part of a grey image',
      { width: 64, height: 8, colour: 'grey' },
      areaOf(1, 2, 3, 12),
      [64, 16, 192, 96],
    ],
  ])(
    'returns %s with exactly the pixels of the decoded whole image at this place',
    async (_, coding, area, rectangle) => {
      const [x, y, width, height] = rectangle;
      const jpeg = await encodeIntervals(picture, coding);
      const part = await (await readerOf(jpeg))(area);
      const whole = await pixelsOf(jpeg.bytes);
      expect(difference(await pixelsOf(part), cropRaster(whole, x, y, width, height)).max).toBe(0);
    },
  );

  it('returns for an image with subsampled chroma a part that differs from the image only along the edges of the part', async () => {
    const jpeg = await encodeIntervals(picture, { width: 64, height: 16, colour: 'half' });
    const part = await pixelsOf(await (await readerOf(jpeg))(areaOf(1, 1, 3, 6)));
    const sameArea = cropRaster(await pixelsOf(jpeg.bytes), 64, 16, 192, 96);
    expect(difference(cropRaster(part, 1, 1, 190, 94), cropRaster(sameArea, 1, 1, 190, 94)).max).toBe(0);
    expect(difference(part, sameArea).max).toBeLessThan(40);
  });

  it('returns a part without the JPEG segments that decoding does not need, such as comments', async () => {
    const jpeg = await encodeIntervals(picture, { width: 64, height: 8 });
    const comment = Buffer.from('\xff\xfe\0\x10PATIENT 4711..', 'latin1');
    const bytes = Buffer.concat([jpeg.bytes.subarray(0, 2), comment, jpeg.bytes.subarray(2)]);
    const starts = Uint32Array.from(jpeg.starts, (start) => start + comment.length);
    const part = await (await readerOf({ ...jpeg, bytes }, starts))(areaOf(0, 1, 2, 2));
    expect(Buffer.from(part).includes('PATIENT')).toBe(false);
    expect(readJpegHeader(part)).toMatchObject({ width: 128, height: 16, declaresColour: true });
  });

  it('returns a part of an image of 70,000 pixels in width, more than the 65,535 that a JPEG frame can declare', async () => {
    const strip = paintTissue(70_000, 16);
    const jpeg = await encodeIntervals(strip, { width: 2000, height: 8 });
    expect(readJpegHeader(jpeg.bytes)).toMatchObject({ width: 0, height: 16 });
    const large = await largeJpeg(jpeg.bytes, 70_000, 16);
    const part = await intervalReader(large, async () => Float64Array.from(jpeg.starts))(areaOf(34, 0, 1, 2));
    expect(difference(await pixelsOf(part), cropRaster(strip, 68_000, 0, 2000, 16)).mean).toBeLessThan(6);
  });

  it('rejects with FORMAT_NOT_SUPPORTED a part that is wider than 65,500 pixels, which decoders do not support', async () => {
    const jpeg = await encodeIntervals(picture, { width: 64, height: 8 });
    const grid = { width: 65_600, height: 144, columns: 1, rows: 1 };
    const large = { ...(await largeJpeg(jpeg.bytes)), width: 65_600, grid };
    const reading = intervalReader(large, async () => Uint32Array.from(jpeg.starts))(areaOf(0, 0, 1, 1));
    await expect(reading).rejects.toMatchObject({ code: 'FORMAT_NOT_SUPPORTED' });
  });
});

describe('intervalReader (reads a part of a large JPEG) without a valid list of interval starts', () => {
  const coding = { width: 64, height: 8 };
  const area = areaOf(1, 2, 3, 12);

  it.each<[string, (starts: number[]) => IntervalStarts | null]>([
    ['is missing', () => null],
    ['is all zeros', (starts) => new Uint32Array(starts.length)],
    ['is off by one byte', (starts) => Uint32Array.from(starts, (start) => start + 1)],
    ['is off by one interval', ([first = 0, ...starts]) => Uint32Array.of(...starts, first)],
    [
      'is off by eight intervals',
      (starts) => Uint32Array.from(starts, (_, i) => starts[Math.max(0, i - 8)] ?? 0),
    ],
    ['goes backwards', (starts) => Uint32Array.from(starts.toReversed())],
    ['points past the end', (starts) => Float64Array.from(starts, (start) => start + 2 ** 40)],
    ['contains NaN', (starts) => Float64Array.from(starts, () => Number.NaN)],
    ['contains infinity', (starts) => Float64Array.from(starts, () => Number.POSITIVE_INFINITY)],
  ])(
    'returns the pixels of the part by searching for restart markers when the list %s',
    async (_, change) => {
      const jpeg = await encodeIntervals(picture, coding);
      const part = await (await readerOf(jpeg, change([...jpeg.starts])))(area);
      const whole = await pixelsOf(jpeg.bytes);
      expect(difference(await pixelsOf(part), cropRaster(whole, 64, 16, 192, 96)).max).toBe(0);
    },
  );

  // The byte before the start of an interval is the second byte of its restart marker.
  it.each<[string, (jpeg: Buffer, starts: readonly number[]) => Buffer]>([
    [
      'a restart marker is missing',
      (jpeg, starts) => jpeg.fill(0x00, (starts[40] as number) - 1, starts[40]),
    ],
    [
      'a restart marker has the wrong number',
      (jpeg, starts) => jpeg.fill(0xd0, (starts[42] as number) - 1, starts[42]),
    ],
    [
      'there are too many restart markers',
      (jpeg) => Buffer.concat([jpeg.subarray(0, -2), Uint8Array.of(0xff, 0xd1, 0xff, 0xd9)]),
    ],
    ['the stream ends before the last restart marker', (jpeg, starts) => jpeg.subarray(0, starts[80])],
    [
      'the end-of-image marker (EOI) precedes the last restart marker',
      (jpeg, starts) => jpeg.fill(0xd9, (starts[80] as number) - 1, starts[80]),
    ],
  ])('rejects with FILE_CORRUPT when the search for restart markers fails because %s', async (_, damage) => {
    const jpeg = await encodeIntervals(picture, coding);
    const bytes = damage(Buffer.from(jpeg.bytes), jpeg.starts);
    const read = await readerOf({ ...jpeg, bytes }, null);
    await expect(read(area)).rejects.toMatchObject({ name: 'SlideError', code: 'FILE_CORRUPT' });
  });
});

/** Returns the head of a JPEG with this many components at full resolution. */
function headOf(components: number): Uint8Array {
  const frame = Array.from({ length: components }, (_, i) => [i + 1, 0x11, 0]).flat();
  const scan = Array.from({ length: components }, (_, i) => [i + 1, 0]).flat();
  return Uint8Array.from([
    ...[0xff, 0xd8, 0xff, 0xc0, 0, 8 + frame.length, 8, 0, 8, 0, 8, components, ...frame],
    ...[0xff, 0xda, 0, 6 + scan.length, components, ...scan, 0, 63, 0],
  ]);
}
