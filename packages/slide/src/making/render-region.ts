import { decodeImage, type Shrink } from '../decode/decode-image.ts';
import { decodeTiles } from '../decode/decode-tiles.ts';
import { cropRaster, type Raster, shrinkRaster } from '../decode/raster.ts';
import { makingSource, type Region } from '../deep-zoom.ts';
import type { EncodedImage, Level, Slide } from '../slide.ts';
import { BoxAverager } from './box-averager.ts';

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

  const add = (piece: Raster, { column, row }: TilePlace) => {
    const left = (column * level.tileWidth) / perPixelX - x;
    const top = (row * level.tileHeight) / perPixelY - y;
    averager.add(piece, left, top, shrink / perPixelX, shrink / perPixelY);
  };

  for (const batch of batchesOf(tilesUnder(wanted, level, perPixelX, perPixelY), level)) {
    signal?.throwIfAborted();
    const tiles = await Promise.all(
      batch.map(({ column, row }) => slide.readTile({ level: source.level, column, row }, signal)),
    );
    const places: TilePlace[] = [];
    const columns: EncodedImage[][] = [];
    for (const [i, place] of batch.entries()) {
      const tile = tiles[i];
      if (!tile) continue;
      const [width, height] = filledPart(level, place);
      if (width === level.tileWidth && height === level.tileHeight) {
        const above = places.at(-1);
        const isBelow = above?.column === place.column && above.row + 1 === place.row;
        if (isBelow) columns.at(-1)?.push(tile);
        else columns.push([tile]);
        places.push(place);
      } else {
        // What the scanner put beside the picture must not be averaged into its edge.
        const edge = cropRaster(await decodeImage(tile), 0, 0, width, height);
        add(shrinkRaster(edge, shrink), place);
      }
    }
    signal?.throwIfAborted();
    const pieces = await decodeTiles(columns, shrink);
    for (const [i, place] of places.entries()) add(pieces[i] as Raster, place);
  }

  const raster = averager.finish(slide.background);
  extendEdges(raster, filled.width - x, filled.height - y);
  return cropRaster(raster, region.x - x, region.y - y, region.width, region.height);
}

/**
 * The most that a tile may be shrunk while it is decoded: to whole pixels, and, where the decoder's way is not the
 * exact mean, so that a step by two is left to the averager, which evens out what the decoder's filter does.
 */
function shrinkFor({ tileWidth, tileHeight }: Level, perPixel: number): Shrink {
  const isExact = (by: Shrink) => by === 2;
  return (
    shrinks.find(
      (by) => by <= (isExact(by) ? perPixel : perPixel / 2) && tileWidth % by === 0 && tileHeight % by === 0,
    ) ?? 1
  );
}

/** Column by column, since neighbours one under the other are decoded in one go. */
function* tilesUnder(
  region: Omit<Region, 'dziLevel'>,
  level: Level,
  perPixelX: number,
  perPixelY: number,
): Generator<TilePlace> {
  const span = (start: number, length: number, perPixel: number, tileSide: number, count: number) => ({
    first: Math.min(Math.floor((start * perPixel) / tileSide), count - 1),
    last: Math.min(Math.ceil(((start + length) * perPixel) / tileSide), count) - 1,
  });
  const columns = span(region.x, region.width, perPixelX, level.tileWidth, level.columns);
  const rows = span(region.y, region.height, perPixelY, level.tileHeight, level.rows);
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

/** Pixels of a tile that are picture; the rest of a tile on the right or bottom edge is padding. */
function filledPart(level: Level, { column, row }: TilePlace): [width: number, height: number] {
  return [
    Math.min(level.tileWidth, level.width - column * level.tileWidth),
    Math.min(level.tileHeight, level.height - row * level.tileHeight),
  ];
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
