/** Reads the start of a DICOM file: its signature and its file meta information, which precedes the data set. */
import { dicomSignature } from '../names/format-names.ts';
import type { ByteWindow } from '../source/byte-window.ts';
import { corruptError } from './errors.ts';
import { limits } from './limits.ts';
import { type ElementSelection, readDataSet } from './read-data-set.ts';
import { tag } from './tags.ts';

export interface FileMeta {
  /** UID of the SOP class (kind of object), e.g. of a whole-slide image; null when it is missing or not a valid UID. */
  readonly sopClass: string | null;
  /** UID of the encoding of the data set. */
  readonly transferSyntax: string;
  readonly dataSetOffset: number;
}

/** Number of bytes at the start of a file that are needed to recognise DICOM. */
export const SIGNATURE_BYTES = dicomSignature.offset + dicomSignature.text.length;
/** The file meta information begins after the signature. */
const META_OFFSET = SIGNATURE_BYTES;

export function isDicom(start: Uint8Array): boolean {
  return [...dicomSignature.text].every(
    (character, i) => start[dicomSignature.offset + i] === character.charCodeAt(0),
  );
}

const selection: ElementSelection = new Map([
  [tag.MediaStorageSOPClassUID, 'value'],
  [tag.TransferSyntaxUID, 'value'],
]);

/**
 * Reads the elements of group 0002, which are explicit little-endian in every file. Stops at the first element of another
 * group, because the stated length of the group (0002,0000) is often wrong.
 *
 * @throws SlideError FILE_CORRUPT, FILE_TRUNCATED, LIMIT_EXCEEDED
 */
export async function readFileMeta(window: ByteWindow): Promise<FileMeta> {
  const context = { window, isExplicit: true, budget: { elements: limits.metaElements } };
  // The upper 16 bits of a tag are its group.
  const isOfAnotherGroup = (elementTag: number) => elementTag >>> 16 !== 0x0002;
  const { dataSet, end } = await readDataSet(context, META_OFFSET, selection, isOfAnotherGroup);
  const transferSyntax = uidOrNull(dataSet.text(tag.TransferSyntaxUID));
  if (transferSyntax === null) throw corruptError('it has no transfer syntax');
  return {
    sopClass: uidOrNull(dataSet.text(tag.MediaStorageSOPClassUID)),
    transferSyntax,
    dataSetOffset: end,
  };
}

/** Returns the UID; null when the text is not a UID. Source: DICOM PS3.5, section 9.1. */
export function uidOrNull(text: string | null): string | null {
  return text !== null && /^[0-9.]{1,64}$/.test(text) ? text : null;
}
