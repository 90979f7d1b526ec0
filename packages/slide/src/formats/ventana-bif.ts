/**
 * Ventana (Roche) BIF, and the .tif of the same scanners: TIFF whose first directory has XML of the scanner iScan.
 * The tiles of a BIF are frames of a camera that overlap; XML of the largest level says by how much, and which
 * rectangles of the slide were scanned. Smaller levels are the frames side by side, reduced.
 *
 * docs/formats/ventana-bif.md says what is read, and where each fact is from.
 */
import type { Colour } from '../decode/raster.ts';
import { type AssociatedImageName, SlideError } from '../slide.ts';
import type { ByteSource } from '../source/byte-source.ts';
import type { SlideFormat } from '../source/slide-format.ts';
import { readIccProfile } from '../tiff/icc-profile.ts';
import { limits } from '../tiff/limits.ts';
import { checkAreas, type MosaicArea, openMosaicLevel } from '../tiff/mosaic-level.ts';
import { readPicture, type TiffPicture } from '../tiff/picture.ts';
import { openPictureTiles } from '../tiff/picture-tiles.ts';
import { joinLevels, type LevelTiles, openStatedLevels, type ReadableLevel } from '../tiff/stated-levels.ts';
import { tag } from '../tiff/tags.ts';
import type { TiffFile } from '../tiff/tiff-file.ts';
import { readWholePicture } from '../tiff/whole-picture.ts';
import { readXmlTag } from '../tiff/xml-tag.ts';
import { readDecimal, readWhole } from '../xml/read-numbers.ts';
import { elementsAt, type XmlElement } from '../xml/read-xml.ts';

export const ventanaBif: SlideFormat = {
  name: 'ventana-bif',

  mismatch({ tiff, xmp }) {
    if (!tiff) return 'the file is no TIFF';
    return xmp.includes('<iScan') ? null : 'its XMP has no iScan';
  },

  async open(files, { tiff }) {
    const { leading } = files;
    if (!tiff) throw corrupt('the file is no TIFF');
    const scanner = await readScanner(tiff);
    const { levels: stored, beside } = await sortDirectories(tiff);
    const [full] = stored;
    if (!full) throw corrupt('it has no level');
    const background = readWhitePoint(scanner);
    const regions = await readRegions(full.picture);
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
      associatedImages: new Set(beside.keys()),
      readTile,
      async readAssociatedImage(name) {
        const picture = beside.get(name);
        if (!picture) throw new SlideError('ASSOCIATED_IMAGE_MISSING', `The slide has no ${name}`);
        return readWholePicture(leading, picture);
      },
      readIccProfile: () => readIccProfile(full.picture.directory),
      close: files.close,
    };
  },
};

/** The root of the first directory's XML, or a child of a root named Metadata. */
async function readScanner(tiff: TiffFile): Promise<XmlElement> {
  const root = await readXmlTag(tiff.first, tag.XMP);
  const scanner =
    root?.name === 'iScan' ? root : root?.name === 'Metadata' ? elementsAt(root, 'iScan')[0] : null;
  if (!scanner) throw corrupt('its XML has no iScan where it belongs');
  return scanner;
}

function readPositive({ attributes }: XmlElement, name: string): number | null {
  const value = readDecimal(attributes.get(name));
  return value !== null && value > 0 && value < 1000 ? value : null;
}

/** How bright glass is; 255 where the scanner does not say. */
function readWhitePoint({ attributes }: XmlElement): Colour {
  const point = readWhole(attributes.get('ScanWhitePoint'));
  const level = point === null || point > 255 ? 255 : point;
  return { r: level, g: level, b: level };
}

interface StoredLevel {
  readonly picture: TiffPicture;
  readonly downsample: number;
}

interface SortedDirectories {
  /** Largest first. */
  readonly levels: readonly StoredLevel[];
  readonly beside: ReadonlyMap<AssociatedImageName, TiffPicture>;
}

const besideNames: ReadonlyMap<string, AssociatedImageName> = new Map([
  ['Label Image', 'macro'],
  ['Label_Image', 'macro'],
  ['Thumbnail', 'thumbnail'],
]);

