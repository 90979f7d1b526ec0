import { SlideError } from '../model/slide.ts';

/** The header of a JPEG 2000 picture. */
export interface Jpeg2000Header {
  /** The code stream without the boxes of a .jp2 file. */
  readonly codeStream: Uint8Array;
  /** Pixels. */
  readonly width: number;
  readonly height: number;
  readonly components: number;
  /** Bits per sample of the component with the most. */
  readonly bits: number;
  readonly isSigned: boolean;
  /** The components after the first have only every second column, or every second column and row. */
  readonly isSubsampled: boolean;
  /** Subsampled components have only every second row too. */
  readonly isHalvedInHeight: boolean;
  /** Number of smaller resolutions, each half the size of the next, that can be decoded separately. */
  readonly halvings: number;
  /** The boxes declare YCbCr; always false without boxes. */
  readonly isDeclaredYcc: boolean;
  /** The code stream contains transformed RGB, which the decoder transforms back to RGB. */
  readonly isTransformed: boolean;
  /** A comment in the code stream names OpenJPEG as its writer. */
  readonly isByOpenJpeg: boolean;
}

/** Code blocks, precincts and tiles need memory even when they contain few bytes. */
const limits = { tiles: 1024, precincts: 2 ** 16, boxes: 1024 };

const SOC = 0xff4f;
const SIZ = 0xff51;
const COD = 0xff52;
const COC = 0xff53;
const COM = 0xff64;
const SOT = 0xff90;
const SYCC = 18;

/**
 * Reads the boxes, if any, and the main header of the code stream.
 *
 * Source: ITU-T T.800, annexes A (code stream) and I (boxes).
 *
 * @throws SlideError FILE_CORRUPT; FORMAT_NOT_SUPPORTED for a palette or unusual subsampling; LIMIT_EXCEEDED
 */
export function readJpeg2000Header(bytes: Uint8Array): Jpeg2000Header {
  const isBare = bytes.length >= 2 && viewOf(bytes).getUint16(0) === SOC;
  const { codeStream, isDeclaredYcc } = isBare
    ? { codeStream: bytes, isDeclaredYcc: false }
    : readBoxes(bytes);
  return { codeStream, isDeclaredYcc, ...readMainHeader(codeStream) };
}

/** Whether bytes start like JPEG 2000: a bare code stream, or the signature box of a .jp2 file. */
export function isJpeg2000(start: Uint8Array): boolean {
  if (start.length < 12) return false;
  const view = viewOf(start);
  return view.getUint32(0) === 0xff4f_ff51 || (view.getUint32(0) === 12 && view.getUint32(4) === 0x6a50_2020);
}

function readBoxes(bytes: Uint8Array): { codeStream: Uint8Array; isDeclaredYcc: boolean } {
  if (!isJpeg2000(bytes)) throw corrupt('it has neither a code stream nor boxes');
  const view = viewOf(bytes);
  let isDeclaredYcc = false;
  // A superbox is entered and any other box skipped, so every step moves forward.
  for (let at = 0, boxes = 0; at + 8 <= bytes.length; boxes++) {
    if (boxes > limits.boxes) throw limitExceeded(`it has more than ${limits.boxes} boxes`);
    const type = String.fromCharCode(...bytes.subarray(at + 4, at + 8));
    const short = view.getUint32(at);
    const isLong = short === 1 && at + 16 <= bytes.length;
    const header = isLong ? 16 : 8;
    const length = short === 0 ? bytes.length - at : isLong ? Number(view.getBigUint64(at + 8)) : short;
    if (length < header) throw corrupt(`its box ${JSON.stringify(type)} is too short`);
    const contents = bytes.subarray(at + header, at + length);
    if (type === 'jp2c') return { codeStream: contents, isDeclaredYcc };
    if (type === 'pclr') throw notRead('a palette');
    if (type === 'colr' && contents[0] === 1 && contents.length >= 7) {
      isDeclaredYcc = viewOf(contents).getUint32(3) === SYCC;
    }
    at += type === 'jp2h' ? header : length;
  }
  throw corrupt('it has no code stream');
}

