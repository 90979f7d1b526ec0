/**
 * Reads the scanned regions of a Ventana BIF from the XML of its largest level: their position, and the overlaps of
 * their camera frames, each of which is one stored tile.
 */
import { SlideError } from '../model/slide.ts';
import { checkAreas } from '../tiff/mosaic-level.ts';
import { tag } from '../tiff/tags.ts';
import type { TiffImage } from '../tiff/tiff-image.ts';
import { readXmlTag } from '../tiff/xml-tag.ts';
import { readDecimal, readWholeNumber } from '../xml/read-numbers.ts';
import { elementsAt, type XmlElement } from '../xml/read-xml.ts';

/** A scanned rectangle of frames. */
export interface Region {
  /** Position of the first frame in the grid of the stored image, from the top left corner. */
  readonly firstColumn: number;
  readonly firstRow: number;
  readonly columns: number;
  readonly rows: number;
  /** Position of the left edge in pixels of full resolution. */
  readonly x: number;
  /** Distance in pixels of the bottom edge above a baseline that is below all regions. */
  readonly bottomAboveBaseline: number;
  /** Overlap in pixels of each column with the one before it, starting with the second column; likewise of each row. */
  readonly overlapsX: readonly number[];
  readonly overlapsY: readonly number[];
}

/**
 * Returns whether an XML element is read: AoiOrigin and SlideStitchInfo below the root, with all their descendants.
 * Others are long and contain file names.
 */
function isReadElement([_root, childOfRoot]: readonly string[]): boolean {
  return childOfRoot === 'AoiOrigin' || childOfRoot === 'SlideStitchInfo';
}

/**
 * Reads the scanned regions; returns null when the file describes no frames, so that its tiles form an ordinary grid.
 *
 * @throws SlideError FILE_CORRUPT, FORMAT_NOT_SUPPORTED, LIMIT_EXCEEDED
 */
export async function readRegions(full: TiffImage): Promise<readonly Region[] | null> {
  const root = await readXmlTag(full.directory, tag.XMP, isReadElement);
  if (root?.name !== 'EncodeInfo') return null;
  if (!full.tiles) throw corruptError('its largest level is not cut into tiles');
  if ((readWholeNumber(root.attributes.get('Ver')) ?? 0) < 2)
    throw notSupportedError('EncodeInfo before version 2');
  const imageInfos = elementsAt(root, 'SlideStitchInfo/ImageInfo');
  const origins = elementsAt(root, 'AoiOrigin').flatMap(({ children }) => children);
  if (imageInfos.length !== origins.length) {
    throw corruptError(`${imageInfos.length} regions have ${origins.length} origins`);
  }
  const regions: Region[] = [];
  let columnsAndRows = 0;
  for (const [i, imageInfo] of imageInfos.entries()) {
    const origin = origins[i];
    columnsAndRows += wholeAttribute(imageInfo, 'NumCols') + wholeAttribute(imageInfo, 'NumRows');
    checkAreas(imageInfos.length, columnsAndRows);
    if (origin && wholeAttribute(imageInfo, 'AOIScanned') !== 0) {
      regions.push(readRegion(imageInfo, origin, full.tiles, imageInfos.length === 1));
    }
  }
  if (regions.length === 0) throw corruptError('none of its regions was scanned');
  return regions;
}

function wholeAttribute({ attributes, name }: XmlElement, attribute: string): number {
  const value = readWholeNumber(attributes.get(attribute));
  if (value === null)
    throw corruptError(
      `${attribute} of ${name === 'ImageInfo' ? 'a region' : 'a part of it'} is not a whole number`,
    );
  return value;
}

/** Size and number of the tiles of a tiled image. */
export type Tiles = NonNullable<TiffImage['tiles']>;

/**
 * Reads and checks a region.
 *
 * @param isOnlyRegion whether the file has a single region; then its position may be missing
 */
function readRegion(imageInfo: XmlElement, origin: XmlElement, tiles: Tiles, isOnlyRegion: boolean): Region {
  const frameWidth = wholeAttribute(imageInfo, 'Width');
  const frameHeight = wholeAttribute(imageInfo, 'Height');
  if (frameWidth !== tiles.width || frameHeight !== tiles.height) {
    throw corruptError('its frames and its tiles have different sizes');
  }
  const firstColumn = wholeAttribute(origin, 'OriginX') / tiles.width;
  const firstRow = wholeAttribute(origin, 'OriginY') / tiles.height;
  if (!Number.isInteger(firstColumn) || !Number.isInteger(firstRow)) {
    throw corruptError('a region begins inside a tile');
  }
  const columns = wholeAttribute(imageInfo, 'NumCols');
  const rows = wholeAttribute(imageInfo, 'NumRows');
  const isInside = firstColumn + columns <= tiles.columns && firstRow + rows <= tiles.rows;
  if (columns < 1 || rows < 1 || !isInside) throw corruptError('a region reaches beyond the tiles');
  const { overlapsX, overlapsY } = readOverlaps(imageInfo, columns, rows, tiles);
  const defaultPosition = isOnlyRegion ? '0' : undefined;
  const x = readDecimal(imageInfo.attributes.get('Pos-X') ?? defaultPosition);
  const bottomAboveBaseline = readDecimal(imageInfo.attributes.get('Pos-Y') ?? defaultPosition);
  if (x === null || bottomAboveBaseline === null) throw corruptError('a region has no position');
  return { firstColumn, firstRow, columns, rows, x, bottomAboveBaseline, overlapsX, overlapsY };
}