/** Levels are described as `level=1 mag=20 quality=90`; what is neither that nor known by name is nobody's. */
async function sortDirectories(tiff: TiffFile): Promise<SortedDirectories> {
  const levels: StoredLevel[] = [];
  const beside = new Map<AssociatedImageName, TiffPicture>();
  let fullPower: number | null = null;
  for (const directory of await tiff.directories()) {
    const description = ((await directory.text(tag.ImageDescription, 1024)) ?? '').trim();
    const name = besideNames.get(description);
    if (name && !beside.has(name)) beside.set(name, await readPicture(directory));
    const [, number] = /(?:^|\s)level=(\S*)/.exec(description) ?? [];
    if (number === undefined) continue;
    const [, magnification] = /(?:^|\s)mag=(\S*)/.exec(description) ?? [];
    const power = readDecimal(magnification);
    if (readWhole(number) !== levels.length || power === null || power <= 0) {
      throw corrupt('its levels are not numbered one after the other, each with a magnification');
    }
    fullPower ??= power;
    const downsample = fullPower / power;
    if (downsample <= (levels.at(-1)?.downsample ?? 0))
      throw corrupt('a level is larger than the one before it');
    levels.push({ picture: await readPicture(directory), downsample });
  }
  if (levels.length > limits.levels) {
    throw new SlideError('LIMIT_EXCEEDED', `The pyramid has ${levels.length} levels`);
  }
  return { levels, beside };
}

/** A rectangle of frames that was scanned. */
interface Region {
  /** The first frame, counted from the top left corner of the stored picture. */
  readonly firstColumn: number;
  readonly firstRow: number;
  readonly columns: number;
  readonly rows: number;
  /** Pixels: of its left edge, and of its bottom edge above a line below all regions. */
  readonly x: number;
  readonly aboveBottom: number;
  /** How many pixels each column, from the second on, reaches into the one before it; and each row. */
  readonly overlapsX: readonly number[];
  readonly overlapsY: readonly number[];
}

/** What of the XML of the frames is read; the rest is longer, and names files. */
function isKept([, part]: readonly string[]): boolean {
  return part === 'AoiOrigin' || part === 'SlideStitchInfo';
}

/** @returns null where the file knows no frames: then its tiles are a grid like any other's */
async function readRegions(full: TiffPicture): Promise<readonly Region[] | null> {
  const root = await readXmlTag(full.directory, tag.XMP, isKept);
  if (root?.name !== 'EncodeInfo') return null;
  if (!full.tiles) throw corrupt('its largest level is not cut into tiles');
  if ((readWhole(root.attributes.get('Ver')) ?? 0) < 2) throw notRead('EncodeInfo before version 2');
  const stitched = elementsAt(root, 'SlideStitchInfo/ImageInfo');
  const origins = elementsAt(root, 'AoiOrigin').flatMap(({ children }) => children);
  if (stitched.length !== origins.length) {
    throw corrupt(`${stitched.length} regions have ${origins.length} origins`);
  }
  const regions: Region[] = [];
  let lines = 0;
  for (const [i, info] of stitched.entries()) {
    const origin = origins[i];
    lines += attributeOf(info, 'NumCols') + attributeOf(info, 'NumRows');
    checkAreas(stitched.length, lines);
    if (origin && attributeOf(info, 'AOIScanned') !== 0) {
      regions.push(readRegion(info, origin, full.tiles, stitched.length === 1));
    }
  }
  if (regions.length === 0) throw corrupt('none of its regions was scanned');
  return regions;
}

function attributeOf({ attributes, name }: XmlElement, wanted: string): number {
  const value = readWhole(attributes.get(wanted));
  if (value === null)
    throw corrupt(`${wanted} of ${name === 'ImageInfo' ? 'a region' : 'a part of it'} is no number`);
  return value;
}

type Tiles = NonNullable<TiffPicture['tiles']>;

