import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { cropRaster, type Raster } from '../decode/raster.ts';
import { difference, pixelsOf } from '../testing/compare-pixels.ts';
import { paintTissue } from '../testing/paint-tissue.ts';
import { joinScans } from './join-scans.ts';

const picture = paintTissue(64, 320);

interface Coding {
  chromaSubsampling?: '4:4:4' | '4:2:0';
  quality?: number;
  progressive?: boolean;
  optimiseCoding?: boolean;
  grey?: boolean;
}

/** Encodes horizontal strips of the image, from the top; each is a JPEG with the standard tables. */
function strips(heights: readonly number[], coding: Coding = {}): Promise<Buffer[]> {
  let y = 0;
  return Promise.all(
    heights.map((height) => {
      const part = cropRaster(picture, 0, y, picture.width, height);
      y += height;
      return encode(part, coding);
    }),
  );
}

async function encode({ width, height, rgb }: Raster, { grey = false, ...coding }: Coding): Promise<Buffer> {
  const pixels = sharp(rgb, { raw: { width, height, channels: 3 } });
  if (grey) pixels.toColourspace('b-w');
  return pixels
    .jpeg({ quality: 80, chromaSubsampling: '4:4:4', optimiseCoding: false, ...coding })
    .toBuffer();
}

const tenStrips = Array.from({ length: 10 }, () => 32);

/** Decodes the strips separately and stacks their pixels. */
async function stackedPixels(jpegs: readonly Uint8Array[]): Promise<Raster> {
  const parts = await Promise.all(jpegs.map(pixelsOf));
  return {
    width: picture.width,
    height: parts.reduce((sum, part) => sum + part.height, 0),
    rgb: Buffer.concat(parts.map((part) => part.rgb)),
  };
}

describe('joinScans (joins JPEG strips to one JPEG without decoding them)', () => {
  it.each<[string, readonly number[], Coding]>([
    ['strips with chroma at full resolution', tenStrips, {}],
    ['grey strips', tenStrips, { grey: true }],
    ['strips of which the last one is shorter', [32, 32, 32, 20], {}],
    ['a single strip', [64], {}],
  ])(
    'returns for %s a JPEG with the same pixels as when each strip is decoded separately',
    async (_, heights, coding) => {
      const jpegs = await strips(heights, coding);
      const joined = joinScans(jpegs);
      expect(difference(await pixelsOf(joined ?? new Uint8Array()), await stackedPixels(jpegs)).max).toBe(0);
    },
  );

  it('returns for strips with subsampled chroma a JPEG that differs from the strips only in the pixel rows at their seams', async () => {
    const jpegs = await strips(tenStrips, { chromaSubsampling: '4:2:0' });
    const joined = await pixelsOf(joinScans(jpegs) ?? new Uint8Array());
    const separate = await stackedPixels(jpegs);
    for (let strip = 0; strip < 10; strip++) {
      // All rows of a strip of 32 rows, except the first and the last.
      const withoutSeams = (raster: Raster) => cropRaster(raster, 0, strip * 32 + 1, 64, 30);
      expect(difference(withoutSeams(joined), withoutSeams(separate)).max).toBe(0);
    }
  });

  it.each<[string, () => Promise<Buffer[]>]>([
    ['there are no strips', async () => []],
    ['the strips are progressive', () => strips(tenStrips, { progressive: true })],
    [
      'the quantisation tables of the strips differ',
      async () => [...(await strips([32])), ...(await strips([32], { quality: 70 }))],
    ],
    ['each strip has its own optimised Huffman tables', () => strips(tenStrips, { optimiseCoding: true })],
    [
      'the chroma subsampling of the strips differs',
      async () => [...(await strips([32])), ...(await strips([32], { chromaSubsampling: '4:2:0' }))],
    ],
    [
      'one strip is wider than the other',
      async () => [...(await strips([32])), await encode(paintTissue(72, 32), {})],
    ],
    ['the height of an upper strip is not a multiple of 8 pixels', () => strips([20, 20])],
    [
      'the height of an upper strip with subsampled chroma is not a multiple of 16 pixels',
      () => strips([24, 24], { chromaSubsampling: '4:2:0' }),
    ],
    ['the last strip (32 rows) is taller than the strip above it (16 rows)', () => strips([16, 32])],
    ['the last strip (64 rows) is taller than the strip above it (32 rows)', () => strips([32, 64])],
    [
      'one strip is truncated',
      async () => {
        const [upper, lower] = (await strips([32, 32])) as [Buffer, Buffer];
        return [upper.subarray(0, -40), lower];
      },
    ],
    [
      'the strips contain restart markers',
      async () => {
        const joined = await Promise.all([strips([32, 32]), strips([32, 32])]);
        return joined.map((pair) => Buffer.from(joinScans(pair) ?? []));
      },
    ],
  ])('returns null when %s', async (_, jpegs) => {
    expect(joinScans(await jpegs())).toBeNull();
  });

  it('returns null when the joined image would exceed 65,535 rows, the maximum of a JPEG', async () => {
    const strip = await encode(paintTissue(16, 2048), {});
    expect(joinScans(Array.from({ length: 31 }, () => strip))).not.toBeNull();
    expect(joinScans(Array.from({ length: 32 }, () => strip))).toBeNull(); // 32 × 2048 = 65,536 rows
  });

  it('returns null when a strip has more than 65,535 MCUs (minimum coded units), the maximum of a restart interval', async () => {
    const largestStrip = await encode(paintTissue(2048 * 8, 8 * 8), {});
    expect(joinScans([largestStrip, largestStrip])).not.toBeNull();
    const tooLargeStrip = await encode(paintTissue(16_384, 256), {}); // 2048 × 32 = 65,536 MCUs of 8 × 8 pixels
    expect(joinScans([tooLargeStrip, tooLargeStrip])).toBeNull();
  });
});
