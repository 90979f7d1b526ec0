/**
 * Creates the picture of a screenshot: draws the visible field of the slide at a chosen magnification, from tiles that it loads
 * for this purpose. It yields the picture as horizontal strips, so that large pictures need little memory and the page stays
 * responsive.
 */
import { adjustPixels, isAsScanned } from '../colours/adjustment.ts';
import { applyTable } from '../colours/apply-table.ts';
import { type DeepZoomDescriptor, maxLevelOf, minLevelOf } from '../descriptor.ts';
import { type Placement, toImage, toScreen } from '../overlay/placement.ts';
import { drawQuad } from '../renderer/canvas-painter.ts';
import { decode } from '../renderer/decode.ts';
import { exactPlacement } from '../renderer/exact-placement.ts';
import type { DrawnColours } from '../renderer/webgl-painter.ts';

/** Pixels of a strip: about 4 MB, and less than 0.1 s of work without a pause. */
const stripPixels = 1_000_000;
/** Number of tiles that are loaded at the same time. */
const concurrentLoads = 6;
const background = '#ffffff';
/** The part of a tile to draw: all of it, as fractions of its width and height. */
const wholeTile = [0, 0, 1, 1] as const;

/** A tile of the Deep Zoom image: the largest level is full resolution; columns and rows are counted from 0. */
interface TilePosition {
  readonly level: number;
  readonly column: number;
  readonly row: number;
}

export interface CaptureOptions {
  readonly descriptor: DeepZoomDescriptor;
  /** Converts image pixels to CSS pixels of the viewer. */
  readonly placement: Placement;
  /** Size of the viewer in CSS pixels. */
  readonly size: { readonly width: number; readonly height: number };
  /** Pixels of the picture per CSS pixel. */
  readonly ratio: number;
  /** The colour adjustment and the colour table (of the ICC profile) that the view applies. */
  readonly colours: DrawnColours;
  /** Loads a compressed tile. */
  readonly load: (tile: TilePosition) => Promise<Blob>;
  readonly signal: AbortSignal;
}

/** A horizontal strip of the picture. */
export interface Strip {
  /** First row of the strip in the picture. */
  readonly top: number;
  /** As wide as the picture; the last strip may have fewer rows than the others. */
  readonly canvas: OffscreenCanvas;
  readonly context: OffscreenCanvasRenderingContext2D;
}

/** Returns the size of the picture in its pixels. */
export function captureSizeOf({ size, ratio }: Pick<CaptureOptions, 'size' | 'ratio'>): {
  readonly width: number;
  readonly height: number;
} {
  return { width: Math.round(size.width * ratio), height: Math.round(size.height * ratio) };
}

/** Yields the strips of the picture from top to bottom. @throws the error of `load`, or the reason of the abort */
export async function* captureStrips(options: CaptureOptions): AsyncGenerator<Strip> {
  const { width, height } = captureSizeOf(options);
  const placement = placementOfPicture(options, { width, height });
  const rowsPerStrip = Math.max(1, Math.floor(stripPixels / width));
  for (let top = 0; top < height; top += rowsPerStrip) {
    options.signal.throwIfAborted();
    const canvas = new OffscreenCanvas(width, Math.min(rowsPerStrip, height - top));
    const context = canvas.getContext('2d', { willReadFrequently: true });
    if (context === null) throw new Error('This browser does not support 2D canvas.');
    context.fillStyle = background;
    context.fillRect(0, 0, canvas.width, canvas.height);
    await drawTiles(context, { ...placement, f: placement.f - top }, options);
    applyColours(context, options.colours);
    yield { top, canvas, context };
  }
}

/** Returns the placement that converts image pixels to pixels of the picture. */
function placementOfPicture(
  { placement, ratio }: CaptureOptions,
  size: { readonly width: number; readonly height: number },
): Placement {
  const { a, b, c, d, e, f } = placement;
  const scaled = { a: a * ratio, b: b * ratio, c: c * ratio, d: d * ratio, e: e * ratio, f: f * ratio };
  // At native magnification, `exactPlacement` aligns the tiles with the pixels of the picture, so that they are copied unchanged.
  return exactPlacement(scaled, size) ?? scaled;
}

