import { SlideError } from '../slide.ts';

/** One colour component of a frame. */
export interface FrameComponent {
  readonly id: number;
  /** Sampling factors, 1…4; the largest of a frame is full resolution. */
  readonly horizontal: number;
  readonly vertical: number;
}

/** What stands in a JPEG stream before its first scan. */
export interface JpegHeader {
  /** The marker of the frame: 0xc0 baseline, 0xc1 extended, 0xc2 progressive, and so on. */
  readonly frameMarker: number;
  /** Bits a sample. */
  readonly precision: number;
  /** Pixels. */
  readonly width: number;
  readonly height: number;
  readonly components: readonly FrameComponent[];
  /** MCUs between restart markers; 0 when there are none. */
  readonly restartInterval: number;
  /** A JFIF or Adobe marker says how the components become colours. */
  readonly declaresColour: boolean;
  /** How many components the first scan has. */
  readonly scanComponents: number;
  /** Places in the stream: of the frame's marker, of the scan's marker, of the first byte of the scan's data. */
  readonly frameAt: number;
  readonly scanAt: number;
  readonly dataAt: number;
}

/** Pixels of a DCT block, both ways. */
const BLOCK = 8;

/** Second bytes of the markers that are read or written. Source: ITU-T T.81, table B.1. */
export const marker = {
  DHT: 0xc4,
  RST0: 0xd0,
  SOI: 0xd8,
  EOI: 0xd9,
  SOS: 0xda,
  DQT: 0xdb,
  DRI: 0xdd,
  APP0: 0xe0,
  APP2: 0xe2,
  APP14: 0xee,
  COM: 0xfe,
} as const;

/** Every way of coding that T.81 knows; which of them are drawn is decided elsewhere. */
export const frameMarkers: ReadonlySet<number> = new Set([
  0xc0, 0xc1, 0xc2, 0xc3, 0xc5, 0xc6, 0xc7, 0xc9, 0xca, 0xcb, 0xcd, 0xce, 0xcf,
]);

export interface Segment {
  readonly marker: number;
  /** Place of the marker's 0xff, and of the first byte after the length. */
  readonly at: number;
  readonly bodyAt: number;
  /** Place after the segment. */
  readonly end: number;
}

/**
 * The marker segments from `at` on, which must be a marker, up to and including SOS or EOI.
 *
 * Source: ITU-T T.81 (JPEG), annex B.1.1 (markers, fill bytes, lengths).
 *
 * @throws SlideError FILE_CORRUPT
 */
export function* segments(jpeg: Uint8Array, at: number): Generator<Segment> {
  for (let place = at; ; ) {
    if (jpeg[place] !== 0xff) throw corrupt(`no marker at byte ${place}`);
    while (jpeg[place + 1] === 0xff) place++;
    const found = jpeg[place + 1];
    if (found === undefined) throw corrupt('it ends before its scan');
    if (found === marker.EOI) {
      yield { marker: found, at: place, bodyAt: place + 2, end: place + 2 };
      return;
    }
    const length = uint16(jpeg, place + 2);
    const end = place + 2 + length;
    if (length < 2 || end > jpeg.length) throw corrupt(`the segment at byte ${place} is cut`);
    yield { marker: found, at: place, bodyAt: place + 4, end };
    if (found === marker.SOS) return;
    place = end;
  }
}

/**
 * Read what stands before the first scan.
 *
 * @param at where to begin: a marker, after SOI
 * @throws SlideError FILE_CORRUPT when the stream breaks the rules of JPEG or has no frame before its scan
 */
export function readJpegHeader(jpeg: Uint8Array, at = 2): JpegHeader {
  let frame: Segment | null = null;
  let restartInterval = 0;
  let declaresColour = false;
  for (const segment of segments(jpeg, at)) {
    if (frameMarkers.has(segment.marker)) {
      if (frame) throw corrupt('it has two frames');
      frame = segment;
    } else if (segment.marker === marker.DRI) {
      restartInterval = uint16(jpeg, segment.bodyAt);
    } else if (isColourMarker(jpeg, segment)) {
      declaresColour = true;
    } else if (segment.marker === marker.SOS) {
      if (!frame) throw corrupt('its scan comes before its frame');
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
  throw corrupt('it has no scan');
}

/**
 * Whether the segment says how components become colours: JFIF means YCbCr or grey, Adobe names its transform.
 *
 * Source: JFIF 1.02; Adobe Technical Note 5116, section 18.
 */
export function isColourMarker(jpeg: Uint8Array, segment: Segment): boolean {
  if (segment.marker === marker.APP0) return startsWith(jpeg, segment, 'JFIF\0');
  return segment.marker === marker.APP14 && startsWith(jpeg, segment, 'Adobe');
}

/**
 * Pixels of the smallest piece of a scan that is coded by itself. A scan of one component is not interleaved:
 * whatever its sampling says, its MCU is one block.
 *
 * Source: ITU-T T.81, section A.2.
 */
export function mcuSize({ components }: JpegHeader): { width: number; height: number } {
  if (components.length === 1) return { width: BLOCK, height: BLOCK };
  return {
    width: BLOCK * Math.max(...components.map((component) => component.horizontal)),
    height: BLOCK * Math.max(...components.map((component) => component.vertical)),
  };
}

function readFrame(jpeg: Uint8Array, { marker: frameMarker, at, bodyAt, end }: Segment) {
  const count = jpeg[bodyAt + 5] ?? 0;
  if (count === 0 || bodyAt + 6 + 3 * count > end) throw corrupt('its frame is cut');
  const components: FrameComponent[] = [];
  for (let i = 0; i < count; i++) {
    const sampling = jpeg[bodyAt + 7 + 3 * i] ?? 0;
    const [horizontal, vertical] = [sampling >> 4, sampling & 15];
    if (horizontal < 1 || horizontal > 4 || vertical < 1 || vertical > 4) {
      throw corrupt(`a component has the sampling ${horizontal} × ${vertical}`);
    }
    components.push({ id: jpeg[bodyAt + 6 + 3 * i] ?? 0, horizontal, vertical });
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

export function corrupt(reason: string): SlideError {
  return new SlideError('FILE_CORRUPT', `A JPEG stream is damaged: ${reason}`);
}
