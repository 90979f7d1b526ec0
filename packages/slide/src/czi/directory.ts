/** The directory of a CZI file, which lists all subblocks (stored images) with their positions in image and file. */
import type { ByteSource } from '../source/byte-source.ts';
import { corruptError, limitExceededError, notSupportedError, truncatedError } from './errors.ts';
import { limits } from './limits.ts';
import {
  type ByteRange,
  dataViewOf,
  MIN_SUBBLOCK_BYTES,
  readDirectorySegment,
  readName,
  readOffset,
} from './segments.ts';

/** One subblock: a rectangle of the image at one resolution, with its position in the image and in the file. */
export interface Subblock {
  /** Offset of its segment in the file. */
  readonly offset: number;
  /** Bytes of its directory entry, which the segment repeats. */
  readonly entryBytes: number;
  /** Numeric codes as stored in the file; subblock-pixels.ts lists their meanings. */
  readonly pixelType: number;
  readonly compression: number;
  /** Pixels of full resolution; coordinates may be negative. */
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  /** Pixels as stored: fewer than `width` and `height` at a smaller resolution. */
  readonly storedWidth: number;
  readonly storedHeight: number;
  readonly channel: number;
  /** Number of the scene (a separately scanned area of the glass). */
  readonly scene: number;
  /** Of overlapping subblocks of a scene, the one with the highest index is in front. */
  readonly mosaicIndex: number;
}

const ENTRY_HEADER_BYTES = 32;
const DIMENSION_BYTES = 20;
/** Offsets of the fields that are read from an entry and from a dimension. */
const entryField = { pixelType: 2, position: 6, filePart: 14, compression: 18, dimensionCount: 28 } as const;
const dimensionField = { name: 0, start: 4, size: 8, storedSize: 16 } as const;
/** Bytes of the directory that are in memory at once. */
const WINDOW_BYTES = 2 ** 20;
/**
 * Dimensions that are displayed at all their positions: X, Y, channel, scene and mosaic index. Of the others (Z for focus, T for
 * time, angle, …) only the first position is displayed.
 */
const DISPLAYED_DIMENSIONS = new Set(['X', 'Y', 'C', 'S', 'M']);

interface DisplayedSubblocks {
  /** In the order of the directory. */
  readonly subblocks: Subblock[];
  /** Number of focal planes and of time points in the file. */
  readonly planes: number;
  readonly times: number;
}

/** The extent of a subblock in one dimension. */
interface Dimension {
  readonly start: number;
  readonly size: number;
  /** Pixels as stored; smaller than `size` at a reduced resolution. */
  readonly storedSize: number;
}

/**
 * Reads the displayed subblocks: those of the first focal plane, the first time point, and the first position of every
 * other dimension that is not displayed completely.
 *
 * @throws SlideError FILE_CORRUPT, FILE_TRUNCATED, LIMIT_EXCEEDED, FORMAT_NOT_SUPPORTED
 */
export async function readDisplayedSubblocks(
  source: ByteSource,
  directoryOffset: number,
): Promise<DisplayedSubblocks> {
  const { count, entries } = await readDirectorySegment(source, directoryOffset);
  // Every entry has at least the dimensions X and Y.
  if (count * (ENTRY_HEADER_BYTES + 2 * DIMENSION_BYTES) > entries.length) {
    throw corruptError(`its directory is too small for ${count} subblocks`);
  }
  /** The lowest position found so far in each dimension that is not displayed completely. */
  const lowestPositions = new Map<string, number>();
  const positions = { Z: new Set<number>(), T: new Set<number>() };
  let displayed: Subblock[] = [];
  let entriesRead = 0;
  for await (const { subblock, dimensions } of readEntries(source, count, entries)) {
    for (const name of dimensions.keys()) {
      // All earlier subblocks, if there are any, lack this dimension. Their position in it counts as 0.
      if (!DISPLAYED_DIMENSIONS.has(name) && !lowestPositions.has(name))
        lowestPositions.set(name, entriesRead === 0 ? Number.POSITIVE_INFINITY : 0);
    }
    for (const name of ['Z', 'T'] as const) positions[name].add(dimensions.get(name)?.start ?? 0);
    let isDisplayed = true;
    for (const [name, lowestPosition] of lowestPositions) {
      const start = dimensions.get(name)?.start ?? 0;
      if (start > lowestPosition) isDisplayed = false;
      if (start >= lowestPosition) continue;
      lowestPositions.set(name, start);
      // All subblocks collected so far have a higher position in this dimension, so they are not displayed.
      displayed = [];
    }
    if (isDisplayed) displayed.push(subblock);
    entriesRead++;
    if (displayed.length > limits.displayedSubblocks)
      throw limitExceededError(`it displays more than ${limits.displayedSubblocks} subblocks`);
  }
  return { subblocks: displayed, planes: positions.Z.size, times: positions.T.size };
}

