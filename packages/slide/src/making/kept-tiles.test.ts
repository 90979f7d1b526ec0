import { describe, expect, it } from 'vitest';
import { decodeImage } from '../decode/decode-image.ts';
import type { Slide } from '../slide.ts';
import { buildTiff } from '../testing/build-tiff.ts';
import { encodeSamples } from '../testing/encode-samples.ts';
import { openBytes } from '../testing/open-bytes.ts';
import { paintTissue } from '../testing/paint-tissue.ts';
import { keptTile } from './kept-tiles.ts';
import { makeTile } from './make-tile.ts';

const open = () => {
  const samples = paintTissue(1200, 640).rgb;
  const plan = { width: 1200, height: 640, samples, samplesPerPixel: 3, photometric: 2, rowsPerStrip: 64 };
  return openBytes(buildTiff({ directories: [encodeSamples(plan)] }).bytes);
};

/** A raster of a quarter of what may be kept. */
const large = async () => ({ width: 16, height: 1, rgb: new Uint8Array(16 * 2 ** 20) });

describe('tiles from which several made tiles are cut', () => {
  it('are read and decoded once for all of them', async () => {
    const slide = await open();
    const read: number[] = [];
    const readTile: Slide['readTile'] = (address, signal) => {
      read.push(address.row);
      return slide.readTile(address, signal);
    };
    const counted = { ...slide, readTile };
    for (let column = 0; column < 5; column++) await makeTile(counted, { dziLevel: 11, column, row: 0 });
    expect(read).toEqual([0, 1, 2, 3]);
  });

  it('are kept for one slide, one address and one size each', async () => {
    const [one, other] = [await open(), await open()];
    const tile = await one.readTile({ level: 0, column: 0, row: 0 });
    const decode = async () => tile && decodeImage(tile);
    const address = { level: 0, column: 0, row: 0 };
    const first = await keptTile(one, address, 1, decode);
    expect((await keptTile(one, address, 1, decode)) === first).toBe(true);
    expect((await keptTile(one, address, 2, decode)) === first).toBe(false);
    expect((await keptTile(one, { ...address, row: 1 }, 1, decode)) === first).toBe(false);
    expect((await keptTile(other, address, 1, decode)) === first).toBe(false);
  });

  it('give way to later ones, those used longest ago first', async () => {
    const slide = await open();
    const at = (row: number) => ({ level: 0, column: 0, row });
    const kept = await keptTile(slide, at(0), 1, large);
    await keptTile(slide, at(1), 1, large);
    await keptTile(slide, at(2), 1, large);
    await keptTile(slide, at(0), 1, large);
    for (const row of [3, 4, 5]) await keptTile(slide, at(row), 1, large);
    let decoded = 0;
    const count = () => {
      decoded++;
      return large();
    };
    expect((await keptTile(slide, at(0), 1, count)) === kept).toBe(true);
    expect(decoded).toBe(0);
    await keptTile(slide, at(1), 1, count);
    expect(decoded).toBe(1);
  });

  it('are kept one at a time when one is larger than all that may be kept', async () => {
    const slide = await open();
    const huge = async () => ({ width: 16, height: 1, rgb: new Uint8Array(65 * 2 ** 20) });
    const address = { level: 0, column: 0, row: 0 };
    const kept = await keptTile(slide, address, 1, huge);
    expect((await keptTile(slide, address, 1, huge)) === kept).toBe(true);
    await keptTile(slide, { ...address, row: 1 }, 1, huge);
    expect((await keptTile(slide, address, 1, huge)) === kept).toBe(false);
  });

  it('that were left empty are not kept', async () => {
    const slide = await open();
    const address = { level: 0, column: 0, row: 0 };
    expect(await keptTile(slide, address, 1, async () => null)).toBeNull();
    expect(await keptTile(slide, address, 1, large)).not.toBeNull();
  });
});
