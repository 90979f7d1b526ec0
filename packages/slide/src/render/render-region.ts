/**
 * Rendering of a rectangle of a Deep Zoom level from the tiles of one level of the file. render-pixels.ts calls it.
 *
 * Level 0 of the file has full resolution, and larger numbers mean smaller levels. Deep Zoom level (`dziLevel`) 0 is
 * one pixel, and larger numbers mean larger levels.
 */
import { decodeImage, type Shrink } from '../decode/decode-image.ts';
import { decodeTiles } from '../decode/decode-tiles.ts';
import { cropRaster, type Raster, shrinkRaster } from '../decode/raster.ts';
import { describeDeepZoom, type Region, renderSourceLevel } from '../deep-zoom/deep-zoom.ts';
import type { EncodedImage, Level, Slide } from '../model/slide.ts';
import { BoxAverager } from './box-averager.ts';
import { cachedTile } from './tile-cache.ts';

/** Factors by which a tile can be reduced during decoding, the largest first. */
const shrinks: readonly Shrink[] = [8, 4, 2];
/** Limits of the tiles that are read together. `height`: the maximum height of the JPEG to which `decodeTiles` joins them. */
const BATCH = { tiles: 32, pixels: 2 ** 24, height: 65_535 };

/** A tile in the grid of its level. */
interface TilePosition {
  readonly column: number;
  readonly row: number;
}

/**
 * Renders a rectangle of a Deep Zoom level from the smallest level of the file that is at least as large. If that level has gaps
 * (`Level.hasGaps`), its empty tiles are filled from levels of higher resolution; otherwise, they show the background. Only tiles
 * under the rectangle are read, decoded as small as possible.
 *
 * Memory depends on the rectangle and on the size of a tile, not on the number of tiles.
 *
 * @throws SlideError errors of `Slide.readTile` and of decoding
 */
export async function renderRegion(slide: Slide, region: Region, signal?: AbortSignal): Promise<Raster> {
  const source = renderSourceLevel(slide, region.dziLevel);
  const { reductionX, reductionY } = source; // pixels of the file's level per pixel of the region
  const level = slide.levels[source.level] ?? slide.levels[0];
  const shrink = shrinkFor(level, Math.min(reductionX, reductionY));
  /** Size of the part of the Deep Zoom level that the file's level fills: all of it, or one pixel less along an axis. */
  const filledSize = {
    width: Math.ceil(level.width / reductionX),
    height: Math.ceil(level.height / reductionY),
  };
  // A region that begins beyond the filled part repeats the last pixel of that part, which has to be rendered too.
  const x = Math.min(region.x, filledSize.width - 1);
  const y = Math.min(region.y, filledSize.height - 1);
  const target = { x, y, width: region.x + region.width - x, height: region.y + region.height - y };
  const averager = new BoxAverager(target.width, target.height);

  /** Adds a piece; the averager counts in pixels of `target`. @param part the part of the level that the piece shows */
  const addPiece = (piece: Raster, part: FilledPart) => {
    const left = part.x / reductionX - x;
    const top = part.y / reductionY - y;
    averager.add(piece, left, top, shrink / reductionX, shrink / reductionY);
  };

  /** Fills the position of an empty tile from levels of higher resolution if the level has gaps; otherwise does nothing. */
  const fillGap = async (position: TilePosition) => {
    if (!level.hasGaps) return;
    const pieces = piecesOfGap(slide, source.level, filledPartOf(level, position), signal);
    for await (const { piece, x: pieceX, y: pieceY, width, height } of pieces) {
      const scaleX = width / piece.width / reductionX;
      const scaleY = height / piece.height / reductionY;
      averager.add(piece, pieceX / reductionX - x, pieceY / reductionY - y, scaleX, scaleY);
    }
  };

  const tilePositions = tilesUnder(target, level, reductionX, reductionY);

  /** Reads the tiles one after the other, caches each decoded tile, and adds the part of it that the region covers. */
  const addLargeTiles = async () => {
    for (const position of tilePositions) {
      signal?.throwIfAborted();
      const address = { level: source.level, ...position };
      const piece = await cachedTile(slide, address, shrink, async () => {
        const tile = await slide.readTile(address, signal);
        return tile && decodeFilled(tile, filledPartOf(level, position), shrink);
      });
      if (!piece) {
        await fillGap(position);
        continue;
      }
      const part = filledPartOf(level, position);
      // Pixels of the reduced tile per pixel of the region.
      const [pieceScaleX, pieceScaleY] = [reductionX / shrink, reductionY / shrink];
      const columns = pixelSpan(x * pieceScaleX - part.x / shrink, target.width * pieceScaleX, piece.width);
      const rows = pixelSpan(y * pieceScaleY - part.y / shrink, target.height * pieceScaleY, piece.height);
      const cropped = cropRaster(piece, columns.first, rows.first, columns.count, rows.count);
      addPiece(cropped, { ...part, x: part.x + columns.first * shrink, y: part.y + rows.first * shrink });
    }
  };

  /** Reads tiles in batches. Decodes tiles without padding together, column by column, and padded tiles one by one. */
  const addBatches = async () => {
    for (const batch of batchesOf(tilePositions, level)) {
      signal?.throwIfAborted();
      const tiles = await Promise.all(
        batch.map((position) => slide.readTile({ level: source.level, ...position }, signal)),
      );
      const wholeTiles: TilePosition[] = [];
      const columns: EncodedImage[][] = [];
      for (const [i, position] of batch.entries()) {
        const tile = tiles[i];
        if (!tile) {
          await fillGap(position);
          continue;
        }
        const part = filledPartOf(level, position);
        if (part.isWhole) {
          const previous = wholeTiles.at(-1);
          const isBelowPrevious = previous?.column === position.column && previous.row + 1 === position.row;
          if (isBelowPrevious) columns.at(-1)?.push(tile);
          else columns.push([tile]);
          wholeTiles.push(position);
        } else addPiece(await decodeFilled(tile, part, shrink), part);
      }
      signal?.throwIfAborted();
      const pieces = await decodeTiles(columns, shrink); // in the order of `wholeTiles`
      for (const [i, position] of wholeTiles.entries()) {
        addPiece(pieces[i] as Raster, filledPartOf(level, position));
      }
    }
  };

  await (hasLargeTiles(level, describeDeepZoom(slide).tileSize) ? addLargeTiles() : addBatches());
  const raster = averager.finish(slide.background);
  extendEdges(raster, filledSize.width - x, filledSize.height - y);
  return cropRaster(raster, region.x - x, region.y - y, region.width, region.height);
}

