/**
 * Reads the scanned areas of a Ventana BIF slide from the XML of its largest level: the position of each area, and the
 * overlaps of its camera frames. Each frame is one tile of that level. `ventana-bif.ts` composes all levels with these values.
 */
import { notSupportedError, SlideError } from '../model/slide.ts';
import type { TileGrid } from '../tiff/image-layout.ts';
import { checkAreaCounts } from '../tiff/mosaic-level.ts';
import { tag } from '../tiff/tags.ts';
import type { TiffImage } from '../tiff/tiff-image.ts';
import { readXmlTag } from '../tiff/xml-tag.ts';
import { readDecimal, readWholeNumber } from '../xml/read-numbers.ts';
import { elementsAt, type XmlElement } from '../xml/read-xml.ts';

/** A scanned rectangle of camera frames. */
export interface ScannedArea {
  /** Column and row of the area's top left frame in the grid of the stored image. */
  readonly firstColumn: number;
  readonly firstRow: number;
  /** Number of columns and rows of frames. */
  readonly columns: number;
  readonly rows: number;
  /** Position of the left edge in pixels of full resolution. */
  readonly x: number;
  /** Distance in pixels of full resolution from a baseline below all areas up to the area's bottom edge. */
  readonly bottomAboveBaseline: number;
  /** Overlap in pixels of each column with the one before it, starting with the second column; negative for a gap. */
  readonly overlapsX: readonly number[];
  /** Overlap in pixels of each row with the row above it, starting with the second row; negative for a gap. */
  readonly overlapsY: readonly number[];
}

/**
 * Returns whether the reader needs an XML element. It needs AoiOrigin (the positions of the scanned areas, "areas of
 * interest") and SlideStitchInfo (the overlaps of frames), with all their descendants. Other elements contain file names.
 */
function isNeededElement([_root, childOfRoot]: readonly string[]): boolean {
  return childOfRoot === 'AoiOrigin' || childOfRoot === 'SlideStitchInfo';
}

/**
 * Reads the scanned areas.
 *
 * @returns null when the file describes no frames; its tiles then form an ordinary grid
 * @throws SlideError FILE_CORRUPT, FORMAT_NOT_SUPPORTED, LIMIT_EXCEEDED
 */
export async function readScannedAreas(full: TiffImage): Promise<readonly ScannedArea[] | null> {
  const root = await readXmlTag(full.directory, tag.XMP, isNeededElement);
  if (root?.name !== 'EncodeInfo') return null;
  if (!full.tiles) throw corruptError('its largest level is stored in strips, not in tiles');
  if ((readWholeNumber(root.attributes.get('Ver')) ?? 0) < 2)
    throw notSupportedError('EncodeInfo before version 2');
  const imageInfos = elementsAt(root, 'SlideStitchInfo/ImageInfo');
  const origins = elementsAt(root, 'AoiOrigin').flatMap(({ children }) => children);
  if (imageInfos.length !== origins.length) {
    throw corruptError(`its XML lists ${imageInfos.length} areas and ${origins.length} origins of areas`);
  }
  const areas: ScannedArea[] = [];
  let columnsAndRows = 0;
  for (const [i, imageInfo] of imageInfos.entries()) {
    const origin = origins[i];
    columnsAndRows += readIntegerAttribute(imageInfo, 'NumCols') + readIntegerAttribute(imageInfo, 'NumRows');
    checkAreaCounts(imageInfos.length, columnsAndRows);
    if (origin && readIntegerAttribute(imageInfo, 'AOIScanned') !== 0) {
      const isOnlyArea = imageInfos.length === 1;
      areas.push(readScannedArea(imageInfo, origin, full.tiles, isOnlyArea));
    }
  }
  if (areas.length === 0) throw corruptError('none of its areas was scanned');
  return areas;
}

/** Names of XML elements for error messages. The elements with the origins of areas have names such as AOI0. */
const elementNames: ReadonlyMap<string, string> = new Map([
  ['ImageInfo', 'a scanned area'],
  ['TileJointInfo', 'a joint of two frames'],
]);

