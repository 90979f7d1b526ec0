/**
 * A reader of parts of a JPEG that is too large to decode as a whole, such as a level of a Hamamatsu NDPI file. Restart
 * markers divide its scan into intervals that are coded independently. So the bytes of any rectangle of intervals,
 * with a new head and renumbered markers, form a complete JPEG. A list in the file usually states where each interval
 * starts; if the list is missing or wrong, the whole JPEG is searched for restart markers.
 *
 * Source: ITU-T T.81, sections A.2 (order of MCUs), B.2.4.4 (restart interval), E.1.4 (effect of a restart marker).
 */
import { SlideError } from '../model/slide.ts';
import type { ByteSource } from '../source/byte-source.ts';
import { readOnce } from '../source/read-once.ts';
import type { JpegColour } from './complete-jpeg.ts';
import { corruptError, type JpegHeader, marker, mcuSize } from './header.ts';
import { buildMinimalHead } from './minimal-head.ts';

/** The grid of an image's restart intervals, which have equal size except at the right and bottom edges. */
export interface IntervalGrid {
  /** Size of one interval in pixels. */
  readonly width: number;
  readonly height: number;
  readonly columns: number;
  readonly rows: number;
}

/** A JPEG that is stored in a file, and its head. */
export interface LargeJpeg {
  readonly source: ByteSource;
  /** Position of the JPEG in the source. */
  readonly offset: number;
  readonly byteCount: number;
  /** The bytes of the JPEG up to the data of its first scan. */
  readonly head: Uint8Array;
  /** Size in pixels as the file declares it outside the JPEG, whose frame cannot declare more than 65,535 pixels. */
  readonly width: number;
  readonly height: number;
  readonly grid: IntervalGrid;
  /** Meaning of the samples if the head does not declare it. */
  readonly colour: JpegColour;
}

/** A rectangle of intervals: its position and size in the grid, counted in intervals. */
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
/** Maximum bytes of the intervals that one call reads. */
const MAX_PART_BYTES = 64 * 2 ** 20;
/** Maximum length of a JPEG that is searched for restart markers. */
const MAX_SEARCHED_BYTES = 128 * 2 ** 20;
const SEARCH_WINDOW_BYTES = 2 ** 20;

/**
 * Returns the grid of a JPEG's restart intervals. Returns null when the JPEG has no restart markers, and when its intervals are
 * not rectangles or have sides of more than 65,500 pixels.
 *
 * @param width width of the image in pixels; like `height`, as the file declares it outside the JPEG
 */
export function intervalGrid(header: JpegHeader, width: number, height: number): IntervalGrid | null {
  const { restartInterval } = header;
  const mcu = mcuSize(header);
  const mcuColumns = Math.ceil(width / mcu.width);
  const mcuRows = Math.ceil(height / mcu.height);
  if (restartInterval === 0) return null;
  // Intervals are rectangles in two cases only: a row of MCUs (minimum coded units) is a whole number of intervals, or an
  // interval is a whole number of such rows.
  const columns = Math.max(1, mcuColumns / restartInterval);
  const mcuRowsPerInterval = Math.max(1, restartInterval / mcuColumns);
  const isRectangle = Number.isInteger(columns) && Number.isInteger(mcuRowsPerInterval);
  const size = { width: (mcuColumns / columns) * mcu.width, height: mcuRowsPerInterval * mcu.height };
  if (!isRectangle || Math.max(size.width, size.height) > MAX_SIDE) return null;
  return { ...size, columns, rows: Math.ceil(mcuRows / mcuRowsPerInterval) };
}

/** Reads an area as a complete JPEG of the same size in pixels; at the right and bottom edges it ends where the image ends. */
export type ReadIntervals = (area: IntervalArea, signal?: AbortSignal) => Promise<Uint8Array>;

/**
 * Returns a function that reads parts of a JPEG without decoding.
 *
 * @param readStarts returns the interval starts that the file lists; null when it lists none. Each read checks that
 *   there is a restart marker before each listed start in its area. If not, the reader searches a JPEG of up to 128 MiB for markers.
 * @returns a function that throws SlideError FILE_CORRUPT when the markers are invalid; FILE_TRUNCATED,
 *   LIMIT_EXCEEDED; FORMAT_NOT_SUPPORTED for a part of more than 65,500 pixels a side
 */
export function intervalReader(
  jpeg: LargeJpeg,
  readStarts: () => Promise<IntervalStarts | null>,
): ReadIntervals {
  const readListedStarts = readOnce(async () => {
    const starts = await readStarts();
    return starts && isInOrder(jpeg, starts) ? starts : null;
  });
  const searchStarts = readOnce(() => findStarts(jpeg));
  return async (area, signal) => {
    const listedStarts = await readListedStarts();
    const partByList = listedStarts && (await readPart(jpeg, listedStarts, area, signal));
    if (partByList) return partByList;
    const partBySearch = await readPart(jpeg, await searchStarts(), area, signal);
    if (!partBySearch) throw corruptError('its restart markers are out of order');
    return partBySearch;
  };
}

/** Consecutive intervals of the JPEG. */
interface Run {
  /** Number of the first interval, from 0. */
  readonly first: number;
  /** Number of intervals. */
  readonly count: number;
  /** Position of the run's first byte in the JPEG: of the restart marker before its first interval, if there is one. */
  readonly start: number;
  /** Position after its last byte. */
  readonly end: number;
}

