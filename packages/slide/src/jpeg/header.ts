/** Parser of the marker segments and the header of JPEG streams. */
import { SlideError } from '../model/slide.ts';

export interface FrameComponent {
  readonly id: number;
  /** Sampling factors, 1…4. Along each axis, a component with the largest factor of its frame has full resolution. */
  readonly horizontalSampling: number;
  readonly verticalSampling: number;
}

/** The header of a JPEG stream up to its first scan. */
export interface JpegHeader {
  /** The frame marker: 0xc0 baseline, 0xc1 extended, 0xc2 progressive, and so on. */
  readonly frameMarker: number;
  /** Bits per sample. */
  readonly precision: number;
  /** Size in pixels. */
  readonly width: number;
  readonly height: number;
  readonly components: readonly FrameComponent[];
  /** Number of MCUs (minimum coded units, see `mcuSize`) between two restart markers; 0 when there are no markers. */
  readonly restartInterval: number;
  /** Whether a JFIF or Adobe marker declares the colour transform. */
  readonly declaresColour: boolean;
  /** Number of components of the first scan. */
  readonly scanComponents: number;
  /** Position of the frame marker in the stream. */
  readonly frameAt: number;
  /** Position of the scan marker in the stream. */
  readonly scanAt: number;
  /** Position of the first byte of the scan's data in the stream. */
  readonly dataAt: number;
}

/** Position of the first marker after SOI (start of image). */
const AFTER_SOI = 2;
/** Width and height of a DCT block in pixels. */
const BLOCK_SIDE = 8;

/** Second bytes of the markers that Lamina reads or writes. Source: ITU-T T.81, table B.1. */
export const marker = {
  DHT: 0xc4, // Huffman tables
  RST0: 0xd0, // first of the eight restart markers
  SOI: 0xd8, // start of image
  EOI: 0xd9, // end of image
  SOS: 0xda, // start of scan
  DQT: 0xdb, // quantisation tables
  DRI: 0xdd, // restart interval
  APP0: 0xe0, // JFIF
  APP2: 0xe2, // colour profile
  APP14: 0xee, // Adobe: the colour transform
  COM: 0xfe, // comment
} as const;

/** The frame markers of all coding processes of T.81; each decoder supports some of them. */
export const frameMarkers: ReadonlySet<number> = new Set([
  0xc0, 0xc1, 0xc2, 0xc3, 0xc5, 0xc6, 0xc7, 0xc9, 0xca, 0xcb, 0xcd, 0xce, 0xcf,
]);

/** A marker with its data. */
export interface Segment {
  /** Second byte of the marker; the first one is always 0xff. */
  readonly marker: number;
  /** Position of the marker. */
  readonly at: number;
  /** Position of the data, which follow the marker (2 bytes) and the length (2 bytes). */
  readonly bodyAt: number;
  /** Position of the first byte after the segment. */
  readonly end: number;
}

/**
 * Yields the marker segments up to and including the start of a scan (SOS) or the end of the image (EOI).
 *
 * Source: ITU-T T.81 (JPEG), annex B.1.1 (markers, fill bytes, lengths).
 *
 * @param at position of the first marker
 * @throws SlideError FILE_CORRUPT when a segment does not start with a marker or is truncated
 */
export function* segments(jpeg: Uint8Array, at = AFTER_SOI): Generator<Segment> {
  for (let position = at; ; ) {
    if (jpeg[position] !== 0xff) throw corruptError(`it has no marker at byte ${position}`);
    while (jpeg[position + 1] === 0xff) position++; // skips fill bytes, which may precede a marker
    const code = jpeg[position + 1];
    if (code === undefined) throw corruptError('it ends before its scan');
    if (code === marker.EOI) {
      yield { marker: code, at: position, bodyAt: position + 2, end: position + 2 };
      return;
    }
    const length = uint16(jpeg, position + 2);
    const end = position + 2 + length;
    if (length < 2 || end > jpeg.length) throw corruptError(`the segment at byte ${position} is truncated`);
    yield { marker: code, at: position, bodyAt: position + 4, end };
    if (code === marker.SOS) return;
    position = end;
  }
}

/**
 * Reads all segments before the data of the first scan.
 *
 * @param at position of the first marker to read
 * @throws SlideError FILE_CORRUPT when the stream violates the JPEG syntax or has no frame before its scan
 */
