/**
 * Parses a GeoJSON feature with a polygon faster than JSON.parse: it reads the coordinates, which are most of the bytes of a
 * file, into one list of numbers per ring, without creating an array for each vertex. For other geometries and unusual
 * formatting the parser returns null; the caller (scan-features.ts) then uses JSON.parse, which also reports syntax errors.
 */
import { maxHeapBytes, mayExceedHeap } from './json-heap.ts';

/** The coordinates of a polygon. Each ring is a list x, y, x, y, … in the coordinate unit of the file. */
export class FlatRings {
  readonly rings: readonly number[][];

  constructor(rings: readonly number[][]) {
    this.rings = rings;
  }
}

const coordinatesKey = Buffer.from('coordinates":');
const [openBracket, closeBracket, comma, minus, decimalPoint, zero, nine, space] = [
  0x5b, 0x5d, 0x2c, 0x2d, 0x2e, 0x30, 0x39, 0x20,
] as const;
/**
 * A number of at most this many characters is parsed as an integer that is divided by a power of ten. The integer and the
 * power are exact because they are below 2^53, so the quotient is exactly the number that JSON.parse returns.
 */
const maxExactLength = 15;
/** Maximum number of characters of a number. The parser returns null for a polygon with a longer number. */
const maxNumberLength = 40;
/** Memory in bytes of a ring with up to 17 numbers, and of each vertex while the array of its ring grows. */
const bytesPerRing = 184;
const bytesPerVertex = 40;
const powersOfTen = Array.from({ length: maxExactLength + 1 }, (_, exponent) => 10 ** exponent);

/** Returns the feature with `FlatRings` as coordinates; null when the caller must use JSON.parse. */
export function parseFlatFeature(bytes: Buffer): object | null {
  // A match is the end of a key: inside a string the quote would be escaped, and only a key is followed by a colon. It may be the end of
  // a longer key, such as `old_coordinates`; then `geometry.coordinates` is not 0 below, and the result is null.
  const keyStart = bytes.indexOf(coordinatesKey);
  if (keyStart === -1) return null;
  const valueStart = keyStart + coordinatesKey.length;
  if (bytes.indexOf(coordinatesKey, valueStart) !== -1) return null;
  const parsed = parseRings(bytes, valueStart);
  if (parsed === null) return null;
  const rest = [bytes.subarray(0, valueStart), bytes.subarray(parsed.end)];
  if (mayExceedHeap(rest, parsed.heapBytes)) return null; // the check of the caller then rejects the object
  // JSON.parse reads the feature with the number 0 instead of the coordinates.
  const text = `${bytes.toString('utf8', 0, valueStart)}0${bytes.toString('utf8', parsed.end)}`;
  let feature: unknown;
  try {
    feature = JSON.parse(text);
  } catch {
    return null;
  }
  const geometry = (feature as { geometry?: { type?: unknown; coordinates?: unknown } | null }).geometry;
  if (geometry?.type !== 'Polygon' || geometry.coordinates !== 0) return null;
  geometry.coordinates = new FlatRings(parsed.rings);
  return feature as object;
}

/**
 * Parses `[[[x,y],…],…]`, in which one space may follow a comma. Returns null for any other text, and for rings that need too much
 * memory.
 */
function parseRings(
  bytes: Buffer,
  start: number,
): { rings: number[][]; heapBytes: number; end: number } | null {
  let offset = bytes[start] === space ? start + 1 : start;
  if (bytes[offset++] !== openBracket) return null;
  const rings: number[][] = [];
  let heapBytes = 0;
  for (;;) {
    if (bytes[offset++] !== openBracket) return null;
    const ring: number[] = [];
    heapBytes += bytesPerRing;
    for (;;) {
      if (bytes[offset++] !== openBracket) return null;
      heapBytes += bytesPerVertex;
      if (heapBytes > maxHeapBytes) return null;
      for (let axis = 0; axis < 2; axis++) {
        const isNegative = bytes[offset] === minus;
        if (isNegative) offset++;
        const numberStart = offset;
        let digits = 0; // all digits as one integer, without the decimal point
        let fractionStart = -1;
        for (; ; offset++) {
          const byte = bytes[offset] as number;
          if (byte >= zero && byte <= nine) digits = digits * 10 + (byte - zero);
          else if (byte === decimalPoint && fractionStart === -1 && offset > numberStart)
            fractionStart = offset + 1;
          else break;
        }
        const length = offset - numberStart;
        const decimals = fractionStart === -1 ? 0 : offset - fractionStart;
        const hasLeadingZero =
          bytes[numberStart] === zero && length > 1 && bytes[numberStart + 1] !== decimalPoint;
        const endsWithPoint = fractionStart !== -1 && decimals === 0;
        if (length === 0 || length > maxNumberLength || hasLeadingZero || endsWithPoint) return null;
        const value =
          length > maxExactLength
            ? Number(bytes.toString('latin1', numberStart, offset))
            : digits / (powersOfTen[decimals] as number);
        ring.push(isNegative ? -value : value);
        if (bytes[offset++] !== (axis === 0 ? comma : closeBracket)) return null;
        if (axis === 0 && bytes[offset] === space) offset++;
      }
      const afterVertex = bytes[offset++];
      if (afterVertex === closeBracket) break;
      if (afterVertex !== comma) return null;
      if (bytes[offset] === space) offset++;
    }
    rings.push(ring);
    const afterRing = bytes[offset++];
    if (afterRing === closeBracket) return { rings, heapBytes, end: offset };
    if (afterRing !== comma) return null;
    if (bytes[offset] === space) offset++;
  }
}