function readMainHeader(stream: Uint8Array): Omit<Jpeg2000Header, 'codeStream' | 'isDeclaredYcc'> {
  const view = viewOf(stream);
  const u16 = (at: number) => {
    if (at + 2 > stream.length) throw corrupt('its header is truncated');
    return view.getUint16(at);
  };
  if (u16(0) !== SOC || u16(2) !== SIZ) throw corrupt('its code stream does not start with SOC and SIZ');
  const size = readSize(stream, 4);
  let halvings: number | null = null;
  let isTransformed = false;
  let isByOpenJpeg = false;
  for (let at = 2; ; ) {
    const marker = u16(at);
    if (marker === SOT) break;
    if (marker < 0xff01) throw corrupt(`no marker at byte ${at}`);
    const length = u16(at + 2);
    if (length < 2) throw corrupt(`the segment at byte ${at} is too short`);
    if (marker === COD || marker === COC) {
      const isOfAll = marker === COD;
      const wide = size.components < 257 ? 1 : 2;
      const style = stream[at + 4 + (isOfAll ? 0 : wide)] ?? 0;
      const coding = readCoding(stream, at + (isOfAll ? 9 : 5 + wide), style, size);
      halvings = Math.min(halvings ?? coding, coding);
      if (isOfAll) isTransformed = stream[at + 8] === 1;
    }
    if (marker === COM) isByOpenJpeg ||= isOpenJpegComment(stream.subarray(at + 4, at + 2 + length));
    at += 2 + length;
  }
  if (halvings === null) throw corrupt('it has no coding style (COD)');
  return { ...size, halvings, isTransformed, isByOpenJpeg };
}

/** Two bytes before the text contain its encoding. Source: T.800, A.9.2; openjpeg (opj_j2k_setup_encoder). */
function isOpenJpegComment(comment: Uint8Array): boolean {
  return Buffer.from(comment.subarray(2, 22)).toString('latin1') === 'Created by OpenJPEG ';
}

type Size = Omit<
  Jpeg2000Header,
  'codeStream' | 'isDeclaredYcc' | 'halvings' | 'isTransformed' | 'isByOpenJpeg'
>;

/** Source: T.800, A.5.1. */
function readSize(stream: Uint8Array, at: number): Size {
  const view = viewOf(stream);
  if (at + 38 > stream.length) throw corrupt('its header is truncated');
  const [, , x, y, left, top, tileX, tileY] = Array.from({ length: 8 }, (_, i) =>
    view.getUint32(at + 4 * i - 4),
  );
  const components = view.getUint16(at + 36);
  if (!x || !y || !tileX || !tileY || components === 0) throw corrupt('it has no size');
  if (left !== 0 || top !== 0) throw notRead('an origin other than 0, 0');
  const tiles = Math.ceil(x / tileX) * Math.ceil(y / tileY);
  if (tiles > limits.tiles) throw limitExceeded(`it has ${tiles} tiles`);
  if (components > 4) throw notRead(`${components} components`);
  if (at + 38 + 3 * components > stream.length) throw corrupt('its header is truncated');

  const all = Array.from({ length: components }, (_, i) => {
    const [depth = 0, stepX = 0, stepY = 0] = stream.subarray(at + 38 + 3 * i, at + 41 + 3 * i);
    return { bits: (depth & 0x7f) + 1, isSigned: depth > 127, steps: `${stepX}×${stepY}` };
  });
  const [first, second, third] = all.map(({ steps }) => steps);
  const isEven = all.every(({ steps }) => steps === '1×1');
  const isSubsampled =
    components === 3 && first === '1×1' && second === third && (second === '2×1' || second === '2×2');
  if (!isEven && !isSubsampled)
    throw notRead(`components sampled ${all.map(({ steps }) => steps).join(', ')}`);
  return {
    width: x,
    height: y,
    components,
    bits: Math.max(...all.map(({ bits }) => bits)),
    isSigned: all.some(({ isSigned }) => isSigned),
    isSubsampled,
    isHalvedInHeight: isSubsampled && second === '2×2',
  };
}

/**
 * Reads the number of halvings and checks the number of precincts.
 *
 * Source: T.800, A.6.1, tables A.13 to A.21.
 *
 * @param at position of the number of decomposition levels
 */
function readCoding(stream: Uint8Array, at: number, style: number, size: Size): number {
  const halvings = stream[at] ?? 255;
  if (halvings > 32) throw corrupt(`it declares ${halvings} decomposition levels`);
  if ((style & 1) === 0) return halvings;
  let precincts = 0;
  for (let resolution = 0; resolution <= halvings; resolution++) {
    const sizes = stream[at + 5 + resolution];
    if (sizes === undefined) throw corrupt('its header is truncated');
    const scale = 2 ** (halvings - resolution);
    precincts +=
      Math.ceil(size.width / scale / 2 ** (sizes & 15)) * Math.ceil(size.height / scale / 2 ** (sizes >> 4));
  }
  if (precincts * size.components > limits.precincts) throw limitExceeded(`it has ${precincts} precincts`);
  return halvings;
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
}

function corrupt(reason: string): SlideError {
  return new SlideError('FILE_CORRUPT', `A JPEG 2000 picture is damaged: ${reason}`);
}

function notRead(what: string): SlideError {
  return new SlideError('FORMAT_NOT_SUPPORTED', `Not supported: JPEG 2000 with ${what}`);
}

function limitExceeded(reason: string): SlideError {
  return new SlideError('LIMIT_EXCEEDED', `A JPEG 2000 picture exceeds a limit: ${reason}`);
}
