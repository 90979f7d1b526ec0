/**
 * The view of any slide as a Deep Zoom image: an image that is halved repeatedly down to one pixel, each size divided into
 * square tiles.
 *
 * Level 0 of a file is full resolution; Deep Zoom level 0 is one pixel. Only this file converts between the two.
 */
import type { ColourProfile } from '../colour/slide-colour.ts';
import { blankJpeg } from '../decode/encode-jpeg.ts';
import type { Colour } from '../decode/raster.ts';
import { type BufferAllocator, type Slide, SlideError, type TileAddress } from '../model/slide.ts';
import { readOnce } from '../source/read-once.ts';

/** Size, tile size and levels of a Deep Zoom image. A viewer reads the descriptor before it requests tiles. */
export interface DeepZoomDescriptor {
  /** Pixels at full resolution. */
  readonly width: number;
  readonly height: number;
  /** Pixels of a tile side; tiles on the right and bottom edges are smaller. */
  readonly tileSize: number;
  readonly overlap: 0;
  readonly format: 'jpg';
  /** The Deep Zoom level of full resolution; level 0 is one pixel. */
  readonly maxLevel: number;
}

/** The position of a Deep Zoom tile. `dziLevel` 0 is one pixel; `column` and `row` count from the top left corner, from 0. */
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

/** Deep Zoom tiles have the tile size of the file if its tiles are square and their side is in this range, otherwise the default. */
const USABLE_TILE_SIZE = { min: 128, max: 1024 };
const DEFAULT_TILE_SIZE = 256;

/** Returns the Deep Zoom descriptor of a slide; see `USABLE_TILE_SIZE` for its tile size. */
export function describeDeepZoom(slide: Slide): DeepZoomDescriptor {
  return levelMappingOf(slide).descriptor;
}

/**
 * Returns the descriptor as a `.dzi` file. A colour profile is described by an additional element in Lamina's namespace.
 *
 * Source: the Deep Zoom schema of 2008.
 */
export function descriptorXml(descriptor: DeepZoomDescriptor, colour: ColourProfile | null = null): string {
  const { width, height, tileSize, overlap, format } = descriptor;
  return (
    '<?xml version="1.0" encoding="UTF-8"?>\n' +
    '<Image xmlns="http://schemas.microsoft.com/deepzoom/2008"' +
    ` TileSize="${tileSize}" Overlap="${overlap}" Format="${format}">` +
    `<Size Width="${width}" Height="${height}"/>${colour ? colourXml(colour) : ''}</Image>\n`
  );
}

/** Returns the element that describes a colour profile; it omits attributes whose value is null. */
function colourXml({ name, bytes, tableNodes, ignored }: ColourProfile): string {
  const attributes = Object.entries({ Name: name, Bytes: bytes, TableNodes: tableNodes, Ignored: ignored });
  const text = attributes.map(([key, value]) =>
    value === null ? '' : ` ${key}="${escapeXml(String(value))}"`,
  );
  return `<ColourProfile xmlns="urn:lamina:colour"${text.join('')}/>`;
}

/** Replaces all characters except ASCII letters, digits and harmless punctuation by character references such as `&#38;`. */
const escapeXml = (text: string) =>
  text.replaceAll(/[^\w .,()/+-]/gu, (character) => `&#${character.codePointAt(0)};`);

/** Returns the Deep Zoom levels with native tiles (tiles of the file that are sent without decoding), the largest first. */
export function nativeDziLevels(slide: Slide): readonly number[] {
  const { nativeLevelOf } = levelMappingOf(slide);
  return nativeLevelOf.flatMap((level, dziLevel) => (level === null ? [] : [dziLevel])).toReversed();
}

/** Returns the size in pixels of a whole Deep Zoom level: full resolution halved repeatedly, rounded up. */
export function sizeOfLevel(
  { width, height, maxLevel }: DeepZoomDescriptor,
  dziLevel: number,
): { width: number; height: number } {
  const downsample = 2 ** (maxLevel - dziLevel);
  return { width: Math.ceil(width / downsample), height: Math.ceil(height / downsample) };
}

