/**
 * Reads the segments of a CZI file, each with a name, a size and a body. The first contains the offsets of the others.
 *
 * Source: ZEISS, "DS_ZISRAW-FileFormat" 1.2 (CZI), as libCZI and OpenSlide read it; all numbers are little-endian.
 */
import type { ByteSource } from '../source/byte-source.ts';
import { corrupt, limitExceeded, notSupported, truncated } from './errors.ts';
import { limits } from './limits.ts';

/** Offsets of other segments in the file; 0 when absent. */
export interface FileSegment {
  readonly directoryAt: number;
  readonly metadataAt: number;
  readonly attachmentsAt: number;
}

/** An image or table stored beside the slide. */
export interface Attachment {
  readonly name: string;
  /** Its type: JPG, CZI, … */
  readonly fileType: string;
  /** Offset of its segment. */
  readonly at: number;
}

interface Segment {
  /** Offset of its first byte after the header. */
  readonly bodyAt: number;
  readonly bodyBytes: number;
}

/** A range of bytes of the file. */
export interface Span {
  readonly at: number;
  readonly length: number;
}

const SEGMENT_HEADER_BYTES = 32;
const ID_BYTES = 16;
const FILE_BODY_BYTES = 80;
const DIRECTORY_HEADER_BYTES = 128;
const METADATA_HEADER_BYTES = 256;
const ATTACHMENT_DIRECTORY_HEADER_BYTES = 256;
const ATTACHMENT_ENTRY_BYTES = 128;
const ATTACHMENT_HEADER_BYTES = 256;
const SUBBLOCK_HEADER_BYTES = 16;
/** Least header of a subblock, with an entry of about nine dimensions; longer entries extend it. */
const MIN_SUBBLOCK_HEADER_BYTES = 256;
/** Least size of a subblock, from its segment's first byte to its first sample. */
export const MIN_SUBBLOCK_BYTES = SEGMENT_HEADER_BYTES + MIN_SUBBLOCK_HEADER_BYTES;

export function isCzi(start: Uint8Array): boolean {
  return nameIn(start, 0, ID_BYTES) === 'ZISRAWFILE';
}

/** @throws SlideError FILE_CORRUPT, FILE_TRUNCATED, FORMAT_NOT_SUPPORTED for a part of a multi-file slide */
export async function readFileSegment(source: ByteSource): Promise<FileSegment> {
  const { bodyAt } = await readSegment(source, 0, 'ZISRAWFILE', FILE_BODY_BYTES);
  const view = viewOf(await source.read(bodyAt, FILE_BODY_BYTES));
  if (view.getInt32(0, true) !== 1) throw notSupported(`version ${view.getInt32(0, true)} of the format`);
  if (view.getInt32(48, true) !== 0) throw notSupported('a slide of several files');
  const directoryAt = positionAt(view, 52);
  if (directoryAt === 0) throw corrupt('it has no directory, because writing was not finished');
  return { directoryAt, metadataAt: positionAt(view, 60), attachmentsAt: positionAt(view, 72) };
}

/** Returns the number of subblocks in the directory and the range of their entries. */
export async function readDirectorySegment(
  source: ByteSource,
  at: number,
): Promise<{ readonly count: number; readonly entries: Span }> {
  const { bodyAt, bodyBytes } = await readSegment(source, at, 'ZISRAWDIRECTORY', DIRECTORY_HEADER_BYTES);
  const count = viewOf(await source.read(bodyAt, 4)).getInt32(0, true);
  if (count < 1) throw corrupt(`its directory lists ${count} subblocks`);
  if (count > limits.subblocks) throw limitExceeded(`its directory lists ${count} subblocks`);
  const entries = { at: bodyAt + DIRECTORY_HEADER_BYTES, length: bodyBytes - DIRECTORY_HEADER_BYTES };
  return { count, entries };
}

/** Returns the XML; empty when there is none. */
export async function readMetadata(source: ByteSource, at: number): Promise<string> {
  if (at === 0) return '';
  const { bodyAt, bodyBytes } = await readSegment(source, at, 'ZISRAWMETADATA', METADATA_HEADER_BYTES);
  const length = viewOf(await source.read(bodyAt, 4)).getInt32(0, true);
  if (length < 0 || length > bodyBytes - METADATA_HEADER_BYTES) {
    throw corrupt(`its metadata claim ${length} bytes`);
  }
  if (length > limits.xmlBytes) throw limitExceeded(`its metadata have ${length} bytes`);
  return new TextDecoder().decode(await source.read(bodyAt + METADATA_HEADER_BYTES, length));
}

