/**
 * Reads frames from a file's pixel data, each with one positioned read.
 *
 * Source: DICOM PS3.5, section A.4 (encapsulated pixel data), PS3.3 C.7.6.3.1.8 and C.7.6.3.1.9 (extended offset
 * table).
 */
import type { ByteSource } from '../source/byte-source.ts';
import { byteWindow } from '../source/byte-window.ts';
import { readOnce } from '../source/read-once.ts';
import type { Place } from './data-set.ts';
import { corrupt, limitExceeded, truncated } from './errors.ts';
import { limits, MIN_FRAME_BYTES } from './limits.ts';
import { tag } from './tags.ts';
import type { FrameCodec, TransferSyntax } from './uids.ts';

/**
 * Reads one frame as stored.
 *
 * @param frame from 0
 * @param headroom bytes to leave free before it, for a JPEG prefix
 * @returns a buffer of `headroom` bytes and the frame, its fragments joined
 * @throws SlideError FILE_CORRUPT, FILE_TRUNCATED, LIMIT_EXCEEDED
 */
export type ReadFrame = (frame: number, headroom: number, signal?: AbortSignal) => Promise<Uint8Array>;

interface PixelPlaces {
  readonly source: ByteSource;
  readonly frames: number;
  readonly pixelData: Place;
  readonly extendedOffsets: Place | null;
  readonly extendedLengths: Place | null;
}

/**
 * Opens the frames of a file. Checks everything that needs no walk through the items; tables are read with the first
 * frame.
 *
 * @param frameBytes of one uncompressed frame
 */
export function openFrames(pixels: PixelPlaces, syntax: TransferSyntax, frameBytes: number): ReadFrame {
  return syntax.isEncapsulated ? encapsulatedFrames(pixels, syntax.codec) : nativeFrames(pixels, frameBytes);
}

function nativeFrames({ source, frames, pixelData }: PixelPlaces, frameBytes: number): ReadFrame {
  const { at, length } = pixelData;
  if (length === null) throw corrupt('its uncompressed pixels have an undefined length');
  if (length < frames * frameBytes) {
    throw corrupt(`its pixels have ${length} bytes instead of ${frames * frameBytes}`);
  }
  if (at + length > source.size) throw truncated(`it ends at ${source.size}, before the end of its pixels`);
  return async (frame, headroom, signal) => {
    const buffer = new Uint8Array(headroom + frameBytes);
    await source.readInto(buffer, headroom, at + frame * frameBytes, frameBytes, signal);
    return buffer;
  };
}

/** The position of each frame in the file; items begin with a header. */
interface FrameTable {
  /** Offset of each frame's first item. */
  readonly starts: Float64Array;
  /** Returns the offset of the end of a frame's last item. */
  endOf(frame: number): number;
}

/** Codecs whose frames always have one item. Source: PS3.5, A.4.2 and A.4.11. */
const singleItemCodecs: ReadonlySet<FrameCodec> = new Set(['rle', 'samples']);

const ITEM_HEADER = 8;
const UNDEFINED_LENGTH = 0xffff_ffff;

function encapsulatedFrames(pixels: PixelPlaces, codec: FrameCodec): ReadFrame {
  const { source, frames, pixelData } = pixels;
  if (pixelData.length !== null) throw corrupt('its compressed pixels are not stored in items');
  const availableBytes = source.size - pixelData.at;
  if (availableBytes < ITEM_HEADER) throw truncated('it ends before its pixels');
  if (availableBytes < frames * MIN_FRAME_BYTES)
    throw corrupt(`it is too small for the ${frames} frames it claims`);
  const readTable = readOnce(() => readFrameTable(pixels, codec));

  return async (frame, headroom, signal) => {
    const table = await readTable();
    const start = table.starts[frame] as number;
    const span = table.endOf(frame) - start;
    if (span > limits.frameBytes) throw limitExceeded(`a frame has ${span} bytes`);
    // The item header is read into the headroom, which the caller overwrites: nothing is copied.
    const front = Math.max(headroom, ITEM_HEADER);
    const buffer = new Uint8Array(front + Math.max(span - ITEM_HEADER, 0));
    await source.readInto(buffer, front - ITEM_HEADER, start, span, signal);
    const { end, fragments } = joinFragments(buffer, front - ITEM_HEADER);
    if (fragments > 1 && singleItemCodecs.has(codec)) throw corrupt(`a frame has ${fragments} fragments`);
    return buffer.subarray(front - headroom, end);
  };
}

/**
 * Removes the headers between the items of a frame, so that their contents are consecutive.
 *
 * @param at offset of the first header; the contents begin `ITEM_HEADER` bytes after it
 * @returns the end of the contents, and the number of items
 */