/** @param isAlone it needs no position then */
function readRegion(info: XmlElement, origin: XmlElement, tiles: Tiles, isAlone: boolean): Region {
  if (attributeOf(info, 'Width') !== tiles.width || attributeOf(info, 'Height') !== tiles.height) {
    throw corrupt('its frames are not as large as its tiles');
  }
  const [left, top] = [attributeOf(origin, 'OriginX'), attributeOf(origin, 'OriginY')];
  const [firstColumn, firstRow] = [left / tiles.width, top / tiles.height];
  if (!Number.isInteger(firstColumn) || !Number.isInteger(firstRow)) {
    throw corrupt('a region begins inside a tile');
  }
  const [columns, rows] = [attributeOf(info, 'NumCols'), attributeOf(info, 'NumRows')];
  const isInside = firstColumn + columns <= tiles.columns && firstRow + rows <= tiles.rows;
  if (columns < 1 || rows < 1 || !isInside) throw corrupt('a region reaches beyond the tiles');
  const { overlapsX, overlapsY } = readOverlaps(info, columns, rows, tiles);
  const position = (name: string) => readDecimal(info.attributes.get(name) ?? (isAlone ? '0' : undefined));
  const [x, aboveBottom] = [position('Pos-X'), position('Pos-Y')];
  if (x === null || aboveBottom === null) throw corrupt('a region has no position');
  return { firstColumn, firstRow, columns, rows, x, aboveBottom, overlapsX, overlapsY };
}

/** From so many of 100 on, what the scanner says of a joint is sure. */
const SURE = 98;

/** Two neighbouring frames, as the scanner found them to fit. */
interface Joint {
  /** Which columns they join, or which rows: 0 is the first and the second one. */
  readonly axis: 'x' | 'y';
  readonly gap: number;
  /** Pixels. */
  readonly overlap: number;
  /** 0…100; 0 for frames that were not joined. */
  readonly confidence: number;
}

/**
 * By how much columns and rows overlap. They keep together: every gap has the mean of its sure joints, and one without
 * any the mean of all; where no joint is sure, of glass say, the unsure ones count by what they are worth.
 */
function readOverlaps(
  info: XmlElement,
  columns: number,
  rows: number,
  tiles: Tiles,
): Pick<Region, 'overlapsX' | 'overlapsY'> {
  const joints = elementsAt(info, 'TileJointInfo').map((joint) => readJoint(joint, columns, rows));
  const along = (axis: 'x' | 'y', gaps: number, side: number) => {
    const own = joints.filter((joint) => joint.axis === axis);
    const sure = own.filter(({ confidence }) => confidence >= SURE);
    const overlaps =
      sure.length > 0 ? meansOf(sure, gaps, () => 1) : meansOf(own, gaps, (joint) => joint.confidence);
    const isPlausible = overlaps.every((overlap) => Math.abs(overlap) < side / 2);
    if (!isPlausible) throw corrupt('its frames overlap by half and more, or lie as far apart');
    return overlaps;
  };
  return {
    overlapsX: along('x', columns - 1, tiles.width),
    overlapsY: along('y', rows - 1, tiles.height),
  };
}

const directions: ReadonlyMap<string, readonly [x: number, y: number]> = new Map([
  ['LEFT', [-1, 0]],
  ['RIGHT', [1, 0]],
  ['UP', [0, -1]],
  ['DOWN', [0, 1]],
]);

function readJoint(joint: XmlElement, columns: number, rows: number): Joint {
  const one = placeOfFrame(attributeOf(joint, 'Tile1'), columns, rows);
  const other = placeOfFrame(attributeOf(joint, 'Tile2'), columns, rows);
  const [stepX, stepY] = directions.get(joint.attributes.get('Direction') ?? '') ?? [0, 0];
  const isNeighbour = other.column === one.column + stepX && other.row === one.row + stepY;
  if (!isNeighbour || (stepX === 0 && stepY === 0)) {
    throw notRead('frames joined in another way than to their neighbour left, right, above or below');
  }
  const axis = stepX === 0 ? 'y' : 'x';
  const overlap = readDecimal(joint.attributes.get(axis === 'y' ? 'OverlapY' : 'OverlapX'));
  if (overlap === null) throw corrupt('a joint has no overlap');
  const isJoined = joint.attributes.get('FlagJoined') !== '0';
  return {
    axis,
    gap: axis === 'y' ? Math.min(one.row, other.row) : Math.min(one.column, other.column),
    overlap,
    confidence: isJoined ? attributeOf(joint, 'Confidence') : 0,
  };
}

