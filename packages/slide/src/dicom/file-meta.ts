import type { ByteWindow } from './byte-window.ts';
import { corrupt } from './damage.ts';
import { limits } from './limits.ts';
import { readDataSet, type Wanted } from './read-data-set.ts';
import { tag } from './tags.ts';

/** What stands before the data set of every DICOM file. */
export interface FileMeta {
  /** What the file is, e.g. a whole slide image; null when only the data set says it. */
  readonly sopClass: string | null;
  /** How the data set is written. */
  readonly transferSyntax: string;
  /** Where the data set begins. */
  readonly dataSetAt: number;
}

const PREAMBLE_BYTES = 128;
const PREFIX = 'DICM';
/** Bytes of a file that must be there to tell whether it is a DICOM file. */
export const SIGNATURE_BYTES = PREAMBLE_BYTES + PREFIX.length;

/** Source: DICOM PS3.10, section 7.1. */
export function isDicom(start: Uint8Array): boolean {
  return [...PREFIX].every((letter, i) => start[PREAMBLE_BYTES + i] === letter.charCodeAt(0));
}

const wanted: Wanted = new Map([
  [tag.MediaStorageSOPClassUID, 'value'],
  [tag.TransferSyntaxUID, 'value'],
]);

/**
 * Read group 0002, which is explicit little-endian in every file. It ends where another group begins: its own
 * length (0002,0000) is often wrong.
 *
 * @throws SlideError FILE_CORRUPT, FILE_TRUNCATED, LIMIT_EXCEEDED
 */
export async function readFileMeta(window: ByteWindow): Promise<FileMeta> {
  const walk = { window, isExplicit: true, budget: { elements: limits.items } };
  const { dataSet, end } = await readDataSet(
    walk,
    SIGNATURE_BYTES,
    wanted,
    (number) => number >>> 16 !== 0x0002,
  );
  const transferSyntax = readUid(dataSet.text(tag.TransferSyntaxUID));
  if (transferSyntax === null) throw corrupt('it does not say its transfer syntax');
  return { sopClass: readUid(dataSet.text(tag.MediaStorageSOPClassUID)), transferSyntax, dataSetAt: end };
}

/** Source: DICOM PS3.5, section 9.1. @returns null for what is no UID */
export function readUid(text: string | null): string | null {
  return text !== null && /^[0-9.]{1,64}$/.test(text) ? text : null;
}
