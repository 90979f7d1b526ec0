/**
 * One DICOM file of a slide: which series it belongs to, what it shows, and how its pixels are written.
 *
 * Source: DICOM PS3.3, sections A.32.8 (VL Whole Slide Microscopy Image IOD), C.8.12.4 (its image module),
 * C.7.6.16 (multi-frame functional groups) and C.7.6.17.3 (where the tiles are).
 */
import { createHash } from 'node:crypto';
import { SlideError } from '../slide.ts';
import type { ByteSource } from '../source/byte-source.ts';
import { byteWindow } from './byte-window.ts';
import { corrupt, tooMuch } from './damage.ts';
import type { DataSet, Place } from './data-set.ts';
import { type FileMeta, isDicom, readFileMeta, readUid, SIGNATURE_BYTES } from './file-meta.ts';
import { LEAST_POSITION_BYTES, limits } from './limits.ts';
import { readDataSet, type Walk, type Wanted } from './read-data-set.ts';
import { nameOfTag, type Tag, tag } from './tags.ts';
import { nameOfSopClass, nameOfTransferSyntax, transferSyntaxOf, wholeSlideImage } from './uids.ts';

/** What the third value of ImageType says. Source: PS3.3 C.8.12.4.1.1 (LOCALIZER: an older name of OVERVIEW). */
export type ImageKind = 'volume' | 'thumbnail' | 'label' | 'overview';

/** A file's part of a picture that is cut into several files. Source: PS3.3, table C.7.6.16-1. */
export interface ConcatenationPart {
  readonly uid: string;
  /** From 1. */
  readonly number: number;
  /** How many parts there are; null when the file does not say. */
  readonly total: number | null;
  /** Frames of the parts before this one. */
  readonly frameOffset: number;
}

/** What tells which files are one slide. */
export interface Identity {
  /**
   * The same for all files of one slide, and for no others: a hash of the series, the study, the glass slide and
   * the patient, none of which goes any further.
   */
  readonly series: string;
  /** Tells several pyramids of one series apart; null when the file does not say. */
  readonly pyramid: string | null;
  /** The file's own UID. */
  readonly sopInstance: string;
  readonly kind: ImageKind;
  /** Pixels of the whole picture. */
  readonly width: number;
  readonly height: number;
  /** Place within the series; null when the file does not say. */
  readonly instanceNumber: number | null;
  readonly concatenation: ConcatenationPart | null;
}

/** How the samples of a frame are written. Source: PS3.3 C.7.6.3.1. */
export interface PixelDescription {
  readonly samplesPerPixel: number;
  readonly photometric: string;
  /** 1: each sample in a plane of its own. */
  readonly planarConfiguration: number;
  readonly bitsAllocated: number;
  readonly bitsStored: number;
  readonly highBit: number;
  /** 1: signed. */
  readonly pixelRepresentation: number;
  /** Centre and width of the grey values to show, in the unit that slope and intercept give; null when not said. */
  readonly window: { readonly center: number; readonly width: number } | null;
  readonly rescale: { readonly slope: number; readonly intercept: number };
}

/** Where each frame's top left pixel is, if the file says it frame by frame. */
export interface FramePositions {
  /** Pixels of the whole picture, from 1. */
  readonly columns: Int32Array;
  readonly rows: Int32Array;
  /** Micrometres above the glass; 0 when not said. */
  readonly depths: Float64Array;
  /** 1 for frames of the first optical path, 0 for those of others. */
  readonly isFirstPath: Uint8Array;
}

export interface Instance extends Identity {
  readonly source: ByteSource;
  readonly transferSyntax: string;
  readonly frames: number;
  /** Pixels of every frame. */
  readonly tileWidth: number;
  readonly tileHeight: number;
  /** Null when the frames stand in the order of rows and columns (TILED_FULL), or there is only one. */
  readonly positions: FramePositions | null;
  readonly pixels: PixelDescription;
  readonly pixelData: Place;
  readonly extendedOffsets: Place | null;
  readonly extendedLengths: Place | null;
  /** Millimetres between the centres of pixels; null when the file does not say. */
  readonly spacing: { readonly x: number; readonly y: number } | null;
  /** Millimetres from the corner of the glass to the first pixel; null when the file does not say. */
  readonly origin: { readonly x: number; readonly y: number } | null;
  /** Micrometres above the glass, of the first focal plane; null when the file does not say. */
  readonly depth: number | null;
  /** Of the first optical path; null when the file does not say. */
  readonly opticalPath: string | null;
  readonly objectivePower: number | null;
  readonly manufacturer: string | null;
  /** CIELab values of 16 bits for places without a tile; null when the file does not say. */
  readonly absentPixel: readonly number[] | null;
  readonly iccProfile: Place | null;
  readonly showsSpecimenLabel: boolean;
}

