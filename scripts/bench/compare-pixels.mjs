/** The product's tiles of stored levels against the pixels that OpenSlide reads at the same place. */
import sharp from 'sharp';
import { findPeers } from './peers.mjs';
import { randomFrom, shuffled } from './random.mjs';
import { bigSlide, slideNames } from './slides.mjs';
import { maxLevelOf, tilesOfLevel } from './trace.mjs';

/** Halvings to each level that the slide stores; OpenSlide places those whose size was rounded between our pixels. */
const storedHalvings = [0, 2, 4];

/** @returns how many tiles were compared, and the largest difference of a sample (0…255); null without OpenSlide */
export async function comparePixels(ground, { isQuick }) {
  const { found } = findPeers(ground);
  const [product, reference] = ['product', 'OpenSlide'].map((name) =>
    found.find((peer) => peer.name === name),
  );
  if (reference === undefined) return null;
  const [ours, theirs] = [await product.start(), await reference.start()];
  try {
    let largest = 0;
    let compared = 0;
    for (const [storedLevel, halvings] of storedHalvings.entries()) {
      for (const tile of sampleOf(ground.tileSize, halvings, isQuick ? 10 : 60)) {
        const served = await bytesOf(ours, ours.pathOf(tile));
        const { data, info } = await sharp(served).removeAlpha().raw().toBuffer({ resolveWithObject: true });
        const [x, y] = placeOf(tile).map((number) => number * ground.tileSize * 2 ** halvings);
        const address = `/${slideNames.scan}/${storedLevel}/${x}_${y}_${info.width}_${info.height}.rgb`;
        largest = Math.max(largest, largestDifference(data, await bytesOf(theirs, address)));
        compared += 1;
      }
    }
    return { compared, largest };
  } finally {
    await Promise.all([ours.stop(), theirs.stop()]);
  }
}

/** Tiles from anywhere on the level but its right and bottom edges: those are shorter than the stored ones. */
function sampleOf(tileSize, halvings, count) {
  const slide = { ...bigSlide, tileSize };
  const all = tilesOfLevel(slide, maxLevelOf(slide) - halvings);
  const [lastColumn, lastRow] = placeOf(all.at(-1));
  const inner = all.filter((tile) => {
    const [column, row] = placeOf(tile);
    return column < lastColumn && row < lastRow;
  });
  return shuffled(inner, randomFrom(7)).slice(0, count);
}

/** Column and row of `level/column_row`. */
function placeOf(tile) {
  return tile.split('/')[1].split('_').map(Number);
}

async function bytesOf({ port }, path) {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`);
  if (!answer.ok) throw new Error(`${path.split('?')[0]}: ${answer.status}`);
  return Buffer.from(await answer.arrayBuffer());
}

function largestDifference(one, other) {
  if (one.length !== other.length) return 255;
  let largest = 0;
  for (let i = 0; i < one.length; i += 1) largest = Math.max(largest, Math.abs(one[i] - other[i]));
  return largest;
}
