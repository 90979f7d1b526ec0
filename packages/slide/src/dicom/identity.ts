/** The identity of a DICOM file: which slide it belongs to, and which image or part of an image it contains. */
import { createHash } from 'node:crypto';
import { SlideError } from '../model/slide.ts';
import type { ByteSource } from '../source/byte-source.ts';
import { byteWindow } from '../source/byte-window.ts';
import type { DataSet } from './data-set.ts';
import { corruptError, limitExceededError } from './errors.ts';
import { type FileMeta, isDicom, readFileMeta, SIGNATURE_BYTES, uidOrNull } from './file-meta.ts';
import { limits } from './limits.ts';
import { type ParseContext, readDataSet, valuesOf } from './read-data-set.ts';
import { nameOfTag, type Tag, tag } from './tags.ts';
import { nameOfSopClass, nameOfTransferSyntax, transferSyntaxOf, wholeSlideImage } from './uids.ts';

/**
 * Kind of image, from the third value of ImageType: `volume` is an image of the pyramid.
 *
 * Source: PS3.3 C.8.12.4.1.1 (LOCALIZER is an older name of OVERVIEW).
 */
export type ImageKind = 'volume' | 'thumbnail' | 'label' | 'overview';

/** The part that a file has in a concatenation, one image split into several files. Source: PS3.3, table C.7.6.16-1. */
export interface ConcatenationPart {
  readonly uid: string;
  /** Number of this part, from 1. */
  readonly number: number;
  /** Number of parts; null when the file does not state it. */
  readonly total: number | null;
  /** Total number of frames in the parts before this one. */
  readonly frameOffset: number;
}

/** The elements by which a file is assigned to a slide. */
export interface Identity {
  /**
   * Hash of the identifiers of series, study, glass slide and patient; none of the identifiers leaves this module. Equal for
   * all files of one series that show the same glass slide, and for no others.
   */
  readonly series: string;
  /** UID of the pyramid, different for each pyramid of a series; null when the file does not state it. */
  readonly pyramid: string | null;
  /** UID of the file. */
  readonly sopInstance: string;
  readonly kind: ImageKind;
  /** Size of the whole image in pixels. */
  readonly width: number;
  readonly height: number;
  /** Position within the series; null when the file does not state it. */
  readonly instanceNumber: number | null;
  readonly concatenation: ConcatenationPart | null;
}

/** The elements that `identityOf` needs. */
export const identityTags: readonly Tag[] = [
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

/**
 * Reads the identity of a file from its first few kilobytes.
 *
 * @returns null when the file is not DICOM
 * @throws SlideError NOT_A_SLIDE for other DICOM objects, FORMAT_NOT_SUPPORTED, FILE_CORRUPT, FILE_TRUNCATED, LIMIT_EXCEEDED
 */
export async function readIdentity(source: ByteSource): Promise<Identity | null> {
  if (source.size < SIGNATURE_BYTES) return null;
  if (!isDicom(await source.read(0, SIGNATURE_BYTES))) return null;
  const window = byteWindow(source);
  const meta = await readFileMeta(window);
  const context = parseContextOf(meta);
  const { dataSet } = await readDataSet(
    { ...context, window },
    meta.dataSetOffset,
    valuesOf(identityTags),
    // Stops before group 5200, the functional groups of the frames, which can be large.
    (elementTag) => elementTag >= 0x5200_0000,
  );
  return identityOf(dataSet);
}

/** Transfer syntaxes of deflated and big-endian data sets, which are not parsed. */
const unsupportedDataSets = new Set(['1.2.840.10008.1.2.1.99', '1.2.840.10008.1.2.2']);

/**
 * Checks the file meta information and returns how to read the data set. This check precedes reading, so that the error for
 * another kind of DICOM object names that kind even if the file is damaged.
 */
export function parseContextOf({ sopClass, transferSyntax }: FileMeta): Omit<ParseContext, 'window'> {
  if (sopClass !== null) checkSopClass(sopClass);
  if (unsupportedDataSets.has(transferSyntax)) {
    throw new SlideError('FORMAT_NOT_SUPPORTED', `Not supported: ${nameOfTransferSyntax(transferSyntax)}`);
  }
  // All transfer syntaxes for compressed frames, also future ones, state value representations. Source: PS3.5 A.4.
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

/** Returns the identity from the elements of `identityTags`. @throws SlideError NOT_A_SLIDE, FILE_CORRUPT, LIMIT_EXCEEDED */
export function identityOf(dataSet: DataSet): Identity {
  const sopClass = uidOrNull(dataSet.text(tag.SOPClassUID));
  if (sopClass === null) throw new SlideError('NOT_A_SLIDE', 'This DICOM file has no SOP class');
  checkSopClass(sopClass);
  const series = uidOrNull(dataSet.text(tag.SeriesInstanceUID));
  const sopInstance = uidOrNull(dataSet.text(tag.SOPInstanceUID));
  if (series === null || sopInstance === null) throw corruptError('it has no series or instance UID');
  const kind = kindOf(dataSet.texts(tag.ImageType));
  // An associated image may omit the size of its total pixel matrix; the size of its single frame is then used.
  const frameSideOf = (sideTag: Tag) => (kind === 'volume' ? null : dataSet.whole(sideTag));
  return {
    series: hashOf([
      series,
      dataSet.text(tag.StudyInstanceUID),
      dataSet.text(tag.ContainerIdentifier),
      dataSet.text(tag.PatientID),
    ]),
    pyramid: uidOrNull(dataSet.text(tag.PyramidUID)),
    sopInstance,
    kind,
    width: matrixSide(dataSet, tag.TotalPixelMatrixColumns, frameSideOf(tag.Columns)),
    height: matrixSide(dataSet, tag.TotalPixelMatrixRows, frameSideOf(tag.Rows)),
    // Read with `real`, so that an invalid number counts as absent and does not reject the file.
    instanceNumber: dataSet.real(tag.InstanceNumber),
    concatenation: concatenationOf(dataSet),
  };
}

/** Returns 22 characters of a SHA-256 hash: 132 bits. */
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
  throw corruptError('its ImageType is neither VOLUME nor THUMBNAIL, LABEL or OVERVIEW');
}

function concatenationOf(dataSet: DataSet): ConcatenationPart | null {
  const uid = uidOrNull(dataSet.text(tag.ConcatenationUID));
  if (uid === null) return null;
  const number = dataSet.whole(tag.InConcatenationNumber);
  const frameOffset = dataSet.whole(tag.ConcatenationFrameOffsetNumber);
  if (number === null || number < 1 || frameOffset === null || frameOffset < 0) {
    throw corruptError('it is part of a concatenation and has no valid part number');
  }
  return { uid, number, total: dataSet.whole(tag.InConcatenationTotalNumber), frameOffset };
}

/** Reads a side of the total pixel matrix, the whole image; without it, returns the side of the frame. */
function matrixSide(dataSet: DataSet, sideTag: Tag, frameSide: number | null): number {
  const side = dataSet.whole(sideTag) ?? frameSide;
  if (side === null) throw corruptError('it does not state the size of its image');
  if (side < 1) throw corruptError(`${nameOfTag(sideTag)} is ${side}`);
  if (side > limits.imageSide) throw limitExceededError(`${nameOfTag(sideTag)} is ${side}`);
  return side;
}
