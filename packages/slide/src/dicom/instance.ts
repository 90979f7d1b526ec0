/**
 * Reads the header of one DICOM file ("instance") of a slide. The header describes the image and precedes the pixel data.
 *
 * Source: DICOM PS3.3, sections A.32.8 (VL Whole Slide Microscopy Image IOD), C.8.12.4 (its image module),
 * C.7.6.16 (multi-frame functional groups) and C.7.6.17.3 (tile positions).
 */
import { notSupportedError } from '../model/slide.ts';
import type { ByteSource } from '../source/byte-source.ts';
import { byteWindow } from '../source/byte-window.ts';
import type { DataSet, ValuePosition } from './data-set.ts';
import { corruptError, limitExceededError } from './errors.ts';
import { readFileMeta } from './file-meta.ts';
import {
  createPositionCollector,
  type FramePositions,
  framePositionElements,
  type PositionCollector,
  zOffsetsIn,
} from './frame-positions.ts';
import { type Identity, identityOf, identityTags, parseContextOf } from './identity.ts';
import { limits, MIN_POSITION_BYTES } from './limits.ts';
import { type ElementSelection, readDataSet, valuesOf } from './read-data-set.ts';
import { nameOfTag, type Tag, tag } from './tags.ts';
import { nameOfTransferSyntax, transferSyntaxOf } from './uids.ts';

/** How the samples of a frame are stored. Source: PS3.3 C.7.6.3.1. */
export interface PixelDescription {
  readonly samplesPerPixel: number;
  readonly photometric: string;
  /** 1 when each sample has its own plane, 0 when the samples of a pixel are adjacent. */
  readonly planarConfiguration: number;
  /** Bits that a sample occupies in the file. */
  readonly bitsAllocated: number;
  /** Bits that a sample uses. */
  readonly bitsStored: number;
  /** Index of the highest used bit. */
  readonly highBit: number;
  /** 1 for signed samples, 0 for unsigned ones. */
  readonly pixelRepresentation: number;
  /** Centre and width of the displayed grey values, after slope and intercept; null when not stated. */
  readonly window: { readonly center: number; readonly width: number } | null;
  /** Grey value = stored sample × slope + intercept. */
  readonly rescale: { readonly slope: number; readonly intercept: number };
}

export interface Instance extends Identity {
  readonly source: ByteSource;
  readonly transferSyntax: string;
  readonly frames: number;
  /** Size of each frame in pixels. */
  readonly tileWidth: number;
  readonly tileHeight: number;
  /** Positions of the frames; null for row-major order (TILED_FULL), an image of one tile, and all kinds of images except `volume`. */
  readonly positions: FramePositions | null;
  readonly pixels: PixelDescription;
  readonly pixelData: ValuePosition;
  /** Tables of the offset and the length of each frame; null when the file has none. */
  readonly extendedOffsets: ValuePosition | null;
  readonly extendedLengths: ValuePosition | null;
  /** Millimetres between the centres of pixels; null when the file does not state it. */
  readonly spacing: { readonly x: number; readonly y: number } | null;
  /** Millimetres from the corner of the glass to the first pixel; null when the file does not state it. */
  readonly origin: { readonly x: number; readonly y: number } | null;
  /** Directions on the glass along a row and down a column, three cosines each; null when the file does not state them. */
  readonly orientation: readonly number[] | null;
  /** Height of the first focal plane above the glass in µm; null when the file does not state it. */
  readonly zOffset: number | null;
  /** Identifier of the first optical path (a way to illuminate and filter); null when the file does not state it. */
  readonly opticalPath: string | null;
  /** Number of focal planes in this file; 1 when the file does not state it. */
  readonly focalPlanes: number;
  /** Magnification of the objective lens; null when the file does not state it. */
  readonly objectivePower: number | null;
  /** Manufacturer of the scanner; null when the file does not state it. */
  readonly manufacturer: string | null;
  /** 16-bit CIELab colour of absent tiles; null when the file does not state it. */
  readonly absentPixel: readonly number[] | null;
  /** ICC profile of the first optical path; null when it has none. */
  readonly iccProfile: ValuePosition | null;
  readonly showsSpecimenLabel: boolean;
}

/** Tolerance for direction cosines, which scanners write with few decimals. */
const COSINE_TOLERANCE = 0.001;

const imageTags: readonly Tag[] = [
  ...identityTags, // includes Rows and Columns, the size of a frame
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
  tag.ImageOrientationSlide,
  tag.SpecimenLabelInImage,
  tag.RecommendedAbsentPixelCIELabValue,
  tag.TotalPixelMatrixFocalPlanes,
];

