/**
 * Variants of a scanner's JPEG tile that are a little darker or brighter in one colour component, created without
 * encoding the tile again.
 *
 * The DC coefficient of an 8 × 8 block is proportional to the mean of its samples. The first block of a component
 * stores this coefficient; each following block stores the difference from the block before. Replacing the first number
 * therefore changes all blocks of the component. The new number has the same bit length.
 *
 * Source: ITU-T T.81, annexes C (Huffman codes from their lengths) and F.1.2.1 (coding of DC coefficients).
 */
import { marker, readJpegHeader, segments } from '../../../packages/slide/src/jpeg/header.ts';

/** Bytes at the start of a scan that contain the first Huffman code and the number after it, even if both are as long as possible. */
const headBytes = 4;

/**
 * Reads the Huffman table of the DC coefficients.
 *
 * @param tables JPEGTables of the level (tag 347)
 * @returns a map from code, as a string of zeros and ones, to the bit length of the number after it
 */
export function lengthsByCode(tables: Uint8Array): Map<string, number> {
  const firstMarkerAt = 2; // after the start marker (SOI)
  for (const { marker: segmentMarker, bodyAt } of segments(tables, firstMarkerAt)) {
    // Class and destination 0: the table of the first component's DC coefficients.
    if (segmentMarker !== marker.DHT || tables[bodyAt] !== 0) continue;
    // After that byte the table has the number of codes of each length from 1 to 16 bits, and then the value of each code.
    const codes = new Map<string, number>();
    let code = 0;
    let valueAt = bodyAt + 17;
    for (let length = 1; length <= 16; length += 1) {
      for (let count = tables[bodyAt + length] ?? 0; count > 0; count -= 1) {
        codes.set(code.toString(2).padStart(length, '0'), tables[valueAt] ?? 0);
        code += 1;
        valueAt += 1;
      }
      code *= 2;
    }
    return codes;
  }
  throw new Error('JPEGTables has no Huffman table for DC coefficients.');
}

/**
 * Returns a variant of a tile; the tile itself when its first number is shorter than 2 bits, or when one of the first
 * 4 bytes of its scan is or would become 0xff.
 *
 * @param codes as `lengthsByCode` returns them
 * @param variant number of the variant; 0 is the tile itself
 */
export function variantOf(tile: Uint8Array, codes: ReadonlyMap<string, number>, variant: number): Uint8Array {
  const { dataAt } = readJpegHeader(tile);
  const bits = [...tile.subarray(dataAt, dataAt + headBytes)]
    .map((byte) => byte.toString(2).padStart(8, '0'))
    .join('');
  let codeEnd = 1;
  while (codeEnd < bits.length && !codes.has(bits.slice(0, codeEnd))) codeEnd += 1;
  const length = codes.get(bits.slice(0, codeEnd)) ?? 0;
  if (variant === 0 || length < 2 || codeEnd + length > bits.length) return tile;

  // The first bit of the number is its sign; the others are replaced.
  const [start, end] = [codeEnd + 1, codeEnd + length];
  const valueCount = 2 ** (length - 1);
  const newNumber = (Number.parseInt(bits.slice(start, end), 2) + variant) % valueCount;
  const newBits = bits.slice(0, start) + newNumber.toString(2).padStart(length - 1, '0') + bits.slice(end);
  const head = Array.from({ length: headBytes }, (_, i) =>
    Number.parseInt(newBits.slice(i * 8, i * 8 + 8), 2),
  );
  // A byte 0xff is followed by a stuffed byte, which would shift all following bytes.
  if (head.includes(0xff) || tile.subarray(dataAt, dataAt + headBytes).includes(0xff)) return tile;
  const copy = Uint8Array.from(tile);
  copy.set(head, dataAt);
  return copy;
}
