/**
 * Reader of slides of Ventana (Roche) scanners, .bif and .tif: TIFF whose first directory has XML of the iScan scanner. The tiles
 * of full resolution are camera frames that overlap; XML in the largest level states the overlaps and the scanned areas. At a
 * level with the downsample n, a tile of the file contains n × n reduced frames ("cells") side by side, still with their overlaps.
 *
 * docs/formats/ventana-bif.md lists the features that are read, with the source of each fact.
 */
import type { Colour } from '../decode/raster.ts';
import { type AssociatedImageName, SlideError } from '../model/slide.ts';
import type { ByteSource } from '../source/byte-source.ts';
import {
  joinLevels,
  type LevelTiles,
  openDeclaredLevels,
  type ReadableLevel,
} from '../tiff/declared-levels.ts';
import { readIccProfile } from '../tiff/icc-profile.ts';
import type { TileGrid } from '../tiff/image-layout.ts';
import { openImageTiles } from '../tiff/image-tiles.ts';
import { limits } from '../tiff/limits.ts';
import { type MosaicArea, openMosaicLevel } from '../tiff/mosaic-level.ts';
import { tag } from '../tiff/tags.ts';
import type { TiffFile } from '../tiff/tiff-file.ts';
import { readTiffImage, type TiffImage } from '../tiff/tiff-image.ts';
import { readWholeImage } from '../tiff/whole-image.ts';
import { readXmlTag } from '../tiff/xml-tag.ts';
import { readDecimal, readWholeNumber } from '../xml/read-numbers.ts';
import { elementsAt, type XmlElement } from '../xml/read-xml.ts';
import type { SlideFormat } from './slide-format.ts';
import { corruptError, readScannedAreas, type ScannedArea } from './ventana-bif-areas.ts';

export const ventanaBif: SlideFormat = {
  name: 'ventana-bif',

  mismatchReason({ tiff, xmp }) {
    if (!tiff) return 'the file is not TIFF';
    return xmp.includes('<iScan') ? null : 'its XMP has no iScan element';
  },

  async open(files, { tiff }) {
    const { main } = files;
    if (!tiff) throw corruptError('the file is not TIFF');
    const scanner = await readScanner(tiff);
    const { levels: storedLevels, associatedTiffImages } = await sortDirectories(tiff);
    const [full] = storedLevels;
    if (!full) throw corruptError('it has no level');
    const background = readWhitePoint(scanner);
    const areas = await readScannedAreas(full.tiffImage);
    const { levels, readTile } = await openLevels(main, storedLevels, areas, background);
    const mpp = readPositive(scanner, 'ScanRes'); // micrometres per pixel
    return {
      format: 'ventana-bif',
      fingerprint: files.fingerprint,
      vendor: 'Ventana',
      levels,
      mpp: mpp === null ? null : { x: mpp, y: mpp },
      objectivePower: readPositive(scanner, 'Magnification'),
      background,
      associatedImages: new Set(associatedTiffImages.keys()),
      readTile,
      async readAssociatedImage(name) {
        const tiffImage = associatedTiffImages.get(name);
        if (!tiffImage) throw new SlideError('ASSOCIATED_IMAGE_MISSING', `The slide has no ${name}`);
        return readWholeImage(main, tiffImage);
      },
      readIccProfile: () => readIccProfile(full.tiffImage.directory),
      close: files.close,
    };
  },
};

/** Returns the iScan element: the root of the first directory's XML, or a child of a root named Metadata. */
async function readScanner(tiff: TiffFile): Promise<XmlElement> {
  const root = await readXmlTag(tiff.first, tag.XMP);
  const child = root?.name === 'Metadata' ? elementsAt(root, 'iScan')[0] : null;
  const scanner = root?.name === 'iScan' ? root : child;
  if (!scanner) throw corruptError('its XML has no iScan element at the root or in Metadata');
  return scanner;
}

/** Reads an attribute as a number above 0 and below 1000; returns null for anything else. */
function readPositive({ attributes }: XmlElement, name: string): number | null {
  const value = readDecimal(attributes.get(name));
  return value !== null && value > 0 && value < 1000 ? value : null;
}

/** Returns the colour of empty glass: the grey that the scanner states, or white if it states no brightness from 0 to 255. */
function readWhitePoint({ attributes }: XmlElement): Colour {
  const stated = readWholeNumber(attributes.get('ScanWhitePoint'));
  const brightness = stated === null || stated > 255 ? 255 : stated;
  return { r: brightness, g: brightness, b: brightness };
}

