import { decodeImage, type Shrink } from '../decode/decode-image.ts';
import { decodeTiles } from '../decode/decode-tiles.ts';
import { cropRaster, type Raster, shrinkRaster } from '../decode/raster.ts';
import { describeDeepZoom, type Region, renderSourceLevel } from '../deep-zoom/deep-zoom.ts';
import type { EncodedImage, Level, Slide } from '../model/slide.ts';
import { BoxAverager } from './box-averager.ts';
import { cachedTile } from './tile-cache.ts';

const shrinks: readonly Shrink[] = [8, 4, 2];
/** Limits of the tiles that are read and decoded together. */
const BATCH = { tiles: 32, pixels: 2 ** 24, rows: 65_535 };

interface TilePlace {
  readonly column: number;
  readonly row: number;
}

/**
 * Renders a rectangle of a Deep Zoom level from the file's next larger level. It reads only the tiles that
 * cover the rectangle and decodes each as small as possible.
 *
 * Memory depends on the rectangle and on the size of a tile, not on the number of tiles.
 *
 * @throws SlideError errors of `Slide.readTile` and of decoding
 */
export async function renderRegion(slide: Slide, region: Region, signal?: AbortSignal): Promise<Raster> {
  const source = renderSourceLevel(slide, region.dziLevel);
  const { perPixelX, perPixelY } = source;
  const level = slide.levels[source.level] ?? slide.levels[0];
  const shrink = shrinkFor(level, Math.min(perPixelX, perPixelY));
  const filled = {
    width: Math.ceil(level.width / perPixelX),
    height: Math.ceil(level.height / perPixelY),
  };
  // A region beyond the level repeats the level's last pixel, so that pixel has to be rendered.
  const x = Math.min(region.x, filled.width - 1);
  const y = Math.min(region.y, filled.height - 1);
  const target = { x, y, width: region.x + region.width - x, height: region.y + region.height - y };
  const averager = new BoxAverager(target.width, target.height);

  /** @param part the part of the level that the piece shows */
  const add = (piece: Raster, part: Part) => {
    const left = part.x / perPixelX - x;
    const top = part.y / perPixelY - y;
    averager.add(piece, left, top, shrink / perPixelX, shrink / perPixelY);
  };

  const fillGap = async (place: TilePlace) => {
    if (!level.hasGaps) return;
    const part = filledPart(level, place);
    for await (const { piece, x: left, y: top, width, height } of piecesOfGap(
      slide,
      source.level,
      part,
      signal,
    )) {
      const scaleX = width / piece.width / perPixelX;
      const scaleY = height / piece.height / perPixelY;
      averager.add(piece, left / perPixelX - x, top / perPixelY - y, scaleX, scaleY);
    }
  };

  const tilePlaces = tilesUnder(target, level, perPixelX, perPixelY);

  /** Reads one tile after the other, keeps each decoded, and cuts the region out of it. */
  const addLargeTiles = async () => {
    for (const place of tilePlaces) {
      signal?.throwIfAborted();
      const address = { level: source.level, ...place };
      const piece = await cachedTile(slide, address, shrink, async () => {
        const tile = await slide.readTile(address, signal);
        return tile && decodeFilled(tile, filledPart(level, place), shrink);
      });
      if (!piece) {
        await fillGap(place);
        continue;
      }
      const part = filledPart(level, place);
      const [across, down] = [perPixelX / shrink, perPixelY / shrink];
      const columns = span(x * across - part.x / shrink, target.width * across, piece.width);
      const rows = span(y * down - part.y / shrink, target.height * down, piece.height);
      const cut = cropRaster(piece, columns.first, rows.first, columns.count, rows.count);
      add(cut, { ...part, x: part.x + columns.first * shrink, y: part.y + rows.first * shrink });
    }
  };

  /** Reads tiles together, and decodes whole tiles of a column in one pass. */
  const addBatches = async () => {
    for (const batch of batchesOf(tilePlaces, level)) {
      signal?.throwIfAborted();
      const tiles = await Promise.all(
        batch.map((place) => slide.readTile({ level: source.level, ...place }, signal)),
      );
      const whole: TilePlace[] = [];
      const columns: EncodedImage[][] = [];
      for (const [i, place] of batch.entries()) {
        const tile = tiles[i];
        if (!tile) {
          await fillGap(place);
          continue;
        }
        const part = filledPart(level, place);
        if (part.isWhole) {
          const above = whole.at(-1);
          const isBelow = above?.column === place.column && above.row + 1 === place.row;
          if (isBelow) columns.at(-1)?.push(tile);
          else columns.push([tile]);
          whole.push(place);
        } else add(await decodeFilled(tile, part, shrink), part);
      }
      signal?.throwIfAborted();
      const pieces = await decodeTiles(columns, shrink);
      for (const [i, place] of whole.entries()) add(pieces[i] as Raster, filledPart(level, place));
    }
  };

  await (isMuchLarger(level, describeDeepZoom(slide).tileSize) ? addLargeTiles() : addBatches());
  const raster = averager.finish(slide.background);
  extendEdges(raster, filled.width - x, filled.height - y);
  return cropRaster(raster, region.x - x, region.y - y, region.width, region.height);
}

