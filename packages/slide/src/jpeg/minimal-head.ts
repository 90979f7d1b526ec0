import { type JpegColour, jpegPrefix } from './complete-jpeg.ts';
import { frameMarkers, isColourMarker, marker, readJpegHeader, segments } from './header.ts';

/** Segments that a decoder needs, in addition to those that declare the colours. */
const NEEDED_MARKERS: ReadonlySet<number> = new Set([
  ...frameMarkers,
  marker.DQT,
  marker.DHT,
  marker.DRI,
  marker.SOS,
]);

/**
 * Builds the head (all bytes before the data of the first scan) of a JPEG that shows a part or all of another JPEG. The new
 * head has the colour markers, tables, frame, restart interval and scan header of the other head, and the size of the part.
 * It omits all other segments, such as comments and thumbnails.
 *
 * @param head the head of the other JPEG, as `readJpegHead` returns it
 * @param size size of the part in pixels
 * @param colour meaning of the samples if the head does not declare it
 * @throws SlideError FILE_CORRUPT
 */
export function buildMinimalHead(
  head: Uint8Array,
  { width, height }: { readonly width: number; readonly height: number },
  colour: JpegColour,
): Uint8Array {
  const needed = [...segments(head)].filter(
    (segment) => NEEDED_MARKERS.has(segment.marker) || isColourMarker(head, segment),
  );
  const { declaresColour } = readJpegHeader(head);
  const newHead = Buffer.concat([
    declaresColour ? Uint8Array.of(0xff, marker.SOI) : jpegPrefix(null, colour).bytes, // null: no tables; starts with SOI
    ...needed.map(({ at, end }) => head.subarray(at, end)),
  ]);
  // A frame starts with: marker (2 bytes), length (2), precision (1), height (2), width (2).
  const { frameAt } = readJpegHeader(newHead);
  newHead.writeUInt16BE(height, frameAt + 5);
  newHead.writeUInt16BE(width, frameAt + 7);
  return newHead;
}
