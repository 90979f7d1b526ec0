/**
 * The segments of a CZI file. Each has an ID, a size and a body. The first contains the offsets of the subblock directory, the
 * metadata and the attachment directory.
 *
 * Source: ZEISS, "DS_ZISRAW-FileFormat" 1.2 (CZI), as libCZI and OpenSlide read it; all numbers are little-endian.
 */
import type { ByteSource } from '../source/byte-source.ts';
import { corruptError, limitExceededError, notSupportedError, truncatedError } from './errors.ts';
import { limits } from './limits.ts';

/** Offsets of other segments in the file; 0 for metadata or attachments that the file does not have. */
export interface FileSegment {
  readonly directoryOffset: number;
  readonly metadataOffset: number;
  readonly attachmentsOffset: number;
}

/** An image or table that the file stores in addition to the slide. */
export interface Attachment {
  readonly name: string;
  /** JPG, CZI, … */
  readonly fileType: string;
  /** Offset of its segment in the file. */
  readonly offset: number;
}

interface Segment {
  /** Offset of the first byte after the header. */
  readonly bodyOffset: number;
  readonly bodyBytes: number;
}

/** A range of bytes of the file. */
export interface ByteRange {
  readonly offset: number;
  readonly length: number;
}

const SEGMENT_HEADER_BYTES = 32;
const ID_BYTES = 16;
const FILE_BODY_BYTES = 80;
/** Offsets of the fields that are read from the body of the file segment and from the entry of an attachment (in bytes). */
const fileField = { majorVersion: 0, filePart: 48, directory: 52, metadata: 60, attachments: 72 } as const;
const attachmentField = { offset: 12, fileType: 40, name: 48 } as const;
const [FILE_TYPE_BYTES, NAME_BYTES] = [8, 80];
const DIRECTORY_HEADER_BYTES = 128;
const METADATA_HEADER_BYTES = 256;
const ATTACHMENT_DIRECTORY_HEADER_BYTES = 256;
const ATTACHMENT_ENTRY_BYTES = 128;
const ATTACHMENT_HEADER_BYTES = 256;
/** Bytes of the three size fields (of metadata, attachment and pixels) that precede the copy of the directory entry. */
const SUBBLOCK_SIZES_BYTES = 16;
/** Minimum bytes of a subblock header. The header contains a copy of the directory entry, and is longer if the copy does not fit. */
const MIN_SUBBLOCK_HEADER_BYTES = 256;
/** Minimum size of a subblock, from the first byte of its segment to its first sample. */
export const MIN_SUBBLOCK_BYTES = SEGMENT_HEADER_BYTES + MIN_SUBBLOCK_HEADER_BYTES;

export function isCzi(start: Uint8Array): boolean {
  return readName(start, 0, ID_BYTES) === 'ZISRAWFILE';
}

/**
 * Reads the first segment of the file.
 *
 * @throws SlideError FILE_CORRUPT, FILE_TRUNCATED, FORMAT_NOT_SUPPORTED for a slide of several files
 */
export async function readFileSegment(source: ByteSource): Promise<FileSegment> {
  const { bodyOffset } = await readSegment(source, 0, 'ZISRAWFILE', FILE_BODY_BYTES);
  const view = dataViewOf(await source.read(bodyOffset, FILE_BODY_BYTES));
  const majorVersion = view.getInt32(fileField.majorVersion, true);
  if (majorVersion !== 1) throw notSupportedError(`version ${majorVersion} of the format`);
  const filePart = view.getInt32(fileField.filePart, true);
  if (filePart !== 0) throw notSupportedError('a slide of several files');
  const directoryOffset = readOffset(view, fileField.directory);
  if (directoryOffset === 0) throw corruptError('it has no directory, because writing was not finished');
  return {
    directoryOffset,
    metadataOffset: readOffset(view, fileField.metadata),
    attachmentsOffset: readOffset(view, fileField.attachments),
  };
}

/** Returns the number of subblocks in the directory and the range of their entries. */
export async function readDirectorySegment(
  source: ByteSource,
  offset: number,
): Promise<{ readonly count: number; readonly entries: ByteRange }> {
  const { bodyOffset, bodyBytes } = await readSegment(
    source,
    offset,
    'ZISRAWDIRECTORY',
    DIRECTORY_HEADER_BYTES,
  );
  const count = dataViewOf(await source.read(bodyOffset, 4)).getInt32(0, true);
  if (count < 1) throw corruptError(`its directory lists ${count} subblocks`);
  if (count > limits.subblocks) throw limitExceededError(`its directory lists ${count} subblocks`);
  const entries = { offset: bodyOffset + DIRECTORY_HEADER_BYTES, length: bodyBytes - DIRECTORY_HEADER_BYTES };
  return { count, entries };
}

/** Returns the XML metadata; an empty string when the offset is 0 because the file has none. */
export async function readMetadata(source: ByteSource, offset: number): Promise<string> {
  if (offset === 0) return '';
  const { bodyOffset, bodyBytes } = await readSegment(
    source,
    offset,
    'ZISRAWMETADATA',
    METADATA_HEADER_BYTES,
  );
  const length = dataViewOf(await source.read(bodyOffset, 4)).getInt32(0, true);
  if (length < 0 || length > bodyBytes - METADATA_HEADER_BYTES) {
    throw corruptError(`its metadata claim ${length} bytes`);
  }
  if (length > limits.xmlBytes) throw limitExceededError(`its metadata have ${length} bytes`);
  return new TextDecoder().decode(await source.read(bodyOffset + METADATA_HEADER_BYTES, length));
}