/**
 * The largest reduction during decoding that yields whole pixels. Only halving is the decoder's exact mean;
 * for larger reductions a factor of four is left to the averager, which evens out the decoder's filter.
 */
function shrinkFor({ tileWidth, tileHeight }: Level, perPixel: number): Shrink {
  const isExact = (by: Shrink) => by === 2;
  return (
    shrinks.find(
      (by) => by <= (isExact(by) ? perPixel : perPixel / 4) && tileWidth % by === 0 && tileHeight % by === 0,
    ) ?? 1
  );
}

/** Pixels of a larger level that fill a part of this level. */
interface GapPiece extends Pick<Part, 'x' | 'y' | 'width' | 'height'> {
  readonly piece: Raster;
}

/**
 * Yields pieces for a place where a level has no tile: from the next larger level, or, where that has a gap
 * too, from the level above it.
 *
 * @param gap in pixels of the level, like the pieces
 */
async function* piecesOfGap(
  slide: Slide,
  index: number,
  gap: Pick<Part, 'x' | 'y' | 'width' | 'height'>,
  signal?: AbortSignal,
): AsyncGenerator<GapPiece> {
  const [level, above] = [slide.levels[index], slide.levels[index - 1]];
  if (!level || !above) return;
  const [scaleX, scaleY] = [above.width / level.width, above.height / level.height];
  const target = { x: gap.x, y: gap.y, width: gap.width, height: gap.height };
  for (const place of tilesUnder(target, above, scaleX, scaleY)) {
    signal?.throwIfAborted();
    const part = filledPart(above, place);
    const x = Math.max(part.x, Math.round(gap.x * scaleX));
    const y = Math.max(part.y, Math.round(gap.y * scaleY));
    const width = Math.min(part.x + part.width, Math.round((gap.x + gap.width) * scaleX)) - x;
    const height = Math.min(part.y + part.height, Math.round((gap.y + gap.height) * scaleY)) - y;
    if (width <= 0 || height <= 0) continue;
    const toLevel = (piece: GapPiece): GapPiece => ({
      piece: piece.piece,
      x: piece.x / scaleX,
      y: piece.y / scaleY,
      width: piece.width / scaleX,
      height: piece.height / scaleY,
    });
    const tile = await slide.readTile({ level: index - 1, ...place }, signal);
    if (tile) {
      const raster = await decodeFilled(tile, part, 1);
      const piece = cropRaster(raster, x - part.x, y - part.y, width, height);
      yield toLevel({ piece, x, y, width, height });
    } else if (above.hasGaps) {
      for await (const piece of piecesOfGap(slide, index - 1, { x, y, width, height }, signal))
        yield toLevel(piece);
    }
  }
}

