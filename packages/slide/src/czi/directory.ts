import type { ByteSource } from '../source/byte-source.ts';
import { corrupt, notRead, tooMuch, truncated } from './damage.ts';
import { limits } from './limits.ts';
import {
  LEAST_SUBBLOCK_BYTES,
  nameIn,
  positionAt,
  readDirectorySegment,
  type Span,
  viewOf,
} from './segments.ts';

/** A rectangle of the picture at one resolution: where it lies, and where in the file it is. */
export interface Subblock {
  /** Place of its segment. */
  readonly at: number;
  /** Bytes of its entry in the directory. */
  readonly entryBytes: number;
  readonly pixelType: number;
  readonly compression: number;
  /** Pixels of full resolution; the origin is anywhere, also left of and above 0. */
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  /** Pixels as they are stored: fewer in a smaller resolution. */
  readonly storedWidth: number;
  readonly storedHeight: number;
  readonly channel: number;
  readonly scene: number;
  /** Of those that overlap, the one with the highest is in front. */
  readonly mosaicIndex: number;
}

const ENTRY_HEADER_BYTES = 32;
const DIMENSION_BYTES = 20;
/** Bytes of the directory that are in memory at once. */
const WINDOW_BYTES = 2 ** 20;
/** Dimensions that are shown whole; of every other (focus, time, angle, …) the first place is shown. */
const SHOWN = new Set(['X', 'Y', 'C', 'S', 'M']);

interface Dimension {
  readonly start: number;
  readonly size: number;
  readonly storedSize: number;
}

/**
 * The subblocks that make up what is shown: of a stack of focus planes, a series of times and the like the first.
 *
 * @returns in the order of the directory
 * @throws SlideError FILE_CORRUPT, FILE_TRUNCATED, LIMIT_EXCEEDED, FORMAT_NOT_SUPPORTED
 */
export async function readShownSubblocks(source: ByteSource, directoryAt: number): Promise<Subblock[]> {
  const { count, entries } = await readDirectorySegment(source, directoryAt);
  if (count * (ENTRY_HEADER_BYTES + 2 * DIMENSION_BYTES) > entries.length) {
    throw corrupt(`its directory has no room for ${count} subblocks`);
  }
  /** Of every dimension that is not shown whole, the first place seen so far. */
  const first = new Map<string, number>();
  let shown: Subblock[] = [];
  let seen = 0;
  for await (const { subblock, dimensions } of eachEntry(source, count, entries)) {
    for (const name of dimensions.keys()) {
      // All that came before did not have this dimension, which is as much as to be at 0.
      if (!SHOWN.has(name) && !first.has(name)) first.set(name, seen === 0 ? Number.POSITIVE_INFINITY : 0);
    }
    let isFirst = true;
    for (const [name, place] of first) {
      const start = dimensions.get(name)?.start ?? 0;
      if (start > place) isFirst = false;
      if (start >= place) continue;
      first.set(name, start);
      // Whatever was taken so far is at a later place.
      shown = [];
    }
    if (isFirst) shown.push(subblock);
    seen++;
    if (shown.length > limits.shownSubblocks)
      throw tooMuch(`it shows more than ${shown.length - 1} subblocks`);
  }
  return shown;
}

interface Entry {
  readonly subblock: Subblock;
  readonly dimensions: ReadonlyMap<string, Dimension>;
}

async function* eachEntry(source: ByteSource, count: number, { at, length }: Span): AsyncGenerator<Entry> {
  const end = at + length;
  let window: Uint8Array = new Uint8Array();
  let windowAt = at;
  let entryAt = at;
  /** Brings bytes from the entry's first on into memory; what has been read already is not read again. */
  const load = async (bytes: number): Promise<void> => {
    if (entryAt + bytes > end) throw corrupt('its directory ends inside a subblock');
    if (entryAt + bytes <= windowAt + window.length) return;
    window = await source.read(entryAt, Math.min(WINDOW_BYTES, end - entryAt));
    windowAt = entryAt;
  };
  for (let i = 0; i < count; i++) {
    await load(ENTRY_HEADER_BYTES);
    const dimensionCount = viewOf(window).getInt32(entryAt - windowAt + 28, true);
    if (dimensionCount < 0) throw corrupt(`a subblock has ${dimensionCount} dimensions`);
    if (dimensionCount > limits.dimensionsPerSubblock) {
      throw tooMuch(`a subblock has ${dimensionCount} dimensions`);
    }
    const entryBytes = ENTRY_HEADER_BYTES + dimensionCount * DIMENSION_BYTES;
    await load(entryBytes);
    const start = entryAt - windowAt;
    yield readEntry(window.subarray(start, start + entryBytes), source.size);
    entryAt += entryBytes;
  }
}

/** Source: the same, "DirectoryEntryDV" and "DimensionEntryDV". */
function readEntry(bytes: Uint8Array, fileSize: number): Entry {
  if (nameIn(bytes, 0, 2) !== 'DV') throw corrupt('a subblock is listed in an unknown way');
  const view = viewOf(bytes);
  const at = positionAt(view, 6);
  if (at + LEAST_SUBBLOCK_BYTES > fileSize) throw truncated('a subblock lies past its end');
  if (view.getInt32(14, true) !== 0) throw notRead('a slide of several files');

  const dimensions = new Map<string, Dimension>();
  for (let from = ENTRY_HEADER_BYTES; from < bytes.length; from += DIMENSION_BYTES) {
    const [start, size] = [view.getInt32(from + 4, true), view.getInt32(from + 8, true)];
    const storedSize = view.getInt32(from + 16, true);
    const name = nameIn(bytes, from, 4);
    if (dimensions.has(name)) throw corrupt('a subblock has a dimension twice');
    dimensions.set(name, { start, size, storedSize: storedSize === 0 ? size : storedSize });
  }
  const [x, y] = [dimensions.get('X'), dimensions.get('Y')];
  if (!x || !y) throw corrupt('a subblock has no place in the picture');
  for (const { size, storedSize } of [x, y]) {
    if (size < 1 || storedSize < 1 || storedSize > size) {
      throw corrupt(`a subblock shows ${size} pixels by ${storedSize}`);
    }
  }
  const subblock = {
    at,
    entryBytes: bytes.length,
    pixelType: view.getInt32(2, true),
    compression: view.getInt32(18, true),
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
