/**
 * Enlarges a JPEG without decoding it, by repeating restart intervals. They are coded independently, so a JPEG with further
 * intervals on the right and at the bottom shows the same pixels as before.
 *
 * Source: ITU-T T.81, sections A.2 (order of MCUs), B.2.4.4 (restart interval), E.1.4 (effect of a restart marker).
 */
import { corruptError, type JpegHeader, marker, mcuSize, readJpegHeader } from './header.ts';
import { intervalGrid, restartMarker } from './restart-intervals.ts';

/**
 * Returns a JPEG of the given size with the pixels of another JPEG in its top left part. The other pixels repeat the last
 * intervals of each row, and the last row of intervals.
 *
 * @param jpeg a baseline or extended JPEG with a single scan
 * @param width pixels, like `height`; at least the size of the JPEG
 * @returns null when the restart intervals of the JPEG do not divide the larger image into the same rectangles
 * @throws SlideError FILE_CORRUPT
 */
export function padJpeg(jpeg: Uint8Array, width: number, height: number): Uint8Array | null {
  const header = readJpegHeader(jpeg);
  const stored = wholeIntervalGrid(header, header.width, header.height);
  const padded = wholeIntervalGrid(header, width, height);
  if (!stored || !padded || stored.width !== padded.width || stored.height !== padded.height) return null;
  const intervals = splitIntervals(jpeg, header.dataAt);
  if (intervals.length !== stored.columns * stored.rows) {
    throw corruptError(
      `it has ${intervals.length} restart intervals instead of ${stored.columns * stored.rows}`,
    );
  }
  const head = Buffer.from(jpeg.subarray(0, header.dataAt)); // a copy
  // A frame starts with: marker (2 bytes), length (2), precision (1), height (2), width (2).
  head.writeUInt16BE(height, header.frameAt + 5);
  head.writeUInt16BE(width, header.frameAt + 7);
  const parts: Uint8Array[] = [head];
  for (let index = 0; index < padded.columns * padded.rows; index++) {
    if (index > 0) parts.push(Uint8Array.of(0xff, restartMarker(index)));
    const column = Math.min(index % padded.columns, stored.columns - 1);
    const row = Math.min(Math.floor(index / padded.columns), stored.rows - 1);
    parts.push(intervals[row * stored.columns + column] as Uint8Array);
  }
  return Buffer.concat([...parts, Uint8Array.of(0xff, marker.EOI)]);
}

/** Returns the grid of restart intervals; null when it is not a grid, or when the last row has fewer rows of MCUs than the others. */
function wholeIntervalGrid(header: JpegHeader, width: number, height: number) {
  const grid = intervalGrid(header, width, height);
  const mcuRows = Math.ceil(height / mcuSize(header).height);
  return grid && grid.rows * grid.height === mcuRows * mcuSize(header).height ? grid : null;
}

/** Returns the data between the markers after `dataAt`, up to the end of the image. */
function splitIntervals(jpeg: Uint8Array, dataAt: number): Uint8Array[] {
  const intervals: Uint8Array[] = [];
  let start = dataAt;
  for (let at = jpeg.indexOf(0xff, start); at >= 0; at = jpeg.indexOf(0xff, at + 1)) {
    const code = jpeg[at + 1] ?? 0;
    if (code === marker.EOI) return [...intervals, jpeg.subarray(start, at)];
    if (code < marker.RST0 || code > marker.RST0 + 7) continue; // 0: the byte 0xff is data
    intervals.push(jpeg.subarray(start, at));
    start = at + 2;
  }
  throw corruptError('it has no end marker');
}
