/**
 * Reads the scanned regions of a Ventana BIF from the XML of its largest level: their frames, positions and the overlaps
 * of columns and rows.
 */
import { SlideError } from '../model/slide.ts';
import { checkAreas } from '../tiff/mosaic-level.ts';
import { tag } from '../tiff/tags.ts';
import type { TiffImage } from '../tiff/tiff-image.ts';
import { readXmlTag } from '../tiff/xml-tag.ts';
import { readDecimal, readWhole } from '../xml/read-numbers.ts';
import { elementsAt, type XmlElement } from '../xml/read-xml.ts';

/** A scanned rectangle of frames. */
export interface Region {
  /** Position of the first frame in the grid of the stored image, from the top left corner. */
  readonly firstColumn: number;
  readonly firstRow: number;
  readonly columns: number;
  readonly rows: number;
  /** Pixels: position of its left edge, and of its bottom edge above a baseline below all regions. */
  readonly x: number;
  readonly aboveBottom: number;
  /** Overlap in pixels of each column, from the second on, with the one before it; likewise of each row. */
  readonly overlapsX: readonly number[];
  readonly overlapsY: readonly number[];
}

/** Whether a part of the frames' XML is read; the other parts are long and contain file names. */
function isRead([, part]: readonly string[]): boolean {
  return part === 'AoiOrigin' || part === 'SlideStitchInfo';
}

/** Returns null where the file describes no frames: its tiles then form an ordinary grid. */
export async function readRegions(full: TiffImage): Promise<readonly Region[] | null> {
  const root = await readXmlTag(full.directory, tag.XMP, isRead);
  if (root?.name !== 'EncodeInfo') return null;
  if (!full.tiles) throw corrupt('its largest level is not cut into tiles');
  if ((readWhole(root.attributes.get('Ver')) ?? 0) < 2) throw notSupported('EncodeInfo before version 2');
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

function attributeOf({ attributes, name }: XmlElement, attribute: string): number {
  const value = readWhole(attributes.get(attribute));
  if (value === null)
    throw corrupt(
      `${attribute} of ${name === 'ImageInfo' ? 'a region' : 'a part of it'} is not a whole number`,
    );
  return value;
}

export type Tiles = NonNullable<TiffImage['tiles']>;

/** @param isAlone whether it is the only region, which needs no position */
function readRegion(info: XmlElement, origin: XmlElement, tiles: Tiles, isAlone: boolean): Region {
  if (attributeOf(info, 'Width') !== tiles.width || attributeOf(info, 'Height') !== tiles.height) {
    throw corrupt('its frames and its tiles have different sizes');
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

/** Minimum confidence (0…100) at which the overlap that the scanner measured for two frames is used. */
const MIN_CONFIDENCE = 98;

/** The overlap of two neighbouring frames as the scanner measured it. */
interface Joint {
  /** Index of the gap between two columns or rows: 0 lies between the first and the second one. */
  readonly axis: 'x' | 'y';
  readonly gap: number;
  /** Measured overlap in pixels. */
  readonly overlap: number;
  /** 0…100; 0 for frames that the scanner did not join. */
  readonly confidence: number;
}

/**
 * Calculates the overlap of each gap between columns and between rows, which applies to the whole gap: the mean of its
 * confident joints, or of all confident joints where the gap has none. Where no joint is confident (on glass, say),
 * the mean is weighted by confidence.
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
    const confident = own.filter(({ confidence }) => confidence >= MIN_CONFIDENCE);
    const overlaps =
      confident.length > 0
        ? meansOf(confident, gaps, () => 1)
        : meansOf(own, gaps, (joint) => joint.confidence);
    const isPlausible = overlaps.every((overlap) => Math.abs(overlap) < side / 2);
    if (!isPlausible) throw corrupt('its frames overlap, or lie apart, by half a frame or more');
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
  const one = gridPositionOf(attributeOf(joint, 'Tile1'), columns, rows);
  const other = gridPositionOf(attributeOf(joint, 'Tile2'), columns, rows);
  const [stepX, stepY] = directions.get(joint.attributes.get('Direction') ?? '') ?? [0, 0];
  const isNeighbour = other.column === one.column + stepX && other.row === one.row + stepY;
  if (!isNeighbour || (stepX === 0 && stepY === 0)) {
    throw notSupported('frames joined to other than the left, right, upper or lower neighbour');
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

/** Frames are numbered from 1 in the order of the scan: from the bottom row up, every other row from right to left. */
function gridPositionOf(number: number, columns: number, rows: number): { column: number; row: number } {
  if (number < 1 || number > columns * rows) throw corrupt('a joint names a frame that does not exist');
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

export function corrupt(what: string): SlideError {
  return new SlideError('FILE_CORRUPT', `The Ventana slide contradicts itself: ${what}`);
}

function notSupported(what: string): SlideError {
  return new SlideError('FORMAT_NOT_SUPPORTED', `Not supported: ${what}`);
}
