/**
 * Packs GeoJSON coordinates into one typed array for IndexedDB. The browser copies stored values on the main thread: copying
 * 50,000 positions as arrays of two numbers takes as long as a brush stroke, copying one typed array takes almost no time.
 */

/** Coordinates of GeoJSON: a position, or an array of coordinates. */
export type Coordinates = readonly number[] | readonly Coordinates[];

/** The number of positions of a line or ring, or the shapes of its parts. */
type Shape = number | readonly Shape[];

export interface PackedCoordinates {
  readonly shape: Shape;
  /** x and y of each position, one after the other. */
  readonly numbers: Float64Array;
}

/** Returns null for a single position, which needs no packing. */
export function packCoordinates(coordinates: Coordinates): PackedCoordinates | null {
  if (isPosition(coordinates)) return null;
  const numbers: number[] = [];
  const pack = (list: readonly Coordinates[]): Shape => {
    const [first = []] = list;
    if (first.length > 0 && !isPosition(first))
      return list.map((part) => pack(part as readonly Coordinates[]));
    for (const [x, y] of list as readonly (readonly number[])[]) numbers.push(x ?? 0, y ?? 0);
    return list.length;
  };
  const shape = pack(coordinates);
  return { shape, numbers: Float64Array.from(numbers) };
}

/** Reverses `packCoordinates`. */
export function unpackCoordinates({ shape, numbers }: PackedCoordinates): Coordinates {
  let offset = 0;
  const unpack = (part: Shape): Coordinates =>
    typeof part === 'number'
      ? Array.from({ length: part }, () => [numbers[offset++] ?? 0, numbers[offset++] ?? 0])
      : part.map(unpack);
  return unpack(shape);
}

function isPosition(coordinates: Coordinates): coordinates is readonly number[] {
  return typeof coordinates[0] === 'number';
}
