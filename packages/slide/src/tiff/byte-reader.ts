/** Reads numbers from bytes in the byte order that the first two bytes of a TIFF file declare. */
export interface ByteReader {
  readonly bytes: Uint8Array;
  readonly length: number;
  /** Returns a reader of the part that starts at `at`. */
  slice(at: number, length: number): ByteReader;
  u8(at: number): number;
  u16(at: number): number;
  u32(at: number): number;
  /** Returns the exact number up to 2^53 − 1, and Infinity for larger ones, which every range check rejects. */
  u64(at: number): number;
  f32(at: number): number;
  f64(at: number): number;
}

/** Returns a reader of the bytes; every read beyond their end throws RangeError. */
export function byteReader(bytes: Uint8Array, littleEndian: boolean): ByteReader {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  return {
    bytes,
    length: bytes.length,
    slice: (at, length) => byteReader(bytes.subarray(at, at + length), littleEndian),
    u8: (at) => view.getUint8(at),
    u16: (at) => view.getUint16(at, littleEndian),
    u32: (at) => view.getUint32(at, littleEndian),
    u64(at) {
      const high = view.getUint32(littleEndian ? at + 4 : at, littleEndian);
      const low = view.getUint32(littleEndian ? at : at + 4, littleEndian);
      // 2^21 × 2^32 is 2^53.
      return high < 2 ** 21 ? high * 2 ** 32 + low : Number.POSITIVE_INFINITY;
    },
    f32: (at) => view.getFloat32(at, littleEndian),
    f64: (at) => view.getFloat64(at, littleEndian),
  };
}
