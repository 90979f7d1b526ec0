import { SlideError } from '../model/slide.ts';

/** The header of a JPEG 2000 image. */
export interface Jpeg2000Header {
  /** The compressed image without the boxes, which are the records of a .jp2 file. */
  readonly codeStream: Uint8Array;
  /** Size in pixels. */
  readonly width: number;
  readonly height: number;
  /** Number of components. */
  readonly components: number;
  /** Bits per sample of the component with the most. */
  readonly bits: number;
  readonly isSigned: boolean;
  /** Whether the second and third component have half the width of the first. */
  readonly isSubsampled: boolean;
  /** Whether the subsampled components also have half the height. */
  readonly isHalvedInHeight: boolean;
  /** Number of smaller resolutions that can be decoded separately; each has half the width and height of the next larger one. */
  readonly halvings: number;
  /** Whether the boxes declare YCbCr; always false without boxes. */
  readonly isDeclaredYcc: boolean;
  /** Whether the encoder has transformed RGB to another colour space; the decoder reverses this transform. */
  readonly isTransformed: boolean;
  /** Whether a comment in the code stream names OpenJPEG as its writer. */
  readonly isByOpenJpeg: boolean;
}

/** Limits of an image. The decoder allocates memory for each tile and precinct, even for those without data. */
const limits = { tiles: 1024, precincts: 2 ** 16, boxes: 1024 };

// Markers of the code stream. Source: ITU-T T.800, table A.2.
/** Start of the code stream, then the size segment. */
const SOC = 0xff4f;
const SIZ = 0xff51;
/** Coding style of all components, and of one component. */
const COD = 0xff52;
const COC = 0xff53;
/** Comment. */
const COM = 0xff64;
/** Start of the first tile: the end of the main header. */
const SOT = 0xff90;
/** The enumerated colour space YCbCr of a colr box. Source: T.800, table I.10. */
const SYCC = 18;

/**
 * Reads the header of a JPEG 2000 image: the boxes of a .jp2 file, if any, and the main header of the code stream.
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

/** Whether the bytes start like a JPEG 2000 code stream (SOC and SIZ) or like a .jp2 file (signature box). */
export function isJpeg2000(start: Uint8Array): boolean {
  if (start.length < 12) return false;
  const view = viewOf(start);
  const isCodeStream = view.getUint16(0) === SOC && view.getUint16(2) === SIZ;
  const hasSignatureBox = view.getUint32(0) === 12 && view.getUint32(4) === SIGNATURE_BOX_TYPE;
  return isCodeStream || hasSignatureBox;
}

/** The letters "jP" and two spaces. */
const SIGNATURE_BOX_TYPE = 0x6a50_2020;

function readBoxes(bytes: Uint8Array): { codeStream: Uint8Array; isDeclaredYcc: boolean } {
  if (!isJpeg2000(bytes)) throw corruptError('it has neither a code stream nor boxes');
  const view = viewOf(bytes);
  let isDeclaredYcc = false;
  // The loop enters the header superbox (jp2h) and skips any other box, so the position always moves forward.
  for (let at = 0, boxes = 0; at + 8 <= bytes.length; boxes++) {
    if (boxes > limits.boxes) throw limitExceededError(`it has more than ${limits.boxes} boxes`);
    const type = String.fromCharCode(...bytes.subarray(at + 4, at + 8));
    // The length is 0 for a box that extends to the end of the file, and 1 when a 64-bit length follows the type.
    const length32 = view.getUint32(at);
    const hasLength64 = length32 === 1 && at + 16 <= bytes.length;
    const headerBytes = hasLength64 ? 16 : 8;
    let length = length32;
    if (length32 === 0) length = bytes.length - at;
    else if (hasLength64) length = Number(view.getBigUint64(at + 8));
    if (length < headerBytes) throw corruptError(`its box ${JSON.stringify(type)} is too short`);
    const contents = bytes.subarray(at + headerBytes, at + length);
    if (type === 'jp2c') return { codeStream: contents, isDeclaredYcc };
    if (type === 'pclr') throw notSupportedError('a palette');
    // The first byte is the method: 1 for an enumerated colour space, whose number follows at byte 3.
    if (type === 'colr' && contents[0] === 1 && contents.length >= 7) {
      isDeclaredYcc = viewOf(contents).getUint32(3) === SYCC;
    }
    at += type === 'jp2h' ? headerBytes : length;
  }
  throw corruptError('it has no code stream');
}

