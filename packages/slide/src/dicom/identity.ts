/** Which slide a DICOM file belongs to, and what it shows of it. */
import { createHash } from 'node:crypto';
import { SlideError } from '../slide.ts';
import type { ByteSource } from '../source/byte-source.ts';
import { byteWindow } from './byte-window.ts';
import { corrupt, tooMuch } from './damage.ts';
import type { DataSet } from './data-set.ts';
import { type FileMeta, isDicom, readFileMeta, readUid, SIGNATURE_BYTES } from './file-meta.ts';
import { limits } from './limits.ts';
import { readDataSet, valuesOf, type Walk } from './read-data-set.ts';
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
    valuesOf(identityTags),
    (number) => number >= 0x5200_0000,
  );
  return identityOf(dataSet);
}

/** Deflated, and big-endian: nothing of such a data set can be told. */
const unreadable = new Set(['1.2.840.10008.1.2.1.99', '1.2.840.10008.1.2.2']);

/** What can be told before the data set is read, so that other objects are named even where theirs is broken. */
export function walkOf({ sopClass, transferSyntax }: FileMeta): Omit<Walk, 'window'> {
  if (sopClass !== null) checkSopClass(sopClass);
  if (unreadable.has(transferSyntax)) {
    throw new SlideError('FORMAT_NOT_SUPPORTED', `Not read: ${nameOfTransferSyntax(transferSyntax)}`);
  }
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

/** @throws SlideError NOT_A_SLIDE, FILE_CORRUPT, LIMIT_EXCEEDED */
export function identityOf(dataSet: DataSet): Identity {
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

function matrixSide(dataSet: DataSet, name: Tag, fallback: number | null | undefined): number {
  const side = dataSet.whole(name) ?? fallback ?? null;
  if (side === null) throw corrupt('it does not say how large its picture is');
  if (side < 1) throw corrupt(`${nameOfTag(name)} is ${side}`);
  if (side > limits.imageSide) throw tooMuch(`${nameOfTag(name)} is ${side}`);
  return side;
}