const identityTags: readonly Tag[] = [
  tag.ImageType,
  tag.SOPClassUID,
  tag.SOPInstanceUID,
  tag.PyramidUID,
  tag.PatientID,
  tag.StudyInstanceUID,
  tag.SeriesInstanceUID,
  tag.InstanceNumber,
  tag.ConcatenationUID,
  tag.InConcatenationNumber,
  tag.InConcatenationTotalNumber,
  tag.ConcatenationFrameOffsetNumber,
  tag.Rows,
  tag.Columns,
  tag.ContainerIdentifier,
  tag.TotalPixelMatrixColumns,
  tag.TotalPixelMatrixRows,
];
const imageTags: readonly Tag[] = [
  ...identityTags,
  tag.Manufacturer,
  tag.DimensionOrganizationType,
  tag.SamplesPerPixel,
  tag.PhotometricInterpretation,
  tag.PlanarConfiguration,
  tag.NumberOfFrames,
  tag.BitsAllocated,
  tag.BitsStored,
  tag.HighBit,
  tag.PixelRepresentation,
  tag.ImagedVolumeWidth,
  tag.ImagedVolumeHeight,
  tag.SpecimenLabelInImage,
  tag.RecommendedAbsentPixelCIELabValue,
];

const valuesOf = (tags: readonly Tag[]): Wanted => new Map(tags.map((number) => [number, 'value']));

const identityWanted = valuesOf(identityTags);
const imageWanted: Wanted = new Map([
  ...valuesOf(imageTags),
  [
    tag.TotalPixelMatrixOriginSequence,
    {
      items: valuesOf([
        tag.XOffsetInSlideCoordinateSystem,
        tag.YOffsetInSlideCoordinateSystem,
        tag.ZOffsetInSlideCoordinateSystem,
      ]),
    },
  ],
  [
    tag.OpticalPathSequence,
    {
      items: new Map([
        ...valuesOf([tag.OpticalPathIdentifier, tag.ObjectiveLensPower]),
        [tag.ICCProfile, 'place'],
      ]),
    },
  ],
  [
    tag.SharedFunctionalGroupsSequence,
    {
      items: new Map([
        [tag.PixelMeasuresSequence, { items: valuesOf([tag.PixelSpacing]) }],
        [tag.FrameVOILUTSequence, { items: valuesOf([tag.WindowCenter, tag.WindowWidth]) }],
        [tag.PixelValueTransformationSequence, { items: valuesOf([tag.RescaleIntercept, tag.RescaleSlope]) }],
        [tag.OpticalPathIdentificationSequence, { items: valuesOf([tag.OpticalPathIdentifier]) }],
      ]),
    },
  ],
]);
const frameWanted: Wanted = new Map([
  [tag.OpticalPathIdentificationSequence, { items: valuesOf([tag.OpticalPathIdentifier]) }],
  [
    tag.PlanePositionSlideSequence,
    {
      items: valuesOf([
        tag.ColumnPositionInTotalImagePixelMatrix,
        tag.RowPositionInTotalImagePixelMatrix,
        tag.ZOffsetInSlideCoordinateSystem,
      ]),
    },
  ],
]);

/**
 * Read as much of a file as tells which slide it belongs to: a few kilobytes.
 *
 * @returns null when the file is no DICOM file
 * @throws SlideError NOT_A_SLIDE for other DICOM objects, FORMAT_NOT_SUPPORTED, FILE_CORRUPT, FILE_TRUNCATED,
 *   LIMIT_EXCEEDED
 */
export async function readIdentity(source: ByteSource): Promise<Identity | null> {
  if (source.size < SIGNATURE_BYTES) return null;
  if (!isDicom(await source.read(0, SIGNATURE_BYTES))) return null;
  const window = byteWindow(source);
  const meta = await readFileMeta(window);
  const walk = walkOf(meta);
  const { dataSet } = await readDataSet(
    { ...walk, window },
    meta.dataSetAt,
    identityWanted,
    (number) => number >= 0x5200_0000,
  );
  return identityOf(dataSet);
}

/**
 * Read the whole header of a file: what it shows and how, up to its pixels.
 *
 * @throws SlideError NOT_A_SLIDE for other DICOM objects, FORMAT_NOT_SUPPORTED, FILE_CORRUPT, FILE_TRUNCATED,
 *   LIMIT_EXCEEDED
 */