function readMainHeader(stream: Uint8Array): Omit<Jpeg2000Header, 'codeStream' | 'isDeclaredYcc'> {
  const view = viewOf(stream);
  const u16 = (at: number) => {
    if (at + 2 > stream.length) throw corruptError('its header is truncated');
    return view.getUint16(at);
  };
  if (u16(0) !== SOC || u16(2) !== SIZ) throw corruptError('its code stream does not start with SOC and SIZ');
  const size = readSize(stream, 4);
  let halvings: number | null = null;
  let isTransformed = false;
  let isByOpenJpeg = false;
  for (let at = 2; ; ) {
    const marker = u16(at);
    if (marker === SOT) break;
    if (marker < 0xff01) throw corruptError(`it has no marker at byte ${at}`);
    const length = u16(at + 2);
    if (length < 2) throw corruptError(`the segment at byte ${at} is too short`);
    if (marker === COD || marker === COC) {
      // COD applies to all components. In it, four bytes lie between the coding style and the number of halvings. COC
      // applies to one component, whose index comes before the coding style; the number of halvings follows the style.
      const isForAllComponents = marker === COD;
      const indexBytes = size.components < 257 ? 1 : 2;
      const style = stream[at + 4 + (isForAllComponents ? 0 : indexBytes)] ?? 0;
      const halvingsAt = at + (isForAllComponents ? 9 : 5 + indexBytes);
      const declaredHalvings = readHalvings(stream, halvingsAt, style, size);
      halvings = Math.min(halvings ?? declaredHalvings, declaredHalvings);
      if (isForAllComponents) isTransformed = stream[at + 8] === 1; // the multiple component transformation
    }
    if (marker === COM) isByOpenJpeg ||= isOpenJpegComment(stream.subarray(at + 4, at + 2 + length));
    // The length of a segment does not count the two bytes of its marker.
    at += 2 + length;
  }
  if (halvings === null) throw corruptError('it has no coding style (COD)');
  return { ...size, halvings, isTransformed, isByOpenJpeg };
}

/**
 * Whether a comment was written by OpenJPEG. The first two bytes of a comment state the encoding of its text.
 * Source: T.800, A.9.2; openjpeg (opj_j2k_setup_encoder).
 */
function isOpenJpegComment(comment: Uint8Array): boolean {
  return Buffer.from(comment.subarray(2, 22)).toString('latin1') === 'Created by OpenJPEG ';
}

/** The properties that the SIZ segment declares. */
type SizeProperties = Omit<
  Jpeg2000Header,
  'codeStream' | 'isDeclaredYcc' | 'halvings' | 'isTransformed' | 'isByOpenJpeg'
>;

