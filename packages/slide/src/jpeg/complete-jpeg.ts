import {
  corrupt,
  frameMarkers,
  isColourMarker,
  type JpegHeader,
  marker,
  readJpegHeader,
  segments,
} from './header.ts';

/** Meaning of the samples of a native tile that does not declare it itself. */
export type JpegColour = 'rgb' | 'ycbcr' | 'grey';

/**
 * The bytes that complete every native tile of a level to a JPEG: SOI, Adobe marker, tables.
 *
 * The Adobe marker must be omitted for a tile that declares its own colours. It stands first, so that it can
 * be skipped without copying.
 */
export interface JpegPrefix {
  readonly bytes: Uint8Array;
  /** Length of the Adobe marker, which follows SOI; 0 when there is none. */
  readonly adobeBytes: number;
}

const MARKER_BYTES = 2;

/**
 * The Adobe marker, without which a decoder guesses: browsers treat three components numbered 1, 2, 3 or 0,
 * 1, 2 as YCbCr and draw RGB slides in wrong colours.
 *
 * Source: Adobe Technical Note 5116, "Supporting the DCT Filters in PostScript Level 2", section 18
 * (transform 0: no transform; 1: YCbCr).
 */
function adobeMarker(transform: 0 | 1): number[] {
  const version = [0, 100];
  const flags = [0, 0, 0, 0];
  return [0xff, marker.APP14, 0, 14, 0x41, 0x64, 0x6f, 0x62, 0x65, ...version, ...flags, transform];
}

/**
 * Builds the prefix of a level. TIFF stores quantisation and Huffman tables once per level (JPEGTables) and
 * an abbreviated stream per tile. Both start with SOI, and the tables end with EOI; without those two markers
 * they form one valid file.
 *
 * Source: TIFF Technical Note 2 (T. Lane, 1995), "JPEGTables field".
 *
 * @param tables null when every tile contains its own
 * @throws SlideError FILE_CORRUPT when the tables are no abbreviated JPEG stream
 */
export function jpegPrefix(tables: Uint8Array | null, colour: JpegColour): JpegPrefix {
  const body = tables ? tablesBody(tables) : { bytes: new Uint8Array(), declaresColour: false };
  const adobe = colour === 'grey' || body.declaresColour ? [] : adobeMarker(colour === 'rgb' ? 0 : 1);
  return {
    bytes: Uint8Array.from([0xff, marker.SOI, ...adobe, ...body.bytes]),
    adobeBytes: adobe.length,
  };
}

function tablesBody(tables: Uint8Array): { bytes: Uint8Array; declaresColour: boolean } {
  if (tables[0] !== 0xff || tables[1] !== marker.SOI) throw corrupt('its tables do not begin with SOI');
  let declaresColour = false;
  for (const segment of segments(tables, MARKER_BYTES)) {
    if (segment.marker === marker.EOI) {
      return { bytes: tables.subarray(MARKER_BYTES, segment.at), declaresColour };
    }
    if (frameMarkers.has(segment.marker)) break;
    declaresColour ||= isColourMarker(tables, segment);
  }
  throw corrupt('its tables are a picture of their own');
}

/** Index at which a native tile is read into a buffer: the prefix replaces the tile's SOI. */
export function streamPlace(prefix: JpegPrefix): number {
  return prefix.bytes.length - MARKER_BYTES;
}

/**
 * Puts the prefix in front of a native tile that was read to `streamPlace` of the buffer.
 *
 * Colour markers of the tile take precedence: QuPath writes OME-TIFF tiles as YCbCr with a JFIF marker, but
 * declares RGB in the directory.
 *
 * @returns the complete JPEG (a view of the buffer), and its header with positions relative to the buffer
 * @throws SlideError FILE_CORRUPT
 */
export function completeJpeg(
  buffer: Uint8Array,
  prefix: JpegPrefix,
): { jpeg: Uint8Array; header: JpegHeader } {
  const at = streamPlace(prefix);
  if (buffer[at] !== 0xff || buffer[at + 1] !== marker.SOI) throw corrupt('a tile does not begin with SOI');
  buffer.set(prefix.bytes);
  const header = readJpegHeader(buffer, prefix.bytes.length);
  if (!header.declaresColour || prefix.adobeBytes === 0) return { jpeg: buffer, header };
  const jpeg = buffer.subarray(prefix.adobeBytes);
  jpeg.set([0xff, marker.SOI]);
  return { jpeg, header };
}

/**
 * Turns the markers that declare a colour transform into comments, so that a decoder returns the components
 * unchanged. Modifies the bytes in place.
 *
 * @throws SlideError FILE_CORRUPT
 */
export function maskColourMarkers(jpeg: Uint8Array): void {
  for (const segment of segments(jpeg, MARKER_BYTES)) {
    if (isColourMarker(jpeg, segment)) jpeg[segment.at + 1] = marker.COM;
  }
}
