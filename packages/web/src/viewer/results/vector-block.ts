/**
 * Reads the binary blocks of a vector layer and the binary index of these blocks. A block contains the objects (such as detected
 * cells) of one part of the slide. packages/contract/src/overlays.ts documents both layouts (there, a result layer is called an
 * overlay).
 */
import type { Bounds } from '@lamina/annotations';

/**
 * Size of an entry of the index: minX, minY, maxX, maxY, number of the first object, number of objects, and size of the stored
 * block in bytes. Each of these seven integers has 4 bytes.
 */
const entryBytes = 28;
const isLittleEndian = true;
// Positions in an entry, in bytes.
const firstObjectOffset = 16;
const objectCountOffset = 20;
/** Coordinates are integers in quarters of a pixel. */
const unitsPerPixel = 4;
/** The bytes `LRB1` at the start of a block, as a little-endian integer. */
const magicNumber = 0x3142_524c;
const headerBytes = 32;
/** Position of the block's origin (x and y) in the header, in bytes. */
const originOffset = 20;

/** The objects of a block, which are consecutive in the layer. */
export interface ObjectSpan {
  /** Number of the first object, from 0. */
  readonly first: number;
  readonly count: number;
}

/** The index of the blocks of a layer. A large layer has tens of thousands of blocks, and each frame searches all of them. */
export class BlockIndex {
  /** minX, minY, maxX and maxY of each block, in pixels of the slide. */
  readonly #bounds: Float64Array;
  /** Number of the first object of each block. */
  readonly #firstObjects: Uint32Array;
  readonly #objectCounts: Uint32Array;

  /** @param buffer the index as `getOverlayIndex` of the contract documents it */
  constructor(buffer: ArrayBuffer) {
    const view = new DataView(buffer);
    const blockCount = Math.floor(buffer.byteLength / entryBytes);
    this.#bounds = new Float64Array(blockCount * 4);
    this.#firstObjects = new Uint32Array(blockCount);
    this.#objectCounts = new Uint32Array(blockCount);
    for (let block = 0; block < blockCount; block++) {
      const offset = block * entryBytes;
      for (let bound = 0; bound < 4; bound++)
        this.#bounds[block * 4 + bound] = view.getInt32(offset + bound * 4, isLittleEndian) / unitsPerPixel;
      this.#firstObjects[block] = view.getUint32(offset + firstObjectOffset, isLittleEndian);
      this.#objectCounts[block] = view.getUint32(offset + objectCountOffset, isLittleEndian);
    }
  }

