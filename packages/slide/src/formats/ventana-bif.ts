/**
 * Reads Ventana (Roche) BIF, and .tif files of the same scanners: TIFF whose first directory has XML of the iScan
 * scanner. The tiles of a BIF are overlapping camera frames; XML of the largest level gives the overlaps and the
 * scanned regions. Smaller levels contain the frames side by side, reduced.
 *
 * docs/formats/ventana-bif.md lists what is read, with the source of each fact.
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
import { openImageTiles } from '../tiff/image-tiles.ts';
import { limits } from '../tiff/limits.ts';
import { type MosaicArea, openMosaicLevel } from '../tiff/mosaic-level.ts';
import { tag } from '../tiff/tags.ts';
import type { TiffFile } from '../tiff/tiff-file.ts';
import { readTiffImage, type TiffImage } from '../tiff/tiff-image.ts';
import { readWholeImage } from '../tiff/whole-image.ts';
import { readXmlTag } from '../tiff/xml-tag.ts';
import { readDecimal, readWhole } from '../xml/read-numbers.ts';
import { elementsAt, type XmlElement } from '../xml/read-xml.ts';
import type { SlideFormat } from './slide-format.ts';
import { corrupt, type Region, readRegions, type Tiles } from './ventana-bif-regions.ts';

export const ventanaBif: SlideFormat = {
  name: 'ventana-bif',

  mismatch({ tiff, xmp }) {
    if (!tiff) return 'the file is not TIFF';
    return xmp.includes('<iScan') ? null : 'its XMP has no iScan element';
  },

  async open(files, { tiff }) {
    const { leading } = files;
    if (!tiff) throw corrupt('the file is not TIFF');
    const scanner = await readScanner(tiff);
    const { levels: stored, associatedTiffImages } = await sortDirectories(tiff);
    const [full] = stored;
    if (!full) throw corrupt('it has no level');
    const background = readWhitePoint(scanner);
    const regions = await readRegions(full.tiffImage);
    const { levels, readTile } = await openLevels(leading, stored, regions, background);
    const mpp = readPositive(scanner, 'ScanRes');
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
        return readWholeImage(leading, tiffImage);
      },
      readIccProfile: () => readIccProfile(full.tiffImage.directory),
      close: files.close,
    };
  },
};

/** Returns the iScan element: the root of the first directory's XML, or a child of a root named Metadata. */
async function readScanner(tiff: TiffFile): Promise<XmlElement> {
  const root = await readXmlTag(tiff.first, tag.XMP);
  const scanner =
    root?.name === 'iScan' ? root : root?.name === 'Metadata' ? elementsAt(root, 'iScan')[0] : null;
  if (!scanner) throw corrupt('its XML has no iScan element at the root or in Metadata');
  return scanner;
}

function readPositive({ attributes }: XmlElement, name: string): number | null {
  const value = readDecimal(attributes.get(name));
  return value !== null && value > 0 && value < 1000 ? value : null;
}

/** Returns the brightness of empty glass; 255 where the scanner does not state it. */
function readWhitePoint({ attributes }: XmlElement): Colour {
  const point = readWhole(attributes.get('ScanWhitePoint'));
  const level = point === null || point > 255 ? 255 : point;
  return { r: level, g: level, b: level };
}

interface StoredLevel {
  readonly tiffImage: TiffImage;
  readonly downsample: number;
}

interface SortedDirectories {
  /** Largest first. */
  readonly levels: readonly StoredLevel[];
  readonly associatedTiffImages: ReadonlyMap<AssociatedImageName, TiffImage>;
}

const associatedNames: ReadonlyMap<string, AssociatedImageName> = new Map([
  ['Label Image', 'macro'],
  ['Label_Image', 'macro'],
  ['Thumbnail', 'thumbnail'],
]);

/** Sorts directories: levels are described as `level=1 mag=20 quality=90`, associated images by name; others are skipped. */
async function sortDirectories(tiff: TiffFile): Promise<SortedDirectories> {
  const levels: StoredLevel[] = [];
  const associatedTiffImages = new Map<AssociatedImageName, TiffImage>();
  let fullPower: number | null = null;
  for (const directory of await tiff.directories()) {
    const description = ((await directory.text(tag.ImageDescription, 1024)) ?? '').trim();
    const name = associatedNames.get(description);
    if (name && !associatedTiffImages.has(name))
      associatedTiffImages.set(name, await readTiffImage(directory));
    const [, number] = /(?:^|\s)level=(\S*)/.exec(description) ?? [];
    if (number === undefined) continue;
    const [, magnification] = /(?:^|\s)mag=(\S*)/.exec(description) ?? [];
    const power = readDecimal(magnification);
    if (readWhole(number) !== levels.length || power === null || power <= 0) {
      throw corrupt('its levels are not numbered consecutively, each with a magnification');
    }
    fullPower ??= power;
    const downsample = fullPower / power;
    if (downsample <= (levels.at(-1)?.downsample ?? 0))
      throw corrupt('a level is larger than the one before it');
    levels.push({ tiffImage: await readTiffImage(directory), downsample });
  }
  if (levels.length > limits.levels) {
    throw new SlideError('LIMIT_EXCEEDED', `The pyramid has ${levels.length} levels`);
  }
  return { levels, associatedTiffImages };
}

