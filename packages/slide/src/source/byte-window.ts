import type { ByteSource } from './byte-source.ts';

/**
 * A movable part of a source that is in memory while a header is read. Callers check `covers` and await
 * `load` only when necessary, because millions of data elements must not become millions of promises.
 *
 * All numbers are little-endian. All positions are those of the source.
 */
export interface ByteWindow {
  /** Bytes of the whole source. */
  readonly size: number;
  covers(at: number, length: number): boolean;
  /** Brings these bytes into memory, and some bytes after them. @throws SlideError FILE_TRUNCATED */
  load(at: number, length: number): Promise<void>;
  u8(at: number): number;
  u16(at: number): number;
  u32(at: number): number;
  /** A copy, which stays valid when the window moves. */
  copy(at: number, length: number): Uint8Array;
}

/** The first window holds most headers; sequential reads double it up to the maximum. */
const MIN_WINDOW = 16 * 1024;
const MAX_WINDOW = 256 * 1024;

/** @param windowBytes size of the first read; small when only scattered bytes are needed */
export function byteWindow(source: ByteSource, windowBytes = MIN_WINDOW): ByteWindow {
  let start = 0;
  let bytes: Uint8Array = new Uint8Array();
  let view = new DataView(bytes.buffer);
  let next = windowBytes;
  return {
    size: source.size,
    covers: (at, length) => at >= start && at + length <= start + bytes.length,
    async load(at, length) {
      const isNext = at > start && at <= start + bytes.length;
      next = isNext && windowBytes >= MIN_WINDOW ? Math.min(next * 2, MAX_WINDOW) : windowBytes;
      const wanted = Math.max(length, Math.min(next, source.size - at));
      bytes = await source.read(at, wanted);
      view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
      start = at;
    },
    u8: (at) => view.getUint8(at - start),
    u16: (at) => view.getUint16(at - start, true),
    u32: (at) => view.getUint32(at - start, true),
    copy: (at, length) => bytes.slice(at - start, at - start + length),
  };
}
