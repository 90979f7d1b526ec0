/**
 * Any slide as Deep Zoom asks for it: one picture, halved until it is one pixel, every size cut into square tiles.
 *
 * Levels of the file count from full resolution, Deep Zoom levels from one pixel; only this file knows both.
 */
import { blankJpeg } from './decode/encode-jpeg.ts';
import type { Colour } from './decode/raster.ts';
import { type Allocate, type Slide, SlideError, type TileAddress } from './slide.ts';

/** What a viewer must know of a slide before it can ask for tiles. */
export interface DeepZoomDescriptor {
  /** Pixels at full resolution. */
  readonly width: number;
  readonly height: number;
  /** Pixels, both ways; tiles on the right and bottom edges are smaller. */
  readonly tileSize: number;
  readonly overlap: 0;
  readonly format: 'jpg';
  /** The Deep Zoom level of full resolution; level 0 is one pixel. */
  readonly maxLevel: number;
}

/** `dziLevel` 0 is one pixel; `column` and `row` count from the top left corner, from 0. */
export interface DeepZoomAddress {
  readonly dziLevel: number;
  readonly column: number;
  readonly row: number;
}

/** A rectangle of a Deep Zoom level, in its pixels. */
export interface Region {
  readonly dziLevel: number;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** Side of the tiles of slides whose own tiles are not square, or too small or too large to send. */
const DEFAULT_TILE_SIZE = 256;
const USABLE_TILE_SIZE = { least: 128, most: 1024 };

export function describeDeepZoom(slide: Slide): DeepZoomDescriptor {
  return planOf(slide).descriptor;
}

/** The descriptor as the `.dzi` file that viewers read. Source: the Deep Zoom schema of 2008. */
export function descriptorXml(descriptor: DeepZoomDescriptor): string {
  const { width, height, tileSize, overlap, format } = descriptor;
  return (
    '<?xml version="1.0" encoding="UTF-8"?>\n' +
    '<Image xmlns="http://schemas.microsoft.com/deepzoom/2008"' +
    ` TileSize="${tileSize}" Overlap="${overlap}" Format="${format}">` +
    `<Size Width="${width}" Height="${height}"/></Image>\n`
  );
}

/** Pixels of a whole Deep Zoom level: halved again and again, rounded up. */
export function sizeOfLevel(
  { width, height, maxLevel }: DeepZoomDescriptor,
  dziLevel: number,
): { width: number; height: number } {
  const downsample = 2 ** (maxLevel - dziLevel);
  return { width: Math.ceil(width / downsample), height: Math.ceil(height / downsample) };
}

/** @throws SlideError TILE_OUT_OF_RANGE */
export function regionOfTile(descriptor: DeepZoomDescriptor, address: DeepZoomAddress): Region {
  const { dziLevel, column, row } = address;
  const { tileSize, maxLevel } = descriptor;
  const isLevel = Number.isInteger(dziLevel) && dziLevel >= 0 && dziLevel <= maxLevel;
  const level = isLevel ? sizeOfLevel(descriptor, dziLevel) : { width: 0, height: 0 };
  const [x, y] = [column * tileSize, row * tileSize];
  const isInside = x >= 0 && x < level.width && y >= 0 && y < level.height;
  if (!isInside || !Number.isInteger(column) || !Number.isInteger(row)) {
    throw new SlideError(
      'TILE_OUT_OF_RANGE',
      `There is no tile ${column}, ${row} of Deep Zoom level ${dziLevel}`,
    );
  }
  return {
    dziLevel,
    x,
    y,
    width: Math.min(tileSize, level.width - x),
    height: Math.min(tileSize, level.height - y),
  };
}

/**
 * The tile as the file stores it, as a complete JPEG, without decoding anything.
 *
 * @param allocate as in `Slide.readTile`
 * @returns null when the file has no such tile and it has to be made (see making/): a size between the levels of
 *   the file, another codec, or an edge, where the file stores more than Deep Zoom promises
 * @throws SlideError TILE_OUT_OF_RANGE, and what `Slide.readTile` throws
 */
export async function readStoredTile(
  slide: Slide,
  address: DeepZoomAddress,
  signal?: AbortSignal,
  allocate?: Allocate,
): Promise<Uint8Array | null> {
  const stored = storedAddress(slide, address);
  if (stored === null) return null;
  const tile = await slide.readTile(stored, signal, allocate);
  if (tile === null && slide.levels[stored.level]?.hasGaps) return null;
  if (tile === null) return keptBlank(planOf(slide).descriptor.tileSize, slide.background);
  return tile.codec === 'jpeg' ? tile.bytes : null;
}

/**
 * The tile of the file that a Deep Zoom tile is, pixel by pixel.
 *
 * @returns null when there is none
 * @throws SlideError TILE_OUT_OF_RANGE
 */
function storedAddress(slide: Slide, address: DeepZoomAddress): TileAddress | null {
  const { descriptor, storedLevels } = planOf(slide);
  const region = regionOfTile(descriptor, address);
  const stored = storedLevels[address.dziLevel];
  const level = stored === undefined || stored === null ? undefined : slide.levels[stored];
  if (stored === undefined || stored === null || !level) return null;

  const { tileSize } = descriptor;
  const isWhole = region.width === tileSize && region.height === tileSize;
  // A level rounded down ends one pixel before the Deep Zoom level does.
  const isCovered = region.x + tileSize <= level.width && region.y + tileSize <= level.height;
  if (!isWhole || !isCovered || level.tileWidth !== tileSize || level.tileHeight !== tileSize) return null;
  return { level: stored, column: address.column, row: address.row };
}

/**
 * Every tile that the file does not have, the smallest level first, row by row: what can be made before somebody asks
 * for it. A tile that the file has, but not as JPEG, is not among them.
 */
function* tilesToMake(slide: Slide): Generator<DeepZoomAddress> {
  const { descriptor } = planOf(slide);
  for (let dziLevel = 0; dziLevel <= descriptor.maxLevel; dziLevel++) {
    const { width, height } = sizeOfLevel(descriptor, dziLevel);
    for (let row = 0; row * descriptor.tileSize < height; row++) {
      for (let column = 0; column * descriptor.tileSize < width; column++) {
        const address = { dziLevel, column, row };
        if (storedAddress(slide, address) === null) yield address;
      }
    }
  }
}

/** Of all those, the smallest levels that together have at most so many. */
export function firstTilesToMake(slide: Slide, most: number): readonly DeepZoomAddress[] {
  const tiles: DeepZoomAddress[] = [];
  for (const tile of tilesToMake(slide)) {
    if (tiles.length === most) return tiles.filter(({ dziLevel }) => dziLevel < tile.dziLevel);
    tiles.push(tile);
  }
  return tiles;
}

/** The level of the file that a Deep Zoom level is made from. */
export interface MakingSource {
  /** Index in `slide.levels`. */
  readonly level: number;
  /** Pixels of that level in one pixel of the Deep Zoom level, both ways; at least 1. */
  readonly perPixelX: number;
  readonly perPixelY: number;
}

/** The smallest level of the file that is at least as large as the Deep Zoom level. */
export function makingSource(slide: Slide, dziLevel: number): MakingSource {
  const { descriptor, dziLevels } = planOf(slide);
  const downsample = 2 ** (descriptor.maxLevel - dziLevel);
  for (let level = slide.levels.length - 1; level > 0; level--) {
    const { width, height } = slide.levels[level] ?? slide.levels[0];
    const matched = dziLevels[level];
    const isMatched = matched !== undefined && matched !== null;
    const perPixelX = isMatched ? 2 ** (matched - dziLevel) : (downsample * width) / descriptor.width;
    const perPixelY = isMatched ? perPixelX : (downsample * height) / descriptor.height;
    if (perPixelX >= 1 && perPixelY >= 1) return { level, perPixelX, perPixelY };
  }
  return { level: 0, perPixelX: downsample, perPixelY: downsample };
}

/** What is worked out once a slide. */
interface Plan {
  readonly descriptor: DeepZoomDescriptor;
  /** For every level of the file, the Deep Zoom level that has its size; null when none has. */
  readonly dziLevels: readonly (number | null)[];
  /** For every Deep Zoom level, the level of the file whose tiles may go out for it; null when none has its size. */
  readonly storedLevels: readonly (number | null)[];
}

const plans = new WeakMap<Slide, Plan>();

function planOf(slide: Slide): Plan {
  const known = plans.get(slide);
  if (known) return known;
  const descriptor = describe(slide);
  const dziLevels = slide.levels.map((level) => matchingDziLevel(descriptor, level));
  const storedLevels = Array.from({ length: descriptor.maxLevel + 1 }, (_, dziLevel) => {
    const level = dziLevels.indexOf(dziLevel);
    return slide.levels[level]?.isMade === undefined && level >= 0 ? level : null;
  });
  const plan = { descriptor, dziLevels, storedLevels };
  plans.set(slide, plan);
  return plan;
}

function describe({ levels: [{ width, height, tileWidth, tileHeight }] }: Slide): DeepZoomDescriptor {
  const isUsable =
    tileWidth === tileHeight && tileWidth >= USABLE_TILE_SIZE.least && tileWidth <= USABLE_TILE_SIZE.most;
  return {
    width,
    height,
    tileSize: isUsable ? tileWidth : DEFAULT_TILE_SIZE,
    overlap: 0,
    format: 'jpg',
    maxLevel: Math.ceil(Math.log2(Math.max(width, height))),
  };
}

/** Scanners round the sizes of their levels down, Deep Zoom rounds up: one pixel off is the same level. */
function matchingDziLevel(
  descriptor: DeepZoomDescriptor,
  level: { readonly width: number; readonly height: number },
): number | null {
  const halvings = Math.round(Math.log2(descriptor.width / level.width));
  const dziLevel = descriptor.maxLevel - halvings;
  if (dziLevel < 0) return null;
  const size = sizeOfLevel(descriptor, dziLevel);
  const isSame = Math.abs(size.width - level.width) <= 1 && Math.abs(size.height - level.height) <= 1;
  return isSame ? dziLevel : null;
}

/** Tiles that were left empty are many and all the same. */
const blanks = new Map<string, Promise<Uint8Array>>();

function keptBlank(tileSize: number, colour: Colour): Promise<Uint8Array> {
  const key = `${tileSize} ${colour.r} ${colour.g} ${colour.b}`;
  const blank = blanks.get(key) ?? blankJpeg(tileSize, tileSize, colour);
  blanks.set(key, blank);
  return blank;
}
