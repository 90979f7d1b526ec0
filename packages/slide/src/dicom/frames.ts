/**
 * Reads the frames in the pixel data of a DICOM file, with one read per frame. Frames are stored in one of two ways:
 * - consecutive: uncompressed frames follow one another without headers;
 * - encapsulated: frames are stored as items. Each item is a header and a fragment, and a frame has one or more items. An
 *   offset table before the items is optional.
 *
 * Source: DICOM PS3.5, section A.4 (encapsulated pixel data), PS3.3 C.7.6.3.1.8 and C.7.6.3.1.9 (extended offset table).
 */
import type { ByteSource } from '../source/byte-source.ts';
import { byteWindow } from '../source/byte-window.ts';
import { readOnce } from '../source/read-once.ts';
import type { ValuePosition } from './data-set.ts';
import { corruptError, limitExceededError, truncatedError } from './errors.ts';
import { limits, MIN_FRAME_BYTES } from './limits.ts';
import { tag } from './tags.ts';
import type { FrameCodec, TransferSyntax } from './uids.ts';

/**
 * Reads one frame as stored.
 *
 * @param frame index from 0
 * @param headroom bytes to leave free before the frame, for a JPEG prefix
 * @returns a buffer of `headroom` bytes followed by the frame, whose fragments are joined
 * @throws SlideError FILE_CORRUPT, FILE_TRUNCATED, LIMIT_EXCEEDED
 */
export type ReadFrame = (frame: number, headroom: number, signal?: AbortSignal) => Promise<Uint8Array>;

/** Positions of pixel data and offset tables in the file. */
interface PixelPositions {
  readonly source: ByteSource;
  readonly frames: number;
  readonly pixelData: ValuePosition;
  readonly extendedOffsets: ValuePosition | null;
  readonly extendedLengths: ValuePosition | null;
}

/**
 * Opens the frames of a file and checks their total size. Offset tables and items are read when a frame is first read.
 *
 * @param frameBytes bytes of one uncompressed frame
 */
export function openFrames(pixels: PixelPositions, syntax: TransferSyntax, frameBytes: number): ReadFrame {
  return syntax.isEncapsulated ? openEncapsulated(pixels, syntax.codec) : openConsecutive(pixels, frameBytes);
}

function openConsecutive({ source, frames, pixelData }: PixelPositions, frameBytes: number): ReadFrame {
  const { offset, length } = pixelData;
  if (length === null) throw corruptError('its uncompressed pixels have an undefined length');
  if (length < frames * frameBytes) {
    throw corruptError(`its pixels have ${length} bytes instead of ${frames * frameBytes}`);
  }
  if (offset + length > source.size)
    throw truncatedError(`it ends at ${source.size}, before the end of its pixels`);
  return async (frame, headroom, signal) => {
    const buffer = new Uint8Array(headroom + frameBytes);
    await source.readInto(buffer, headroom, offset + frame * frameBytes, frameBytes, signal);
    return buffer;
  };
}

/** The position of each frame in the file. */
interface FrameTable {
  /** Offset of each frame's first item. */
  readonly starts: Float64Array;
  /** Returns the offset after a frame's last item. */
  endOf(frame: number): number;
}

/** Codecs whose frames always have one item. Source: PS3.5, A.4.2 and A.4.11. */
const singleItemCodecs: ReadonlySet<FrameCodec> = new Set(['rle', 'samples']);

const ITEM_HEADER_BYTES = 8;
const UNDEFINED_LENGTH = 0xffff_ffff;

function openEncapsulated(pixels: PixelPositions, codec: FrameCodec): ReadFrame {
  const { source, frames, pixelData } = pixels;
  if (pixelData.length !== null) throw corruptError('its compressed pixels are not stored in items');
  const availableBytes = source.size - pixelData.offset;
  if (availableBytes < ITEM_HEADER_BYTES) throw truncatedError('it ends before its pixels');
  if (availableBytes < frames * MIN_FRAME_BYTES)
    throw corruptError(`it is too small for the ${frames} frames it claims`);
  const readTable = readOnce(() => readFrameTable(pixels, codec));

  return async (frame, headroom, signal) => {
    const table = await readTable();
    const start = table.starts[frame] as number;
    const storedBytes = table.endOf(frame) - start;
    if (storedBytes > limits.frameBytes) throw limitExceededError(`a frame has ${storedBytes} bytes`);
    // The first item header is read into the bytes before the contents, so that the contents of this item are not moved.
    // The caller overwrites the headroom, including the header bytes in it.
    const contentsStart = Math.max(headroom, ITEM_HEADER_BYTES);
    const headerStart = contentsStart - ITEM_HEADER_BYTES;
    const buffer = new Uint8Array(contentsStart + Math.max(storedBytes - ITEM_HEADER_BYTES, 0));
    await source.readInto(buffer, headerStart, start, storedBytes, signal);
    const { end, fragments } = joinFragments(buffer, headerStart);
    if (fragments > 1 && singleItemCodecs.has(codec))
      throw corruptError(`a frame has ${fragments} fragments`);
    return buffer.subarray(contentsStart - headroom, end);
  };
}

