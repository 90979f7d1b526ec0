/**
 * Cuts parts out of a JPEG that is too large to decode as a whole. Restart markers divide its scan into
 * intervals that are coded independently, so any rectangle of intervals can become a JPEG of its own.
 *
 * Source: ITU-T T.81, sections A.2 (order of MCUs), B.2.4.4 (restart interval), E.1.4 (what a marker resets).
 */
import { SlideError } from '../model/slide.ts';
import type { ByteSource } from '../source/byte-source.ts';
import { readOnce } from '../source/read-once.ts';
import { scanHeader } from './bare-head.ts';
import type { JpegColour } from './complete-jpeg.ts';
import { corrupt, type JpegHeader, marker, mcuSize } from './header.ts';

/** The grid of restart intervals of a picture: all of one size, except at the right and bottom edges. */
export interface IntervalGrid {
  /** Pixels of one interval. */
  readonly width: number;
  readonly height: number;
  readonly columns: number;
  readonly rows: number;
}

/** A JPEG in a file, and its head. */
export interface LargeJpeg {
  readonly source: ByteSource;
  /** Offset and length in the source. */
  readonly offset: number;
  readonly byteCount: number;
  /** The bytes up to its first scan's data. */
  readonly head: Uint8Array;
  /** Pixels; the frame's own numbers may have overflowed. */
  readonly width: number;
  readonly height: number;
  readonly grid: IntervalGrid;
  readonly colour: JpegColour;
}

/** A rectangle of intervals inside the grid, in intervals. */
export interface IntervalArea {
  readonly column: number;
  readonly row: number;
  readonly columns: number;
  readonly rows: number;
}

/** Start of each interval's data relative to the first byte of the JPEG, in the order of the scan. */
export type IntervalStarts = Uint32Array | Float64Array;

/** The largest frame side that libjpeg accepts; slightly less than 16 bits allow. */
const MAX_SIDE = 65_500;
const MARKER_BYTES = 2;
/** Limits for one part, and for a JPEG that is searched for its markers. */
const MAX_PART_BYTES = 64 * 2 ** 20;
const MAX_SEARCHED_BYTES = 128 * 2 ** 20;
const SEARCH_WINDOW_BYTES = 2 ** 20;

/**
 * @param width of the picture in pixels, whatever the frame declares
 * @param height likewise
 * @returns null when the JPEG has no restart markers, or intervals that form no rectangles within decoder
 *   limits
 */
export function intervalGrid(header: JpegHeader, width: number, height: number): IntervalGrid | null {
  const { restartInterval } = header;
  const mcu = mcuSize(header);
  const across = Math.ceil(width / mcu.width);
  const down = Math.ceil(height / mcu.height);
  if (restartInterval === 0) return null;
  // One of the two numbers must be a multiple of the other, so that no interval ends inside a row of the
  // next.
  const columns = Math.max(1, across / restartInterval);
  const lines = Math.max(1, restartInterval / across);
  const size = { width: (across / columns) * mcu.width, height: lines * mcu.height };
  const isRectangle = Number.isInteger(columns) && Number.isInteger(lines);
  if (!isRectangle || Math.max(size.width, size.height) > MAX_SIDE) return null;
  return { ...size, columns, rows: Math.ceil(down / lines) };
}

/**
 * Reads a part as a complete JPEG.
 *
 * @returns a JPEG of the size of the intervals; at an edge it ends with the picture
 */
export type ReadIntervals = (area: IntervalArea, signal?: AbortSignal) => Promise<Uint8Array>;

/**
 * Returns a function that reads parts of a JPEG without decoding.
 *
 * @param readStarts returns the interval starts that the file lists; null when it lists none. The list is
 *   compared with the markers. If it is wrong, a JPEG of up to 128 MiB is searched for them.
 * @returns a function that throws SlideError FILE_CORRUPT when the markers are invalid; FILE_TRUNCATED,
 *   LIMIT_EXCEEDED; FORMAT_NOT_SUPPORTED for a part of more than 65,500 pixels a side
 */
export function intervalReader(
  jpeg: LargeJpeg,
  readStarts: () => Promise<IntervalStarts | null>,
): ReadIntervals {
  const listed = readOnce(async () => {
    const starts = await readStarts();
    return starts && isInOrder(jpeg, starts) ? starts : null;
  });
  const found = readOnce(() => findStarts(jpeg));
  return async (area, signal) => {
    const starts = await listed();
    const part = starts && (await readPart(jpeg, starts, area, signal));
    if (part) return part;
    const searched = await readPart(jpeg, await found(), area, signal);
    if (!searched) throw corrupt('its restart markers are out of order');
    return searched;
  };
}

/** Consecutive intervals of the stream. */
interface Run {
  readonly first: number;
  readonly count: number;
  /** Bytes of the stream, including the marker before the first interval. */
  readonly from: number;
  readonly to: number;
}

