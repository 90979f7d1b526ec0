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

/** Ten pieces of the picture, one under the other, each a JPEG of its own with the tables of the standard. */
function pieces(heights: readonly number[], coding: Coding = {}): Promise<Buffer[]> {
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

const ten = Array.from({ length: 10 }, () => 32);

/** The same pictures, each decoded on its own. */
async function stacked(jpegs: readonly Uint8Array[]): Promise<Raster> {
  const parts = await Promise.all(jpegs.map(pixelsOf));
  return {
    width: picture.width,
    height: parts.reduce((sum, part) => sum + part.height, 0),
    rgb: Buffer.concat(parts.map((part) => part.rgb)),
  };
}

describe('JPEGs joined by their scans', () => {
  it.each<[string, readonly number[], Coding]>([
    ['colours at full resolution', ten, {}],
    ['grey', ten, { grey: true }],
    ['a lower last piece', [32, 32, 32, 20], {}],
    ['a single piece', [64], {}],
  ])('show the same pixels as one by one: %s', async (_, heights, coding) => {
    const jpegs = await pieces(heights, coding);
    const joined = joinScans(jpegs);
    expect(difference(await pixelsOf(joined ?? new Uint8Array()), await stacked(jpegs)).most).toBe(0);
  });

  it('show the same but for the colours beside a seam, where those are at half resolution', async () => {
    const jpegs = await pieces(ten, { chromaSubsampling: '4:2:0' });
    const joined = await pixelsOf(joinScans(jpegs) ?? new Uint8Array());
    const alone = await stacked(jpegs);
    for (let piece = 0; piece < 10; piece++) {
      const inside = (raster: Raster) => cropRaster(raster, 0, piece * 32 + 1, 64, 30);
      expect(difference(inside(joined), inside(alone)).most).toBe(0);
    }
  });

  it.each<[string, () => Promise<Buffer[]>]>([
    ['there are none', async () => []],
    ['they are progressive', () => pieces(ten, { progressive: true })],
    ['their tables differ', async () => [...(await pieces([32])), ...(await pieces([32], { quality: 70 }))]],
    ['each has the tables that suit it best', () => pieces(ten, { optimiseCoding: true })],
    [
      'their colours have another resolution',
      async () => [...(await pieces([32])), ...(await pieces([32], { chromaSubsampling: '4:2:0' }))],
    ],
    ['one is wider', async () => [...(await pieces([32])), await encode(paintTissue(72, 32), {})]],
    ['one above is of no whole number of blocks', () => pieces([20, 20])],
    [
      'one above is of no whole number of blocks of colour',
      () => pieces([24, 24], { chromaSubsampling: '4:2:0' }),
    ],
    ['one above is lower', () => pieces([16, 32])],
    ['the last is higher', () => pieces([32, 64])],
    [
      'one is cut',
      async () => {
        const [one, other] = (await pieces([32, 32])) as [Buffer, Buffer];
        return [one.subarray(0, -40), other];
      },
    ],
    [
      'they have restart markers of their own',
      async () => {
        const joined = await Promise.all([pieces([32, 32]), pieces([32, 32])]);
        return joined.map((two) => Buffer.from(joinScans(two) ?? []));
      },
    ],
  ])('are not made when %s', async (_, jpegs) => {
    expect(joinScans(await jpegs())).toBeNull();
  });

  it('are not made higher than a JPEG can be', async () => {
    const one = await encode(paintTissue(16, 2048), {});
    expect(joinScans(Array.from({ length: 31 }, () => one))).not.toBeNull();
    expect(joinScans(Array.from({ length: 32 }, () => one))).toBeNull();
  });

  it('are not made of pieces with more blocks than a restart interval can count', async () => {
    const wide = await encode(paintTissue(2048 * 8, 8 * 8), {});
    const huge = Buffer.concat([wide]);
    expect(joinScans([wide, huge])).not.toBeNull();
    const wider = await encode(paintTissue(16_384, 256), {});
    expect(joinScans([wider, wider])).toBeNull();
  });
});