/** Reads the SIZ segment. Source: T.800, A.5.1. @param at position after the marker SIZ */
function readSize(stream: Uint8Array, at: number): SizeProperties {
  const view = viewOf(stream);
  // Bytes count from `at`. The list of components begins at byte 38. Length and capabilities precede the width. The
  // origin of the tiles at bytes 28 and 32 is not needed.
  if (at + 38 > stream.length) throw corruptError('its header is truncated');
  const width = view.getUint32(at + 4);
  const height = view.getUint32(at + 8);
  const left = view.getUint32(at + 12);
  const top = view.getUint32(at + 16);
  const tileWidth = view.getUint32(at + 20);
  const tileHeight = view.getUint32(at + 24);
  const components = view.getUint16(at + 36);
  if (!width || !height || !tileWidth || !tileHeight || components === 0)
    throw corruptError('its width, height, tile size or number of components is 0');
  if (left !== 0 || top !== 0) throw notSupportedError('an origin other than 0, 0');
  const tiles = Math.ceil(width / tileWidth) * Math.ceil(height / tileHeight);
  if (tiles > limits.tiles) throw limitExceededError(`it has ${tiles} tiles, more than ${limits.tiles}`);
  if (components > 4) throw notSupportedError(`${components} components`);
  if (at + 38 + 3 * components > stream.length) throw corruptError('its header is truncated');

  // Three bytes per component: depth (the highest bit means signed), then the distance between samples in x and in y, in pixels.
  const declared = Array.from({ length: components }, (_, i) => {
    const [depth = 0, stepX = 0, stepY = 0] = stream.subarray(at + 38 + 3 * i, at + 41 + 3 * i);
    return { bits: (depth & 0x7f) + 1, isSigned: depth > 127, steps: `${stepX}×${stepY}` };
  });
  const [first, second, third] = declared.map(({ steps }) => steps);
  const isFullyResolved = declared.every(({ steps }) => steps === '1×1');
  const isSubsampled =
    components === 3 && first === '1×1' && second === third && (second === '2×1' || second === '2×2');
  if (!isFullyResolved && !isSubsampled)
    throw notSupportedError(`components sampled ${declared.map(({ steps }) => steps).join(', ')}`);
  return {
    width,
    height,
    components,
    bits: Math.max(...declared.map(({ bits }) => bits)),
    isSigned: declared.some(({ isSigned }) => isSigned),
    isSubsampled,
    isHalvedInHeight: isSubsampled && second === '2×2',
  };
}

/**
 * Reads the number of halvings and checks the number of precincts (the parts of a resolution that are coded separately).
 *
 * Source: T.800, A.6.1, tables A.13 to A.21.
 *
 * @param at position of the number of decomposition levels, the standard's term for halvings
 * @param style the coding style of the same segment; bit 0 says that the segment lists precinct sizes
 */
function readHalvings(stream: Uint8Array, at: number, style: number, size: SizeProperties): number {
  const halvings = stream[at] ?? 255;
  if (halvings > 32) throw corruptError(`it declares ${halvings} decomposition levels`);
  // Without a list, each resolution is a single precinct of at most 2^15 × 2^15 pixels.
  if ((style & 1) === 0) return halvings;
  let precincts = 0;
  for (let resolution = 0; resolution <= halvings; resolution++) {
    // The exponents of the precinct's width and height, four bits each. The list begins 5 bytes after the number of levels.
    const exponents = stream[at + 5 + resolution];
    if (exponents === undefined) throw corruptError('its header is truncated');
    const scale = 2 ** (halvings - resolution);
    const precinctColumns = Math.ceil(size.width / scale / 2 ** (exponents & 15));
    const precinctRows = Math.ceil(size.height / scale / 2 ** (exponents >> 4));
    precincts += precinctColumns * precinctRows;
  }
  if (precincts * size.components > limits.precincts)
    throw limitExceededError(
      `it has ${precincts} precincts for each of ${size.components} components, more than ${limits.precincts} in all`,
    );
  return halvings;
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
}

function corruptError(reason: string): SlideError {
  return new SlideError('FILE_CORRUPT', `A JPEG 2000 image is damaged: ${reason}`);
}

function notSupportedError(feature: string): SlideError {
  return new SlideError('FORMAT_NOT_SUPPORTED', `Not supported: JPEG 2000 with ${feature}`);
}

function limitExceededError(reason: string): SlideError {
  return new SlideError('LIMIT_EXCEEDED', `A JPEG 2000 image exceeds a limit: ${reason}`);
}