async function openLevels(
  source: ByteSource,
  stored: readonly StoredLevel[],
  regions: readonly Region[] | null,
  background: Colour,
): Promise<LevelTiles> {
  if (regions === null) return openDeclaredLevels(source, stored.map(asStored));
  const [only] = regions;
  if (only && regions.length === 1 && isPlainGrid(only))
    return openDeclaredLevels(source, plainLevels(stored, only));
  return joinLevels(await mosaicLevels(source, stored, regions, background));
}

function asStored({ tiffImage, downsample }: StoredLevel) {
  return { tiffImage, width: tiffImage.width, height: tiffImage.height, downsample };
}

/** Whether the stored tiles form the image without overlaps and can be sent unchanged. */
function isPlainGrid({ firstColumn, firstRow, overlapsX, overlapsY }: Region): boolean {
  const isZero = (overlap: number) => overlap === 0;
  return firstColumn === 0 && firstRow === 0 && overlapsX.every(isZero) && overlapsY.every(isZero);
}

function plainLevels(stored: readonly StoredLevel[], { columns, rows }: Region) {
  const tiles = tilesOf(stored[0]);
  return stored.map(({ tiffImage, downsample }) => ({
    tiffImage,
    width: Math.max(1, Math.floor((columns * tiles.width) / downsample)),
    height: Math.max(1, Math.floor((rows * tiles.height) / downsample)),
    downsample,
  }));
}

function tilesOf(level: StoredLevel | undefined): Tiles {
  if (!level?.tiffImage.tiles) throw corrupt('a level is not cut into tiles');
  return level.tiffImage.tiles;
}

/** Minimum side of a frame in a level, in pixels; the server renders smaller levels from a larger one. */
const MIN_CELL_SIDE = 16;

/** Composes each level: in a level reduced by n, every stored tile contains n × n frames, which are placed separately. */
async function mosaicLevels(
  source: ByteSource,
  stored: readonly StoredLevel[],
  regions: readonly Region[],
  background: Colour,
): Promise<readonly ReadableLevel[]> {
  const tiles = tilesOf(stored[0]);
  const placed = placeRegions(regions, tiles);
  const levels: ReadableLevel[] = [];
  for (const level of stored) {
    const { downsample, tiffImage } = level;
    const own = tilesOf(level);
    if (own.width !== tiles.width || own.height !== tiles.height)
      throw corrupt('its levels have different tiles');
    const cellWidth = tiles.width / downsample;
    const cellHeight = tiles.height / downsample;
    const isWhole = [downsample, cellWidth, cellHeight].every(Number.isInteger);
    if (!isWhole || Math.min(cellWidth, cellHeight) < MIN_CELL_SIDE) break;
    const { readTile } = await openImageTiles(source, tiffImage);
    const areas = placed.map(({ region, lefts, tops }): MosaicArea => {
      const isCovered =
        Math.ceil((region.firstColumn + region.columns) / downsample) <= own.columns &&
        Math.ceil((region.firstRow + region.rows) / downsample) <= own.rows;
      if (!isCovered) throw corrupt('a level is smaller than its regions');
      return {
        readTile,
        tileWidth: own.width,
        tileHeight: own.height,
        cellsPerTile: downsample,
        firstColumn: region.firstColumn,
        firstRow: region.firstRow,
        lefts: lefts.map((left) => Math.round(left / downsample)),
        tops: tops.map((top) => Math.round(top / downsample)),
        width: own.columns * own.width,
        height: own.rows * own.height,
      };
    });
    const right = Math.max(...areas.map(({ lefts }) => (lefts.at(-1) ?? 0) + cellWidth));
    const bottom = Math.max(...areas.map(({ tops }) => (tops.at(-1) ?? 0) + cellHeight));
    levels.push(openMosaicLevel({ width: right, height: bottom, downsample, areas, background }));
  }
  return levels;
}

interface PlacedRegion {
  readonly region: Region;
  /** Pixels of full resolution, from the top left corner of all regions. */
  readonly lefts: readonly number[];
  readonly tops: readonly number[];
}

function placeRegions(regions: readonly Region[], tiles: Tiles): readonly PlacedRegion[] {
  const placed = regions.map((region) => {
    const lefts = startsOf(region.overlapsX, tiles.width);
    const tops = startsOf(region.overlapsY, tiles.height);
    const height = (tops.at(-1) ?? 0) + tiles.height;
    // The scanner measures y upwards from a baseline; the result counts from the top.
    return { region, lefts, tops, x: region.x, y: -(region.aboveBottom + height) };
  });
  const left = Math.min(...placed.map(({ x }) => x));
  const top = Math.min(...placed.map(({ y }) => y));
  return placed.map(({ region, lefts, tops, x, y }) => ({
    region,
    lefts: lefts.map((start) => start + x - left),
    tops: tops.map((start) => start + y - top),
  }));
}

function startsOf(overlaps: readonly number[], side: number): number[] {
  const starts = [0];
  for (const overlap of overlaps) starts.push((starts.at(-1) ?? 0) + side - overlap);
  return starts;
}