/** Loads and draws the tiles of a strip. @param placement converts image pixels to pixels of the strip */
async function drawTiles(
  context: OffscreenCanvasRenderingContext2D,
  placement: Placement,
  { descriptor, load, signal }: CaptureOptions,
): Promise<void> {
  const waitingTiles = tilesOfStrip(descriptor, placement, context.canvas);
  /** Returns how many pixels at full resolution one pixel of the level covers in each direction. */
  const scaleOf = (level: number) => 2 ** (maxLevelOf(descriptor) - level);
  const drawWaitingTiles = async () => {
    for (let tile = waitingTiles.shift(); tile !== undefined; tile = waitingTiles.shift()) {
      const bitmap = await decode(await load(tile));
      signal.throwIfAborted();
      const scale = scaleOf(tile.level);
      // Tiles after the first one begin with the pixels that they share with their neighbour (the overlap).
      const startOf = (columnOrRow: number) =>
        (columnOrRow * descriptor.tileSize - (columnOrRow > 0 ? descriptor.overlap : 0)) * scale;
      const [left, top] = [startOf(tile.column), startOf(tile.row)];
      const [right, bottom] = [left + bitmap.width * scale, top + bitmap.height * scale];
      const corners = [
        { x: left, y: top },
        { x: right, y: top },
        { x: left, y: bottom },
        { x: right, y: bottom },
      ].flatMap((corner) => {
        const { x, y } = toScreen(placement, corner);
        return [x, y];
      });
      const { width, height } = bitmap;
      // Whether each tile pixel is one pixel of the picture: `exactPlacement` has then rounded the coefficients to integers.
      const isExact = Number.isInteger(placement.a) && Number.isInteger(placement.b) && scale === 1;
      drawQuad(
        context,
        { picture: { bitmap, width, height }, corners, part: wholeTile, opacity: 1, isExact },
        placement,
      );
      bitmap.close();
    }
  };
  await Promise.all(Array.from({ length: concurrentLoads }, drawWaitingTiles));
  context.setTransform(1, 0, 0, 1, 0, 0);
}

/** Returns the tiles of a strip, from the coarsest level whose resolution is at least that of the picture. */
export function tilesOfStrip(
  descriptor: DeepZoomDescriptor,
  placement: Placement,
  strip: { readonly width: number; readonly height: number },
): TilePosition[] {
  const { width, height, tileSize } = descriptor;
  const maxLevel = maxLevelOf(descriptor);
  const zoom = Math.hypot(placement.a, placement.b);
  // Without the tolerance, a rounding error in the zoom could select the next finer level.
  const tolerance = 1e-6;
  const level = Math.max(
    minLevelOf(descriptor.tileSize, maxLevel),
    Math.min(maxLevel, Math.ceil(maxLevel + Math.log2(zoom) - tolerance)),
  );
  const tileSideAtFullResolution = tileSize * 2 ** (maxLevel - level);
  const corners = [
    { x: 0, y: 0 },
    { x: strip.width, y: 0 },
    { x: 0, y: strip.height },
    { x: strip.width, y: strip.height },
  ].map((corner) => toImage(placement, corner));
  /** Returns the columns or rows of the tiles that contain these coordinates or lie between them. */
  const indicesAround = (coordinates: readonly number[], slideLength: number) => {
    const first = Math.max(0, Math.floor(Math.min(...coordinates) / tileSideAtFullResolution));
    const last =
      Math.min(
        Math.ceil(slideLength / tileSideAtFullResolution),
        Math.ceil(Math.max(...coordinates) / tileSideAtFullResolution),
      ) - 1;
    return Array.from({ length: Math.max(0, last - first + 1) }, (_, offset) => first + offset);
  };
  const columns = indicesAround(
    corners.map(({ x }) => x),
    width,
  );
  const rows = indicesAround(
    corners.map(({ y }) => y),
    height,
  );
  return rows.flatMap((row) => columns.map((column) => ({ level, column, row })));
}

function applyColours(context: OffscreenCanvasRenderingContext2D, { adjustment, table }: DrawnColours): void {
  if (table === null && isAsScanned(adjustment)) return;
  const image = context.getImageData(0, 0, context.canvas.width, context.canvas.height);
  if (table !== null) applyTable(image.data, table);
  if (!isAsScanned(adjustment)) adjustPixels(image.data, adjustment);
  context.putImageData(image, 0, 0);
}