const imageElements: ElementSelection = new Map([
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
        [tag.ICCProfile, 'position'],
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

/**
 * Reads the header of a file, up to its pixel data.
 *
 * @throws SlideError NOT_A_SLIDE for other DICOM objects, FORMAT_NOT_SUPPORTED, FILE_CORRUPT, FILE_TRUNCATED, LIMIT_EXCEEDED
 */
export async function readInstance(source: ByteSource): Promise<Instance> {
  const fileWindow = byteWindow(source); // the part of the file that is in memory
  const meta = await readFileMeta(fileWindow);
  // `context.budget` is the number of data elements that may still be visited; it limits the work for a hostile file.
  const context = { ...parseContextOf(meta), window: fileWindow };
  const { dataSet, end } = await readDataSet(
    context,
    meta.dataSetOffset,
    imageElements,
    (elementTag) => elementTag >= tag.PerFrameFunctionalGroupsSequence, // stops before this element
  );
  const identity = identityOf(dataSet);
  if (!transferSyntaxOf(meta.transferSyntax))
    throw notSupportedError(nameOfTransferSyntax(meta.transferSyntax));

  const frames = countOf(dataSet, tag.NumberOfFrames, limits.frames) ?? 1;
  const tileWidth = sideOf(dataSet, tag.Columns, limits.tileSide);
  const tileHeight = sideOf(dataSet, tag.Rows, limits.tileSide);
  const isOneTile = frames === 1 && identity.width <= tileWidth && identity.height <= tileHeight;
  const hasPositions = identity.kind === 'volume' && !isOneTile && statesFramePositions(dataSet);

  const minBytesPerFrame = hasPositions ? MIN_POSITION_BYTES : 1;
  if (frames * minBytesPerFrame > source.size) {
    throw corruptError(`it is too small for the ${frames} frames it claims`);
  }

  const [opticalPath] = dataSet.items(tag.OpticalPathSequence);
  const [sharedGroups] = dataSet.items(tag.SharedFunctionalGroupsSequence);
  const collector = hasPositions ? createPositionCollector(frames, opticalPath, sharedGroups) : null;
  context.budget.elements += frames * limits.elementsPerFrame;
  // `() => false`: reads on to the pixel data, where `readDataSet` always stops.
  const { dataSet: remaining } = await readDataSet(context, end, remainingElements(collector), () => false);

  const pixelData = remaining.position(tag.PixelData);
  if (!pixelData) throw corruptError('it has no pixels');
  const positions = collector?.finish() ?? null;
  return {
    ...identity,
    source,
    transferSyntax: meta.transferSyntax,
    frames,
    tileWidth,
    tileHeight,
    positions,
    pixels: pixelsOf(dataSet, sharedGroups),
    pixelData,
    extendedOffsets: remaining.position(tag.ExtendedOffsetTable),
    extendedLengths: remaining.position(tag.ExtendedOffsetTableLengths),
    spacing: spacingOf(dataSet, sharedGroups, identity),
    origin: originOf(dataSet),
    orientation: orientationOf(dataSet),
    zOffset:
      dataSet.items(tag.TotalPixelMatrixOriginSequence)[0]?.real(tag.ZOffsetInSlideCoordinateSystem) ?? null,
    opticalPath: opticalPath?.text(tag.OpticalPathIdentifier) ?? null,
    focalPlanes:
      positions === null
        ? (dataSet.whole(tag.TotalPixelMatrixFocalPlanes) ?? 1)
        : zOffsetsIn(positions).length,
    objectivePower: opticalPath?.real(tag.ObjectiveLensPower) ?? null,
    manufacturer: dataSet.text(tag.Manufacturer),
    absentPixel: absentPixelOf(dataSet),
    iccProfile: opticalPath?.position(tag.ICCProfile) ?? null,
    showsSpecimenLabel: dataSet.text(tag.SpecimenLabelInImage) === 'YES',
  };
}

/**
 * Returns whether each frame states its position.
 *
 * Source: PS3.3 C.7.6.17.3: with TILED_FULL no frame needs to; with TILED_SPARSE, or without the element, every frame must.
 */
function statesFramePositions(dataSet: DataSet): boolean {
  const organization = dataSet.text(tag.DimensionOrganizationType);
  if (organization === 'TILED_FULL') return false;
  if (organization === null || organization === 'TILED_SPARSE') return true;
  throw notSupportedError('a dimension organization other than tiles');
}

/**
 * Selects elements of the second part of the header, which begins with the functional groups of the frames. Pixel data are not
 * listed, because `readDataSet` always returns their position.
 */
function remainingElements(collector: PositionCollector | null): ElementSelection {
  const selection: ElementSelection = new Map([
    [tag.ExtendedOffsetTable, 'position'],
    [tag.ExtendedOffsetTableLengths, 'position'],
  ]);
  if (!collector) return selection;
  return new Map([
    ...selection,
    [tag.PerFrameFunctionalGroupsSequence, { items: framePositionElements, onItem: collector.add }],
  ]);
}

function pixelsOf(dataSet: DataSet, sharedGroups: DataSet | undefined): PixelDescription {
  const bitsAllocated = dataSet.whole(tag.BitsAllocated) ?? 0;
  const bitsStored = dataSet.whole(tag.BitsStored) ?? bitsAllocated;
  const [windowItem] = sharedGroups?.items(tag.FrameVOILUTSequence) ?? [];
  const [transformation] = sharedGroups?.items(tag.PixelValueTransformationSequence) ?? [];
  const center = windowItem?.real(tag.WindowCenter) ?? null;
  const width = windowItem?.real(tag.WindowWidth) ?? null;
  return {
    samplesPerPixel: dataSet.whole(tag.SamplesPerPixel) ?? 0,
    photometric: dataSet.text(tag.PhotometricInterpretation) ?? '',
    planarConfiguration: dataSet.whole(tag.PlanarConfiguration) ?? 0,
    bitsAllocated,
    bitsStored,
    highBit: dataSet.whole(tag.HighBit) ?? bitsStored - 1,
    pixelRepresentation: dataSet.whole(tag.PixelRepresentation) ?? 0,
    // A width below 1 is invalid. Source: PS3.3 C.11.2.1.2.1.
    window: center === null || width === null || width < 1 ? null : { center, width },
    rescale: {
      // A slope of 0 is invalid, because frame-images.ts divides by it; like an absent slope, it becomes 1.
      slope: transformation?.real(tag.RescaleSlope) || 1,
      intercept: transformation?.real(tag.RescaleIntercept) ?? 0,
    },
  };
}

/**
 * Returns millimetres per pixel from PixelSpacing, which states the distance between rows first; without it, from the size of the
 * imaged volume, which covers all pixels. Source: PS3.3, 10.7.1.3 and C.8.12.4.
 */
function spacingOf(dataSet: DataSet, sharedGroups: DataSet | undefined, { width, height }: Identity) {
  const [y, x] = sharedGroups?.items(tag.PixelMeasuresSequence)[0]?.reals(tag.PixelSpacing) ?? [];
  if (x && y && x > 0 && y > 0) return { x, y };
  const volumeWidth = dataSet.real(tag.ImagedVolumeWidth);
  const volumeHeight = dataSet.real(tag.ImagedVolumeHeight);
  if (!volumeWidth || !volumeHeight || volumeWidth < 0 || volumeHeight < 0) return null;
  return { x: volumeWidth / width, y: volumeHeight / height };
}

function originOf(dataSet: DataSet) {
  const [origin] = dataSet.items(tag.TotalPixelMatrixOriginSequence);
  const x = origin?.real(tag.XOffsetInSlideCoordinateSystem) ?? null;
  const y = origin?.real(tag.YOffsetInSlideCoordinateSystem) ?? null;
  return x === null || y === null ? null : { x, y };
}

/** Returns the direction cosines; null unless they form two unit vectors at right angles. Source: PS3.3 C.8.12.14.1.2. */
function orientationOf(dataSet: DataSet): readonly number[] | null {
  const cosines = dataSet.reals(tag.ImageOrientationSlide);
  if (cosines.length !== 6) return null;
  const [x0 = 0, y0 = 0, z0 = 0, x1 = 0, y1 = 0, z1 = 0] = cosines;
  const isOne = (length: number) => Math.abs(length - 1) < COSINE_TOLERANCE;
  const areUnitVectors = isOne(Math.hypot(x0, y0, z0)) && isOne(Math.hypot(x1, y1, z1));
  const dotProduct = x0 * x1 + y0 * y1 + z0 * z1;
  return areUnitVectors && Math.abs(dotProduct) < COSINE_TOLERANCE ? cosines : null;
}

function absentPixelOf(dataSet: DataSet): readonly number[] | null {
  const values = dataSet.reals(tag.RecommendedAbsentPixelCIELabValue);
  return values.length === 3 ? values : null;
}

function sideOf(dataSet: DataSet, elementTag: typeof tag.Columns | typeof tag.Rows, limit: number): number {
  const side = countOf(dataSet, elementTag, limit);
  if (side === null) throw corruptError('it does not state the size of its frames');
  return side;
}

/** Reads an integer from 1 to the limit; null when absent. @throws SlideError FILE_CORRUPT, LIMIT_EXCEEDED */
function countOf(dataSet: DataSet, elementTag: Tag, limit: number): number | null {
  const count = dataSet.whole(elementTag);
  if (count === null) return null;
  if (count < 1) throw corruptError(`${nameOfTag(elementTag)} is ${count}`);
  if (count > limit) throw limitExceededError(`${nameOfTag(elementTag)} is ${count}`);
  return count;
}