/** Frames are numbered from 1 as the stage moves: from the bottom row up, every other row from right to left. */
function placeOfFrame(number: number, columns: number, rows: number): { column: number; row: number } {
  if (number < 1 || number > columns * rows) throw corrupt('a joint names a frame that there is not');
  const rowFromBottom = Math.floor((number - 1) / columns);
  const alongRow = (number - 1) % columns;
  return {
    column: rowFromBottom % 2 === 0 ? alongRow : columns - 1 - alongRow,
    row: rows - 1 - rowFromBottom,
  };
}

function meansOf(
  joints: readonly Joint[],
  gaps: number,
  weightOf: (joint: Joint) => number,
): readonly number[] {
  const sums = Array.from({ length: gaps }, () => ({ weight: 0, overlap: 0 }));
  const all = { weight: 0, overlap: 0 };
  for (const joint of joints) {
    const weight = weightOf(joint);
    for (const sum of [all, sums[joint.gap] ?? all]) {
      sum.weight += weight;
      sum.overlap += weight * joint.overlap;
    }
  }
  const mean = all.weight === 0 ? 0 : all.overlap / all.weight;
  return sums.map(({ weight, overlap }) => (weight === 0 ? mean : overlap / weight));
}

async function openLevels(
  source: ByteSource,
  stored: readonly StoredLevel[],
  regions: readonly Region[] | null,
  background: Colour,
): Promise<LevelTiles> {
  if (regions === null) return openStatedLevels(source, stored.map(asStored));
  const [only] = regions;
  if (only && regions.length === 1 && isPlainGrid(only))
    return openStatedLevels(source, plainLevels(stored, only));
  return joinLevels(await mosaicLevels(source, stored, regions, background));
}

function asStored({ picture, downsample }: StoredLevel) {
  return { picture, width: picture.width, height: picture.height, downsample };
}

/** Then stored tiles may go out as they are. */
function isPlainGrid({ firstColumn, firstRow, overlapsX, overlapsY }: Region): boolean {
  const isZero = (overlap: number) => overlap === 0;
  return firstColumn === 0 && firstRow === 0 && overlapsX.every(isZero) && overlapsY.every(isZero);
}

function plainLevels(stored: readonly StoredLevel[], { columns, rows }: Region) {
  const tiles = tilesOf(stored[0]);
  return stored.map(({ picture, downsample }) => ({
    picture,
    width: Math.max(1, Math.floor((columns * tiles.width) / downsample)),
    height: Math.max(1, Math.floor((rows * tiles.height) / downsample)),
    downsample,
  }));
}

function tilesOf(level: StoredLevel | undefined): Tiles {
  if (!level?.picture.tiles) throw corrupt('a level is not cut into tiles');
  return level.picture.tiles;
}

/** Frames smaller than this are not taken apart any more: what would show them is made from a larger level. */
const LEAST_CELL = 16;

/** In a level reduced by n, every stored tile is n × n frames, each of which goes where it belongs. */
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
    const { downsample, picture } = level;
    const own = tilesOf(level);
    if (own.width !== tiles.width || own.height !== tiles.height)
      throw corrupt('its levels have different tiles');
    const cellWidth = tiles.width / downsample;
    const cellHeight = tiles.height / downsample;
    const isWhole = [downsample, cellWidth, cellHeight].every(Number.isInteger);
    if (!isWhole || Math.min(cellWidth, cellHeight) < LEAST_CELL) break;
    const { readTile } = await openPictureTiles(source, picture);
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
    // Measured from below, as the stage is.
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

function corrupt(what: string): SlideError {
  return new SlideError('FILE_CORRUPT', `The Ventana slide contradicts itself: ${what}`);
}

function notRead(what: string): SlideError {
  return new SlideError('FORMAT_NOT_SUPPORTED', `Not read: ${what}`);
}
