/**
 * Turns JPEG tiles of TIFF files into complete JPEG files without decoding them. Such a tile alone is not a valid JPEG
 * with the right colours: TIFF stores the tables once per level, and the colour space in the TIFF directory.
 */
import {
  corruptError,
  frameMarkers,
  isColourMarker,
  type JpegHeader,
  marker,
  readJpegHeader,
  segments,
} from './header.ts';

/** Meaning of the samples of a native tile (a tile stored in the file) that does not declare it itself. */
export type JpegColour = 'rgb' | 'ycbcr' | 'grey';

/**
 * The bytes that complete every native tile of a level to a JPEG: the start-of-image marker (SOI), an Adobe segment that
 * declares the colours, and the tables. For a tile that declares its own colours, the Adobe segment must be omitted. The
 * Adobe segment precedes the tables, so that it can be skipped without moving them.
 */
export interface JpegPrefix {
  readonly bytes: Uint8Array;
  /** Length of the Adobe segment, which follows SOI; 0 when there is none. */
  readonly adobeBytes: number;
}

/** Length of SOI and of every other marker. */
const MARKER_BYTES = 2;

/**
 * Returns the Adobe segment, which declares the colour transform of the samples. Without it, browsers treat three
 * components numbered 1, 2, 3 or 0, 1, 2 as YCbCr, and would draw RGB slides in wrong colours.
 *
 * Source: Adobe Technical Note 5116, "Supporting the DCT Filters in PostScript Level 2", section 18
 * (transform 0: no transform; 1: YCbCr).
 */
function adobeSegment(transform: 0 | 1): number[] {
  const version = [0, 100];
  const flags = [0, 0, 0, 0];
  const adobe = [0x41, 0x64, 0x6f, 0x62, 0x65]; // the letters "Adobe"
  const length = [0, 14]; // of the segment without its marker
  return [0xff, marker.APP14, ...length, ...adobe, ...version, ...flags, transform];
}

/**
 * Builds the prefix of a level. TIFF stores the quantisation and Huffman tables once per level (JPEGTables), as a JPEG
 * stream without an image, from SOI to EOI (end of image). The prefix contains them without these two markers.
 *
 * Source: TIFF Technical Note 2 (T. Lane, 1995), "JPEGTables field".
 *
 * @param tables null when every tile contains its own tables
 * @throws SlideError FILE_CORRUPT when the tables are not a JPEG stream without an image
 */
export function jpegPrefix(tables: Uint8Array | null, colour: JpegColour): JpegPrefix {
  const body = tables ? tablesBody(tables) : { bytes: new Uint8Array(), declaresColour: false };
  const adobe = colour === 'grey' || body.declaresColour ? [] : adobeSegment(colour === 'rgb' ? 0 : 1);
  return {
    bytes: Uint8Array.from([0xff, marker.SOI, ...adobe, ...body.bytes]),
    adobeBytes: adobe.length,
  };
}

/** Returns the tables without SOI and EOI, and whether they declare the colours. */
function tablesBody(tables: Uint8Array): { bytes: Uint8Array; declaresColour: boolean } {
  if (tables[0] !== 0xff || tables[1] !== marker.SOI) throw corruptError('its tables do not begin with SOI');
  let declaresColour = false;
  for (const segment of segments(tables)) {
    if (segment.marker === marker.EOI) {
      return { bytes: tables.subarray(MARKER_BYTES, segment.at), declaresColour };
    }
    if (frameMarkers.has(segment.marker)) break;
    declaresColour ||= isColourMarker(tables, segment);
  }
  throw corruptError('its tables contain an image');
}

/** Returns the position in the buffer at which a native tile must begin, so that the prefix overwrites its SOI. */
export function tileOffset(prefix: JpegPrefix): number {
  return prefix.bytes.length - MARKER_BYTES;
}

/**
 * Writes the prefix in front of a native tile, which the caller has read to position `tileOffset` of the buffer.
 *
 * Colour markers of the tile take precedence: QuPath writes OME-TIFF tiles as YCbCr with a JFIF marker, but
 * declares RGB in the directory.
 *
 * @returns the complete JPEG (a view of the buffer), and its header, whose positions count from the start of the buffer
 * @throws SlideError FILE_CORRUPT
 */
export function completeJpeg(
  buffer: Uint8Array,
  prefix: JpegPrefix,
): { jpeg: Uint8Array; header: JpegHeader } {
  const offset = tileOffset(prefix);
  if (buffer[offset] !== 0xff || buffer[offset + 1] !== marker.SOI)
    throw corruptError('a tile does not begin with SOI');
  buffer.set(prefix.bytes);
  const tileSegmentsAt = prefix.bytes.length; // skips the prefix, so that `declaresColour` applies to the tile itself
  const header = readJpegHeader(buffer, tileSegmentsAt);
  if (!header.declaresColour || prefix.adobeBytes === 0) return { jpeg: buffer, header };
  const jpeg = buffer.subarray(prefix.adobeBytes);
  jpeg.set([0xff, marker.SOI]); // overwrites the end of the Adobe segment
  return { jpeg, header };
}

/**
 * Changes the markers that declare a colour transform to comments, in place, so that a decoder returns the components unchanged.
 *
 * @throws SlideError FILE_CORRUPT
 */
export function maskColourMarkers(jpeg: Uint8Array): void {
  for (const segment of segments(jpeg)) {
    if (isColourMarker(jpeg, segment)) jpeg[segment.at + 1] = marker.COM;
  }
}