/**
 * Removes the headers between the items of a frame, so that their contents are consecutive.
 *
 * @param headerStart index of the first item header; the contents of the frame begin after it
 * @returns the end of the contents, and the number of items
 */
function joinFragments(buffer: Uint8Array, headerStart: number): { end: number; fragments: number } {
  const view = new DataView(buffer.buffer, buffer.byteOffset, buffer.length);
  let end = headerStart + ITEM_HEADER_BYTES;
  let fragments = 0;
  for (let itemStart = headerStart; itemStart < buffer.length; fragments++) {
    const contentsStart = itemStart + ITEM_HEADER_BYTES;
    const isItem = contentsStart <= buffer.length && tagAt(view, itemStart) === tag.Item;
    const length = isItem ? view.getUint32(itemStart + 4, true) : 0;
    if (!isItem || contentsStart + length > buffer.length)
      throw corruptError('a frame is not where its offset table says');
    if (contentsStart !== end) buffer.copyWithin(end, contentsStart, contentsStart + length);
    end += length;
    itemStart = contentsStart + length;
  }
  if (end === headerStart + ITEM_HEADER_BYTES) throw corruptError('a frame is empty');
  return { end, fragments };
}

/** Reads the extended or the basic offset table; if the file has neither, finds the frames by following all items. */
async function readFrameTable(pixels: PixelPositions, codec: FrameCodec): Promise<FrameTable> {
  const { source, pixelData, frames } = pixels;
  const header = await readItemHeader(source, pixelData.offset);
  if (header.tag !== tag.Item) throw corruptError('its pixels do not begin with an offset table');
  const firstItemOffset = pixelData.offset + ITEM_HEADER_BYTES + header.length;
  if (firstItemOffset > source.size)
    throw truncatedError(`it ends at ${source.size}, inside its offset table`);

  if (pixels.extendedOffsets) return readExtendedTable(pixels, pixels.extendedOffsets, firstItemOffset);
  if (header.length > 0) {
    if (header.length !== frames * 4) {
      throw corruptError(`its offset table has ${header.length} bytes for ${frames} frames`);
    }
    return readBasicTable(pixels, pixelData.offset + ITEM_HEADER_BYTES, firstItemOffset);
  }
  return findFrames(pixels, codec, firstItemOffset);
}

/** Reads the basic offset table: 32-bit offsets, counted from the first item after the table. */
async function readBasicTable(
  { source, frames }: PixelPositions,
  offset: number,
  firstItemOffset: number,
): Promise<FrameTable> {
  const bytes = await source.read(offset, frames * 4);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const starts = new Float64Array(frames);
  // Some writers let the 32-bit offsets of large files wrap around at 4 GiB.
  const mayWrapAround = source.size - firstItemOffset > 2 ** 32;
  let wrappedBytes = 0;
  for (let frame = 0; frame < frames; frame++) {
    // The value for the first frame makes `firstItemOffset` the smallest start that `checkStart` accepts.
    const previousStart = frame === 0 ? firstItemOffset - ITEM_HEADER_BYTES : (starts[frame - 1] as number);
    let start = firstItemOffset + wrappedBytes + view.getUint32(frame * 4, true);
    if (start <= previousStart && mayWrapAround) {
      wrappedBytes += 2 ** 32;
      start += 2 ** 32;
    }
    checkStart(start, previousStart + ITEM_HEADER_BYTES, source.size, frame);
    starts[frame] = start;
  }
  if (starts[0] !== firstItemOffset)
    throw corruptError('its offset table does not begin with its first frame');
  const lastEnd = await findEnd(source, starts[frames - 1] as number);
  return { starts, endOf: (frame) => (frame + 1 < frames ? (starts[frame + 1] as number) : lastEnd) };
}

