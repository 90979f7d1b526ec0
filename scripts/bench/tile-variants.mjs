/**
 * One stored JPEG tile made into others, a little darker or brighter in one colour, without coding anything anew.
 *
 * The first number of a scan is the mean of its first block; all blocks of that component follow from it by
 * differences. Among numbers of the same length it can be exchanged in place.
 *
 * Source: ITU-T T.81, annexes C (Huffman codes from their lengths) and F.1.2.1 (coding of DC coefficients).
 */
import { marker, readJpegHeader, segments } from '../../packages/slide/src/jpeg/header.ts';

/** What is read of a scan's beginning: the longest code, and the longest number after it. */
const headBytes = 4;

/**
 * @param tables JPEGTables of the level (tag 347)
 * @returns a map from code, as text of zeros and ones, to the length of the number after it
 */
export function lengthsByCode(tables) {
  for (const { marker: found, bodyAt } of segments(tables, 2)) {
    // Class and destination 0: the table of the first component's DC coefficients.
    if (found !== marker.DHT || tables[bodyAt] !== 0) continue;
    const codes = new Map();
    let code = 0;
    let place = bodyAt + 17;
    for (let length = 1; length <= 16; length += 1) {
      for (let count = tables[bodyAt + length]; count > 0; count -= 1) {
        codes.set(code.toString(2).padStart(length, '0'), tables[place]);
        code += 1;
        place += 1;
      }
      code *= 2;
    }
    return codes;
  }
  throw new Error('The tables of the tiles have no Huffman table for DC coefficients.');
}

/** @param variant 0 leaves it as it is. Few tiles have no variants; those stay as they are, too. */
export function variantOf(tile, codes, variant) {
  const { dataAt } = readJpegHeader(tile);
  const bits = [...tile.subarray(dataAt, dataAt + headBytes)]
    .map((byte) => byte.toString(2).padStart(8, '0'))
    .join('');
  let end = 1;
  while (end < bits.length && !codes.has(bits.slice(0, end))) end += 1;
  const length = codes.get(bits.slice(0, end)) ?? 0;
  if (variant === 0 || length < 2 || end + length > bits.length) return tile;

  // The first bit is the sign; the others are exchanged.
  const [from, to] = [end + 1, end + length];
  const choices = 2 ** (length - 1);
  const exchanged = (Number.parseInt(bits.slice(from, to), 2) + variant) % choices;
  const changed = bits.slice(0, from) + exchanged.toString(2).padStart(length - 1, '0') + bits.slice(to);
  const head = changed.match(/.{8}/g).map((byte) => Number.parseInt(byte, 2));
  // A byte of ones is followed by one that does not count: all places behind it would move.
  if (head.includes(0xff) || bits.match(/.{8}/g).includes('11111111')) return tile;
  const copy = Uint8Array.from(tile);
  copy.set(head, dataAt);
  return copy;
}
