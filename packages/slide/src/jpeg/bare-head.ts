import { type JpegColour, jpegPrefix } from './complete-jpeg.ts';
import { frameMarkers, isColourMarker, marker, readJpegHeader, segments } from './header.ts';

const MARKER_BYTES = 2;
const NEEDED: ReadonlySet<number> = new Set([
  ...frameMarkers,
  marker.DQT,
  marker.DHT,
  marker.DRI,
  marker.SOS,
]);

/**
 * What stands before the data of a scan, for a picture of another size: tables, frame, restart interval and scan.
 * What decoding does not need is left out, for it may be anything: comments, thumbnails, names.
 *
 * @param head a JPEG up to its first scan's data, as `readJpegHead` reads it
 * @param colour what the samples mean where the head does not say it itself
 * @throws SlideError FILE_CORRUPT
 */
export function bareHead(
  head: Uint8Array,
  { width, height }: { readonly width: number; readonly height: number },
  colour: JpegColour,
): Uint8Array {
  const needed = [...segments(head, MARKER_BYTES)].filter(
    (segment) => NEEDED.has(segment.marker) || isColourMarker(head, segment),
  );
  const { declaresColour } = readJpegHeader(head);
  const bare = Buffer.concat([
    declaresColour ? Uint8Array.of(0xff, marker.SOI) : jpegPrefix(null, colour).bytes,
    ...needed.map(({ at, end }) => head.subarray(at, end)),
  ]);
  // A frame is: marker (2 bytes), length (2), precision (1), height (2), width (2), …
  const { frameAt } = readJpegHeader(bare);
  bare.writeUInt16BE(height, frameAt + 5);
  bare.writeUInt16BE(width, frameAt + 7);
  return bare;
}
