/**
 * A comparison of the pixels of native tiles (sent as the file stores them) with those that OpenSlide reads at the same
 * position.
 */
import sharp from 'sharp';
import type { BenchEnvironment, BenchOptions } from '../environment.ts';
import { randomFrom, shuffled } from '../load/random.ts';
import { maxLevelOf, tilesOfLevel } from '../load/trace.ts';
import { bigSlide, slideNames } from '../slides/slides.ts';
import { findServers, type RunningServer } from './peers.ts';

/**
 * The compared levels of the slide, by the number of halvings from full resolution (downsamples 1, 4 and 16). Smaller levels are
 * not compared, because their sizes are rounded, which shifts the pixels that OpenSlide reads.
 */
const comparedHalvings = [0, 2, 4];

/**
 * Compares random tiles of the product with OpenSlide.
 *
 * @returns the number of compared tiles and the largest difference of a sample (0 to 255); null when OpenSlide is not installed
 */
export async function comparePixels(
  environment: BenchEnvironment,
  { isQuick }: Pick<BenchOptions, 'isQuick'>,
): Promise<{ compared: number; largest: number } | null> {
  const { found } = findServers(environment);
  const product = found.find(({ name }) => name === 'product');
  const openSlide = found.find(({ name }) => name === 'OpenSlide');
  if (product === undefined || openSlide === undefined) return null;
  const runningProduct = await product.start();
  const runningOpenSlide = await openSlide.start();
  try {
    let largest = 0;
    let compared = 0;
    // `level` is the number of the level in the file, with which OpenSlide addresses it.
    for (const [level, halvings] of comparedHalvings.entries()) {
      for (const tile of chooseTiles(environment.tileSize, halvings, isQuick ? 10 : 60)) {
        const served = await fetchBytes(runningProduct, runningProduct.pathOf(tile));
        const { data, info } = await sharp(served).removeAlpha().raw().toBuffer({ resolveWithObject: true });
        const tileSideAtFullResolution = environment.tileSize * 2 ** halvings;
        const [x, y] = positionOf(tile).map((index) => index * tileSideAtFullResolution);
        const path = `/${slideNames.scan}/${level}/${x}_${y}_${info.width}_${info.height}.rgb`;
        largest = Math.max(largest, largestDifference(data, await fetchBytes(runningOpenSlide, path)));
        compared += 1;
      }
    }
    return { compared, largest };
  } finally {
    await Promise.all([runningProduct.stop(), runningOpenSlide.stop()]);
  }
}

/** Returns random tiles of a level, except those at its right and bottom edges, which are smaller than native tiles. */
function chooseTiles(tileSize: number, halvings: number, count: number): string[] {
  const slide = { ...bigSlide, tileSize };
  const tiles = tilesOfLevel(slide, maxLevelOf(slide) - halvings);
  const [lastColumn, lastRow] = positionOf(tiles.at(-1) ?? '');
  const innerTiles = tiles.filter((tile) => {
    const [column, row] = positionOf(tile);
    return column < lastColumn && row < lastRow;
  });
  const random = randomFrom(7); // a fixed seed: the same tiles in every run
  return shuffled(innerTiles, random).slice(0, count);
}

/** Returns the column and row of a tile. @param tile `level/column_row` */
function positionOf(tile: string): [column: number, row: number] {
  const [, column, row] = /^\d+\/(\d+)_(\d+)$/.exec(tile) ?? [];
  return [Number(column), Number(row)];
}

/** Requests a path of a server and returns the response body. */
async function fetchBytes({ port }: RunningServer, path: string): Promise<Buffer> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`);
  const [pathWithoutSession] = path.split('?');
  if (!response.ok) throw new Error(`${pathWithoutSession}: ${response.status}`);
  return Buffer.from(await response.arrayBuffer());
}

/** Returns the largest difference between a sample and the expected one; 255 when the pictures differ in size. */
function largestDifference(actual: Uint8Array, expected: Uint8Array): number {
  if (actual.length !== expected.length) return 255;
  return actual.reduce((largest, sample, i) => Math.max(largest, Math.abs(sample - (expected[i] ?? 0))), 0);
}
