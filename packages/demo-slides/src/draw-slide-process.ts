/** Child process that draws one demonstration slide: receives a DrawRequest, sends DrawReports, and is killed after the last of them. */
import fs from 'node:fs/promises';
import os from 'node:os';
import sharp from 'sharp';
import { createColon } from './colon/colon.ts';
import { createLiver } from './liver/liver.ts';
import type { DrawReport, DrawRequest } from './process-messages.ts';
import { TILE_SIZE } from './pyramid/pyramid-plan.ts';
import { writePyramid } from './pyramid/write-pyramid.ts';
import { encodeCellsFile, encodeHeatmapFile, isVisible } from './results/demo-results.ts';
import { emptyStainTile, GLASS, renderRgb, reuseStainTile } from './stain/stain.ts';
import type { DrawnCell } from './structures/drawn-cell.ts';
import { MICRONS_PER_PIXEL, OBJECTIVE_POWER, type Tissue } from './structures/palette.ts';

/** A tile is drawn in squares of this side (pixels), small enough that their stain amounts fit into the CPU cache. */
const SQUARE = 256;
/** Pixels around a square that are drawn, too, because the blur of `renderRgb` needs them. */
const MARGIN = 1;

// The priority is lower than the server's but not the lowest, because the operator waits for these slides on the first start.
// Threads inherit the priority of the thread that starts them, so this must run before sharp starts threads.
os.setPriority(os.constants.priority.PRIORITY_BELOW_NORMAL);
// The process only encodes images, so all decoders of libvips (the library behind sharp) are blocked.
sharp.block({ operation: ['VipsForeignLoad'] });
sharp.concurrency(1); // one thread per operation
sharp.cache(false); // no operation is repeated

const createTissue = { colon: createColon, liver: createLiver } as const satisfies Record<
  DrawRequest['tissue'],
  (seed: number) => Tissue
>;

async function draw({ file, tissue, seed, part, results }: DrawRequest): Promise<void> {
  const { width, height, draw: drawTissue } = createTissue[tissue](seed);
  const drawnPart = part ?? { x: 0, y: 0, width, height };
  const visibleCells: DrawnCell[] = [];
  const scratch = emptyStainTile(0, 0, SQUARE + 2 * MARGIN);
  await writePyramid({
    file,
    width: drawnPart.width,
    height: drawnPart.height,
    micronsPerPixel: MICRONS_PER_PIXEL,
    objectivePower: OBJECTIVE_POWER,
    glass: GLASS,
    drawTile(column, row, copyGlassTile) {
      let pixels: Uint8Array | null = null;
      for (let y = 0; y < TILE_SIZE; y += SQUARE) {
        for (let x = 0; x < TILE_SIZE; x += SQUARE) {
          const left = drawnPart.x + column * TILE_SIZE + x - MARGIN;
          const top = drawnPart.y + row * TILE_SIZE + y - MARGIN;
          const square = reuseStainTile(scratch, left, top);
          const cells: DrawnCell[] = [];
          if (!drawTissue(square, (cell) => cells.push(cell))) continue; // bare glass
          // Adjacent squares report the same cells near their common edge; only the square with the centre of a cell counts it.
          visibleCells.push(...cells.filter((cell) => isVisible(square, cell, MARGIN)));
          pixels ??= copyGlassTile();
          renderRgb(square, pixels, (y * TILE_SIZE + x) * 3, TILE_SIZE * 3); // first byte, bytes per row
        }
      }
      return pixels;
    },
    onTile: createProgressReporter(),
  });
  if (results === null) return;
  await fs.writeFile(results.cells, await encodeCellsFile(visibleCells, drawnPart));
  await fs.writeFile(results.heatmap, await encodeHeatmapFile(visibleCells, drawnPart));
}

/** Returns a function that reports progress whenever another percent of the tiles is drawn. */
function createProgressReporter(): (drawnTiles: number, totalTiles: number) => void {
  let reportedPercent = 0;
  return (drawnTiles, totalTiles) => {
    const percent = Math.floor((drawnTiles * 100) / totalTiles);
    if (percent === reportedPercent) return;
    reportedPercent = percent;
    report({ kind: 'progress', percent });
  };
}

function report(message: DrawReport): void {
  process.send?.(message);
}

// A disconnect means that the server has ended, so the slide is not needed any more.
process.once('disconnect', () => process.exit(1));
process.once('message', (request: DrawRequest) => {
  draw(request).then(
    () => report({ kind: 'done' }),
    (error: unknown) =>
      report({ kind: 'failed', message: error instanceof Error ? error.message : String(error) }),
  );
});
