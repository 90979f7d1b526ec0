/** The program of the child process that draws one demonstration slide; it is told which one, once. */
import os from 'node:os';
import sharp from 'sharp';
import { createColon } from './colon.ts';
import type { DrawingOrder, DrawingReport } from './drawing-order.ts';
import { createLiver } from './liver.ts';
import { develop, emptiedAt, emptyStainTile, GLASS } from './stain.ts';
import { MICRONS_PER_PIXEL, OBJECTIVE_POWER, type Tissue } from './tissue.ts';
import { TILE_SIZE, writePyramid } from './write-pyramid.ts';

/** Tissue is drawn in squares of this side: what they are drawn with stays in the processor's cache. */
const SQUARE = 256;
/** Pixels around a square that are needed to develop it. */
const MARGIN = 1;

// Requests go first; not the lowest priority, for the first look at the product waits for these slides.
// Threads take over the priority of the one that starts them, so this comes before sharp starts any.
os.setPriority(os.constants.priority.PRIORITY_BELOW_NORMAL);
sharp.concurrency(1);
sharp.cache(false);

const createTissue = { colon: createColon, liver: createLiver } as const satisfies Record<
  DrawingOrder['tissue'],
  (seed: number) => Tissue
>;

async function draw({ file, tissue, seed, part }: DrawingOrder): Promise<void> {
  const { width, height, draw: drawTissue } = createTissue[tissue](seed);
  const seen = part ?? { x: 0, y: 0, width, height };
  const paper = emptyStainTile(0, 0, SQUARE + 2 * MARGIN);
  await writePyramid({
    file,
    width: seen.width,
    height: seen.height,
    micronsPerPixel: MICRONS_PER_PIXEL,
    objectivePower: OBJECTIVE_POWER,
    glass: GLASS,
    drawTile(column, row, makePixels) {
      let pixels: Uint8Array | null = null;
      for (let y = 0; y < TILE_SIZE; y += SQUARE) {
        for (let x = 0; x < TILE_SIZE; x += SQUARE) {
          const left = seen.x + column * TILE_SIZE + x - MARGIN;
          const top = seen.y + row * TILE_SIZE + y - MARGIN;
          const square = emptiedAt(paper, left, top);
          if (!drawTissue(square)) continue;
          pixels ??= makePixels();
          develop(square, pixels, (y * TILE_SIZE + x) * 3, TILE_SIZE * 3);
        }
      }
      return pixels;
    },
    onTile: reporter(),
  });
}

/** Reports every hundredth part. */
function reporter(): (done: number, total: number) => void {
  let reported = 0;
  return (done, total) => {
    const percent = Math.floor((done * 100) / total);
    if (percent === reported) return;
    reported = percent;
    report({ kind: 'progress', percent });
  };
}

function report(message: DrawingReport): void {
  process.send?.(message);
}

// Without the server nobody waits for the slide.
process.once('disconnect', () => process.exit(1));
process.once('message', (order: DrawingOrder) => {
  draw(order).then(
    () => report({ kind: 'done' }),
    (error: unknown) =>
      report({ kind: 'failed', message: error instanceof Error ? error.message : String(error) }),
  );
});