/** Returns the attachments; empty when there are none. */
export async function readAttachments(source: ByteSource, at: number): Promise<readonly Attachment[]> {
  if (at === 0) return [];
  const header = ATTACHMENT_DIRECTORY_HEADER_BYTES;
  const { bodyAt, bodyBytes } = await readSegment(source, at, 'ZISRAWATTDIR', header);
  const count = viewOf(await source.read(bodyAt, 4)).getInt32(0, true);
  if (count < 0 || count * ATTACHMENT_ENTRY_BYTES > bodyBytes - header) {
    throw corrupt(`it claims ${count} attachments`);
  }
  if (count > limits.attachments) throw limitExceeded(`it has ${count} attachments`);
  const bytes = await source.read(bodyAt + header, count * ATTACHMENT_ENTRY_BYTES);
  const view = viewOf(bytes);
  return Array.from({ length: count }, (_, i) => {
    const entryAt = i * ATTACHMENT_ENTRY_BYTES;
    if (nameIn(bytes, entryAt, 2) !== 'A1') throw corrupt('an attachment has an entry of an unknown type');
    return {
      at: positionAt(view, entryAt + 12),
      fileType: nameIn(bytes, entryAt + 40, 8),
      name: nameIn(bytes, entryAt + 48, 80),
    };
  });
}

/** Returns the range of an attachment's bytes. */
export async function readAttachmentSegment(source: ByteSource, at: number): Promise<Span> {
  const { bodyAt, bodyBytes } = await readSegment(source, at, 'ZISRAWATTACH', ATTACHMENT_HEADER_BYTES);
  const length = viewOf(await source.read(bodyAt, 4)).getInt32(0, true);
  if (length < 0 || length > bodyBytes - ATTACHMENT_HEADER_BYTES) {
    throw corrupt(`an attachment claims ${length} bytes`);
  }
  return { at: bodyAt + ATTACHMENT_HEADER_BYTES, length };
}

/**
 * Returns the range of a subblock's pixels.
 *
 * @param entryBytes length of its directory entry, which the subblock repeats
 */
export async function readSubblockSegment(source: ByteSource, at: number, entryBytes: number): Promise<Span> {
  const headerBytes = Math.max(MIN_SUBBLOCK_HEADER_BYTES, SUBBLOCK_HEADER_BYTES + entryBytes);
  const { bodyAt, bodyBytes } = await readSegment(source, at, 'ZISRAWSUBBLOCK', headerBytes);
  const view = viewOf(await source.read(bodyAt, SUBBLOCK_HEADER_BYTES));
  const metadataBytes = view.getInt32(0, true);
  const length = positionAt(view, 8);
  if (metadataBytes < 0 || headerBytes + metadataBytes + length > bodyBytes) {
    throw corrupt(`a subblock claims ${metadataBytes} and ${length} bytes`);
  }
  return { at: bodyAt + headerBytes + metadataBytes, length };
}

/** @param leastBytes minimum size of the body, which is checked to be in the file */
async function readSegment(source: ByteSource, at: number, id: string, leastBytes: number): Promise<Segment> {
  const header = await source.read(at, SEGMENT_HEADER_BYTES);
  if (nameIn(header, 0, ID_BYTES) !== id) throw corrupt(`there is no ${id} at ${at}`);
  const view = viewOf(header);
  const [allocated, used] = [positionAt(view, 16), positionAt(view, 24)];
  // Some writers store 0 for a segment that uses all its allocated bytes.
  const bodyBytes = used === 0 ? allocated : used;
  if (bodyBytes < leastBytes) throw corrupt(`its ${id} has ${bodyBytes} bytes`);
  if (at + SEGMENT_HEADER_BYTES + bodyBytes > source.size) throw truncated(`it ends inside its ${id}`);
  return { bodyAt: at + SEGMENT_HEADER_BYTES, bodyBytes };
}

/** Reads an offset or length of 8 bytes. */
export function positionAt(view: DataView, at: number): number {
  const position = Number(view.getBigInt64(at, true));
  if (!Number.isSafeInteger(position) || position < 0) throw corrupt(`it has the invalid offset ${position}`);
  return position;
}

/** Reads text up to the first NUL. */
export function nameIn(bytes: Uint8Array, at: number, length: number): string {
  const name = bytes.subarray(at, at + length);
  const end = name.indexOf(0);
  return String.fromCharCode(...(end < 0 ? name : name.subarray(0, end)));
}

export function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
}