/** Reads the extended offset table: 64-bit offsets and lengths of frames that consist of one item each. */
async function readExtendedTable(
  { source, frames, extendedLengths }: PixelPositions,
  offsets: ValuePosition,
  firstItemOffset: number,
): Promise<FrameTable> {
  if (offsets.length !== frames * 8 || extendedLengths?.length !== frames * 8) {
    throw corruptError(`its extended offset table does not have ${frames} entries`);
  }
  const [offsetBytes, lengthBytes] = await Promise.all([
    source.read(offsets.offset, frames * 8),
    source.read(extendedLengths.offset, frames * 8),
  ]);
  const offsetView = new DataView(offsetBytes.buffer, offsetBytes.byteOffset, offsetBytes.length);
  const lengthView = new DataView(lengthBytes.buffer, lengthBytes.byteOffset, lengthBytes.length);
  const starts = new Float64Array(frames);
  const ends = new Float64Array(frames);
  for (let frame = 0; frame < frames; frame++) {
    const previousEnd = frame === 0 ? firstItemOffset : (ends[frame - 1] as number);
    const start = firstItemOffset + Number(offsetView.getBigUint64(frame * 8, true));
    const length = Number(lengthView.getBigUint64(frame * 8, true));
    checkStart(start, previousEnd, source.size, frame);
    if (start + ITEM_HEADER_BYTES + length > source.size) {
      throw truncatedError(`it ends at ${source.size}, before the end of frame ${frame + 1}`);
    }
    starts[frame] = start;
    // An item has an even length; only some writers include the padding byte in the length of the frame.
    ends[frame] = start + ITEM_HEADER_BYTES + length + (length % 2);
  }
  if (starts[0] !== firstItemOffset)
    throw corruptError('its offset table does not begin with its first frame');
  if ((await findEnd(source, starts[frames - 1] as number)) !== ends[frames - 1]) {
    throw corruptError('its offset table does not end with its last frame');
  }
  return { starts, endOf: (frame) => ends[frame] as number };
}

/** Checks that a frame begins inside the file, and not before `minStart`. */
function checkStart(start: number, minStart: number, fileSize: number, frame: number): void {
  if (start + ITEM_HEADER_BYTES > fileSize) {
    throw truncatedError(`it ends at ${fileSize}, before frame ${frame + 1}`);
  }
  if (start < minStart) throw corruptError(`its offset table puts frame ${frame + 1} before another`);
}

/**
 * Follows the items of the last frame, which begins at `start`, to the delimiter that ends the pixel data. Returns the
 * position of the delimiter. This also checks that the offset table is complete.
 */
async function findEnd(source: ByteSource, start: number): Promise<number> {
  for (let offset = start, items = 0; ; items++) {
    const header = await readItemHeader(source, offset);
    if (header.tag === tag.SequenceDelimitationItem && items > 0) return offset;
    if (header.tag !== tag.Item) throw corruptError('its last frame is not stored in items');
    if (items > limits.items) throw limitExceededError('its last frame has too many fragments');
    offset += ITEM_HEADER_BYTES + header.length;
    if (offset > source.size) throw truncatedError(`it ends at ${source.size}, inside its last frame`);
  }
}

/**
 * Finds the frames of a file without an offset table by following all items to the end:
 * - If there are as many items as frames, each item is a frame.
 * - If there is only one frame, it has all items.
 * - Otherwise a frame begins at each item with the signature of the codec. There must be as many such items as frames,
 *   because a damaged frame would shift all frames after it.
 */
