/**
 * Parses a GeoJSON feature with a polygon faster than JSON.parse: it reads the coordinates, which are most of the bytes of a
 * file, into one list of numbers per ring, without creating an array for each vertex. For other geometries and unusual
 * formatting it returns null; the caller then uses JSON.parse, which also reports syntax errors.
 */

/** The coordinates of a polygon. Each ring is a list x, y, x, y, … in the coordinate unit of the file. */
export class FlatRings {
  readonly rings: readonly number[][];

  constructor(rings: readonly number[][]) {
    this.rings = rings;
  }
}

const coordinatesKey = Buffer.from('coordinates":');
const [openBracket, closeBracket, comma, minus, point, zero, nine, backslash] = [
  0x5b, 0x5d, 0x2c, 0x2d, 0x2e, 0x30, 0x39, 0x5c,
] as const;
/** An integer of at most this many digits, divided by a power of ten, is exactly the number that JSON.parse returns. */
const maxDigits = 15;
/** Longer numbers are left to JSON.parse. */
const maxNumberLength = 40;
const powersOfTen = Array.from({ length: maxDigits + 1 }, (_, exponent) => 10 ** exponent);

/** Returns the feature with `FlatRings` as coordinates; null when the caller must use JSON.parse. */
export function parseFlatFeature(bytes: Buffer): object | null {
  // The quote before the colon is not escaped, so that it ends a string; a colon only follows a string that is a key.
  const keyStart = bytes.indexOf(coordinatesKey);
  if (keyStart < 2 || bytes[keyStart - 2] === backslash) return null;
  const valueStart = keyStart + coordinatesKey.length;
  if (bytes.indexOf(coordinatesKey, valueStart) !== -1) return null;
  const parsed = parseRings(bytes, valueStart);
  if (parsed === null) return null;
  // JSON.parse reads the rest of the feature, with 0 in place of the coordinates.
  const text = `${bytes.toString('utf8', 0, valueStart)}0${bytes.toString('utf8', parsed.end)}`;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  const geometry = (value as { geometry?: { type?: unknown; coordinates?: unknown } | null }).geometry;
  if (geometry?.type !== 'Polygon' || geometry.coordinates !== 0) return null;
  geometry.coordinates = new FlatRings(parsed.rings);
  return value as object;
}

/** Parses `[[[x,y],…],…]`; one space may follow a comma. */
function parseRings(bytes: Buffer, start: number): { rings: number[][]; end: number } | null {
  let at = bytes[start] === 0x20 ? start + 1 : start;
  if (bytes[at++] !== openBracket) return null;
  const rings: number[][] = [];
  for (;;) {
    if (bytes[at++] !== openBracket) return null;
    const ring: number[] = [];
    for (;;) {
      if (bytes[at++] !== openBracket) return null;
      for (let axis = 0; axis < 2; axis++) {
        const isNegative = bytes[at] === minus;
        if (isNegative) at++;
        const first = at;
        let digits = 0;
        let fraction = -1;
        for (; ; at++) {
          const byte = bytes[at] as number;
          if (byte >= zero && byte <= nine) digits = digits * 10 + (byte - zero);
          else if (byte === point && fraction === -1 && at > first) fraction = at + 1;
          else break;
        }
        const length = at - first;
        const decimals = fraction === -1 ? 0 : at - fraction;
        const hasLeadingZero = bytes[first] === zero && length > 1 && bytes[first + 1] !== point;
        if (length === 0 || length > maxNumberLength || hasLeadingZero || (fraction !== -1 && decimals === 0))
          return null;
        const value =
          length > maxDigits
            ? Number(bytes.toString('latin1', first, at))
            : digits / (powersOfTen[decimals] as number);
        ring.push(isNegative ? -value : value);
        if (bytes[at++] !== (axis === 0 ? comma : closeBracket)) return null;
        if (axis === 0 && bytes[at] === 0x20) at++;
      }
      const next = bytes[at++];
      if (next === closeBracket) break;
      if (next !== comma) return null;
      if (bytes[at] === 0x20) at++;
    }
    rings.push(ring);
    const next = bytes[at++];
    if (next === closeBracket) return { rings, end: at };
    if (next !== comma) return null;
    if (bytes[at] === 0x20) at++;
  }
}