/** Reads the intervals of an area as a complete JPEG; null when a restart marker is not where `starts` implies. */
async function readPart(
  jpeg: LargeJpeg,
  starts: IntervalStarts,
  area: IntervalArea,
  signal?: AbortSignal,
): Promise<Uint8Array | null> {
  const runs = runsOf(jpeg, starts, area);
  const byteCount = runs.reduce((sum, { start, end }) => sum + end - start, 0);
  if (byteCount > MAX_PART_BYTES) {
    throw new SlideError('LIMIT_EXCEEDED', `A part of a JPEG has ${byteCount} bytes`);
  }
  const head = buildMinimalHead(jpeg.head, sizeOf(jpeg, area), jpeg.colour);
  const [firstRun] = runs;
  // The marker before the first interval is read so that it can be checked; then the head overwrites it.
  const dataStart = head.length - (firstRun && firstRun.first > 0 ? MARKER_BYTES : 0);
  const buffer = Buffer.allocUnsafe(dataStart + byteCount + MARKER_BYTES);

  const reads: Promise<void>[] = [];
  /** For each run, the number to add to a position in the JPEG to get the position in the buffer. */
  const shifts: number[] = [];
  let dataEnd = dataStart;
  for (const { start, end } of runs) {
    shifts.push(dataEnd - start);
    reads.push(jpeg.source.readInto(buffer, dataEnd, jpeg.offset + start, end - start, signal));
    dataEnd += end - start;
  }
  await Promise.all(reads);

  // Checks the marker before each interval, and renumbers it for the part, whose intervals are numbered from 0.
  let intervalOfPart = 0;
  for (const [i, { first, count }] of runs.entries()) {
    for (let interval = first; interval < first + count; interval++, intervalOfPart++) {
      if (interval === 0) continue;
      const markerAt = (shifts[i] as number) + (starts[interval] as number) - MARKER_BYTES;
      if (buffer[markerAt] !== 0xff || buffer[markerAt + 1] !== restartMarker(interval)) return null;
      buffer[markerAt + 1] = restartMarker(intervalOfPart);
    }
  }
  buffer.set(head);
  const endAt = endOfData(jpeg, runs, buffer, dataEnd);
  buffer.set([0xff, marker.EOI], endAt);
  return buffer.subarray(0, endAt + MARKER_BYTES);
}

/** Returns the second byte of the marker before an interval, which is numbered from 1. The numbers of the markers repeat from 0 to 7. */
export function restartMarker(interval: number): number {
  return marker.RST0 + ((interval - 1) & 7);
}

/** Returns the size of an area in pixels. @throws SlideError FORMAT_NOT_SUPPORTED for a side of more than 65,500 */
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
 * Whether the starts are in ascending order, the first one is the end of the head and the last one is inside the JPEG.
 * `readPart` checks only the numbers of the markers. They repeat after eight, so it would accept a list that is off by eight.
 */
function isInOrder({ grid, head, byteCount }: LargeJpeg, starts: IntervalStarts): boolean {
  const count = grid.columns * grid.rows;
  if (starts.length < count || starts[0] !== head.length) return false;
  for (let i = 1; i < count; i++) {
    // Negated, so that NaN is rejected too.
    if (!((starts[i] as number) >= (starts[i - 1] as number) + MARKER_BYTES)) return false;
  }
  return (starts[count - 1] as number) <= byteCount;
}

/** Returns the runs of an area: one per row of intervals, or a single one if the area is as wide as the image. */
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
      start: (starts[first] as number) - (first > 0 ? MARKER_BYTES : 0),
      end: isLast ? byteCount : (starts[first + count] as number) - MARKER_BYTES,
    };
  });
}

/**
 * Returns the position in the buffer where the data of the last interval end. The last interval of the JPEG may be
 * followed by EOI and other bytes, which are not part of the data.
 */
function endOfData({ byteCount }: LargeJpeg, runs: readonly Run[], buffer: Buffer, dataEnd: number): number {
  const lastRun = runs.at(-1);
  if (lastRun?.end !== byteCount) return dataEnd;
  const lastRunAt = dataEnd - (lastRun.end - lastRun.start);
  const endMarkerAt = buffer.indexOf(Uint8Array.of(0xff, marker.EOI), lastRunAt);
  return endMarkerAt < 0 || endMarkerAt > dataEnd ? dataEnd : endMarkerAt;
}

/**
 * Searches the JPEG for its restart markers and returns the start of each interval.
 *
 * @throws SlideError FILE_CORRUPT when the markers do not match the image; LIMIT_EXCEEDED when the JPEG is too long
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
    if (found === count || code !== restartMarker(found))
      throw corruptError('it has an unexpected restart marker');
    starts[found++] = at + MARKER_BYTES;
  }
  if (found < count) throw corruptError(`it has ${found} restart intervals instead of ${count}`);
  return starts;
}

/** Yields the markers in the data of a scan. There, 0xff is followed by 0 or by the second byte of a marker. */
async function* markersAfter({ source, offset, byteCount }: LargeJpeg, start: number) {
  for (let windowStart = start; windowStart + 1 < byteCount; windowStart += SEARCH_WINDOW_BYTES) {
    // Reads one byte more, because a marker may cross the end of the window.
    const length = Math.min(SEARCH_WINDOW_BYTES + 1, byteCount - windowStart);
    const bytes = Buffer.from(await source.read(offset + windowStart, length));
    for (let at = bytes.indexOf(0xff); at >= 0 && at + 1 < length; at = bytes.indexOf(0xff, at + 1)) {
      const code = bytes[at + 1] as number;
      if (code !== 0 && code !== 0xff) yield { code, at: windowStart + at };
    }
  }
}