/** Whether a tile is so large that several rendered tiles are cut from it, as from strips. */
function isMuchLarger({ tileWidth, tileHeight }: Level, renderedSize: number): boolean {
  return tileWidth > 2 * renderedSize || tileHeight > 2 * renderedSize;
}

/**
 * Decodes the part of a tile that belongs to the picture. Padding must not be averaged into the picture's
 * edge.
 */
async function decodeFilled(tile: EncodedImage, part: Part, shrink: Shrink): Promise<Raster> {
  if (part.isWhole) return decodeImage(tile, shrink);
  const raster = await decodeImage(tile);
  // Padding on the left or above is absent in a tile that starts with the picture.
  const left = part.isAfterPadding.left ? raster.width - part.width : 0;
  const top = part.isAfterPadding.top ? raster.height - part.height : 0;
  return shrinkRaster(cropRaster(raster, left, top, part.width, part.height), shrink);
}

/** The whole pixels of a piece that an interval touches. */
function span(start: number, length: number, limit: number): { first: number; count: number } {
  const first = Math.min(Math.max(0, Math.floor(start)), limit - 1);
  const end = Math.max(Math.min(limit, Math.ceil(start + length)), first + 1);
  return { first, count: end - first };
}

/**
 * Yields the tiles that a region touches, column by column, because vertical neighbours are decoded together.
 */
function* tilesUnder(
  region: Omit<Region, 'dziLevel'>,
  level: Level,
  perPixelX: number,
  perPixelY: number,
): Generator<TilePlace> {
  const { left, top } = level.outside ?? { left: 0, top: 0 };
  const touched = (start: number, length: number, perPixel: number, tileSide: number, count: number) => ({
    first: Math.min(Math.floor(start / tileSide), count - 1),
    last: Math.min(Math.ceil((start + length * perPixel) / tileSide), count) - 1,
  });
  const columns = touched(
    region.x * perPixelX + left,
    region.width,
    perPixelX,
    level.tileWidth,
    level.columns,
  );
  const rows = touched(region.y * perPixelY + top, region.height, perPixelY, level.tileHeight, level.rows);
  for (let column = columns.first; column <= columns.last; column++) {
    for (let row = rows.first; row <= rows.last; row++) yield { column, row };
  }
}

function* batchesOf(
  tilePlaces: Iterable<TilePlace>,
  { tileWidth, tileHeight }: Level,
): Generator<TilePlace[]> {
  const size = Math.max(
    1,
    Math.min(
      BATCH.tiles,
      Math.floor(BATCH.pixels / (tileWidth * tileHeight)),
      Math.floor(BATCH.rows / tileHeight),
    ),
  );
  let batch: TilePlace[] = [];
  for (const place of tilePlaces) {
    batch.push(place);
    if (batch.length === size) {
      yield batch;
      batch = [];
    }
  }
  if (batch.length > 0) yield batch;
}

/** The part of a tile that belongs to the picture; the rest of an edge tile is padding. */
interface Part {
  /** Pixels of the level. */
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly isWhole: boolean;
  /** Whether padding precedes it. */
  readonly isAfterPadding: { readonly left: boolean; readonly top: boolean };
}

function filledPart(level: Level, { column, row }: TilePlace): Part {
  const { tileWidth, tileHeight } = level;
  const outside = level.outside ?? { left: 0, top: 0 };
  const left = column * tileWidth - outside.left;
  const top = row * tileHeight - outside.top;
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

/** Repeats the level's last pixels where it ends one pixel before the Deep Zoom level. */
function extendEdges({ width, height, rgb }: Raster, filledWidth: number, filledHeight: number): void {
  const rowBytes = width * 3;
  for (let y = 0; y < height; y++) {
    for (let x = filledWidth; x < width; x++) {
      const at = y * rowBytes + x * 3;
      rgb.copyWithin(at, at - 3, at);
    }
  }
  for (let y = filledHeight; y < height; y++) rgb.copyWithin(y * rowBytes, (y - 1) * rowBytes, y * rowBytes);
}
