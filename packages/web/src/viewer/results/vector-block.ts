/** Reads the binary blocks of a vector layer; packages/contract/src/overlays.ts documents their layout. */
import type { Bounds } from '@lamina/annotations';

const entryBytes = 28;
const unitsPerPixel = 4;
const magic = 0x3142_524c;

/** The objects of a block, as numbers of the layer. */
export interface ObjectSpan {
  readonly first: number;
  readonly objects: number;
}

/** The blocks of a layer: a large one has tens of thousands, which each frame looks through. */
export class BlockIndex {
  /** Pixels of the slide: minX, minY, maxX, maxY of each block. */
  readonly #bounds: Float64Array;
  readonly #firsts: Uint32Array;
  readonly #objects: Uint32Array;

  /** @param buffer the index as `getOverlayIndex` of the contract documents it */
  constructor(buffer: ArrayBuffer) {
    const view = new DataView(buffer);
    const length = Math.floor(buffer.byteLength / entryBytes);
    this.#bounds = new Float64Array(length * 4);
    this.#firsts = new Uint32Array(length);
    this.#objects = new Uint32Array(length);
    for (let block = 0; block < length; block++) {
      const at = block * entryBytes;
      for (let side = 0; side < 4; side++)
        this.#bounds[block * 4 + side] = view.getInt32(at + side * 4, true) / unitsPerPixel;
      this.#firsts[block] = view.getUint32(at + 16, true);
      this.#objects[block] = view.getUint32(at + 20, true);
    }
  }

  span(block: number): ObjectSpan {
    return { first: this.#firsts[block] ?? 0, objects: this.#objects[block] ?? 0 };
  }

  /** Returns the objects of each block that touches the bounds, in the order of the layer; null stands for the whole layer. */
  spans(bounds: Bounds | null): ObjectSpan[] {
    const blocks = this.inView(bounds ?? everywhere, Number.POSITIVE_INFINITY) ?? [];
    return blocks.map((block) => this.span(block));
  }

  /**
   * Returns the blocks that touch the bounds.
   *
   * @returns null when more than `most` objects lie within the bounds; of a block that lies partly outside, its share is counted
   */
  inView(bounds: Bounds, most: number): number[] | null {
    const all = this.#bounds;
    const found: number[] = [];
    let objects = 0;
    for (let block = 0, at = 0; at < all.length; block++, at += 4) {
      const minX = all[at] as number;
      const minY = all[at + 1] as number;
      const maxX = all[at + 2] as number;
      const maxY = all[at + 3] as number;
      if (minX > bounds.maxX || maxX < bounds.minX || minY > bounds.maxY || maxY < bounds.minY) continue;
      objects +=
        (this.#objects[block] ?? 0) *
        share(minX, maxX, bounds.minX, bounds.maxX) *
        share(minY, maxY, bounds.minY, bounds.maxY);
      if (objects > most) return null;
      found.push(block);
    }
    return found;
  }
}

const everywhere: Bounds = {
  minX: Number.NEGATIVE_INFINITY,
  minY: Number.NEGATIVE_INFINITY,
  maxX: Number.POSITIVE_INFINITY,
  maxY: Number.POSITIVE_INFINITY,
};

/** Returns the share of a block that lies between two limits, 0 to 1. */
function share(from: number, to: number, low: number, high: number): number {
  return to <= from ? 1 : Math.max(0, Math.min(to, high) - Math.max(from, low)) / (to - from);
}

/** The objects of a block by group (class or colour), ready to draw. Coordinates are quarters of a pixel from the origin of the block. */
export interface BlockPaths {
  /** Origin in pixels of the slide. */
  readonly x: number;
  readonly y: number;
  readonly classes: readonly ClassPaths[];
}

export interface ClassPaths {
  /** Index of the class, or of the colour of a measurement. */
  readonly index: number;
  readonly outlines: Path2D;
  /** Centres: x, y in turns. */
  readonly centres: Float32Array;
  /** Positions in `centres` of objects without an outline. */
  readonly points: readonly number[];
}

/**
 * @param groupOf returns the group of an object by its position in the block and its class; null: it is not drawn
 * @throws RangeError when the block is not as documented
 */
export function readBlock(
  buffer: ArrayBuffer,
  groupOf: (object: number, index: number) => number | null = (_, index) => index,
): BlockPaths {
  const header = new Uint32Array(buffer, 0, 8);
  const [found = 0, , objects = 0, rings = 0, vertices = 0] = header;
  if (found !== magic) throw new RangeError('This is not a block of a vector layer.');
  const [originX = 0, originY = 0] = new Int32Array(buffer, 20, 2);
  let at = 32;
  const centresX = new Int32Array(buffer, at, objects);
  at += objects * 4;
  const centresY = new Int32Array(buffer, at, objects);
  at += objects * 4;
  const ringVertices = new Uint32Array(buffer, at, rings);
  at += rings * 4;
  const deltas = new Int16Array(buffer, at, vertices * 2);
  at += vertices * 4;
  const objectRings = new Uint16Array(buffer, at, objects);
  at += objects * 2;
  const objectClasses = new Uint8Array(buffer, at, objects);

  const byClass = new Map<number, { outlines: Path2D; centres: number[]; points: number[] }>();
  let ring = 0;
  let delta = 0;
  for (let object = 0; object < objects; object++) {
    const count = objectRings[object] ?? 0;
    const index = groupOf(object, objectClasses[object] ?? 0);
    if (index === null) {
      for (const end = ring + count; ring < end; ring++) delta += 2 * (ringVertices[ring] ?? 0);
      continue;
    }
    let paths = byClass.get(index);
    if (paths === undefined) {
      paths = { outlines: new Path2D(), centres: [], points: [] };
      byClass.set(index, paths);
    }
    const [centreX, centreY] = [centresX[object] ?? 0, centresY[object] ?? 0];
    if (count === 0) paths.points.push(paths.centres.length);
    paths.centres.push(centreX, centreY);
    for (let place = 0; place < count; place++) {
      let [x, y] = [centreX, centreY];
      const size = ringVertices[ring++] ?? 0;
      for (let vertex = 0; vertex < size; vertex++) {
        x += deltas[delta++] ?? 0;
        y += deltas[delta++] ?? 0;
        if (vertex === 0) paths.outlines.moveTo(x, y);
        else paths.outlines.lineTo(x, y);
      }
      paths.outlines.closePath();
    }
  }
  return {
    x: originX / unitsPerPixel,
    y: originY / unitsPerPixel,
    classes: [...byClass].map(([index, { centres, ...paths }]) => ({
      index,
      ...paths,
      centres: Float32Array.from(centres),
    })),
  };
}
