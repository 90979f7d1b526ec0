/** Child process that draws one demonstration slide. It gets one DrawRequest and responds with DrawReports. */
import fs from 'node:fs/promises';
import os from 'node:os';
import sharp from 'sharp';
import { createColon } from './colon/colon.ts';
import { createLiver } from './liver/liver.ts';
import type { DrawReport, DrawRequest } from './process-messages.ts';
import { TILE_SIZE } from './pyramid/pyramid-plan.ts';
import { writePyramid } from './pyramid/write-pyramid.ts';
import { cellsFile, heatmapFile, isVisible } from './results/demo-results.ts';
import { clearedAt, emptyStainTile, GLASS, renderRgb } from './stain/stain.ts';
import type { DrawnCell } from './structures/drawn-cell.ts';
import { MICRONS_PER_PIXEL, OBJECTIVE_POWER, type Tissue } from './structures/palette.ts';

/** Side of the squares in which tissue is drawn, in pixels: their stain planes fit into the CPU cache. */
const SQUARE = 256;
/** Pixels around a square that the blur of `renderRgb` needs. */
const MARGIN = 1;

// Below the server's priority, but not the lowest: on the first start a person waits for these slides. Threads inherit
// the priority of the thread that starts them, so this must run before sharp starts threads.
os.setPriority(os.constants.priority.PRIORITY_BELOW_NORMAL);
// It only encodes: no decoder of libvips is needed.
sharp.block({ operation: ['VipsForeignLoad'] });
sharp.concurrency(1);
sharp.cache(false);

const createTissue = { colon: createColon, liver: createLiver } as const satisfies Record<
  DrawRequest['tissue'],
  (seed: number) => Tissue
>;

async function draw({ file, tissue, seed, part, results }: DrawRequest): Promise<void> {
  const { width, height, draw: drawTissue } = createTissue[tissue](seed);
  const seen = part ?? { x: 0, y: 0, width, height };
  const cells: DrawnCell[] = [];
  const scratch = emptyStainTile(0, 0, SQUARE + 2 * MARGIN);
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
          const square = clearedAt(scratch, left, top);
          const drawn: DrawnCell[] = [];
          if (!drawTissue(square, (cell) => drawn.push(cell))) continue;
          cells.push(...drawn.filter((cell) => isVisible(square, cell, MARGIN)));
          pixels ??= makePixels();
          renderRgb(square, pixels, (y * TILE_SIZE + x) * 3, TILE_SIZE * 3);
        }
      }
      return pixels;
    },
    onTile: createProgressReporter(),
  });
  if (results === null) return;
  await fs.writeFile(results.cells, await cellsFile(cells, seen));
  await fs.writeFile(results.heatmap, await heatmapFile(cells, seen));
}

/** Returns a function that reports each full percent. */
function createProgressReporter(): (done: number, total: number) => void {
  let reported = 0;
  return (done, total) => {
    const percent = Math.floor((done * 100) / total);
    if (percent === reported) return;
    reported = percent;
    report({ kind: 'progress', percent });
  };
}

function report(message: DrawReport): void {
  process.send?.(message);
}

// The server has ended: the slide is not needed any more.
process.once('disconnect', () => process.exit(1));
process.once('message', (order: DrawRequest) => {
  draw(order).then(
    () => report({ kind: 'done' }),
    (error: unknown) =>
      report({ kind: 'failed', message: error instanceof Error ? error.message : String(error) }),
  );
});
