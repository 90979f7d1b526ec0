/**
 * Frames out of a file's pixel data: where each is, read with one positioned read.
 *
 * Source: DICOM PS3.5, section A.4 (encapsulated pixel data), PS3.3 C.7.6.3.1.8 and C.7.6.3.1.9 (extended offset
 * table).
 */
import type { ByteSource } from '../source/byte-source.ts';
import { readOnce } from '../source/read-once.ts';
import { byteWindow } from './byte-window.ts';
import { corrupt, tooMuch, truncated } from './damage.ts';
import type { Place } from './data-set.ts';
import { LEAST_FRAME_BYTES, limits } from './limits.ts';
import { tag } from './tags.ts';
import type { FrameCodec, TransferSyntax } from './uids.ts';

/**
 * Read one frame as it is stored.
 *
 * @param frame from 0
 * @param room bytes to leave free in front of it, for what makes it complete
 * @returns a buffer of `room` bytes and the frame, the pieces it is stored in joined
 * @throws SlideError FILE_CORRUPT, FILE_TRUNCATED, LIMIT_EXCEEDED
 */
export type ReadFrame = (frame: number, room: number, signal?: AbortSignal) => Promise<Uint8Array>;

interface PixelPlaces {
  readonly source: ByteSource;
  readonly frames: number;
  readonly pixelData: Place;
  readonly extendedOffsets: Place | null;
  readonly extendedLengths: Place | null;
}

/**
 * What can be told without following any chain is checked at once; tables are read with the first frame.
 *
 * @param frameBytes of one frame that is not compressed
 */
export function openFrames(pixels: PixelPlaces, syntax: TransferSyntax, frameBytes: number): ReadFrame {
  return syntax.isEncapsulated ? encapsulatedFrames(pixels, syntax.codec) : nativeFrames(pixels, frameBytes);
}

function nativeFrames({ source, frames, pixelData }: PixelPlaces, frameBytes: number): ReadFrame {
  const { at, length } = pixelData;
  if (length === null) throw corrupt('its pixels are not compressed, and have no length');
  if (length < frames * frameBytes) {
    throw corrupt(`its pixels are ${length} bytes, and should be ${frames * frameBytes}`);
  }
  if (at + length > source.size) throw truncated(`it ends at ${source.size}, before the end of its pixels`);
  return async (frame, room, signal) => {
    const buffer = new Uint8Array(room + frameBytes);
    await source.readInto(buffer, room, at + frame * frameBytes, frameBytes, signal);
    return buffer;
  };
}

/** Places are of items, whose headers come first, from the start of the file. */
interface FrameTable {
  /** Where each frame's first item begins. */
  readonly starts: Float64Array;
  /** Where its last item ends. */
  endOf(frame: number): number;
}

/** Codecs whose frames are in one item each. Source: PS3.5, A.4.2 and A.4.11. */
const isAlwaysWhole: ReadonlySet<FrameCodec> = new Set(['rle', 'samples']);

const ITEM_HEADER = 8;
const UNDEFINED_LENGTH = 0xffff_ffff;

function encapsulatedFrames(pixels: PixelPlaces, codec: FrameCodec): ReadFrame {
  const { source, frames, pixelData } = pixels;
  if (pixelData.length !== null) throw corrupt('its pixels are compressed, and do not stand in items');
  const room = source.size - pixelData.at;
  if (room < ITEM_HEADER) throw truncated('it ends before its pixels');
  if (room < frames * LEAST_FRAME_BYTES) throw corrupt(`it is too small for the ${frames} frames it claims`);
  const readTable = readOnce(() => readFrameTable(pixels, codec));

  return async (frame, roomInFront, signal) => {
    const table = await readTable();
    const start = table.starts[frame] as number;
    const span = table.endOf(frame) - start;
    if (span > limits.frameBytes) throw tooMuch(`a frame has ${span} bytes`);
    // The item's header goes where the caller wants room: it is written over, and nothing is copied.
    const front = Math.max(roomInFront, ITEM_HEADER);
    const buffer = new Uint8Array(front + Math.max(span - ITEM_HEADER, 0));
    await source.readInto(buffer, front - ITEM_HEADER, start, span, signal);
    const { end, pieces } = joinFragments(buffer, front - ITEM_HEADER);
    if (pieces > 1 && isAlwaysWhole.has(codec)) throw corrupt(`a frame is in ${pieces} pieces`);
    return buffer.subarray(front - roomInFront, end);
  };
}

/**
 * Take the headers out from between a frame's items, so that their contents follow one another.
 *
 * @param at of the first header; the contents then begin `ITEM_HEADER` after it
 * @returns end of the contents, and how many items they were in
 */