function joinFragments(buffer: Uint8Array, at: number): { end: number; fragments: number } {
  const view = new DataView(buffer.buffer, buffer.byteOffset, buffer.length);
  let end = at + ITEM_HEADER;
  let fragments = 0;
  for (let from = at; from < buffer.length; fragments++) {
    const isItem = from + ITEM_HEADER <= buffer.length && tagAt(view, from) === tag.Item;
    const length = isItem ? view.getUint32(from + 4, true) : 0;
    const contentsAt = from + ITEM_HEADER;
    if (!isItem || contentsAt + length > buffer.length)
      throw corrupt('a frame is not where its offset table says');
    if (contentsAt !== end) buffer.copyWithin(end, contentsAt, contentsAt + length);
    end += length;
    from = contentsAt + length;
  }
  if (end === at + ITEM_HEADER) throw corrupt('a frame is empty');
  return { end, fragments };
}

async function readFrameTable(pixels: PixelPlaces, codec: FrameCodec): Promise<FrameTable> {
  const { source, pixelData, frames } = pixels;
  const header = await readItemHeader(source, pixelData.at);
  if (header.tag !== tag.Item) throw corrupt('its pixels do not begin with an offset table');
  const firstItem = pixelData.at + ITEM_HEADER + header.length;
  if (firstItem > source.size) throw truncated(`it ends at ${source.size}, inside its offset table`);

  if (pixels.extendedOffsets) return readExtendedTable(pixels, pixels.extendedOffsets, firstItem);
  if (header.length > 0) {
    if (header.length !== frames * 4) {
      throw corrupt(`its offset table has ${header.length} bytes for ${frames} frames`);
    }
    return readBasicTable(pixels, pixelData.at + ITEM_HEADER, firstItem);
  }
  return walkItems(pixels, codec, firstItem);
}

/** Reads the basic table: offsets of 32 bits from the first item after the table. */
async function readBasicTable(
  { source, frames }: PixelPlaces,
  at: number,
  firstItem: number,
): Promise<FrameTable> {
  const bytes = await source.read(at, frames * 4);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const starts = new Float64Array(frames);
  const mayWrap = source.size - firstItem > 2 ** 32;
  let wraps = 0;
  for (let frame = 0; frame < frames; frame++) {
    const before = frame === 0 ? firstItem - ITEM_HEADER : (starts[frame - 1] as number);
    let start = firstItem + wraps + view.getUint32(frame * 4, true);
    // Writers without extended tables let the offsets of large files wrap around at 4 GiB.
    if (start <= before && mayWrap) {
      wraps += 2 ** 32;
      start += 2 ** 32;
    }
    checkStart(start, before, source.size, frame);
    starts[frame] = start;
  }
  if (starts[0] !== firstItem) throw corrupt('its offset table does not begin with its first frame');
  const lastEnd = await findEnd(source, starts[frames - 1] as number);
  return { starts, endOf: (frame) => (frame + 1 < frames ? (starts[frame + 1] as number) : lastEnd) };
}

/** Reads the extended table: offsets and lengths of 64 bits, each frame in one item. */
async function readExtendedTable(
  { source, frames, extendedLengths }: PixelPlaces,
  offsets: Place,
  firstItem: number,
): Promise<FrameTable> {
  if (offsets.length !== frames * 8 || extendedLengths?.length !== frames * 8) {
    throw corrupt(`its extended offset table does not have ${frames} entries`);
  }
  const [offsetBytes, lengthBytes] = await Promise.all([
    source.read(offsets.at, frames * 8),
    source.read(extendedLengths.at, frames * 8),
  ]);
  const offsetView = new DataView(offsetBytes.buffer, offsetBytes.byteOffset, offsetBytes.length);
  const lengthView = new DataView(lengthBytes.buffer, lengthBytes.byteOffset, lengthBytes.length);
  const starts = new Float64Array(frames);
  const ends = new Float64Array(frames);
  for (let frame = 0; frame < frames; frame++) {
    const before = frame === 0 ? firstItem - ITEM_HEADER : (ends[frame - 1] as number) - ITEM_HEADER;
    const start = firstItem + Number(offsetView.getBigUint64(frame * 8, true));
    const length = Number(lengthView.getBigUint64(frame * 8, true));
    checkStart(start, before, source.size, frame);
    if (start + ITEM_HEADER + length > source.size) {
      throw truncated(`it ends at ${source.size}, before the end of frame ${frame + 1}`);
    }
    starts[frame] = start;
    // Only some writers count the padding byte of an odd length; the item always contains it.
    ends[frame] = start + ITEM_HEADER + length + (length % 2);
  }
  if (starts[0] !== firstItem) throw corrupt('its offset table does not begin with its first frame');
  if ((await findEnd(source, starts[frames - 1] as number)) !== ends[frames - 1]) {
    throw corrupt('its offset table does not end with its last frame');
  }
  return { starts, endOf: (frame) => ends[frame] as number };
}

function checkStart(start: number, before: number, size: number, frame: number): void {
  if (start + ITEM_HEADER > size) {
    throw truncated(`it ends at ${size}, before frame ${frame + 1}`);
  }
  if (start < before + ITEM_HEADER) throw corrupt(`its offset table puts frame ${frame + 1} before another`);
}

/**
 * Returns the end of the last frame, following its items to the delimiter. Called before any frame is read: a table
 * that leads to the end of the pixels has the right number of frames.
 */