/** Reads an integer of at least 0. @throws SlideError FILE_CORRUPT when the attribute is missing or has another value */
function readIntegerAttribute({ attributes, name }: XmlElement, attribute: string): number {
  const value = readWholeNumber(attributes.get(attribute));
  if (value === null)
    throw corruptError(
      `${attribute} of ${elementNames.get(name) ?? 'the origin of an area'} is not a whole number`,
    );
  return value;
}

/** Reads and checks an area. @param isOnlyArea whether the file has a single area, which needs no position */
function readScannedArea(
  imageInfo: XmlElement,
  origin: XmlElement,
  tiles: TileGrid,
  isOnlyArea: boolean,
): ScannedArea {
  const frameWidth = readIntegerAttribute(imageInfo, 'Width');
  const frameHeight = readIntegerAttribute(imageInfo, 'Height');
  if (frameWidth !== tiles.width || frameHeight !== tiles.height) {
    throw corruptError('its frames and its tiles have different sizes');
  }
  const firstColumn = readIntegerAttribute(origin, 'OriginX') / tiles.width;
  const firstRow = readIntegerAttribute(origin, 'OriginY') / tiles.height;
  if (!Number.isInteger(firstColumn) || !Number.isInteger(firstRow)) {
    throw corruptError('an area begins inside a tile');
  }
  const columns = readIntegerAttribute(imageInfo, 'NumCols');
  const rows = readIntegerAttribute(imageInfo, 'NumRows');
  const isInside = firstColumn + columns <= tiles.columns && firstRow + rows <= tiles.rows;
  if (columns < 1 || rows < 1 || !isInside)
    throw corruptError('an area has no frames, or needs tiles that the file does not store');
  const { overlapsX, overlapsY } = readOverlaps(imageInfo, columns, rows, tiles);
  const defaultPosition = isOnlyArea ? '0' : undefined;
  const x = readDecimal(imageInfo.attributes.get('Pos-X') ?? defaultPosition);
  const bottomAboveBaseline = readDecimal(imageInfo.attributes.get('Pos-Y') ?? defaultPosition);
  if (x === null || bottomAboveBaseline === null) throw corruptError('an area has no position');
  return { firstColumn, firstRow, columns, rows, x, bottomAboveBaseline, overlapsX, overlapsY };
}

/** Minimum confidence (0 to 100) of a measured overlap. Less reliable measurements are used only if there are no others. */
const MIN_CONFIDENCE = 98;

/** The overlap of two neighbouring frames as the scanner measured it. */
interface Joint {
  /** `x` for neighbours in a row, `y` for neighbours in a column. */
  readonly axis: 'x' | 'y';
  /** Index of the boundary between two columns or rows of frames; boundary 0 is between the first and the second one. */
  readonly boundary: number;
  /** Measured overlap in pixels. */
  readonly overlap: number;
  /** Confidence of the measurement, 0 to 100; 0 for frames that the scanner did not join. */
  readonly confidence: number;
}

/**
 * Calculates one overlap for each boundary between two columns and between two rows: the mean of the boundary's joints whose
 * confidence is at least `MIN_CONFIDENCE`. A boundary without such joints gets the mean of all confident joints in its
 * direction. If there are none (e.g. on empty glass), all joints in this direction are used, weighted by their confidence.
 */
function readOverlaps(
  imageInfo: XmlElement,
  columns: number,
  rows: number,
  tiles: TileGrid,
): Pick<ScannedArea, 'overlapsX' | 'overlapsY'> {
  const joints = elementsAt(imageInfo, 'TileJointInfo').map((joint) => readJoint(joint, columns, rows));
  const overlapsAlong = (axis: 'x' | 'y', boundaryCount: number, frameSide: number) => {
    const jointsOnAxis = joints.filter((joint) => joint.axis === axis);
    const confident = jointsOnAxis.filter(({ confidence }) => confidence >= MIN_CONFIDENCE);
    const equalWeight = () => 1;
    const overlaps =
      confident.length > 0
        ? meanOverlaps(confident, boundaryCount, equalWeight)
        : meanOverlaps(jointsOnAxis, boundaryCount, (joint) => joint.confidence);
    const isPlausible = overlaps.every((overlap) => Math.abs(overlap) < frameSide / 2);
    if (!isPlausible)
      throw corruptError('its frames overlap, or have gaps between them, of half a frame or more');
    return overlaps;
  };
  return {
    overlapsX: overlapsAlong('x', columns - 1, tiles.width),
    overlapsY: overlapsAlong('y', rows - 1, tiles.height),
  };
}