export async function readInstance(source: ByteSource): Promise<Instance> {
  const window = byteWindow(source);
  const meta = await readFileMeta(window);
  const walk = { ...walkOf(meta), window };
  const { dataSet, end } = await readDataSet(
    walk,
    meta.dataSetAt,
    imageWanted,
    (number) => number >= tag.PerFrameFunctionalGroupsSequence,
  );
  const identity = identityOf(dataSet);
  if (!transferSyntaxOf(meta.transferSyntax)) throw notRead(nameOfTransferSyntax(meta.transferSyntax));

  const frames = countOf(dataSet, tag.NumberOfFrames, limits.frames) ?? 1;
  const tileWidth = sideOf(dataSet, tag.Columns, limits.tileSide);
  const tileHeight = sideOf(dataSet, tag.Rows, limits.tileSide);
  const isOneTile = frames === 1 && identity.width <= tileWidth && identity.height <= tileHeight;
  const isSparse = identity.kind === 'volume' && !isOneTile && isPlacedByFrame(dataSet);

  if (frames * (isSparse ? LEAST_POSITION_BYTES : 1) > source.size) {
    throw corrupt(`it is too small for the ${frames} frames it claims`);
  }

  const [path] = dataSet.items(tag.OpticalPathSequence);
  const [shared] = dataSet.items(tag.SharedFunctionalGroupsSequence);
  const collector = isSparse ? positionCollector(frames, path, shared) : null;
  walk.budget.elements += frames * limits.elementsPerFrame;
  const rest = await readDataSet(walk, end, restWanted(collector), () => false);

  const pixelData = rest.dataSet.place(tag.PixelData);
  if (!pixelData) throw corrupt('it has no pixels');
  return {
    ...identity,
    source,
    transferSyntax: meta.transferSyntax,
    frames,
    tileWidth,
    tileHeight,
    positions: collector?.finish() ?? null,
    pixels: pixelsOf(dataSet, shared),
    pixelData,
    extendedOffsets: rest.dataSet.place(tag.ExtendedOffsetTable),
    extendedLengths: rest.dataSet.place(tag.ExtendedOffsetTableLengths),
    spacing: spacingOf(dataSet, shared, identity),
    origin: originOf(dataSet),
    depth:
      dataSet.items(tag.TotalPixelMatrixOriginSequence)[0]?.real(tag.ZOffsetInSlideCoordinateSystem) ?? null,
    opticalPath: path?.text(tag.OpticalPathIdentifier) ?? null,
    objectivePower: path?.real(tag.ObjectiveLensPower) ?? null,
    manufacturer: dataSet.text(tag.Manufacturer),
    absentPixel: absentPixelOf(dataSet),
    iccProfile: path?.place(tag.ICCProfile) ?? null,
    showsSpecimenLabel: dataSet.text(tag.SpecimenLabelInImage) === 'YES',
  };
}

/** What can be told before the data set is read, so that other objects are named even where theirs is broken. */
function walkOf({ sopClass, transferSyntax }: FileMeta): Omit<Walk, 'window'> {
  if (sopClass !== null) checkSopClass(sopClass);
  const isUnreadable =
    transferSyntax.startsWith('1.2.840.10008.1.2.1.99') || transferSyntax === '1.2.840.10008.1.2.2';
  if (isUnreadable) throw notRead(nameOfTransferSyntax(transferSyntax));
  // Every compressed transfer syntax, known or not, is explicit. Source: PS3.5 A.4.
  const isExplicit = transferSyntaxOf(transferSyntax)?.isExplicit ?? true;
  return { isExplicit, budget: { elements: limits.elements } };
}

function checkSopClass(sopClass: string): void {
  if (sopClass === wholeSlideImage) return;
  throw new SlideError(
    'NOT_A_SLIDE',
    `This DICOM file is ${nameOfSopClass(sopClass)}, not a whole-slide image`,
  );
}