/** Returns the rectangle that a Deep Zoom tile covers. @throws SlideError TILE_OUT_OF_RANGE */
export function regionOfTile(descriptor: DeepZoomDescriptor, address: DeepZoomAddress): Region {
  const { dziLevel, column, row } = address;
  const { tileSize, maxLevel } = descriptor;
  const isLevel = Number.isInteger(dziLevel) && dziLevel >= 0 && dziLevel <= maxLevel;
  const levelSize = isLevel ? sizeOfLevel(descriptor, dziLevel) : { width: 0, height: 0 };
  const x = column * tileSize;
  const y = row * tileSize;
  const isInside = x >= 0 && x < levelSize.width && y >= 0 && y < levelSize.height;
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
    width: Math.min(tileSize, levelSize.width - x),
    height: Math.min(tileSize, levelSize.height - y),
  };
}

/**
 * Reads the native tile with the pixels of a Deep Zoom tile as a complete JPEG, without decoding. An empty tile becomes a JPEG
 * of the background colour.
 *
 * @param allocate returns the memory that the tile is read into (see `Slide.readTile`)
 * @returns null when the tile must be rendered (see render/): the file has no level of this size, or the tile of the file is not
 *   JPEG, is a gap (empty, but levels of higher resolution have pixels there), or is an edge tile, which is stored with padding
 * @throws SlideError TILE_OUT_OF_RANGE, and errors of `Slide.readTile`
 */
export async function readNativeDziTile(
  slide: Slide,
  address: DeepZoomAddress,
  signal?: AbortSignal,
  allocate?: BufferAllocator,
): Promise<Uint8Array | null> {
  const nativeAddress = nativeTileAddress(slide, address);
  if (nativeAddress === null) return null;
  const tile = await slide.readTile(nativeAddress, signal, allocate);
  if (tile === null && slide.levels[nativeAddress.level]?.hasGaps) return null;
  if (tile === null) return cachedBlankTile(levelMappingOf(slide).descriptor.tileSize, slide.background);
  return tile.codec === 'jpeg' ? tile.bytes : null;
}

/**
 * Returns the address of the native tile with exactly the pixels of a Deep Zoom tile.
 *
 * @returns null when there is none
 * @throws SlideError TILE_OUT_OF_RANGE
 */
function nativeTileAddress(slide: Slide, address: DeepZoomAddress): TileAddress | null {
  const { descriptor, nativeLevelOf } = levelMappingOf(slide);
  const region = regionOfTile(descriptor, address);
  const nativeLevel = nativeLevelOf[address.dziLevel] ?? null;
  const level = nativeLevel === null ? undefined : slide.levels[nativeLevel];
  if (nativeLevel === null || !level) return null;

  const { tileSize } = descriptor;
  const isWhole = region.width === tileSize && region.height === tileSize;
  // A level whose size was rounded down is one pixel smaller than the Deep Zoom level.
  const isCovered = region.x + tileSize <= level.width && region.y + tileSize <= level.height;
  if (!isWhole || !isCovered || level.tileWidth !== tileSize || level.tileHeight !== tileSize) return null;
  return { level: nativeLevel, column: address.column, row: address.row };
}

/**
 * Yields the tiles to render before a viewer requests them, smallest level first, row by row: every Deep Zoom tile for which the
 * file has no tile with the same pixels. Gaps and tiles that are not JPEG need rendering too, but are not yielded, because they are
 * found only when they are read.
 */
function* prerenderCandidates(slide: Slide): Generator<DeepZoomAddress> {
  const { descriptor } = levelMappingOf(slide);
  for (let dziLevel = 0; dziLevel <= descriptor.maxLevel; dziLevel++) {
    const { width, height } = sizeOfLevel(descriptor, dziLevel);
    for (let row = 0; row * descriptor.tileSize < height; row++) {
      for (let column = 0; column * descriptor.tileSize < width; column++) {
        const address = { dziLevel, column, row };
        if (nativeTileAddress(slide, address) === null) yield address;
      }
    }
  }
}

/** Returns the tiles to prerender: all tiles of the smallest levels, as many whole levels as `maxTiles` allows. */
export function tilesToPrerender(slide: Slide, maxTiles: number): readonly DeepZoomAddress[] {
  const tiles: DeepZoomAddress[] = [];
  for (const tile of prerenderCandidates(slide)) {
    // The level of this tile would be incomplete, so its other tiles are left out too.
    if (tiles.length === maxTiles) return tiles.filter(({ dziLevel }) => dziLevel < tile.dziLevel);
    tiles.push(tile);
  }
  return tiles;
}

