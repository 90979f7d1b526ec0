import {
  corrupt,
  frameMarkers,
  isColourMarker,
  type JpegHeader,
  marker,
  readJpegHeader,
  segments,
} from './header.ts';

/** What the samples of a stored stream mean when it does not say so itself. */
export type JpegColour = 'rgb' | 'ycbcr' | 'grey';

/**
 * What stands before every stored tile of a level to make it a complete JPEG: SOI, the Adobe marker, the tables.
 *
 * Where a tile speaks for its own colours the Adobe marker must go; it stands first, so that the rest can be
 * sent without copying anything.
 */
export interface JpegPrefix {
  readonly bytes: Uint8Array;
  /** Bytes of the Adobe marker, which stands right after SOI; 0 when there is none. */
  readonly adobeBytes: number;
}

const MARKER_BYTES = 2;

/**
 * The Adobe marker, without which a decoder guesses: browsers take three components numbered 1, 2, 3 or 0, 1, 2
 * for YCbCr, and draw RGB slides in wrong colours.
 *
 * Source: Adobe Technical Note 5116, "Supporting the DCT Filters in PostScript Level 2", section 18
 * (transform 0: as they are; 1: YCbCr).
 */
function adobeMarker(transform: 0 | 1): number[] {
  const version = [0, 100];
  const flags = [0, 0, 0, 0];
  return [0xff, marker.APP14, 0, 14, 0x41, 0x64, 0x6f, 0x62, 0x65, ...version, ...flags, transform];
}

/**
 * TIFF stores quantisation and Huffman tables once a level (JPEGTables) and an abbreviated stream a tile. Both
 * open with SOI, the tables close with EOI; without those two one valid file is left.
 *
 * Source: TIFF Technical Note 2 (T. Lane, 1995), "JPEGTables field".
 *
 * @param tables null when every tile brings its own
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

/** Where a stored stream goes in a buffer whose start the prefix will take: its SOI makes room for the prefix. */
export function streamPlace(prefix: JpegPrefix): number {
  return prefix.bytes.length - MARKER_BYTES;
}

/**
 * Put the prefix in front of a stored stream that was read to `streamPlace` of the buffer.
 *
 * Where the stream speaks for itself it decides: QuPath writes OME-TIFF tiles as YCbCr with a JFIF marker, and
 * calls them RGB in the directory.
 *
 * @returns the complete JPEG (a part of the buffer) and its header, whose places count in the buffer
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
 * Make comments of the markers that say how components become colours: where a decoder shall give them as they
 * are stored. Changes the bytes in place.
 *
 * @throws SlideError FILE_CORRUPT
 */
export function hideColourMarkers(jpeg: Uint8Array): void {
  for (const segment of segments(jpeg, MARKER_BYTES)) {
    if (isColourMarker(jpeg, segment)) jpeg[segment.at + 1] = marker.COM;
  }
}