/**
 * Returns the largest factor by which tiles can be reduced to whole pixels during decoding. Factor 2 gives exact means. For the
 * factors 4 and 8 the decoder uses another filter, so they are used only if the averager still reduces by at least 4, which evens
 * out the difference.
 */
function shrinkFor({ tileWidth, tileHeight }: Level, reduction: number): Shrink {
  const canShrink = (shrink: Shrink) => {
    const maxShrink = shrink === 2 ? reduction : reduction / 4;
    return shrink <= maxShrink && tileWidth % shrink === 0 && tileHeight % shrink === 0;
  };
  return shrinks.find(canShrink) ?? 1;
}

/** Pixels of a level of higher resolution, and the rectangle that they fill in the level with the gap. */
interface GapPiece extends Pick<FilledPart, 'x' | 'y' | 'width' | 'height'> {
  readonly piece: Raster;
}

/**
 * Yields pieces for a position where a level has no tile. They come from the level of the next higher resolution or, where
 * that level has a gap too, from the one after it.
 *
 * @param index index of the level with the gap
 * @param gap rectangle in pixels of the level with the gap, like the rectangles of the yielded pieces
 */
async function* piecesOfGap(
  slide: Slide,
  index: number,
  gap: Pick<FilledPart, 'x' | 'y' | 'width' | 'height'>,
  signal?: AbortSignal,
): AsyncGenerator<GapPiece> {
  const [level, larger] = [slide.levels[index], slide.levels[index - 1]]; // `larger`: the next higher resolution
  if (!level || !larger) return;
  const [scaleX, scaleY] = [larger.width / level.width, larger.height / level.height];
  const target = { x: gap.x, y: gap.y, width: gap.width, height: gap.height };
  for (const position of tilesUnder(target, larger, scaleX, scaleY)) {
    signal?.throwIfAborted();
    const part = filledPartOf(larger, position);
    const x = Math.max(part.x, Math.round(gap.x * scaleX));
    const y = Math.max(part.y, Math.round(gap.y * scaleY));
    const width = Math.min(part.x + part.width, Math.round((gap.x + gap.width) * scaleX)) - x;
    const height = Math.min(part.y + part.height, Math.round((gap.y + gap.height) * scaleY)) - y;
    if (width <= 0 || height <= 0) continue;
    /** Converts the rectangle of a piece from pixels of the larger level to pixels of the level with the gap. */
    const toLevel = (gapPiece: GapPiece): GapPiece => ({
      piece: gapPiece.piece,
      x: gapPiece.x / scaleX,
      y: gapPiece.y / scaleY,
      width: gapPiece.width / scaleX,
      height: gapPiece.height / scaleY,
    });
    const tile = await slide.readTile({ level: index - 1, ...position }, signal);
    if (tile) {
      const raster = await decodeFilled(tile, part, 1); // 1: not reduced
      const piece = cropRaster(raster, x - part.x, y - part.y, width, height);
      yield toLevel({ piece, x, y, width, height });
    } else if (larger.hasGaps) {
      for await (const gapPiece of piecesOfGap(slide, index - 1, { x, y, width, height }, signal))
        yield toLevel(gapPiece);
    }
  }
}

