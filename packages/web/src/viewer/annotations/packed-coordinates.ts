/**
 * Coordinates as IndexedDB stores them. The browser copies what it stores while the page waits: 50,000 positions as arrays of
 * two numbers each take as long as the stroke that has changed them, the same numbers in one array almost no time.
 */

/** As GeoJSON has them: a position, or a list of coordinates. */
export type Coordinates = readonly number[] | readonly Coordinates[];

/** Number of positions of a line or ring, or the shapes of the parts. */
type Shape = number | readonly Shape[];

export interface PackedCoordinates {
  readonly shape: Shape;
  /** x and y of each position. */
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

export function unpackCoordinates({ shape, numbers }: PackedCoordinates): Coordinates {
  let next = 0;
  const unpack = (part: Shape): Coordinates =>
    typeof part === 'number'
      ? Array.from({ length: part }, () => [numbers[next++] ?? 0, numbers[next++] ?? 0])
      : part.map(unpack);
  return unpack(shape);
}

function isPosition(coordinates: Coordinates): coordinates is readonly number[] {
  return typeof coordinates[0] === 'number';
}