function identityOf(dataSet: DataSet): Identity {
  const sopClass = readUid(dataSet.text(tag.SOPClassUID));
  if (sopClass === null) throw new SlideError('NOT_A_SLIDE', 'This DICOM file does not say what it is');
  checkSopClass(sopClass);
  const series = readUid(dataSet.text(tag.SeriesInstanceUID));
  const sopInstance = readUid(dataSet.text(tag.SOPInstanceUID));
  if (series === null || sopInstance === null) throw corrupt('it does not say which series it belongs to');
  const kind = kindOf(dataSet.texts(tag.ImageType));
  // A label has no matrix of tiles: it is one frame.
  const fallback = kind === 'volume' ? null : dataSet;
  return {
    series: hashOf([
      series,
      dataSet.text(tag.StudyInstanceUID),
      dataSet.text(tag.ContainerIdentifier),
      dataSet.text(tag.PatientID),
    ]),
    pyramid: readUid(dataSet.text(tag.PyramidUID)),
    sopInstance,
    kind,
    width: matrixSide(dataSet, tag.TotalPixelMatrixColumns, fallback?.whole(tag.Columns)),
    height: matrixSide(dataSet, tag.TotalPixelMatrixRows, fallback?.whole(tag.Rows)),
    instanceNumber: dataSet.real(tag.InstanceNumber),
    concatenation: concatenationOf(dataSet),
  };
}

function hashOf(texts: readonly (string | null)[]): string {
  return createHash('sha256')
    .update(texts.map((text) => text ?? '').join('\0'))
    .digest('base64url')
    .slice(0, 22);
}

const kinds = new Map<string, ImageKind>([
  ['VOLUME', 'volume'],
  ['THUMBNAIL', 'thumbnail'],
  ['LABEL', 'label'],
  ['OVERVIEW', 'overview'],
  ['LOCALIZER', 'overview'],
]);

function kindOf(imageType: readonly string[]): ImageKind {
  const kind = kinds.get(imageType[2] ?? '');
  if (kind) return kind;
  throw corrupt('its ImageType is neither VOLUME nor THUMBNAIL, LABEL or OVERVIEW');
}

function concatenationOf(dataSet: DataSet): ConcatenationPart | null {
  const uid = readUid(dataSet.text(tag.ConcatenationUID));
  if (uid === null) return null;
  const number = dataSet.whole(tag.InConcatenationNumber);
  const frameOffset = dataSet.whole(tag.ConcatenationFrameOffsetNumber);
  if (number === null || number < 1 || frameOffset === null || frameOffset < 0) {
    throw corrupt('it is a part of something, and does not say which');
  }
  return { uid, number, total: dataSet.whole(tag.InConcatenationTotalNumber), frameOffset };
}

/**
 * Whether each frame says where it is.
 *
 * Source: PS3.3 C.7.6.17.3: TILED_FULL says that none has to; TILED_SPARSE, or no word at all, that all must.
 */
function isPlacedByFrame(dataSet: DataSet): boolean {
  const organization = dataSet.text(tag.DimensionOrganizationType);
  if (organization === 'TILED_FULL') return false;
  if (organization === null || organization === 'TILED_SPARSE') return true;
  throw notRead('frames that are organised otherwise than in tiles');
}

interface PositionCollector {
  readonly each: (frame: DataSet) => void;
  /** @throws SlideError FILE_CORRUPT when there were fewer frames than the file claims */
  finish(): FramePositions;
}

function positionCollector(
  frames: number,
  firstPath: DataSet | undefined,
  shared: DataSet | undefined,
): PositionCollector {
  const positions = {
    columns: new Int32Array(frames),
    rows: new Int32Array(frames),
    depths: new Float64Array(frames),
    isFirstPath: new Uint8Array(frames),
  };
  const first = firstPath?.text(tag.OpticalPathIdentifier) ?? null;
  const pathOf = (groups: DataSet | undefined) =>
    groups?.items(tag.OpticalPathIdentificationSequence)[0]?.text(tag.OpticalPathIdentifier) ?? null;
  const sharedPath = pathOf(shared);
  let count = 0;
  return {
    each(frame) {
      if (count === frames) throw corrupt(`it describes more than its ${frames} frames`);
      const [position] = frame.items(tag.PlanePositionSlideSequence);
      const column = position?.whole(tag.ColumnPositionInTotalImagePixelMatrix) ?? null;
      const row = position?.whole(tag.RowPositionInTotalImagePixelMatrix) ?? null;
      if (column === null || row === null) throw corrupt(`it does not say where frame ${count + 1} is`);
      const path = pathOf(frame) ?? sharedPath;
      positions.columns[count] = column;
      positions.rows[count] = row;
      positions.depths[count] = position?.real(tag.ZOffsetInSlideCoordinateSystem) ?? 0;
      positions.isFirstPath[count] = path === null || first === null || path === first ? 1 : 0;
      count++;
    },
    finish() {
      if (count < frames) throw corrupt(`it says where ${count} of its ${frames} frames are`);
      return positions;
    },
  };
}

