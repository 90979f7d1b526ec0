/**
 * GeoJSON coordinates packed into one typed array for IndexedDB. The browser copies stored values on the main thread: copying
 * 50,000 positions as arrays of two numbers takes as long as a brush stroke, copying one typed array takes almost no time.
 */

/** Coordinates of GeoJSON: a position, or an array of coordinates. */
export type Coordinates = readonly number[] | readonly Coordinates[];

/** How coordinates are nested: the number of positions of a line or ring; `[[5, 4], [4]]` for two polygons, one with a hole. */
type Nesting = number | readonly Nesting[];

/** Stored in IndexedDB, so the names of the fields must not change. */
export interface PackedCoordinates {
  readonly shape: Nesting;
  /** x and y of each position, one after the other. */
  readonly numbers: Float64Array;
}

/** Packs coordinates for the storage; returns null for a single position, which needs no packing. */
export function packCoordinates(coordinates: Coordinates): PackedCoordinates | null {
  if (isPosition(coordinates)) return null;
  const numbers: number[] = [];
  /** Appends the positions to `numbers` and returns the nesting. */
  const pack = (list: readonly Coordinates[]): Nesting => {
    const [first = []] = list;
    const hasParts = first.length > 0 && !isPosition(first);
    if (hasParts) return list.map((part) => pack(part as readonly Coordinates[]));
    for (const [x, y] of list as readonly (readonly number[])[]) numbers.push(x ?? 0, y ?? 0);
    return list.length;
  };
  const shape = pack(coordinates);
  return { shape, numbers: Float64Array.from(numbers) };
}

/** Restores the coordinates that `packCoordinates` has packed. */
export function unpackCoordinates({ shape, numbers }: PackedCoordinates): Coordinates {
  let offset = 0;
  const unpack = (part: Nesting): Coordinates =>
    typeof part === 'number'
      ? Array.from({ length: part }, () => [numbers[offset++] ?? 0, numbers[offset++] ?? 0])
      : part.map(unpack);
  return unpack(shape);
}

function isPosition(coordinates: Coordinates): coordinates is readonly number[] {
  return typeof coordinates[0] === 'number';
}
