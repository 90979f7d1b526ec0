/**
 * Sorts the objects of a result layer along a Morton curve (Z-order curve), so that objects near each other on the slide are
 * near each other in the file, and splits the sorted objects into blocks. The blocks are the leaves of a binary tree that
 * halves the area, alternately by height and width. Objects of similar size share one tree.
 */

/**
 * Maximum number of objects in a block. The browser draws a block with one stroke for each class, about 2 µs each, so small
 * blocks are slow: with quadtree blocks of at most 256 objects, 5 million evenly spread objects gave 76 objects per block, and
 * a view of 35,000 objects took 2,000 strokes.
 */
const maxBlockObjects = 512;
/** Maximum size of the records of one block. */
const maxBlockBytes = 4 * 2 ** 20;

/**
 * Returns the position on the curve: 16 bits of each coordinate, interleaved. Coordinates are fractions of the width and height
 * of the slide, 0 to 1; values outside are clamped.
 */
export function mortonKey(x: number, y: number): number {
  return (spreadBits(x) | (spreadBits(y) << 1)) >>> 0;
}

/** Returns 16 bits of the position with a zero bit before each of them. */
function spreadBits(position: number): number {
  let n = Math.max(0, Math.min(65_535, Math.floor(position * 65_536)));
  n = (n | (n << 8)) & 0x00ff00ff;
  n = (n | (n << 4)) & 0x0f0f0f0f;
  n = (n | (n << 2)) & 0x33333333;
  return (n | (n << 1)) & 0x55555555;
}

/** Returns the indices of the objects, sorted by tree and then by key: a radix sort with digits of 16 bits. */
export function sortedOrder(count: number, keys: Uint32Array, trees: Uint8Array): Uint32Array {
  let order: Uint32Array = new Uint32Array(count);
  let next: Uint32Array = new Uint32Array(count);
  for (let i = 0; i < count; i++) order[i] = i;
  const digits = [
    (i: number) => (keys[i] as number) & 0xffff,
    (i: number) => (keys[i] as number) >>> 16,
    (i: number) => trees[i] as number,
  ];
  for (const digit of digits) {
    const starts = new Uint32Array(65_537);
    for (let i = 0; i < count; i++) (starts[digit(i) + 1] as number)++;
    for (let n = 1; n < starts.length; n++) (starts[n] as number) += starts[n - 1] as number;
    for (let n = 0; n < count; n++) {
      const i = order[n] as number;
      next[(starts[digit(i)] as number)++] = i;
    }
    [order, next] = [next, order];
  }
  return order;
}

/** Splits the sorted objects into blocks. Ranges are positions in `order`; `end` is exclusive. */
export function blockRanges(
  order: Uint32Array,
  keys: Uint32Array,
  trees: Uint8Array,
): [start: number, end: number][] {
  const ranges: [number, number][] = [];
  const keyAt = (n: number) => keys[order[n] as number] as number;

  function split(start: number, end: number, bits: number): void {
    if (start === end) return;
    if (end - start <= maxBlockObjects) {
      ranges.push([start, end]);
      return;
    }
    if (bits === 0) {
      // All keys are equal here, so no bit is left to divide by.
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
    const isEnd = n === order.length || trees[order[n] as number] !== trees[order[treeStart] as number];
    if (!isEnd) continue;
    split(treeStart, n, 32);
    treeStart = n;
  }
  return ranges;
}

/**
 * Splits the ranges further so that the records of a block have at most 4 MiB; a single larger object gets its own block.
 *
 * @param bytesOf returns the size of the record at this position of the order
 */
export function withinBytes(
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
