import { describe, expect, it } from 'vitest';
import { decodeImage } from '../decode/decode-image.ts';
import type { Slide } from '../model/slide.ts';
import { buildTiff } from '../testing/build-tiff.ts';
import { encodeSamples } from '../testing/encode-samples.ts';
import { openBytes } from '../testing/open-bytes.ts';
import { paintTissue } from '../testing/paint-tissue.ts';
import { renderTile } from './render-tile.ts';
import { cachedTile } from './tile-cache.ts';

/** Opens a slide of 1200 × 640 pixels, stored in ten strips. */
const openStrips = () => {
  const samples = paintTissue(1200, 640).rgb;
  const plan = { width: 1200, height: 640, samples, samplesPerPixel: 3, photometric: 2, rowsPerStrip: 64 };
  return openBytes(buildTiff({ directories: [encodeSamples(plan)] }).bytes);
};

/** Returns a raster of 16 MiB, a quarter of the cache. */
const large = async () => ({ width: 16, height: 1, rgb: new Uint8Array(16 * 2 ** 20) });

describe('the cache of decoded source tiles, from which tiles are rendered', () => {
  it('makes the renderer read each source tile once for five rendered tiles', async () => {
    const slide = await openStrips();
    const read: number[] = [];
    const readTile: Slide['readTile'] = (address, signal) => {
      read.push(address.row);
      return slide.readTile(address, signal);
    };
    const counted = { ...slide, readTile };
    for (let column = 0; column < 5; column++) await renderTile(counted, { dziLevel: 11, column, row: 0 });
    expect(read).toEqual([0, 1, 2, 3]);
  });

  it('caches a tile separately for each slide, tile address and reduction factor', async () => {
    const [slide, otherSlide] = [await openStrips(), await openStrips()];
    const tile = await slide.readTile({ level: 0, column: 0, row: 0 });
    const decode = async () => tile && decodeImage(tile);
    const address = { level: 0, column: 0, row: 0 };
    const first = await cachedTile(slide, address, 1, decode);
    expect((await cachedTile(slide, address, 1, decode)) === first).toBe(true);
    expect((await cachedTile(slide, address, 2, decode)) === first).toBe(false);
    expect((await cachedTile(slide, { ...address, row: 1 }, 1, decode)) === first).toBe(false);
    expect((await cachedTile(otherSlide, address, 1, decode)) === first).toBe(false);
  });

  it('evicts the least recently used tiles first', async () => {
    const slide = await openStrips();
    const at = (row: number) => ({ level: 0, column: 0, row });
    const cached = await cachedTile(slide, at(0), 1, large);
    await cachedTile(slide, at(1), 1, large);
    await cachedTile(slide, at(2), 1, large);
    await cachedTile(slide, at(0), 1, large);
    for (const row of [3, 4, 5]) await cachedTile(slide, at(row), 1, large);
    let decoded = 0;
    const count = () => {
      decoded++;
      return large();
    };
    expect((await cachedTile(slide, at(0), 1, count)) === cached).toBe(true);
    expect(decoded).toBe(0);
    await cachedTile(slide, at(1), 1, count);
    expect(decoded).toBe(1);
  });

  it('caches a tile that is larger than the size limit of the cache until the next tile is added', async () => {
    const slide = await openStrips();
    const huge = async () => ({ width: 16, height: 1, rgb: new Uint8Array(65 * 2 ** 20) });
    const address = { level: 0, column: 0, row: 0 };
    const cached = await cachedTile(slide, address, 1, huge);
    expect((await cachedTile(slide, address, 1, huge)) === cached).toBe(true);
    await cachedTile(slide, { ...address, row: 1 }, 1, huge);
    expect((await cachedTile(slide, address, 1, huge)) === cached).toBe(false);
  });

  it('reads a tile again at the next request after a read returned null because the file does not store the tile', async () => {
    const slide = await openStrips();
    const address = { level: 0, column: 0, row: 0 };
    expect(await cachedTile(slide, address, 1, async () => null)).toBeNull();
    expect(await cachedTile(slide, address, 1, large)).not.toBeNull();
  });
});
