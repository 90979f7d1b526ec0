/**
 * Sorts the objects of a result layer, such as detected cells, along a Morton curve (Z-order curve): objects near each other on the
 * slide are near each other in the file. Splits the sorted objects into blocks, which viewers request one by one. The blocks are the
 * leaves of a binary tree that halves the area of the slide, alternately by height and width. There is one tree for each range of
 * object sizes (small, medium, large), because a few large objects would enlarge the bounds of the blocks of small ones. The trees
 * themselves are not stored.
 */

/**
 * Maximum number of objects in a block. The browser draws a block with one stroke for each class, so small blocks make drawing
 * slow. A quadtree with at most 256 objects per block was slower, because each of its splits makes four blocks: 5 million evenly spread
 * objects gave blocks of 76 objects, and a view of 35,000 objects took 2,000 strokes.
 */
const maxBlockObjects = 512;
/** Maximum total size of the records of one block. A record is an encoded object (encode-block.ts). */
const maxBlockBytes = 4 * 2 ** 20;

/**
 * Returns the position of a point on the Morton curve: 16 bits of each coordinate, interleaved. Coordinates are fractions of
 * the slide's width and height, 0 to 1; values outside are clamped.
 */
export function mortonKey(x: number, y: number): number {
  return (spreadBits(x) | (spreadBits(y) << 1)) >>> 0;
}

/** Returns the 16 bits of a coordinate (0 to 1) with a zero bit before each of them. */
function spreadBits(fraction: number): number {
  let bits = Math.max(0, Math.min(65_535, Math.floor(fraction * 65_536)));
  bits = (bits | (bits << 8)) & 0x00ff00ff;
  bits = (bits | (bits << 4)) & 0x0f0f0f0f;
  bits = (bits | (bits << 2)) & 0x33333333;
  return (bits | (bits << 1)) & 0x55555555;
}

/**
 * Returns the indices of the objects, sorted by tree and then by Morton key. Uses a radix sort: one stable pass for the lower
 * 16 bits of the key, one for the upper 16 bits, and one for the tree.
 *
 * @param keys Morton key of each object
 * @param treeNumbers number of each object's tree (its range of sizes)
 */
export function sortedOrder(count: number, keys: Uint32Array, treeNumbers: Uint8Array): Uint32Array {
  let order: Uint32Array = new Uint32Array(count);
  let sorted: Uint32Array = new Uint32Array(count);
  for (let i = 0; i < count; i++) order[i] = i;
  const digits = [
    (i: number) => (keys[i] as number) & 0xffff,
    (i: number) => (keys[i] as number) >>> 16,
    (i: number) => treeNumbers[i] as number,
  ];
  for (const digit of digits) {
    // positions[d] is the position of the next object with the digit d. It starts as the number of objects with smaller
    // digits: the first loop counts each digit one place to the right, so there are 65,537 places for 65,536 digits.
    const positions = new Uint32Array(65_537);
    for (let i = 0; i < count; i++) (positions[digit(i) + 1] as number)++;
    for (let n = 1; n < positions.length; n++) (positions[n] as number) += positions[n - 1] as number;
    for (let n = 0; n < count; n++) {
      const i = order[n] as number;
      sorted[(positions[digit(i)] as number)++] = i;
    }
    [order, sorted] = [sorted, order];
  }
  return order;
}

/** Splits the sorted objects into blocks of at most 512. Returns ranges of positions in `order`; `end` is exclusive. */
export function blockRanges(
  order: Uint32Array,
  keys: Uint32Array,
  treeNumbers: Uint8Array,
): [start: number, end: number][] {
  const ranges: [number, number][] = [];
  const keyAt = (n: number) => keys[order[n] as number] as number;

  /** Splits a range of objects of one tree whose keys differ only in the lowest `bits` bits. */
  function split(start: number, end: number, bits: number): void {
    if (start === end) return;
    if (end - start <= maxBlockObjects) {
      ranges.push([start, end]);
      return;
    }
    if (bits === 0) {
      // All keys are equal, so the range is divided by the number of objects only.
      for (let n = start; n < end; n += maxBlockObjects) ranges.push([n, Math.min(end, n + maxBlockObjects)]);
      return;
    }
    // Binary search for the first object whose key has the highest remaining bit set.
    let [low, high] = [start, end];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (((keyAt(middle) >>> (bits - 1)) & 1) === 0) low = middle + 1;
      else high = middle;
    }
    split(start, low, bits - 1);
    split(low, end, bits - 1);
  }

  let treeStart = 0;
  for (let n = 1; n <= order.length; n++) {
    const isEndOfTree =
      n === order.length || treeNumbers[order[n] as number] !== treeNumbers[order[treeStart] as number];
    if (!isEndOfTree) continue;
    split(treeStart, n, 32); // a key has 32 bits
    treeStart = n;
  }
  return ranges;
}

/**
 * Splits ranges further so that the records of each block have at most 4 MiB in total. An object with a larger record gets its own block.
 *
 * @param bytesOf returns the size of the record of the object at a position in the order
 */
export function splitByRecordBytes(
  ranges: readonly (readonly [start: number, end: number])[],
  bytesOf: (n: number) => number,
): [start: number, end: number][] {
  return ranges.flatMap(([rangeStart, rangeEnd]) => {
    const parts: [number, number][] = [];
    let [start, bytes] = [rangeStart, 0];
    for (let n = rangeStart; n < rangeEnd; n++) {
      const recordBytes = bytesOf(n);
      if (n > start && bytes + recordBytes > maxBlockBytes) {
        parts.push([start, n]);
        [start, bytes] = [n, 0];
      }
      bytes += recordBytes;
    }
    parts.push([start, rangeEnd]);
    return parts;
  });
}
