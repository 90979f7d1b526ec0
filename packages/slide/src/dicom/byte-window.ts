import type { ByteSource } from '../source/byte-source.ts';

/**
 * A part of a source that is in memory, moved along as a header is read. Whoever reads numbers asks `covers`
 * first and awaits `load` only when it must: millions of data elements must not become millions of promises.
 *
 * All numbers are little-endian; places are those of the source.
 */
export interface ByteWindow {
  /** Bytes of the whole source. */
  readonly size: number;
  covers(at: number, length: number): boolean;
  /** Brings these bytes into memory, and some that follow. @throws SlideError FILE_TRUNCATED */
  load(at: number, length: number): Promise<void>;
  u8(at: number): number;
  u16(at: number): number;
  u32(at: number): number;
  /** A copy, so that it outlives the window. */
  copy(at: number, length: number): Uint8Array;
}

/** A file's whole header fits into the first; whoever reads on and on gets larger ones. */
const LEAST_WINDOW = 16 * 1024;
const MOST_WINDOW = 256 * 1024;

/** @param windowBytes of the first read; small where only a few bytes stand here and there */
export function byteWindow(source: ByteSource, windowBytes = LEAST_WINDOW): ByteWindow {
  let start = 0;
  let bytes: Uint8Array = new Uint8Array();
  let view = new DataView(bytes.buffer);
  let next = windowBytes;
  return {
    size: source.size,
    covers: (at, length) => at >= start && at + length <= start + bytes.length,
    async load(at, length) {
      const isNext = at > start && at <= start + bytes.length;
      next = isNext && windowBytes >= LEAST_WINDOW ? Math.min(next * 2, MOST_WINDOW) : windowBytes;
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