/** A directory that is a level of the pyramid. */
interface StoredLevel {
  readonly tiffImage: TiffImage;
  readonly downsample: number;
}

interface SortedDirectories {
  /** Largest first. */
  readonly levels: readonly StoredLevel[];
  readonly associatedTiffImages: ReadonlyMap<AssociatedImageName, TiffImage>;
}

/** Associated images by the description of their directory. "Label Image" shows the whole glass, so it is the macro. */
const associatedNames: ReadonlyMap<string, AssociatedImageName> = new Map([
  ['Label Image', 'macro'],
  ['Label_Image', 'macro'],
  ['Thumbnail', 'thumbnail'],
]);

/**
 * Sorts directories by their description: `level=1 mag=20 quality=90` for a level, a name of `associatedNames` for an
 * associated image. Other directories are skipped.
 */
async function sortDirectories(tiff: TiffFile): Promise<SortedDirectories> {
  const levels: StoredLevel[] = [];
  const associatedTiffImages = new Map<AssociatedImageName, TiffImage>();
  let fullPower: number | null = null; // magnification of full resolution
  for (const directory of await tiff.directories()) {
    const description = ((await directory.text(tag.ImageDescription, 1024)) ?? '').trim(); // at most 1024 bytes
    const name = associatedNames.get(description);
    if (name && !associatedTiffImages.has(name))
      associatedTiffImages.set(name, await readTiffImage(directory));
    const [, levelText] = /(?:^|\s)level=(\S*)/.exec(description) ?? [];
    if (levelText === undefined) continue;
    const [, powerText] = /(?:^|\s)mag=(\S*)/.exec(description) ?? [];
    const power = readDecimal(powerText);
    if (readWholeNumber(levelText) !== levels.length || power === null || power <= 0) {
      throw corruptError('its levels are not numbered consecutively, each with a magnification');
    }
    fullPower ??= power;
    const downsample = fullPower / power;
    if (downsample <= (levels.at(-1)?.downsample ?? 0))
      throw corruptError('a level is larger than the one before it');
    levels.push({ tiffImage: await readTiffImage(directory), downsample });
  }
  if (levels.length > limits.levels) {
    throw new SlideError('LIMIT_EXCEEDED', `The pyramid has ${levels.length} levels`);
  }
  return { levels, associatedTiffImages };
}

/** Opens the levels. Tiles of the file that form a plain grid can be sent unchanged; otherwise tiles are composed. */
async function openLevels(
  source: ByteSource,
  storedLevels: readonly StoredLevel[],
  areas: readonly ScannedArea[] | null,
  background: Colour,
): Promise<LevelTiles> {
  if (areas === null) return openDeclaredLevels(source, storedLevels.map(withStoredSize));
  const [first] = areas;
  if (first && areas.length === 1 && isPlainGrid(first))
    return openDeclaredLevels(source, croppedLevels(storedLevels, first));
  return joinLevels(await composeLevels(source, storedLevels, areas, background));
}

function withStoredSize({ tiffImage, downsample }: StoredLevel) {
  return { tiffImage, width: tiffImage.width, height: tiffImage.height, downsample };
}

/** Returns whether the area begins at the first tile, and its frames neither overlap nor have gaps between them. */
function isPlainGrid({ firstColumn, firstRow, overlapsX, overlapsY }: ScannedArea): boolean {
  const isZero = (overlap: number) => overlap === 0;
  return firstColumn === 0 && firstRow === 0 && overlapsX.every(isZero) && overlapsY.every(isZero);
}

/** Crops each level to the frames of an area that begins in the top left corner; tiles beyond it are padding. */
function croppedLevels(storedLevels: readonly StoredLevel[], { columns, rows }: ScannedArea) {
  const tiles = tilesOf(storedLevels[0]);
  return storedLevels.map(({ tiffImage, downsample }) => ({
    tiffImage,
    width: Math.max(1, Math.floor((columns * tiles.width) / downsample)),
    height: Math.max(1, Math.floor((rows * tiles.height) / downsample)),
    downsample,
  }));
}