/** The level of the file that a Deep Zoom level is rendered from. */
export interface RenderSourceLevel {
  /** Index in `slide.levels`. */
  readonly level: number;
  /** Pixels of the file's level per pixel of the Deep Zoom level, horizontally and vertically; at least 1. */
  readonly reductionX: number;
  readonly reductionY: number;
}

/** Returns the smallest level of the file that is at least as large as the Deep Zoom level. */
export function renderSourceLevel(slide: Slide, dziLevel: number): RenderSourceLevel {
  const { descriptor, dziLevelOf } = levelMappingOf(slide);
  const downsample = 2 ** (descriptor.maxLevel - dziLevel);
  for (let level = slide.levels.length - 1; level > 0; level--) {
    const { width, height } = slide.levels[level] ?? slide.levels[0];
    const matchingLevel = dziLevelOf[level] ?? null;
    // Between levels that match Deep Zoom levels the ratio is a power of two, although their sizes are rounded.
    const exactRatio = matchingLevel === null ? null : 2 ** (matchingLevel - dziLevel);
    const reductionX = exactRatio ?? (downsample * width) / descriptor.width;
    const reductionY = exactRatio ?? (downsample * height) / descriptor.height;
    if (reductionX >= 1 && reductionY >= 1) return { level, reductionX, reductionY };
  }
  return { level: 0, reductionX: downsample, reductionY: downsample };
}

/** The relation between the levels of a slide and its Deep Zoom levels; calculated once per slide. */
interface LevelMapping {
  readonly descriptor: DeepZoomDescriptor;
  /** For every level of the file, the Deep Zoom level of the same size; null when there is none. */
  readonly dziLevelOf: readonly (number | null)[];
  /** For every Deep Zoom level, the level of the file with its native tiles; null when there is none. */
  readonly nativeLevelOf: readonly (number | null)[];
}

const levelMappings = new WeakMap<Slide, LevelMapping>();

function levelMappingOf(slide: Slide): LevelMapping {
  const cachedMapping = levelMappings.get(slide);
  if (cachedMapping) return cachedMapping;
  const descriptor = descriptorOf(slide);
  const dziLevelOf = slide.levels.map((level) => matchingDziLevel(descriptor, level));
  const nativeLevelOf = Array.from({ length: descriptor.maxLevel + 1 }, (_, dziLevel) => {
    const level = dziLevelOf.indexOf(dziLevel);
    const hasNativeTiles = level >= 0 && slide.levels[level]?.needsRendering === undefined;
    return hasNativeTiles ? level : null;
  });
  const mapping = { descriptor, dziLevelOf, nativeLevelOf };
  levelMappings.set(slide, mapping);
  return mapping;
}

function descriptorOf({ levels: [{ width, height, tileWidth, tileHeight }] }: Slide): DeepZoomDescriptor {
  const isUsable =
    tileWidth === tileHeight && tileWidth >= USABLE_TILE_SIZE.min && tileWidth <= USABLE_TILE_SIZE.max;
  return {
    width,
    height,
    tileSize: isUsable ? tileWidth : DEFAULT_TILE_SIZE,
    overlap: 0,
    format: 'jpg',
    maxLevel: Math.ceil(Math.log2(Math.max(width, height))),
  };
}

/**
 * Returns the Deep Zoom level with the size of a level of the file; null when there is none. Scanners round sizes down, Deep
 * Zoom rounds up, so sizes that differ by one pixel are the same level.
 */
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

/** Blank tiles by size and colour; all empty tiles of one size and colour share one JPEG. */
const blankTiles = new Map<string, () => Promise<Uint8Array>>();

function cachedBlankTile(tileSize: number, colour: Colour): Promise<Uint8Array> {
  const key = `${tileSize} ${colour.r} ${colour.g} ${colour.b}`;
  const encodeBlank = blankTiles.get(key) ?? readOnce(() => blankJpeg(tileSize, tileSize, colour));
  blankTiles.set(key, encodeBlank);
  return encodeBlank();
}
