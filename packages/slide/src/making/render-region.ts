import { decodeImage, type Shrink } from '../decode/decode-image.ts';
import { decodeTiles } from '../decode/decode-tiles.ts';
import { cropRaster, type Raster, shrinkRaster } from '../decode/raster.ts';
import { describeDeepZoom, makingSource, type Region } from '../deep-zoom.ts';
import type { EncodedImage, Level, Slide } from '../slide.ts';
import { BoxAverager } from './box-averager.ts';
import { keptTile } from './kept-tiles.ts';

const shrinks: readonly Shrink[] = [8, 4, 2];
/** Tiles that are read, joined and decoded at once. */
const BATCH = { tiles: 32, pixels: 2 ** 24, rows: 65_535 };

interface TilePlace {
  readonly column: number;
  readonly row: number;
}

/**
 * Pixels of a rectangle of a Deep Zoom level, from the level of the file that is nearest above it: as few of its
 * tiles as cover the rectangle, each decoded as small as that allows.
 *
 * Memory depends on the rectangle and on the size of a tile, not on how many tiles are read.
 *
 * @throws SlideError what `Slide.readTile` and decoding throw
 */
export async function renderRegion(slide: Slide, region: Region, signal?: AbortSignal): Promise<Raster> {
  const source = makingSource(slide, region.dziLevel);
  const { perPixelX, perPixelY } = source;
  const level = slide.levels[source.level] ?? slide.levels[0];
  const shrink = shrinkFor(level, Math.min(perPixelX, perPixelY));
  const filled = {
    width: Math.ceil(level.width / perPixelX),
    height: Math.ceil(level.height / perPixelY),
  };
  // The last pixel of the level, from which a region beyond it goes on, has to be among what is rendered.
  const x = Math.min(region.x, filled.width - 1);
  const y = Math.min(region.y, filled.height - 1);
  const wanted = { x, y, width: region.x + region.width - x, height: region.y + region.height - y };
  const averager = new BoxAverager(wanted.width, wanted.height);

  /** @param part of the level that the piece shows */
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

  const places = tilesUnder(wanted, level, perPixelX, perPixelY);
  if (isMuchLarger(level, describeDeepZoom(slide).tileSize)) {
    for (const place of places) {
      signal?.throwIfAborted();
      const address = { level: source.level, ...place };
      const piece = await keptTile(slide, address, shrink, async () => {
        const tile = await slide.readTile(address, signal);
        return tile && decodeFilled(tile, filledPart(level, place), shrink);
      });
      if (!piece) {
        await fillGap(place);
        continue;
      }
      const part = filledPart(level, place);
      const [across, down] = [perPixelX / shrink, perPixelY / shrink];
      const columns = span(x * across - part.x / shrink, wanted.width * across, piece.width);
      const rows = span(y * down - part.y / shrink, wanted.height * down, piece.height);
      const cut = cropRaster(piece, columns.first, rows.first, columns.count, rows.count);
      add(cut, { ...part, x: part.x + columns.first * shrink, y: part.y + rows.first * shrink });
    }
  } else {
    for (const batch of batchesOf(places, level)) {
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
  }

  const raster = averager.finish(slide.background);
  extendEdges(raster, filled.width - x, filled.height - y);
  return cropRaster(raster, region.x - x, region.y - y, region.width, region.height);
}

/**
 * The most that a tile may be shrunk while it is decoded: to whole pixels, and, where the decoder's way is not the
 * exact mean, so that a step by four is left to the averager, which evens out what the decoder's filter does.
 */
function shrinkFor({ tileWidth, tileHeight }: Level, perPixel: number): Shrink {
  const isExact = (by: Shrink) => by === 2;
  return (
    shrinks.find(
      (by) => by <= (isExact(by) ? perPixel : perPixel / 4) && tileWidth % by === 0 && tileHeight % by === 0,
    ) ?? 1
  );
}

/** What shows a part of a level: pixels of a larger one. */
interface GapPiece extends Pick<Part, 'x' | 'y' | 'width' | 'height'> {
  readonly piece: Raster;
}

/**
 * What belongs where a level has no tile, out of the next larger level, or, where that has none either and may have
 * gaps itself, the one above it.
 *
 * @param gap in pixels of the level, as are the pieces
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
  const wanted = { x: gap.x, y: gap.y, width: gap.width, height: gap.height };
  for (const place of tilesUnder(wanted, above, scaleX, scaleY)) {
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

/** So large that several made tiles are cut from it, as strips are. */
function isMuchLarger({ tileWidth, tileHeight }: Level, madeSize: number): boolean {
  return tileWidth > 2 * madeSize || tileHeight > 2 * madeSize;
}

/** What belongs to the picture; what a writer put beside it must not be averaged into its edge. */
async function decodeFilled(tile: EncodedImage, part: Part, shrink: Shrink): Promise<Raster> {
  if (part.isWhole) return decodeImage(tile, shrink);
  const raster = await decodeImage(tile);
  // Where padding stands on the left or above, a tile that has none begins with the picture.
  const left = part.isAfterPadding.left ? raster.width - part.width : 0;
  const top = part.isAfterPadding.top ? raster.height - part.height : 0;
  return shrinkRaster(cropRaster(raster, left, top, part.width, part.height), shrink);
}

/** Whole pixels of a piece that a stretch of it touches. */
function span(start: number, length: number, limit: number): { first: number; count: number } {
  const first = Math.min(Math.max(0, Math.floor(start)), limit - 1);
  const end = Math.max(Math.min(limit, Math.ceil(start + length)), first + 1);
  return { first, count: end - first };
}

/** Column by column, since neighbours one under the other are decoded in one go. */
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

function* batchesOf(places: Iterable<TilePlace>, { tileWidth, tileHeight }: Level): Generator<TilePlace[]> {
  const size = Math.max(
    1,
    Math.min(
      BATCH.tiles,
      Math.floor(BATCH.pixels / (tileWidth * tileHeight)),
      Math.floor(BATCH.rows / tileHeight),
    ),
  );
  let batch: TilePlace[] = [];
  for (const place of places) {
    batch.push(place);
    if (batch.length === size) {
      yield batch;
      batch = [];
    }
  }
  if (batch.length > 0) yield batch;
}

/** What of a tile belongs to the picture; the rest of a tile at the edges is padding. */
interface Part {
  /** Pixels of the level. */
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly isWhole: boolean;
  /** Whether padding stands before it. */
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

/** Where the file's level ends a pixel before the Deep Zoom level, the last pixel that it has goes on. */
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