interface Entry {
  readonly subblock: Subblock;
  readonly dimensions: ReadonlyMap<string, Dimension>;
}

/** Yields the entries of the directory, which is read through a window of `WINDOW_BYTES` that moves over the file. */
async function* readEntries(source: ByteSource, count: number, entries: ByteRange): AsyncGenerator<Entry> {
  const end = entries.offset + entries.length;
  let window: Uint8Array = new Uint8Array();
  let windowOffset = entries.offset;
  let entryOffset = entries.offset;
  /** Makes the first `bytes` bytes of the current entry available in the window. */
  const load = async (bytes: number): Promise<void> => {
    if (entryOffset + bytes > end) throw corruptError('its directory ends inside a subblock');
    if (entryOffset + bytes <= windowOffset + window.length) return;
    window = await source.read(entryOffset, Math.min(WINDOW_BYTES, end - entryOffset));
    windowOffset = entryOffset;
  };
  for (let i = 0; i < count; i++) {
    await load(ENTRY_HEADER_BYTES);
    const countOffset = entryOffset - windowOffset + entryField.dimensionCount;
    const dimensionCount = dataViewOf(window).getInt32(countOffset, true);
    if (dimensionCount < 0) throw corruptError(`a subblock has ${dimensionCount} dimensions`);
    if (dimensionCount > limits.dimensionsPerSubblock) {
      throw limitExceededError(`a subblock has ${dimensionCount} dimensions`);
    }
    const entryBytes = ENTRY_HEADER_BYTES + dimensionCount * DIMENSION_BYTES;
    await load(entryBytes);
    const start = entryOffset - windowOffset;
    yield parseEntry(window.subarray(start, start + entryBytes), source.size);
    entryOffset += entryBytes;
  }
}

/** Parses one entry. Source: ZEISS, "DS_ZISRAW-FileFormat", "DirectoryEntryDV" and "DimensionEntryDV". */
function parseEntry(bytes: Uint8Array, fileSize: number): Entry {
  if (readName(bytes, 0, 2) !== 'DV')
    throw corruptError('a subblock has a directory entry of an unknown type');
  const view = dataViewOf(bytes);
  const offset = readOffset(view, entryField.position);
  if (offset + MIN_SUBBLOCK_BYTES > fileSize) throw truncatedError('a subblock is past its end');
  const filePart = view.getInt32(entryField.filePart, true);
  if (filePart !== 0) throw notSupportedError('a slide of several files');

  const dimensions = new Map<string, Dimension>();
  for (let i = ENTRY_HEADER_BYTES; i < bytes.length; i += DIMENSION_BYTES) {
    const name = readName(bytes, i + dimensionField.name, 4);
    const start = view.getInt32(i + dimensionField.start, true);
    const size = view.getInt32(i + dimensionField.size, true);
    const storedSize = view.getInt32(i + dimensionField.storedSize, true);
    if (dimensions.has(name)) throw corruptError('a subblock has a dimension twice');
    dimensions.set(name, { start, size, storedSize: storedSize === 0 ? size : storedSize }); // 0: not reduced
  }
  const [x, y] = [dimensions.get('X'), dimensions.get('Y')];
  if (!x || !y) throw corruptError('a subblock has no position in the image');
  for (const { size, storedSize } of [x, y]) {
    if (size < 1 || storedSize < 1 || storedSize > size) {
      throw corruptError(`a subblock stores ${size} pixels as ${storedSize}`);
    }
  }
  const subblock = {
    offset,
    entryBytes: bytes.length,
    pixelType: view.getInt32(entryField.pixelType, true),
    compression: view.getInt32(entryField.compression, true),
    x: x.start,
    y: y.start,
    width: x.size,
    height: y.size,
    storedWidth: x.storedSize,
    storedHeight: y.storedSize,
    channel: dimensions.get('C')?.start ?? 0,
    scene: dimensions.get('S')?.start ?? 0,
    mosaicIndex: dimensions.get('M')?.start ?? 0,
  };
  return { subblock, dimensions };
}