  objectSpanOf(block: number): ObjectSpan {
    return { first: this.#firstObjects[block] ?? 0, count: this.#objectCounts[block] ?? 0 };
  }

  /**
   * Returns the objects of each block that touches the bounds, in the order of the layer.
   *
   * @param bounds null selects the whole layer
   */
  objectSpansIn(bounds: Bounds | null): ObjectSpan[] {
    const blocks = this.blocksIn(bounds ?? everywhere, Number.POSITIVE_INFINITY) ?? [];
    return blocks.map((block) => this.objectSpanOf(block));
  }

  /**
   * Returns the numbers of the blocks that touch the bounds; null when more than about `maxObjects` objects lie within the
   * bounds. A block that lies partly outside counts with an estimated share of its objects: the fraction of its area within
   * the bounds.
   */
  blocksIn(bounds: Bounds, maxObjects: number): number[] | null {
    const blockBounds = this.#bounds;
    const blocks: number[] = [];
    let objectCount = 0;
    for (let block = 0, offset = 0; offset < blockBounds.length; block++, offset += 4) {
      const minX = blockBounds[offset] as number;
      const minY = blockBounds[offset + 1] as number;
      const maxX = blockBounds[offset + 2] as number;
      const maxY = blockBounds[offset + 3] as number;
      if (minX > bounds.maxX || maxX < bounds.minX || minY > bounds.maxY || maxY < bounds.minY) continue;
      objectCount +=
        (this.#objectCounts[block] ?? 0) *
        overlapFraction(minX, maxX, bounds.minX, bounds.maxX) *
        overlapFraction(minY, maxY, bounds.minY, bounds.maxY);
      if (objectCount > maxObjects) return null;
      blocks.push(block);
    }
    return blocks;
  }
}

const everywhere: Bounds = {
  minX: Number.NEGATIVE_INFINITY,
  minY: Number.NEGATIVE_INFINITY,
  maxX: Number.POSITIVE_INFINITY,
  maxY: Number.POSITIVE_INFINITY,
};

/**
 * Returns the fraction of the interval from `start` to `end` that lies between `low` and `high`, 0 to 1; 1 for an interval of length 0.
 */
function overlapFraction(start: number, end: number, low: number, high: number): number {
  if (end <= start) return 1;
  return Math.max(0, Math.min(end, high) - Math.max(start, low)) / (end - start);
}

/**
 * The objects of a block, ready to draw, in groups of one colour. Coordinates are quarters of a pixel from the origin of the
 * block.
 */
export interface BlockPaths {
  /** Origin of the block in pixels of the slide. */
  readonly x: number;
  readonly y: number;
  readonly groups: readonly GroupPaths[];
}

/** The objects of one colour. */
export interface GroupPaths {
  /** Index of the class, or of the colour bin of a measurement. */
  readonly group: number;
  readonly outlines: Path2D;
  /** Centres of all objects: x, y, x, y, … */
  readonly centres: Float32Array;
  /** Index in `centres` of the x of each object that has no outline. */
  readonly pointIndexes: readonly number[];
}

/**
 * Reads a block and collects its objects in groups.
 *
 * @param groupOf returns the group of an object, given its index in the block and the index of its class; null for an
 *   object that is not drawn. By default, each class is a group
 * @throws RangeError when the block does not have the documented layout
 */
export function readBlock(
  buffer: ArrayBuffer,
  groupOf: (object: number, classIndex: number) => number | null = (_, classIndex) => classIndex,
): BlockPaths {
  // The header consists of 8 integers: magic number, index of the first object; numbers of objects, rings and vertices; origin x,
  // origin y, 0.
  const header = new Uint32Array(buffer, 0, 8);
  const [magic = 0, , objectCount = 0, totalRings = 0, totalVertices = 0] = header;
  if (magic !== magicNumber) throw new RangeError('This is not a block of a vector layer.');
  const [originX = 0, originY = 0] = new Int32Array(buffer, originOffset, 2); // unlike the other integers, these may be negative
  let offset = headerBytes;
  const centresX = new Int32Array(buffer, offset, objectCount);
  offset += objectCount * 4;
  const centresY = new Int32Array(buffer, offset, objectCount);
  offset += objectCount * 4;
  const vertexCounts = new Uint32Array(buffer, offset, totalRings); // of each ring
  offset += totalRings * 4;
  // x and y of each vertex, relative to the previous vertex or, for a ring's first vertex, to the object's centre.
  const deltas = new Int16Array(buffer, offset, totalVertices * 2);
  offset += totalVertices * 4;
  const ringCounts = new Uint16Array(buffer, offset, objectCount); // of each object
  offset += objectCount * 2;
  const classIndexes = new Uint8Array(buffer, offset, objectCount);

  const pathsByGroup = new Map<number, { outlines: Path2D; centres: number[]; pointIndexes: number[] }>();
  let ring = 0;
  let deltaIndex = 0;
  for (let object = 0; object < objectCount; object++) {
    const ringCount = ringCounts[object] ?? 0;
    const group = groupOf(object, classIndexes[object] ?? 0);
    if (group === null) {
      // Skips the rings of the object and their vertices.
      for (const end = ring + ringCount; ring < end; ring++) deltaIndex += 2 * (vertexCounts[ring] ?? 0);
      continue;
    }
    let paths = pathsByGroup.get(group);
    if (paths === undefined) {
      paths = { outlines: new Path2D(), centres: [], pointIndexes: [] };
      pathsByGroup.set(group, paths);
    }
    const [centreX, centreY] = [centresX[object] ?? 0, centresY[object] ?? 0];
    if (ringCount === 0) paths.pointIndexes.push(paths.centres.length);
    paths.centres.push(centreX, centreY);
    for (const end = ring + ringCount; ring < end; ring++) {
      let [x, y] = [centreX, centreY];
      const vertexCount = vertexCounts[ring] ?? 0;
      for (let vertex = 0; vertex < vertexCount; vertex++) {
        x += deltas[deltaIndex++] ?? 0;
        y += deltas[deltaIndex++] ?? 0;
        if (vertex === 0) paths.outlines.moveTo(x, y);
        else paths.outlines.lineTo(x, y);
      }
      paths.outlines.closePath();
    }
  }
  return {
    x: originX / unitsPerPixel,
    y: originY / unitsPerPixel,
    groups: [...pathsByGroup].map(([group, { centres, ...paths }]) => ({
      group,
      ...paths,
      centres: Float32Array.from(centres),
    })),
  };
}