async function findEnd(source: ByteSource, start: number): Promise<number> {
  for (let at = start, items = 0; ; items++) {
    const header = await readItemHeader(source, at);
    if (header.tag === tag.SequenceDelimitationItem && items > 0) return at;
    if (header.tag !== tag.Item) throw corrupt('its last frame is not stored in items');
    if (items > limits.items) throw limitExceeded('its last frame has too many fragments');
    at += ITEM_HEADER + header.length;
    if (at > source.size) throw truncated(`it ends at ${source.size}, inside its last frame`);
  }
}

/**
 * Builds the table of a file without one by following all items to the end; only then is it clear which items are
 * complete frames. With as many items as frames, each is a frame; a single frame has all items. Otherwise a frame
 * begins at each item with the codec's signature; their number must match, or a damaged frame would shift the others.
 */
async function walkItems(
  { source, frames }: PixelPlaces,
  codec: FrameCodec,
  firstItem: number,
): Promise<FrameTable> {
  const window = byteWindow(source, ITEM_HEADER + SIGNATURE_BYTES);
  const most = frames * limits.fragmentsPerFrame + limits.items;
  const itemStarts = new Float64Array(frames + 1);
  const frameStarts = new Float64Array(frames + 1);
  let [items, frameStartCount] = [0, 0];
  let at = firstItem;
  for (; ; items++) {
    const { length, isEnd } = await readItem();
    if (isEnd) break;
    if (length === 0) throw corrupt('one of the items of its pixels is empty');
    if (items > most) throw limitExceeded('its frames have too many fragments');
    if (items <= frames) itemStarts[items] = at;
    if (frames > 1 && isFrameStart(window, at + ITEM_HEADER, length, codec)) {
      if (frameStartCount <= frames) frameStarts[frameStartCount] = at;
      frameStartCount++;
    }
    at += ITEM_HEADER + length;
  }
  if (items === frames || frames === 1) return tableOf(items === 0 ? null : itemStarts);
  return tableOf(frameStartCount === frames && frameStarts[0] === firstItem ? frameStarts : null);

  async function readItem(): Promise<{ length: number; isEnd: boolean }> {
    const byteCount = Math.min(ITEM_HEADER + SIGNATURE_BYTES, source.size - at);
    if (byteCount < ITEM_HEADER) throw truncated(`it ends at ${source.size}, inside its pixels`);
    await window.load(at, byteCount);
    const number = ((window.u16(at) << 16) | window.u16(at + 2)) >>> 0;
    const length = window.u32(at + 4);
    if (number === tag.SequenceDelimitationItem) return { length: 0, isEnd: true };
    if (number !== tag.Item || length === UNDEFINED_LENGTH)
      throw corrupt('its pixels are not stored in items');
    if (at + ITEM_HEADER + length > source.size) {
      throw truncated(`it ends at ${source.size}, inside its pixels`);
    }
    return { length, isEnd: false };
  }

  function tableOf(starts: Float64Array | null): FrameTable {
    if (!starts) throw corrupt(`its pixels have ${items} items, which do not form ${frames} frames`);
    starts[frames] = at;
    return { starts, endOf: (frame) => starts[frame + 1] as number };
  }
}

const SIGNATURE_BYTES = 4;
/** First bytes of a frame. Sources: ITU-T T.81 B.1.1.3; T.800 A.4.1 and I.5.1 (JP2, which some writers use). */
const signatures: Readonly<Record<FrameCodec, readonly number[]>> = {
  jpeg: [0xffd8_0000],
  jpegls: [0xffd8_0000],
  jpeg2000: [0xff4f_ff51, 0x0000_000c],
  // Each has one item per frame (PS3.5 A.4.2, A.4.11), so that these are never needed.
  rle: [],
  samples: [],
};

function isFrameStart(
  window: { covers(at: number, length: number): boolean; u8(at: number): number },
  at: number,
  length: number,
  codec: FrameCodec,
): boolean {
  if (length < SIGNATURE_BYTES || !window.covers(at, SIGNATURE_BYTES)) return false;
  const [a, b, c, d] = [window.u8(at), window.u8(at + 1), window.u8(at + 2), window.u8(at + 3)];
  const start = ((a << 24) | (b << 16) | (c << 8) | d) >>> 0;
  const isTwoBytes = codec === 'jpeg' || codec === 'jpegls';
  return signatures[codec].includes(isTwoBytes ? (start & 0xffff_0000) >>> 0 : start);
}

async function readItemHeader(source: ByteSource, at: number): Promise<{ tag: number; length: number }> {
  if (at + ITEM_HEADER > source.size) throw truncated(`it ends at ${source.size}, inside its pixels`);
  const bytes = await source.read(at, ITEM_HEADER);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const length = view.getUint32(4, true);
  if (length === UNDEFINED_LENGTH) throw corrupt('an item of its pixels has an undefined length');
  return { tag: tagAt(view, 0), length };
}

const tagAt = (view: DataView, at: number): number =>
  ((view.getUint16(at, true) << 16) | view.getUint16(at + 2, true)) >>> 0;