/** Minimum confidence (0…100) at which the overlap that the scanner measured for two frames is used. */
const MIN_CONFIDENCE = 98;

/** The overlap of two neighbouring frames as the scanner measured it. */
interface Joint {
  /** `x` for neighbours in a row, `y` for neighbours in a column. */
  readonly axis: 'x' | 'y';
  /** Index of the gap between two columns or rows; gap 0 is between the first and the second one. */
  readonly gap: number;
  /** Measured overlap in pixels. */
  readonly overlap: number;
  /** 0…100; 0 for frames that the scanner did not join. */
  readonly confidence: number;
}

/**
 * Calculates one overlap for each gap between two columns and between two rows: the mean of the gap's joints whose
 * confidence is at least `MIN_CONFIDENCE`. A gap without such joints gets the mean of those of all gaps in its
 * direction. If no gap has any (e.g. on empty glass), all joints are used, weighted by confidence.
 */
function readOverlaps(
  imageInfo: XmlElement,
  columns: number,
  rows: number,
  tiles: Tiles,
): Pick<Region, 'overlapsX' | 'overlapsY'> {
  const joints = elementsAt(imageInfo, 'TileJointInfo').map((joint) => readJoint(joint, columns, rows));
  const overlapsAlong = (axis: 'x' | 'y', gaps: number, frameSide: number) => {
    const jointsOnAxis = joints.filter((joint) => joint.axis === axis);
    const confident = jointsOnAxis.filter(({ confidence }) => confidence >= MIN_CONFIDENCE);
    const overlaps =
      confident.length > 0
        ? meanOverlaps(confident, gaps, () => 1)
        : meanOverlaps(jointsOnAxis, gaps, (joint) => joint.confidence);
    const isPlausible = overlaps.every((overlap) => Math.abs(overlap) < frameSide / 2);
    if (!isPlausible) throw corruptError('its frames overlap, or lie apart, by half a frame or more');
    return overlaps;
  };
  return {
    overlapsX: overlapsAlong('x', columns - 1, tiles.width),
    overlapsY: overlapsAlong('y', rows - 1, tiles.height),
  };
}

/** Steps in columns and rows from the first frame of a joint to the second. */
const directions: ReadonlyMap<string, readonly [x: number, y: number]> = new Map([
  ['LEFT', [-1, 0]],
  ['RIGHT', [1, 0]],
  ['UP', [0, -1]],
  ['DOWN', [0, 1]],
]);

function readJoint(joint: XmlElement, columns: number, rows: number): Joint {
  const frame1 = gridPositionOf(wholeAttribute(joint, 'Tile1'), columns, rows);
  const frame2 = gridPositionOf(wholeAttribute(joint, 'Tile2'), columns, rows);
  const [stepX, stepY] = directions.get(joint.attributes.get('Direction') ?? '') ?? [0, 0];
  const isNeighbour = frame2.column === frame1.column + stepX && frame2.row === frame1.row + stepY;
  if (!isNeighbour || (stepX === 0 && stepY === 0)) {
    throw notSupportedError('frames joined to other than the left, right, upper or lower neighbour');
  }
  const axis = stepX === 0 ? 'y' : 'x';
  const overlap = readDecimal(joint.attributes.get(axis === 'y' ? 'OverlapY' : 'OverlapX'));
  if (overlap === null) throw corruptError('a joint has no overlap');
  const isJoined = joint.attributes.get('FlagJoined') !== '0';
  return {
    axis,
    gap: axis === 'y' ? Math.min(frame1.row, frame2.row) : Math.min(frame1.column, frame2.column),
    overlap,
    confidence: isJoined ? wholeAttribute(joint, 'Confidence') : 0,
  };
}

/**
 * Returns the position of a frame in the grid. Frames are numbered from 1 in the order of the scan: from the bottom row
 * up, alternately from left to right and from right to left.
 */
function gridPositionOf(number: number, columns: number, rows: number): { column: number; row: number } {
  if (number < 1 || number > columns * rows) throw corruptError('a joint names a frame that does not exist');
  const rowFromBottom = Math.floor((number - 1) / columns);
  const indexInRow = (number - 1) % columns;
  return {
    column: rowFromBottom % 2 === 0 ? indexInRow : columns - 1 - indexInRow,
    row: rows - 1 - rowFromBottom,
  };
}

/**
 * Returns the weighted mean overlap of each gap; for a gap whose weights are 0, the mean of all joints; 0 without joints.
 */
function meanOverlaps(
  joints: readonly Joint[],
  gaps: number,
  weightOf: (joint: Joint) => number,
): readonly number[] {
  const sums = Array.from({ length: gaps }, () => ({ weight: 0, overlap: 0 }));
  const total = { weight: 0, overlap: 0 };
  for (const joint of joints) {
    const weight = weightOf(joint);
    const gapSum = sums[joint.gap] ?? total; // every joint has a gap; `total` is only for the type
    for (const sum of [total, gapSum]) {
      sum.weight += weight;
      sum.overlap += weight * joint.overlap;
    }
  }
  const totalMean = total.weight === 0 ? 0 : total.overlap / total.weight;
  return sums.map(({ weight, overlap }) => (weight === 0 ? totalMean : overlap / weight));
}

export function corruptError(what: string): SlideError {
  return new SlideError('FILE_CORRUPT', `The Ventana slide contradicts itself: ${what}`);
}

function notSupportedError(what: string): SlideError {
  return new SlideError('FORMAT_NOT_SUPPORTED', `Not supported: ${what}`);
}
