/**
 * Packs GeoJSON coordinates into one typed array for IndexedDB. The browser copies stored values on the main thread, and copying one
 * typed array takes much less time than copying 50,000 positions as arrays of two numbers.
 */

/** Coordinates of GeoJSON: a position [x, y], or an array of positions, of rings or lines, or of polygons. */
export type Coordinates = readonly number[] | readonly Coordinates[];

/** How coordinates are nested: 5 for a line or ring of 5 positions; `[[5, 4], [4]]` for two polygons, the first with a hole. */
type Nesting = number | readonly Nesting[];

/** Stored in IndexedDB, so the names of the fields must not change. */
export interface PackedCoordinates {
  readonly shape: Nesting;
  /** x and y of each position, one after the other. */
  readonly numbers: Float64Array;
}

/** Packs coordinates; no inner array may be empty. Returns null for a single position, which needs no packing. */
export function packCoordinates(coordinates: Coordinates): PackedCoordinates | null {
  if (isPosition(coordinates)) return null;
  const numbers: number[] = [];
  /** Appends the positions to `numbers` and returns the nesting. */
  const pack = (list: readonly Coordinates[]): Nesting => {
    // The first element decides: all elements of a list are positions, or all are lists.
    const [firstElement = []] = list;
    const isListOfLists = firstElement.length > 0 && !isPosition(firstElement);
    if (isListOfLists) return list.map((part) => pack(part as readonly Coordinates[]));
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
