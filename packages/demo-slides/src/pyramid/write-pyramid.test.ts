import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { openSlide } from '@lamina/slide';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TILE_SIZE } from './pyramid-plan.ts';
import { writePyramid } from './write-pyramid.ts';

const width = 1500;
const height = 1100;
const glass = [246, 245, 247] as const;
/** The only tile that is not bare glass: its left half is red, its right half blue. */
const drawnTile = { column: 1, row: 1 };

let folder: string;
let file: string;

beforeAll(async () => {
  folder = await fs.mkdtemp(path.join(os.tmpdir(), 'pyramid-'));
  file = path.join(folder, 'slide.svs');
  await writePyramid({
    file,
    width,
    height,
    micronsPerPixel: 0.25,
    objectivePower: 40,
    glass,
    drawTile(column, row, copyGlassTile) {
      if (column !== drawnTile.column || row !== drawnTile.row) return null;
      const pixels = copyGlassTile();
      for (let i = 0; i < TILE_SIZE * TILE_SIZE; i++) {
        pixels.set(i % TILE_SIZE < TILE_SIZE / 2 ? [200, 40, 40] : [40, 40, 200], i * 3);
      }
      return pixels;
    },
    onTile: () => {},
  });
});

afterAll(() => fs.rm(folder, { recursive: true }));

/** Returns red, green and blue of one pixel of a level. */
async function pixelAt(level: number, x: number, y: number): Promise<number[]> {
  const region = sharp(file, { page: level }).extract({ left: x, top: y, width: 1, height: 1 });
  return [...(await region.removeAlpha().raw().toBuffer())];
}

/** Expects a colour up to the error of JPEG compression: less than 5 of 255 per channel. */
function expectNear(found: readonly number[], colour: readonly number[]): void {
  for (const [channel, value] of colour.entries()) expect(found[channel]).toBeCloseTo(value, -1);
}

describe('writePyramid (writes a tiled image pyramid as an Aperio slide)', () => {
  it('writes an Aperio slide with the given pixel size and objective power, and with three levels of halved size', async () => {
    const slide = await openSlide({ path: file });
    expect(slide).toMatchObject({ format: 'aperio', objectivePower: 40, mpp: { x: 0.25, y: 0.25 } });
    expect(slide.levels.map((level) => [level.width, level.height, level.columns, level.rows])).toEqual([
      [1500, 1100, 3, 3],
      [750, 550, 2, 2],
      [375, 275, 1, 1],
    ]);
    expect(slide.associatedImages.size).toBe(0);
    await slide.close();
  });

  it('writes an ImageDescription in the layout of Aperio which states that the slide is of no patient', async () => {
    const text = await fs.readFile(file, 'latin1');
    expect(text).toContain('Aperio Image Library');
    expect(text).toContain('1500x1100 [0,0 1500x1100] (512x512) JPEG/YCC');
    expect(text).toContain(
      '|AppMag = 40|MPP = 0.2500|Origin = drawn by a program for demonstration, of no patient',
    );
    expect(text).toContain('-> 750x550 JPEG/YCC');
  });

  it('stores in level 0 the pixels that the callback drawTile returns', async () => {
    // The drawn tile begins at x = 512, y = 512; its right half begins at x = 768.
    expectNear(await pixelAt(0, 100, 100), glass);
    expectNear(await pixelAt(0, 600, 600), [200, 40, 40]);
    expectNear(await pixelAt(0, 1000, 1000), [40, 40, 200]);
  });

  it('stores in level 2, which has a quarter of the width and height, the colours of level 0 at the corresponding positions', async () => {
    // On level 2, a quarter of the size, the drawn tile begins at x = 128, y = 128; its right half begins at x = 192.
    expectNear(await pixelAt(2, 25, 25), glass);
    expectNear(await pixelAt(2, 150, 150), [200, 40, 40]);
    expectNear(await pixelAt(2, 230, 230), [40, 40, 200]);
  });

  it('stores one JPEG for all tiles of bare glass (tiles for which drawTile returns null)', async () => {
    const slide = await openSlide({ path: file });
    const glassTile = await slide.readTile({ level: 0, column: 0, row: 0 });
    const otherGlassTile = await slide.readTile({ level: 1, column: 1, row: 1 });
    expect(otherGlassTile?.bytes).toEqual(glassTile?.bytes);
    await slide.close();
    // One tile of glass, one drawn tile on three levels, tables and directories.
    expect((await fs.stat(file)).size).toBeLessThan(40_000);
  });
});

describe('writePyramid (writes a tiled image pyramid as an Aperio slide) when the callback drawTile throws', () => {
  it('rejects with the error of drawTile', async () => {
    const fault = new Error('no ink');
    const writing = writePyramid({
      file: path.join(folder, 'fault.svs'),
      width,
      height,
      micronsPerPixel: 0.25,
      objectivePower: 40,
      glass,
      drawTile: () => {
        throw fault;
      },
      onTile: () => {},
    });
    await expect(writing).rejects.toBe(fault);
  });
});