/** Whether the tiles of a level, for example strips, are so large that several rendered tiles are cut from each. */
function hasLargeTiles({ tileWidth, tileHeight }: Level, renderedSize: number): boolean {
  return tileWidth > 2 * renderedSize || tileHeight > 2 * renderedSize;
}

/** Decodes the part of a tile that belongs to the image. Padding must not be averaged into the edge of the image. */
async function decodeFilled(tile: EncodedImage, part: FilledPart, shrink: Shrink): Promise<Raster> {
  if (part.isWhole) return decodeImage(tile, shrink);
  const raster = await decodeImage(tile);
  // If padding precedes the image, the image is at the end of the tile. Otherwise it is at the start.
  const left = part.isAfterPadding.left ? raster.width - part.width : 0;
  const top = part.isAfterPadding.top ? raster.height - part.height : 0;
  return shrinkRaster(cropRaster(raster, left, top, part.width, part.height), shrink);
}

/** Returns the whole pixels that an interval touches, at least one, within 0…limit − 1. */
function pixelSpan(start: number, length: number, limit: number): { first: number; count: number } {
  const first = Math.min(Math.max(0, Math.floor(start)), limit - 1);
  const end = Math.max(Math.min(limit, Math.ceil(start + length)), first + 1);
  return { first, count: end - first };
}

/**
 * Yields the tiles of a level that a region touches, column by column, because vertical neighbours are decoded together.
 * `reductionX` and `reductionY` are pixels of `level` per pixel of `region`.
 */
function* tilesUnder(
  region: Omit<Region, 'dziLevel'>,
  level: Level,
  reductionX: number,
  reductionY: number,
): Generator<TilePosition> {
  const { left, top } = level.leadingPadding ?? { left: 0, top: 0 };
  /** First and last tile along one axis. `start` is in pixels of the level, `length` in pixels of the region. */
  const touched = (start: number, length: number, reduction: number, tileSide: number, count: number) => ({
    first: Math.min(Math.floor(start / tileSide), count - 1),
    last: Math.min(Math.ceil((start + length * reduction) / tileSide), count) - 1,
  });
  const columns = touched(
    region.x * reductionX + left,
    region.width,
    reductionX,
    level.tileWidth,
    level.columns,
  );
  const rows = touched(region.y * reductionY + top, region.height, reductionY, level.tileHeight, level.rows);
  for (let column = columns.first; column <= columns.last; column++) {
    for (let row = rows.first; row <= rows.last; row++) yield { column, row };
  }
}

/** Groups tiles into batches within the limits of `BATCH`; a batch has at least one tile. */
function* batchesOf(
  tilePositions: Iterable<TilePosition>,
  { tileWidth, tileHeight }: Level,
): Generator<TilePosition[]> {
  const batchSize = Math.max(
    1,
    Math.min(
      BATCH.tiles,
      Math.floor(BATCH.pixels / (tileWidth * tileHeight)),
      Math.floor(BATCH.height / tileHeight),
    ),
  );
  let batch: TilePosition[] = [];
  for (const position of tilePositions) {
    batch.push(position);
    if (batch.length === batchSize) {
      yield batch;
      batch = [];
    }
  }
  if (batch.length > 0) yield batch;
}

/** The part of a tile that belongs to the image; the rest of an edge tile is padding. */
interface FilledPart {
  /** Rectangle in pixels of the level. */
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  /** Whether the tile has no padding. */
  readonly isWhole: boolean;
  /** Whether padding precedes the part, on the left or above. */
  readonly isAfterPadding: { readonly left: boolean; readonly top: boolean };
}

/** Returns the part of a tile that belongs to the image. */
function filledPartOf(level: Level, { column, row }: TilePosition): FilledPart {
  const { tileWidth, tileHeight } = level;
  const padding = level.leadingPadding ?? { left: 0, top: 0 };
  const left = column * tileWidth - padding.left;
  const top = row * tileHeight - padding.top;
  const [x, y] = [Math.max(0, left), Math.max(0, top)];
  const width = Math.min(left + tileWidth, level.width) - x;
  const height = Math.min(top + tileHeight, level.height) - y;
  return {
    x,
    y,
    width,
    height,
    isWhole: width === tileWidth && height === tileHeight,
    isAfterPadding: { left: left < 0, top: top < 0 },
  };
}

/**
 * Repeats the last filled column and row up to the edges of the raster. Writers round the size of a level down, Deep Zoom
 * rounds it up; therefore the file's level may end one pixel before the Deep Zoom level.
 */
function extendEdges({ width, height, rgb }: Raster, filledWidth: number, filledHeight: number): void {
  const rowBytes = width * 3;
  for (let y = 0; y < height; y++) {
    for (let x = filledWidth; x < width; x++) {
      const target = y * rowBytes + x * 3;
      rgb.copyWithin(target, target - 3, target);
    }
  }
  for (let y = filledHeight; y < height; y++) rgb.copyWithin(y * rowBytes, (y - 1) * rowBytes, y * rowBytes);
}