function tilesOf(level: StoredLevel | undefined): TileGrid {
  if (!level?.tiffImage.tiles) throw corruptError('a level is stored in strips, not in tiles');
  return level.tiffImage.tiles;
}

/** Minimum side of a cell in pixels. A level with smaller cells is not read; the renderer draws it from a larger level. */
const MIN_CELL_SIDE = 16;

/**
 * Composes each level from its cells, so that every overlap appears once. Stops at the first level whose downsample or
 * cell size in pixels is not an integer, or whose cells are too small.
 */
async function composeLevels(
  source: ByteSource,
  storedLevels: readonly StoredLevel[],
  areas: readonly ScannedArea[],
  background: Colour,
): Promise<readonly ReadableLevel[]> {
  const fullTiles = tilesOf(storedLevels[0]);
  const placedAreas = placeAreas(areas, fullTiles);
  const levels: ReadableLevel[] = [];
  for (const level of storedLevels) {
    const { downsample, tiffImage } = level;
    const tiles = tilesOf(level);
    if (tiles.width !== fullTiles.width || tiles.height !== fullTiles.height)
      throw corruptError('its levels have different tile sizes');
    const cellWidth = tiles.width / downsample;
    const cellHeight = tiles.height / downsample;
    const hasWholeCells = [downsample, cellWidth, cellHeight].every(Number.isInteger);
    if (!hasWholeCells || Math.min(cellWidth, cellHeight) < MIN_CELL_SIDE) break;
    const { readTile } = await openImageTiles(source, tiffImage);
    const mosaicAreas = placedAreas.map(({ area, lefts, tops }): MosaicArea => {
      const hasAllTiles =
        Math.ceil((area.firstColumn + area.columns) / downsample) <= tiles.columns &&
        Math.ceil((area.firstRow + area.rows) / downsample) <= tiles.rows;
      if (!hasAllTiles) throw corruptError('a level has fewer tiles than its scanned areas need');
      return {
        readTile,
        tileWidth: tiles.width,
        tileHeight: tiles.height,
        cellsPerTile: downsample,
        firstColumn: area.firstColumn,
        firstRow: area.firstRow,
        lefts: lefts.map((left) => Math.round(left / downsample)),
        tops: tops.map((top) => Math.round(top / downsample)),
        imageWidth: tiles.columns * tiles.width,
        imageHeight: tiles.rows * tiles.height,
      };
    });
    const right = Math.max(...mosaicAreas.map(({ lefts }) => (lefts.at(-1) ?? 0) + cellWidth));
    const bottom = Math.max(...mosaicAreas.map(({ tops }) => (tops.at(-1) ?? 0) + cellHeight));
    levels.push(
      openMosaicLevel({ width: right, height: bottom, downsample, areas: mosaicAreas, background }),
    );
  }
  return levels;
}

/** A scanned area with the position of each of its frames. */
interface PlacedArea {
  readonly area: ScannedArea;
  /**
   * Left edge of each column of frames and top edge of each row of frames, in pixels of full resolution. They count from the
   * top left corner of the rectangle that encloses all areas.
   */
  readonly lefts: readonly number[];
  readonly tops: readonly number[];
}

/** Calculates where the frames of each area are in the image. */
function placeAreas(areas: readonly ScannedArea[], tiles: TileGrid): readonly PlacedArea[] {
  const measured = areas.map((area) => {
    const lefts = frameStarts(area.overlapsX, tiles.width);
    const tops = frameStarts(area.overlapsY, tiles.height);
    const height = (tops.at(-1) ?? 0) + tiles.height;
    // The scanner states how far the bottom edge is above a baseline. Here, y is the top edge and grows downwards.
    return { area, lefts, tops, x: area.x, y: -(area.bottomAboveBaseline + height) };
  });
  const left = Math.min(...measured.map(({ x }) => x));
  const top = Math.min(...measured.map(({ y }) => y));
  return measured.map(({ area, lefts, tops, x, y }) => ({
    area,
    lefts: lefts.map((start) => start + x - left),
    tops: tops.map((start) => start + y - top),
  }));
}

/**
 * Returns the left (or top) edge of each column (or row) of frames, in pixels from the first one.
 *
 * @param side width (or height) of a frame
 */
function frameStarts(overlaps: readonly number[], side: number): number[] {
  const starts = [0];
  for (const overlap of overlaps) starts.push((starts.at(-1) ?? 0) + side - overlap);
  return starts;
}
