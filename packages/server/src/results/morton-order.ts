/** The order of objects along a Morton curve, and its blocks: the leaves of a tree that halves the area, alternately by height and width. */

/**
 * A block is drawn with one stroke for each class, and each stroke costs the browser about 2 microseconds. Quarters of at most
 * 256 objects gave 76 per block where 5 million lie evenly; a field of 35,000 then took 2,000 strokes.
 */
const maxBlockObjects = 512;
/** Of the records of a block. */
const maxBlockBytes = 4 * 2 ** 20;

/** Interleaves 16 bits of each coordinate; positions outside the slide are at its edge. */
export function mortonKey(x: number, y: number): number {
  return (spread(x) | (spread(y) << 1)) >>> 0;
}

function spread(position: number): number {
  let n = Math.max(0, Math.min(65_535, Math.floor(position * 65_536)));
  n = (n | (n << 8)) & 0x00ff00ff;
  n = (n | (n << 4)) & 0x0f0f0f0f;
  n = (n | (n << 2)) & 0x33333333;
  return (n | (n << 1)) & 0x55555555;
}

/** Returns the objects in the order of tree and key: a radix sort of 16 bits at a time. */
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

/** Splits the order into the leaves of the tree of each class of sizes. */
export function blockRanges(
  order: Uint32Array,
  keys: Uint32Array,
  trees: Uint8Array,
): [from: number, to: number][] {
  const ranges: [number, number][] = [];
  const keyAt = (n: number) => keys[order[n] as number] as number;

  function split(from: number, to: number, bits: number): void {
    if (from === to) return;
    if (to - from <= maxBlockObjects) {
      ranges.push([from, to]);
      return;
    }
    if (bits === 0) {
      for (let at = from; at < to; at += maxBlockObjects)
        ranges.push([at, Math.min(to, at + maxBlockObjects)]);
      return;
    }
    let [low, high] = [from, to];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (((keyAt(middle) >>> (bits - 1)) & 1) === 0) low = middle + 1;
      else high = middle;
    }
    split(from, low, bits - 1);
    split(low, to, bits - 1);
  }

  let from = 0;
  for (let n = 1; n <= order.length; n++) {
    const isEnd = n === order.length || trees[order[n] as number] !== trees[order[from] as number];
    if (!isEnd) continue;
    split(from, n, 32);
    from = n;
  }
  return ranges;
}

/** Splits blocks of objects with very many vertices, so that a block and the memory for it stay bounded. */
export function withinBytes(
  ranges: readonly (readonly [from: number, to: number])[],
  bytesOf: (n: number) => number,
): [from: number, to: number][] {
  return ranges.flatMap(([from, to]) => {
    const parts: [number, number][] = [];
    let [start, bytes] = [from, 0];
    for (let n = from; n < to; n++) {
      const own = bytesOf(n);
      if (n > start && bytes + own > maxBlockBytes) {
        parts.push([start, n]);
        [start, bytes] = [n, 0];
      }
      bytes += own;
    }
    parts.push([start, to]);
    return parts;
  });
}