function restWanted(collector: PositionCollector | null): Wanted {
  const wanted: Wanted = new Map([
    [tag.ExtendedOffsetTable, 'place'],
    [tag.ExtendedOffsetTableLengths, 'place'],
  ]);
  if (!collector) return wanted;
  return new Map([
    ...wanted,
    [tag.PerFrameFunctionalGroupsSequence, { items: frameWanted, each: collector.each }],
  ]);
}

function pixelsOf(dataSet: DataSet, shared: DataSet | undefined): PixelDescription {
  const bitsAllocated = dataSet.whole(tag.BitsAllocated) ?? 0;
  const bitsStored = dataSet.whole(tag.BitsStored) ?? bitsAllocated;
  const [voi] = shared?.items(tag.FrameVOILUTSequence) ?? [];
  const [transformation] = shared?.items(tag.PixelValueTransformationSequence) ?? [];
  const center = voi?.real(tag.WindowCenter) ?? null;
  const width = voi?.real(tag.WindowWidth) ?? null;
  return {
    samplesPerPixel: dataSet.whole(tag.SamplesPerPixel) ?? 0,
    photometric: dataSet.text(tag.PhotometricInterpretation) ?? '',
    planarConfiguration: dataSet.whole(tag.PlanarConfiguration) ?? 0,
    bitsAllocated,
    bitsStored,
    highBit: dataSet.whole(tag.HighBit) ?? bitsStored - 1,
    pixelRepresentation: dataSet.whole(tag.PixelRepresentation) ?? 0,
    window: center === null || width === null || width < 1 ? null : { center, width },
    rescale: {
      slope: transformation?.real(tag.RescaleSlope) || 1,
      intercept: transformation?.real(tag.RescaleIntercept) ?? 0,
    },
  };
}

/**
 * PixelSpacing is the distance of rows first, then that of columns; where it is missing, the imaged volume is as
 * wide and high as all pixels together. Source: PS3.3, 10.7.1.3 and C.8.12.4.
 */
function spacingOf(dataSet: DataSet, shared: DataSet | undefined, { width, height }: Identity) {
  const [y, x] = shared?.items(tag.PixelMeasuresSequence)[0]?.reals(tag.PixelSpacing) ?? [];
  if (x && y && x > 0 && y > 0) return { x, y };
  const [volumeWidth, volumeHeight] = [
    dataSet.real(tag.ImagedVolumeWidth),
    dataSet.real(tag.ImagedVolumeHeight),
  ];
  if (!volumeWidth || !volumeHeight || volumeWidth < 0 || volumeHeight < 0) return null;
  return { x: volumeWidth / width, y: volumeHeight / height };
}

function originOf(dataSet: DataSet) {
  const [origin] = dataSet.items(tag.TotalPixelMatrixOriginSequence);
  const x = origin?.real(tag.XOffsetInSlideCoordinateSystem) ?? null;
  const y = origin?.real(tag.YOffsetInSlideCoordinateSystem) ?? null;
  return x === null || y === null ? null : { x, y };
}

function absentPixelOf(dataSet: DataSet): readonly number[] | null {
  const values = dataSet.reals(tag.RecommendedAbsentPixelCIELabValue);
  return values.length === 3 ? values : null;
}

function matrixSide(dataSet: DataSet, name: Tag, fallback: number | null | undefined): number {
  const side = dataSet.whole(name) ?? fallback ?? null;
  if (side === null) throw corrupt('it does not say how large its picture is');
  if (side < 1) throw corrupt(`${nameOfTag(name)} is ${side}`);
  if (side > limits.imageSide) throw tooMuch(`${nameOfTag(name)} is ${side}`);
  return side;
}

function sideOf(dataSet: DataSet, name: typeof tag.Columns | typeof tag.Rows, limit: number): number {
  const side = countOf(dataSet, name, limit);
  if (side === null) throw corrupt('it does not say how large its frames are');
  return side;
}

/** A number from 1; null when absent. */
function countOf(dataSet: DataSet, name: Tag, limit: number): number | null {
  const count = dataSet.whole(name);
  if (count === null) return null;
  if (count < 1) throw corrupt(`${nameOfTag(name)} is ${count}`);
  if (count > limit) throw tooMuch(`${nameOfTag(name)} is ${count}`);
  return count;
}

function notRead(what: string): SlideError {
  return new SlideError('FORMAT_NOT_SUPPORTED', `Not read: ${what}`);
}