function joinFragments(buffer: Uint8Array, at: number): { end: number; pieces: number } {
  const view = new DataView(buffer.buffer, buffer.byteOffset, buffer.length);
  let end = at + ITEM_HEADER;
  let pieces = 0;
  for (let from = at; from < buffer.length; pieces++) {
    const isItem = from + ITEM_HEADER <= buffer.length && tagAt(view, from) === tag.Item;
    const length = isItem ? view.getUint32(from + 4, true) : 0;
    const contentsAt = from + ITEM_HEADER;
    if (!isItem || contentsAt + length > buffer.length) throw corrupt('a frame is not where its table says');
    if (contentsAt !== end) buffer.copyWithin(end, contentsAt, contentsAt + length);
    end += length;
    from = contentsAt + length;
  }
  if (end === at + ITEM_HEADER) throw corrupt('a frame is empty');
  return { end, pieces };
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

/** Offsets of 32 bits from the first item after the table. */
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
    // Writers that know no extended table let the offsets of large files start again at 4 GiB.
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

/** Offsets and lengths of 64 bits, each frame in one item. */
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
    // Some writers count the byte that makes an odd length even, some do not; the item always has it.
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
 * Where the last frame ends: its items are followed to the delimiter. Looked at before any frame is read, for a
 * table that leads to the end of the pixels has as many frames as they have.
 */
async function findEnd(source: ByteSource, start: number): Promise<number> {
  for (let at = start, items = 0; ; items++) {
    const header = await readItemHeader(source, at);
    if (header.tag === tag.SequenceDelimitationItem && items > 0) return at;
    if (header.tag !== tag.Item) throw corrupt('its last frame does not stand in items');
    if (items > limits.items) throw tooMuch('its last frame is in too many pieces');
    at += ITEM_HEADER + header.length;
    if (at > source.size) throw truncated(`it ends at ${source.size}, inside its last frame`);
  }
}

/**
 * Where there is no table, all items are followed once, to the end: only then is it sure which of them are whole
 * frames. As many items as frames: one each. One frame: all its. Else a frame begins where a compressed picture
 * does; the sum must be right, or one damaged frame would put another in its place.
 */
async function walkItems(
  { source, frames }: PixelPlaces,
  codec: FrameCodec,
  firstItem: number,
): Promise<FrameTable> {
  const window = byteWindow(source, ITEM_HEADER + SIGNATURE_BYTES);
  const most = frames * limits.fragmentsPerFrame + limits.items;
  const all = new Float64Array(frames + 1);
  const begun = new Float64Array(frames + 1);
  let [items, beginnings] = [0, 0];
  let at = firstItem;
  for (; ; items++) {
    const { length, isEnd } = await readItem();
    if (isEnd) break;
    if (length === 0) throw corrupt('one of the items of its pixels is empty');
    if (items > most) throw tooMuch('its frames are in too many pieces');
    if (items <= frames) all[items] = at;
    if (frames > 1 && isBeginning(window, at + ITEM_HEADER, length, codec)) {
      if (beginnings <= frames) begun[beginnings] = at;
      beginnings++;
    }
    at += ITEM_HEADER + length;
  }
  if (items === frames || frames === 1) return tableOf(items === 0 ? null : all);
  return tableOf(beginnings === frames && begun[0] === firstItem ? begun : null);

  async function readItem(): Promise<{ length: number; isEnd: boolean }> {
    const wanted = Math.min(ITEM_HEADER + SIGNATURE_BYTES, source.size - at);
    if (wanted < ITEM_HEADER) throw truncated(`it ends at ${source.size}, inside its pixels`);
    await window.load(at, wanted);
    const number = ((window.u16(at) << 16) | window.u16(at + 2)) >>> 0;
    const length = window.u32(at + 4);
    if (number === tag.SequenceDelimitationItem) return { length: 0, isEnd: true };
    if (number !== tag.Item || length === UNDEFINED_LENGTH) throw corrupt('its pixels do not stand in items');
    if (at + ITEM_HEADER + length > source.size) {
      throw truncated(`it ends at ${source.size}, inside its pixels`);
    }
    return { length, isEnd: false };
  }

  function tableOf(starts: Float64Array | null): FrameTable {
    if (!starts) throw corrupt(`its pixels are ${items} items, which make no ${frames} frames`);
    starts[frames] = at;
    return { starts, endOf: (frame) => starts[frame + 1] as number };
  }
}

const SIGNATURE_BYTES = 4;
/** How the first bytes of a frame look. Sources: ITU-T T.81 B.1.1.3; T.800 A.4.1 and I.5.1 (JP2, which some write). */
const signatures: Readonly<Record<FrameCodec, readonly number[]>> = {
  jpeg: [0xffd8_0000],
  jpegls: [0xffd8_0000],
  jpeg2000: [0xff4f_ff51, 0x0000_000c],
  // Each in an item of its own (PS3.5 A.4.2, A.4.11), so these never get here with another number of items.
  rle: [],
  samples: [],
};

function isBeginning(
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
  if (length === UNDEFINED_LENGTH) throw corrupt('an item of its pixels has no length');
  return { tag: tagAt(view, 0), length };
}

const tagAt = (view: DataView, at: number): number =>
  ((view.getUint16(at, true) << 16) | view.getUint16(at + 2, true)) >>> 0;