/** The step in columns (x) and rows (y) from the first frame of a joint to the second, by the Direction of the joint. */
const directions: ReadonlyMap<string, readonly [x: number, y: number]> = new Map([
  ['LEFT', [-1, 0]],
  ['RIGHT', [1, 0]],
  ['UP', [0, -1]],
  ['DOWN', [0, 1]],
]);

/** Reads a TileJointInfo element. `columns` and `rows` are the numbers of columns and rows of frames in the area. */
function readJoint(joint: XmlElement, columns: number, rows: number): Joint {
  const frame1 = gridPositionOf(readIntegerAttribute(joint, 'Tile1'), columns, rows);
  const frame2 = gridPositionOf(readIntegerAttribute(joint, 'Tile2'), columns, rows);
  const [stepX, stepY] = directions.get(joint.attributes.get('Direction') ?? '') ?? [0, 0];
  const isNeighbour = frame2.column === frame1.column + stepX && frame2.row === frame1.row + stepY;
  if (!isNeighbour || (stepX === 0 && stepY === 0)) {
    throw notSupportedError('a joint of two frames that are not left, right, upper or lower neighbours');
  }
  const axis = stepX === 0 ? 'y' : 'x';
  const overlap = readDecimal(joint.attributes.get(axis === 'y' ? 'OverlapY' : 'OverlapX'));
  if (overlap === null) throw corruptError('a joint has no overlap');
  const isJoined = joint.attributes.get('FlagJoined') !== '0';
  return {
    axis,
    boundary: axis === 'y' ? Math.min(frame1.row, frame2.row) : Math.min(frame1.column, frame2.column),
    overlap,
    confidence: isJoined ? readIntegerAttribute(joint, 'Confidence') : 0,
  };
}

/**
 * Returns the position of a frame in the grid. Frames are numbered from 1 in the order of the scan: from the bottom row
 * up, alternately from left to right and from right to left.
 */
function gridPositionOf(frameNumber: number, columns: number, rows: number): { column: number; row: number } {
  if (frameNumber < 1 || frameNumber > columns * rows)
    throw corruptError('a joint names a frame that does not exist');
  const rowFromBottom = Math.floor((frameNumber - 1) / columns);
  const indexInRow = (frameNumber - 1) % columns;
  return {
    column: rowFromBottom % 2 === 0 ? indexInRow : columns - 1 - indexInRow,
    row: rows - 1 - rowFromBottom,
  };
}

/**
 * Returns the weighted mean overlap of each boundary. A boundary whose joints have no weight gets the mean of all joints, or 0
 * if no joint has weight.
 */
function meanOverlaps(
  joints: readonly Joint[],
  boundaryCount: number,
  weightOf: (joint: Joint) => number,
): readonly number[] {
  const sums = Array.from({ length: boundaryCount }, () => ({ weight: 0, overlap: 0 }));
  const total = { weight: 0, overlap: 0 };
  for (const joint of joints) {
    const weight = weightOf(joint);
    const boundarySum = sums[joint.boundary] ?? total; // `?? total` only satisfies the type: `boundary` is always in range
    for (const sum of [total, boundarySum]) {
      sum.weight += weight;
      sum.overlap += weight * joint.overlap;
    }
  }
  const totalMean = total.weight === 0 ? 0 : total.overlap / total.weight;
  return sums.map(({ weight, overlap }) => (weight === 0 ? totalMean : overlap / weight));
}

/** Returns the error for a contradiction. In all values of `what`, "it" is the slide. */
export function corruptError(what: string): SlideError {
  return new SlideError('FILE_CORRUPT', `The Ventana slide contradicts itself: ${what}`);
}