/** Returns the attachments; an empty list when the offset is 0 because the file has none. */
export async function readAttachments(source: ByteSource, offset: number): Promise<readonly Attachment[]> {
  if (offset === 0) return [];
  const headerBytes = ATTACHMENT_DIRECTORY_HEADER_BYTES;
  const { bodyOffset, bodyBytes } = await readSegment(source, offset, 'ZISRAWATTDIR', headerBytes);
  const count = dataViewOf(await source.read(bodyOffset, 4)).getInt32(0, true);
  if (count < 0 || count * ATTACHMENT_ENTRY_BYTES > bodyBytes - headerBytes) {
    throw corruptError(`it claims ${count} attachments`);
  }
  if (count > limits.attachments) throw limitExceededError(`it has ${count} attachments`);
  const bytes = await source.read(bodyOffset + headerBytes, count * ATTACHMENT_ENTRY_BYTES);
  const view = dataViewOf(bytes);
  return Array.from({ length: count }, (_, i) => {
    const start = i * ATTACHMENT_ENTRY_BYTES;
    if (readName(bytes, start, 2) !== 'A1')
      throw corruptError('an attachment has an entry of an unknown type');
    return {
      offset: readOffset(view, start + attachmentField.offset),
      fileType: readName(bytes, start + attachmentField.fileType, FILE_TYPE_BYTES),
      name: readName(bytes, start + attachmentField.name, NAME_BYTES),
    };
  });
}

/** Returns the range of an attachment's bytes in the file. */
export async function readAttachmentSegment(source: ByteSource, offset: number): Promise<ByteRange> {
  const headerBytes = ATTACHMENT_HEADER_BYTES;
  const { bodyOffset, bodyBytes } = await readSegment(source, offset, 'ZISRAWATTACH', headerBytes);
  const length = dataViewOf(await source.read(bodyOffset, 4)).getInt32(0, true);
  if (length < 0 || length > bodyBytes - headerBytes) {
    throw corruptError(`an attachment claims ${length} bytes`);
  }
  return { offset: bodyOffset + headerBytes, length };
}

/** Returns the range of a subblock's pixels in the file. @param entryBytes size of the directory entry in its header */
export async function readSubblockSegment(
  source: ByteSource,
  offset: number,
  entryBytes: number,
): Promise<ByteRange> {
  const headerBytes = Math.max(MIN_SUBBLOCK_HEADER_BYTES, SUBBLOCK_SIZES_BYTES + entryBytes);
  const { bodyOffset, bodyBytes } = await readSegment(source, offset, 'ZISRAWSUBBLOCK', headerBytes);
  const view = dataViewOf(await source.read(bodyOffset, SUBBLOCK_SIZES_BYTES));
  const metadataBytes = view.getInt32(0, true);
  const length = readOffset(view, 8); // after the sizes of metadata and attachment, 4 bytes each
  if (metadataBytes < 0 || headerBytes + metadataBytes + length > bodyBytes) {
    throw corruptError(`a subblock claims ${metadataBytes} bytes of metadata and ${length} bytes of pixels`);
  }
  return { offset: bodyOffset + headerBytes + metadataBytes, length };
}

/** Reads a segment header and checks that the body has at least `minBytes` and lies inside the file. */
async function readSegment(
  source: ByteSource,
  offset: number,
  id: string,
  minBytes: number,
): Promise<Segment> {
  const header = await source.read(offset, SEGMENT_HEADER_BYTES);
  if (readName(header, 0, ID_BYTES) !== id) throw corruptError(`there is no ${id} at ${offset}`);
  // A segment header has the ID (16 bytes), the allocated bytes of the body (8) and its used bytes (8).
  const view = dataViewOf(header);
  const allocatedBytes = readOffset(view, 16);
  const usedBytes = readOffset(view, 24);
  // Some writers store 0 for a segment that uses all its allocated bytes.
  const bodyBytes = usedBytes === 0 ? allocatedBytes : usedBytes;
  const bodyOffset = offset + SEGMENT_HEADER_BYTES;
  if (bodyBytes < minBytes) throw corruptError(`its ${id} has ${bodyBytes} bytes`);
  if (bodyOffset + bodyBytes > source.size) throw truncatedError(`it ends inside its ${id}`);
  return { bodyOffset, bodyBytes };
}

/** Reads an offset or length of 8 bytes at a position of the view. @throws SlideError FILE_CORRUPT unless it is 0 to 2^53 − 1 */
export function readOffset(view: DataView, position: number): number {
  const offset = Number(view.getBigInt64(position, true));
  if (!Number.isSafeInteger(offset) || offset < 0) throw corruptError(`it has the invalid offset ${offset}`);
  return offset;
}

/** Reads text of at most `length` bytes. The text ends at the first NUL, if there is one. */
export function readName(bytes: Uint8Array, start: number, length: number): string {
  const name = bytes.subarray(start, start + length);
  const end = name.indexOf(0);
  return String.fromCharCode(...(end < 0 ? name : name.subarray(0, end)));
}

export function dataViewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
}