export function readJpegHeader(jpeg: Uint8Array, at = AFTER_SOI): JpegHeader {
  let frame: Segment | null = null;
  let restartInterval = 0;
  let declaresColour = false;
  for (const segment of segments(jpeg, at)) {
    if (frameMarkers.has(segment.marker)) {
      if (frame) throw corruptError('it has two frames');
      frame = segment;
    } else if (segment.marker === marker.DRI) {
      restartInterval = uint16(jpeg, segment.bodyAt);
    } else if (isColourMarker(jpeg, segment)) {
      declaresColour = true;
    } else if (segment.marker === marker.SOS) {
      if (!frame) throw corruptError('its scan comes before its frame');
      return {
        ...readFrame(jpeg, frame),
        restartInterval,
        declaresColour,
        scanComponents: jpeg[segment.bodyAt] ?? 0,
        scanAt: segment.at,
        dataAt: segment.end,
      };
    }
  }
  throw corruptError('it has no scan');
}

/**
 * Whether a segment declares the colour transform of the samples: a JFIF marker declares YCbCr or grey, an Adobe marker
 * names the transform.
 *
 * Source: JFIF 1.02; Adobe Technical Note 5116, section 18.
 */
export function isColourMarker(jpeg: Uint8Array, segment: Segment): boolean {
  if (segment.marker === marker.APP0) return startsWith(jpeg, segment, 'JFIF\0');
  return segment.marker === marker.APP14 && startsWith(jpeg, segment, 'Adobe');
}

/**
 * Returns the size in pixels of an MCU (minimum coded unit), the group of blocks that a scan stores together. In a scan
 * of one component, an MCU is a single block, whatever the sampling factors are.
 * The function assumes that the scan contains all components of the frame.
 *
 * Source: ITU-T T.81, section A.2.
 */
export function mcuSize({ components }: JpegHeader): { width: number; height: number } {
  if (components.length === 1) return { width: BLOCK_SIDE, height: BLOCK_SIDE };
  return {
    width: BLOCK_SIDE * Math.max(...components.map((component) => component.horizontalSampling)),
    height: BLOCK_SIDE * Math.max(...components.map((component) => component.verticalSampling)),
  };
}

/**
 * Reads a frame: precision (1 byte), height (2), width (2), number of components (1); then for each component its
 * identifier (1), sampling factors (1) and quantisation table (1).
 */
function readFrame(jpeg: Uint8Array, { marker: frameMarker, at, bodyAt, end }: Segment) {
  const count = jpeg[bodyAt + 5] ?? 0;
  if (count === 0 || bodyAt + 6 + 3 * count > end) throw corruptError('its frame is truncated');
  const components: FrameComponent[] = [];
  for (let i = 0; i < count; i++) {
    const sampling = jpeg[bodyAt + 7 + 3 * i] ?? 0;
    const [horizontalSampling, verticalSampling] = [sampling >> 4, sampling & 15];
    if (horizontalSampling < 1 || horizontalSampling > 4 || verticalSampling < 1 || verticalSampling > 4) {
      throw corruptError(`a component has the sampling factors ${horizontalSampling} × ${verticalSampling}`);
    }
    components.push({ id: jpeg[bodyAt + 6 + 3 * i] ?? 0, horizontalSampling, verticalSampling });
  }
  return {
    frameMarker,
    precision: jpeg[bodyAt] ?? 0,
    height: uint16(jpeg, bodyAt + 1),
    width: uint16(jpeg, bodyAt + 3),
    components,
    frameAt: at,
  };
}

function startsWith(jpeg: Uint8Array, { bodyAt, end }: Segment, text: string): boolean {
  if (bodyAt + text.length > end) return false;
  for (let i = 0; i < text.length; i++) if (jpeg[bodyAt + i] !== text.charCodeAt(i)) return false;
  return true;
}

function uint16(bytes: Uint8Array, at: number): number {
  return ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0);
}

/** Returns the error for a damaged JPEG. @param reason a clause whose subject is the JPEG, such as "it has no scan" */
export function corruptError(reason: string): SlideError {
  return new SlideError('FILE_CORRUPT', `A JPEG stream is damaged: ${reason}`);
}