/** @returns null when the markers are not at the listed starts */
async function readPart(
  jpeg: LargeJpeg,
  starts: IntervalStarts,
  area: IntervalArea,
  signal?: AbortSignal,
): Promise<Uint8Array | null> {
  const runs = runsOf(jpeg, starts, area);
  const byteCount = runs.reduce((sum, { from, to }) => sum + to - from, 0);
  if (byteCount > MAX_PART_BYTES) {
    throw new SlideError('LIMIT_EXCEEDED', `A part of a JPEG has ${byteCount} bytes`);
  }
  const head = scanHeader(jpeg.head, sizeOf(jpeg, area), jpeg.colour);
  const [first] = runs;
  // The marker before the first interval is read for comparison and then overwritten by the head.
  const begin = head.length - (first && first.first > 0 ? MARKER_BYTES : 0);
  const buffer = Buffer.allocUnsafe(begin + byteCount + MARKER_BYTES);

  const reads: Promise<void>[] = [];
  const offsets: number[] = [];
  let at = begin;
  for (const { from, to } of runs) {
    offsets.push(at - from);
    reads.push(jpeg.source.readInto(buffer, at, jpeg.offset + from, to - from, signal));
    at += to - from;
  }
  await Promise.all(reads);

  let intervalsRead = 0;
  for (const [i, { first, count }] of runs.entries()) {
    for (let interval = first; interval < first + count; interval++, intervalsRead++) {
      if (interval === 0) continue;
      const markerAt = (offsets[i] as number) + (starts[interval] as number) - MARKER_BYTES;
      if (buffer[markerAt] !== 0xff || buffer[markerAt + 1] !== restartMarker(interval)) return null;
      buffer[markerAt + 1] = restartMarker(intervalsRead);
    }
  }
  buffer.set(head);
  const end = endOfData(jpeg, runs, buffer, at);
  buffer.set([0xff, marker.EOI], end);
  return buffer.subarray(0, end + MARKER_BYTES);
}

/** The marker before an interval; their numbers repeat from 0 to 7. */
function restartMarker(interval: number): number {
  return marker.RST0 + ((interval - 1) & 7);
}

function sizeOf({ grid, width, height }: LargeJpeg, area: IntervalArea): { width: number; height: number } {
  const size = {
    width: Math.min(area.columns * grid.width, width - area.column * grid.width),
    height: Math.min(area.rows * grid.height, height - area.row * grid.height),
  };
  if (Math.max(size.width, size.height) <= MAX_SIDE) return size;
  throw new SlideError(
    'FORMAT_NOT_SUPPORTED',
    `Restart intervals of ${size.width} × ${size.height} pixels are too large to decode`,
  );
}

/**
 * Whether all intervals follow each other in the stream. Together with the marker numbers this detects a list
 * that is off by eight intervals, where the numbers repeat.
 */
function isInOrder({ grid, head, byteCount }: LargeJpeg, starts: IntervalStarts): boolean {
  const count = grid.columns * grid.rows;
  if (starts.length < count || starts[0] !== head.length) return false;
  for (let i = 1; i < count; i++) {
    if (!((starts[i] as number) >= (starts[i - 1] as number) + MARKER_BYTES)) return false;
  }
  return (starts[count - 1] as number) <= byteCount;
}

function runsOf(
  { grid, byteCount }: LargeJpeg,
  starts: IntervalStarts,
  { column, row, columns, rows }: IntervalArea,
): Run[] {
  const isWholeWidth = columns === grid.columns;
  const count = isWholeWidth ? rows * columns : columns;
  return Array.from({ length: isWholeWidth ? 1 : rows }, (_, i) => {
    const first = (row + i) * grid.columns + column;
    const isLast = first + count === grid.columns * grid.rows;
    return {
      first,
      count,
      from: (starts[first] as number) - (first > 0 ? MARKER_BYTES : 0),
      to: isLast ? byteCount : (starts[first + count] as number) - MARKER_BYTES,
    };
  });
}

/** The last interval of a JPEG is followed by EOI and possibly other bytes. */
function endOfData({ byteCount }: LargeJpeg, runs: readonly Run[], buffer: Buffer, at: number): number {
  const last = runs.at(-1);
  if (last?.to !== byteCount) return at;
  const end = buffer.indexOf(Uint8Array.of(0xff, marker.EOI), at - (last.to - last.from));
  return end < 0 || end > at ? at : end;
}

/**
 * Searches the stream for its restart markers.
 *
 * @throws SlideError FILE_CORRUPT when the markers do not match the picture; LIMIT_EXCEEDED when the JPEG is
 *   too long
 */
async function findStarts(jpeg: LargeJpeg): Promise<IntervalStarts> {
  const { byteCount, head, grid } = jpeg;
  if (byteCount > MAX_SEARCHED_BYTES) {
    throw new SlideError(
      'LIMIT_EXCEEDED',
      `A JPEG of ${byteCount} bytes is too long to be searched for restart markers`,
    );
  }
  const count = grid.columns * grid.rows;
  const starts = new Float64Array(count);
  starts[0] = head.length;
  let found = 1;
  for await (const { code, at } of markersAfter(jpeg, head.length)) {
    if (code === marker.EOI) break;
    if (found === count || code !== restartMarker(found)) throw corrupt('it has other restart markers');
    starts[found++] = at + MARKER_BYTES;
  }
  if (found < count) throw corrupt(`it has ${found} restart intervals instead of ${count}`);
  return starts;
}

/** In a scan's data 0xff is followed by 0 or by the code of a marker. */
async function* markersAfter({ source, offset, byteCount }: LargeJpeg, start: number) {
  for (let from = start; from + 1 < byteCount; from += SEARCH_WINDOW_BYTES) {
    // One byte more, for a marker that crosses the end of the window.
    const length = Math.min(SEARCH_WINDOW_BYTES + 1, byteCount - from);
    const bytes = Buffer.from(await source.read(offset + from, length));
    for (let at = bytes.indexOf(0xff); at >= 0 && at + 1 < length; at = bytes.indexOf(0xff, at + 1)) {
      const code = bytes[at + 1] as number;
      if (code !== 0 && code !== 0xff) yield { code, at: from + at };
    }
  }
}
