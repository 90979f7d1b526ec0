/** A reader of numbers in the byte order that the first two bytes of a TIFF file declare. */
export interface ByteReader {
  readonly bytes: Uint8Array;
  readonly length: number;
  /** Returns a reader of the `length` bytes at `offset`. Offsets of the new reader count from its first byte. */
  slice(offset: number, length: number): ByteReader;
  u8(offset: number): number;
  u16(offset: number): number;
  u32(offset: number): number;
  /** Returns the exact number up to 2^53 − 1, and Infinity for larger ones, which every range check rejects. */
  u64(offset: number): number;
  f32(offset: number): number;
  f64(offset: number): number;
}

/** Returns a reader of the bytes; every read beyond their end throws RangeError. */
export function byteReader(bytes: Uint8Array, isLittleEndian: boolean): ByteReader {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  return {
    bytes,
    length: bytes.length,
    slice: (offset, length) => byteReader(bytes.subarray(offset, offset + length), isLittleEndian),
    u8: (offset) => view.getUint8(offset),
    u16: (offset) => view.getUint16(offset, isLittleEndian),
    u32: (offset) => view.getUint32(offset, isLittleEndian),
    u64(offset) {
      const high = view.getUint32(isLittleEndian ? offset + 4 : offset, isLittleEndian);
      const low = view.getUint32(isLittleEndian ? offset : offset + 4, isLittleEndian);
      // With `high` below 2^21, the number is below 2^21 × 2^32 = 2^53.
      return high < 2 ** 21 ? high * 2 ** 32 + low : Number.POSITIVE_INFINITY;
    },
    f32: (offset) => view.getFloat32(offset, isLittleEndian),
    f64: (offset) => view.getFloat64(offset, isLittleEndian),
  };
}
