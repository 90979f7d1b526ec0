/**
 * Removes comments and application data, which may contain names of patients, from the JPEG streams of a slide. They are
 * removed from each part of the file when that part is read: reading the headers of a million tiles before the first byte is sent
 * would take minutes.
 *
 * Source: ITU-T T.81 (JPEG), annex B; JFIF 1.02; Adobe Technical Note 5116, section 18; ICC.1, annex B.4.
 */
import { isColourMarker, marker, type Segment, segments } from '../jpeg/header.ts';
import { SlideError } from '../model/slide.ts';
import type { ByteSource } from '../source/byte-source.ts';
import { firstIndexWhere, type Range } from './patches.ts';

/** The last application segment; the first one is APP0. */
const APP15 = marker.APP0 + 15;
/** Bytes of the data of a JFIF segment before its thumbnail, and of an Adobe segment. */
const JFIF_BYTES = 14;
const ADOBE_BYTES = 12;
const ICC_SIGNATURE = 'ICC_PROFILE\0';
/** Bytes of a marker and the length after it. */
const SEGMENT_HEADER_BYTES = 4;
/** Bytes at the start of a segment that decide how much of the segment is kept; the signature of ICC profiles is the longest. */
const SEGMENT_START_BYTES = SEGMENT_HEADER_BYTES + ICC_SIGNATURE.length;
/** Maximum number of segments and fill bytes before the image. A JPEG with an ICC profile and EXIF data has a few hundred at most. */
const MAX_SEGMENTS = 1000;
/** Bytes that one read fetches when a header is not inside the part. Most headers are shorter. */
const READ_BYTES = 4096;

/** Erases the metadata of JPEG streams in a part of the file, in place. @param start position of the part in the file */
export type EraseJpegMetadata = (part: Uint8Array, start: number, signal?: AbortSignal) => Promise<void>;

/**
 * Returns a function that erases, before the first scan of every JPEG stream, the data of comments and of application
 * segments other than JFIF, Adobe and ICC profiles. The segments and their lengths remain.
 *
 * The function throws SlideError LIMIT_EXCEEDED for a stream with more than 1000 segments before its image, and the errors of reading.
 *
 * @param streams positions of the streams, in ascending order
 */
export function jpegMetadataEraser(source: ByteSource, streams: Float64Array): EraseJpegMetadata {
  /** Ranges of the last stream of the previous part, whose header may extend into the next part. */
  let last: { readonly stream: number; readonly ranges: readonly Range[] } | null = null;
  return async (part, start, signal) => {
    const end = start + part.length;
    const readBytes = headerReader(source, part, start, signal);
    const firstAfterStart = firstIndexWhere(streams.length, (index) => (streams[index] ?? 0) > start);
    const found: Range[] = [];
    for (let i = Math.max(0, firstAfterStart - 1); i < streams.length; i++) {
      const stream = streams[i] ?? 0;
      if (stream >= end) break;
      if (last?.stream !== stream) last = { stream, ranges: await metadataRanges(readBytes, stream) };
      // A stream ends where the next one begins.
      const streamEnd = streams[i + 1] ?? source.size;
      for (const { offset, length } of last.ranges) {
        const rangeEnd = Math.min(offset + length, streamEnd, end);
        if (rangeEnd > Math.max(offset, start)) found.push({ offset, length: rangeEnd - offset });
      }
    }
    // No byte is erased before all headers are read; otherwise the result would depend on where the part begins.
    for (const { offset, length } of found)
      part.fill(0, Math.max(offset - start, 0), offset + length - start);
  };
}

/**
 * Returns the parts of JPEG tables (a JPEG without an image) that may contain text: metadata, and all bytes after the tables.
 *
 * @throws SlideError FILE_CORRUPT
 */
export function metadataOfTables(tables: Uint8Array): Range[] {
  const ranges: Range[] = [];
  let end = 0;
  for (const segment of segments(tables)) {
    ({ end } = segment);
    const erasedAt = segment.bodyAt + keptBytes(tables, segment);
    if (erasedAt < end) ranges.push({ offset: erasedAt, length: end - erasedAt });
  }
  if (end < tables.length) ranges.push({ offset: end, length: tables.length - end });
  return ranges;
}

/** Returns up to `length` bytes of the file; fewer at its end. */
type ReadBytes = (offset: number, length: number) => Promise<Uint8Array>;

/** Returns a function that takes bytes from the part where possible, and otherwise reads them from the source. */
function headerReader(source: ByteSource, part: Uint8Array, start: number, signal?: AbortSignal): ReadBytes {
  let block: { readonly start: number; readonly bytes: Uint8Array } = { start: 0, bytes: new Uint8Array() };
  return async (offset, length) => {
    const available = Math.max(0, Math.min(length, source.size - offset));
    const isInPart = offset >= start && offset + available <= start + part.length;
    if (isInPart) return part.subarray(offset - start, offset - start + available);
    const isInBlock = offset >= block.start && offset + available <= block.start + block.bytes.length;
    if (!isInBlock) {
      const blockBytes = Math.min(READ_BYTES, source.size - offset);
      block = { start: offset, bytes: await source.read(offset, blockBytes, signal) };
    }
    return block.bytes.subarray(offset - block.start, offset - block.start + available);
  };
}

/** Returns the ranges of metadata before the first scan of a JPEG; none if the stream is not JPEG. */
async function metadataRanges(readBytes: ReadBytes, stream: number): Promise<Range[]> {
  const ranges: Range[] = [];
  const [first, second] = await readBytes(stream, 2);
  if (first !== 0xff || second !== marker.SOI) return ranges;
  let offset = stream + 2;
  for (let count = 0; count < MAX_SEGMENTS; count++) {
    const bytes = await readBytes(offset, SEGMENT_START_BYTES);
    const [start, code = 0, high = 0, low = 0] = bytes;
    if (start === 0xff && code === 0xff) {
      offset++; // skips a fill byte, which may precede a marker
      continue;
    }
    const length = (high << 8) | low;
    const isSegment = start === 0xff && code !== marker.SOS && code !== marker.EOI && length >= 2;
    if (!isSegment) return ranges;
    const segment = { marker: code, at: 0, bodyAt: SEGMENT_HEADER_BYTES, end: 2 + length };
    const erasedAt = segment.bodyAt + keptBytes(bytes, segment);
    if (erasedAt < segment.end) ranges.push({ offset: offset + erasedAt, length: segment.end - erasedAt });
    offset += segment.end;
  }
  throw new SlideError('LIMIT_EXCEEDED', `A JPEG has more than ${MAX_SEGMENTS} segments before its image`);
}

/** Returns how many bytes of the data of a segment stay: all, unless it is a comment or an application segment. */
function keptBytes(jpeg: Uint8Array, segment: Segment): number {
  const { marker: code, bodyAt, end } = segment;
  const dataBytes = end - bodyAt;
  const isApplication = code >= marker.APP0 && code <= APP15;
  if (!isApplication && code !== marker.COM) return dataBytes;
  if (isColourMarker(jpeg, segment))
    return Math.min(dataBytes, code === marker.APP0 ? JFIF_BYTES : ADOBE_BYTES);
  const signature = Buffer.from(jpeg.subarray(bodyAt, bodyAt + ICC_SIGNATURE.length)).toString('latin1');
  return code === marker.APP2 && signature === ICC_SIGNATURE ? dataBytes : 0;
}