async function findFrames(
  { source, frames }: PixelPositions,
  codec: FrameCodec,
  firstItemOffset: number,
): Promise<FrameTable> {
  const window = byteWindow(source, ITEM_HEADER_BYTES + SIGNATURE_BYTES);
  // `limits.items` allows a file with few frames more fragments per frame than `limits.fragmentsPerFrame`.
  const maxItems = frames * limits.fragmentsPerFrame + limits.items;
  // In both arrays, `tableOf` sets the last entry to the end of the last frame.
  const itemStarts = new Float64Array(frames + 1);
  const frameStarts = new Float64Array(frames + 1);
  let items = 0;
  let frameStartCount = 0;
  let offset = firstItemOffset;
  for (; ; items++) {
    const { length, isEnd } = await readItem();
    if (isEnd) break;
    if (length === 0) throw corruptError('one of the items of its pixels is empty');
    if (items > maxItems) throw limitExceededError('its frames have too many fragments');
    if (items <= frames) itemStarts[items] = offset;
    if (frames > 1 && isFrameStart(window, offset + ITEM_HEADER_BYTES, length, codec)) {
      if (frameStartCount <= frames) frameStarts[frameStartCount] = offset;
      frameStartCount++;
    }
    offset += ITEM_HEADER_BYTES + length;
  }
  if (items === frames || frames === 1) return tableOf(items === 0 ? null : itemStarts);
  const hasAllFrameStarts = frameStartCount === frames && frameStarts[0] === firstItemOffset;
  return tableOf(hasAllFrameStarts ? frameStarts : null);

  /** Reads the header of the item at `offset`. */
  async function readItem(): Promise<{ length: number; isEnd: boolean }> {
    const byteCount = Math.min(ITEM_HEADER_BYTES + SIGNATURE_BYTES, source.size - offset);
    if (byteCount < ITEM_HEADER_BYTES) throw truncatedError(`it ends at ${source.size}, inside its pixels`);
    await window.load(offset, byteCount);
    const itemTag = ((window.u16(offset) << 16) | window.u16(offset + 2)) >>> 0;
    const length = window.u32(offset + 4);
    if (itemTag === tag.SequenceDelimitationItem) return { length: 0, isEnd: true };
    if (itemTag !== tag.Item || length === UNDEFINED_LENGTH)
      throw corruptError('its pixels are not stored in items');
    if (offset + ITEM_HEADER_BYTES + length > source.size) {
      throw truncatedError(`it ends at ${source.size}, inside its pixels`);
    }
    return { length, isEnd: false };
  }

  function tableOf(starts: Float64Array | null): FrameTable {
    if (!starts) throw corruptError(`its pixels have ${items} items, which do not form ${frames} frames`);
    starts[frames] = offset;
    return { starts, endOf: (frame) => starts[frame + 1] as number };
  }
}

const SIGNATURE_BYTES = 4;
/**
 * First four bytes of a frame as a big-endian number; for JPEG and JPEG-LS only the first two.
 *
 * Sources: ITU-T T.81 B.1.1.3; T.800 A.4.1 and I.5.1 (JP2, which some writers use).
 */
const signatures: Readonly<Record<FrameCodec, readonly number[]>> = {
  jpeg: [0xffd8_0000],
  jpegls: [0xffd8_0000],
  jpeg2000: [0xff4f_ff51, 0x0000_000c], // SOC and SIZ of a code stream; length of the first box of a JP2 file
  // Frames of these codecs have one item each (PS3.5 A.4.2, A.4.11), so that their signatures are not needed.
  rle: [],
  samples: [],
};

/** Returns whether the contents of an item, `length` bytes from `offset`, begin with the signature of the codec. */
function isFrameStart(
  window: { covers(offset: number, length: number): boolean; u8(offset: number): number },
  offset: number,
  length: number,
  codec: FrameCodec,
): boolean {
  if (length < SIGNATURE_BYTES || !window.covers(offset, SIGNATURE_BYTES)) return false;
  const [a, b, c, d] = [
    window.u8(offset),
    window.u8(offset + 1),
    window.u8(offset + 2),
    window.u8(offset + 3),
  ];
  const firstBytes = ((a << 24) | (b << 16) | (c << 8) | d) >>> 0;
  const hasTwoByteSignature = codec === 'jpeg' || codec === 'jpegls';
  return signatures[codec].includes(hasTwoByteSignature ? (firstBytes & 0xffff_0000) >>> 0 : firstBytes);
}

async function readItemHeader(source: ByteSource, offset: number): Promise<{ tag: number; length: number }> {
  if (offset + ITEM_HEADER_BYTES > source.size)
    throw truncatedError(`it ends at ${source.size}, inside its pixels`);
  const bytes = await source.read(offset, ITEM_HEADER_BYTES);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const length = view.getUint32(4, true);
  if (length === UNDEFINED_LENGTH) throw corruptError('an item of its pixels has an undefined length');
  return { tag: tagAt(view, 0), length };
}

const tagAt = (view: DataView, offset: number): number =>
  ((view.getUint16(offset, true) << 16) | view.getUint16(offset + 2, true)) >>> 0;
