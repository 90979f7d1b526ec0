import type { ByteSource } from './byte-source.ts';

/**
 * The part of a source that is in memory while a DICOM or (Olympus) VSI header is read. Callers first call `covers`,
 * and await `load` only if the range is not in memory. A header may have millions of elements; a promise for each would be slow.
 *
 * All numbers are little-endian. All positions count from the start of the source. The methods that return numbers or bytes
 * require that `covers` is true for the range.
 */
export interface ByteWindow {
  /** Bytes of the whole source. */
  readonly size: number;
  /** Whether the `length` bytes at `at` are in memory. */
  covers(at: number, length: number): boolean;
  /** Replaces the loaded bytes by `length` or more bytes from `at` on. @throws SlideError FILE_TRUNCATED */
  load(at: number, length: number): Promise<void>;
  u8(at: number): number;
  u16(at: number): number;
  u32(at: number): number;
  /** Returns a copy, which stays valid when other bytes are loaded. */
  copy(at: number, length: number): Uint8Array;
}

/** Bytes of the first load by default; most headers have fewer. */
const DEFAULT_LOAD_BYTES = 16 * 1024;
/** A load that starts within or right after the loaded bytes doubles the size of loads, up to this maximum. */
const MAX_LOAD_BYTES = 256 * 1024;

/**
 * Returns a window without loaded bytes.
 *
 * @param minLoadBytes minimum bytes of each load, except at the end of the source. A value below the default is for callers
 *   that read scattered bytes; the loads then never double.
 */
export function byteWindow(source: ByteSource, minLoadBytes = DEFAULT_LOAD_BYTES): ByteWindow {
  let start = 0;
  let bytes: Uint8Array = new Uint8Array();
  let view = new DataView(bytes.buffer);
  let loadBytes = minLoadBytes;
  return {
    size: source.size,
    covers: (at, length) => at >= start && at + length <= start + bytes.length,
    async load(at, length) {
      const isSequential = at > start && at <= start + bytes.length;
      const isDoubling = isSequential && minLoadBytes >= DEFAULT_LOAD_BYTES;
      loadBytes = isDoubling ? Math.min(loadBytes * 2, MAX_LOAD_BYTES) : minLoadBytes;
      bytes = await source.read(at, Math.max(length, Math.min(loadBytes, source.size - at)));
      view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
      start = at;
    },
    u8: (at) => view.getUint8(at - start),
    u16: (at) => view.getUint16(at - start, true),
    u32: (at) => view.getUint32(at - start, true),
    copy: (at, length) => bytes.slice(at - start, at - start + length),
  };
}
