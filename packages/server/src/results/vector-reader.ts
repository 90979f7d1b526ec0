/**
 * Reads blocks, measurements and objects of a vector layer from its file (layout: vector-import.ts), and counts objects
 * in an area. Level 0 is the full resolution. This module is long because all functions read the same layout.
 */
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { AppError, type OverlayObject } from '@lamina/contract';
import type { Container } from './container.ts';
import { blockField, blockHeaderBytes } from './encode-block.ts';
import { contains } from './read-objects.ts';
import { indexEntryBytes, indexField, type VectorDescription } from './vector-import.ts';

const unpack = promisify(gunzip);

type Box = readonly [x0: number, y0: number, x1: number, y1: number];

export interface VectorReader {
  readonly description: VectorDescription;
  /** Returns the bounds, object numbers and sizes of all blocks, in the format of `getOverlayIndex` of the contract. */
  index(): Promise<Buffer>;
  /** Returns a block, compressed with gzip; null when there is no such block. */
  block(number: number): Promise<Buffer | null>;
  /**
   * Returns a density raster (the number of objects of a class in each cell of a grid), compressed with gzip; null when there is none.
   *
   * @param gridLevel 0 is the finest grid; independent of the levels of the slide
   */
  density(gridLevel: number, classNumber: number): Promise<Buffer | null>;
  /** Returns centres and classes of objects from number `first` on: Float32 x of all, Float32 y of all, class bytes of all. */
  centers(first: number, count: number): Promise<Buffer>;
  /** Returns the values of a measurement (Float32) of objects; null when there is no measurement with this number. */
  measurement(number: number, first: number, count: number): Promise<Buffer | null>;
  /**
   * Counts objects by class name.
   *
   * @param box in pixels of level 0; an object is counted if its centre is in the box or on its edge. Null counts all objects.
   */
  counts(box: Box | null): Promise<Record<string, number>>;
  /** Returns the object at a position, or the nearest within the tolerance (both in pixels of level 0); null if there is none. */
  pick(x: number, y: number, tolerance: number): Promise<OverlayObject | null>;
}

/**
 * Maximum number of blocks that a pick decodes, the nearest ones first. A pick reaches this limit only if the file is malicious or the
 * nearest object is far away. It then returns the best match of the decoded blocks.
 */
const maxPickedBlocks = 400;
const maxConcurrentReads = 32; // number of blocks whose centres one count reads at the same time
/** Maximum number of class bytes (one for each object) that one call reads. */
const maxClassBytes = 2 ** 20;

/** Size of a block's entry in the bytes that `index` returns: four Int32 and three Uint32. */
const publicEntryBytes = 28;
/** Size of a stored centre: Float64 x and y. */
const centerBytes = 16;
/** Outlines and bounds are stored in quarters of a pixel. */
const quartersPerPixel = 4;
/** Half a pixel, in quarters of a pixel: a pick finds a point up to this distance even if the tolerance is smaller. */
const halfPixel = 2;

interface IndexEntry {
  /** Offset and length of the block in the file. */
  readonly offset: number;
  readonly length: number;
  /** Number of the block's first object in the layer, and number of its objects. */
  readonly firstNumber: number;
  readonly count: number;
}

/** Opens the reader of a layer. This function is longer than 60 lines because all reads share the file and its index. */
export async function openVector(container: Container): Promise<VectorReader> {
  const description = container.description as VectorDescription;
  const { blocks: blockCount, objects: objectCount, classes } = description;
  const index = await container.read(description.index, indexEntryBytes * blockCount);

  const entryOf = (n: number): IndexEntry => ({
    offset: index.readDoubleLE(n * indexEntryBytes + indexField.offset),
    length: index.readUInt32LE(n * indexEntryBytes + indexField.length),
    firstNumber: index.readUInt32LE(n * indexEntryBytes + indexField.firstNumber),
    count: index.readUInt32LE(n * indexEntryBytes + indexField.objectCount),
  });
  /** Returns one side of the bounds of block `n`'s outlines (0 left, 1 top, 2 right, 3 bottom), in quarters of a pixel. */
  const boundOf = (n: number, side: number) =>
    index.readInt32LE(n * indexEntryBytes + indexField.bounds + 4 * side);
  /** Returns the bounds of the centres of block `n`, in pixels. */
  function centerBoundsOf(n: number): Box {
    const boundAt = (side: number) => index.readDoubleLE(n * indexEntryBytes + indexField.centers + 8 * side);
    return [boundAt(0), boundAt(1), boundAt(2), boundAt(3)];
  }

  /** Limits a range of objects to those that exist. */
  function clampRange(first: number, count: number): { first: number; count: number } {
    if (first >= objectCount) return { first: 0, count: 0 };
    return { first, count: Math.min(count, objectCount - first) };
  }

  /** Adds a range of objects to the counts by class number. */
  async function countRange(counts: Float64Array, first: number, count: number): Promise<void> {
    for (let start = 0; start < count; start += maxClassBytes) {
      const length = Math.min(maxClassBytes, count - start);
      const bytes = await container.read(description.classBytes + first + start, length);
      for (let i = 0; i < bytes.length; i++) (counts[bytes[i] as number] as number)++;
    }
  }

  /** Adds the objects of block `n` whose centre is in a box to the counts by class number. */
  async function countBlockInBox(counts: Float64Array, n: number, [x0, y0, x1, y1]: Box): Promise<void> {
    const { firstNumber, count } = entryOf(n);
    const points = await container.read(description.centers + centerBytes * firstNumber, centerBytes * count);
    const classNumbers = await container.read(description.classBytes + firstNumber, count);
    for (let i = 0; i < count; i++) {
      const x = points.readDoubleLE(centerBytes * i);
      const y = points.readDoubleLE(centerBytes * i + 8);
      if (x >= x0 && x <= x1 && y >= y0 && y <= y1) (counts[classNumbers[i] as number] as number)++;
    }
  }

  /**
   * Adds the objects whose centre is in a box to the counts by class number. For a block inside the box only the class bytes are
   * read, together for a run of consecutive blocks. The centres are read only for blocks that cross the edge of the box.
   */
  async function countBox(counts: Float64Array, box: Box): Promise<void> {
    const [x0, y0, x1, y1] = box;
    const crossingBlocks: number[] = [];
    let [runFirst, runCount] = [0, 0]; // number of the first object of the run, and number of its objects
    for (let n = 0; n < blockCount; n++) {
      const [left, top, right, bottom] = centerBoundsOf(n);
      if (left > x1 || right < x0 || top > y1 || bottom < y0) continue;
      if (left < x0 || right > x1 || top < y0 || bottom > y1) {
        crossingBlocks.push(n);
        continue;
      }
      const { firstNumber, count } = entryOf(n);
      if (runFirst + runCount !== firstNumber) {
        await countRange(counts, runFirst, runCount);
        [runFirst, runCount] = [firstNumber, 0];
      }
      runCount += count;
    }
    await countRange(counts, runFirst, runCount);
    for (let i = 0; i < crossingBlocks.length; i += maxConcurrentReads) {
      await Promise.all(
        crossingBlocks.slice(i, i + maxConcurrentReads).map((n) => countBlockInBox(counts, n, box)),
      );
    }
  }

  /** Returns the blocks whose bounds are at most `reach` away from a position (both in quarters of a pixel), the nearest first. */
  function blocksNear(
    { x, y }: PickTarget,
    reach: number,
  ): { readonly n: number; readonly distance: number }[] {
    const near: { readonly n: number; readonly distance: number }[] = [];
    for (let n = 0; n < blockCount; n++) {
      const dx = Math.max(boundOf(n, 0) - x, x - boundOf(n, 2), 0);
      const dy = Math.max(boundOf(n, 1) - y, y - boundOf(n, 3), 0);
      const distance = Math.hypot(dx, dy);
      if (distance <= reach) near.push({ n, distance });
    }
    return near.sort((a, b) => a.distance - b.distance);
  }

  /** Reads class, centre, measurements and id of an object that a pick has found. */
  async function describe({ number, block, rings }: Hit): Promise<OverlayObject> {
    const indexInBlock = number - entryOf(block).firstNumber;
    const points = await container.read(description.centers + centerBytes * number, centerBytes);
    const classNumber = (await container.read(description.classBytes + number, 1))[0] as number;
    const { name, color } = classes[classNumber] ?? { name: '', color: [0, 0, 0] as const };
    const measurements: Record<string, number> = {};
    for (const [n, { name: measurement }] of description.measurements.entries()) {
      const value = (await container.read((description.columns[n] as number) + 4 * number, 4)).readFloatLE();
      if (!Number.isNaN(value)) measurements[measurement] = value;
    }
    return {
      number,
      id: await idOf(block, indexInBlock),
      class: { name, color: [...color] as [number, number, number] },
      center: [points.readDoubleLE(0), points.readDoubleLE(8)],
      rings: rings.map((ring) => {
        const positions: [number, number][] = [];
        for (let i = 0; i < ring.length; i += 2)
          positions.push([
            (ring[i] as number) / quartersPerPixel,
            (ring[i + 1] as number) / quartersPerPixel,
          ]);
        return positions;
      }),
      measurements,
    };
  }

  /** Returns the id that the imported file states for an object; null if it states none. The ids of a block are gzipped JSON. */
  async function idOf(block: number, indexInBlock: number): Promise<string | null> {
    const entry = block * indexEntryBytes;
    const length = index.readUInt32LE(entry + indexField.idsLength);
    if (length === 0) return null;
    const packed = await container.read(index.readDoubleLE(entry + indexField.idsOffset), length);
    const ids = JSON.parse((await unpack(packed)).toString()) as (string | null)[];
    return ids[indexInBlock] ?? null;
  }

  return {
    description,

    async index() {
      const bytes = Buffer.alloc(publicEntryBytes * blockCount);
      for (let n = 0; n < blockCount; n++) {
        const { firstNumber, count, length } = entryOf(n);
        let position = publicEntryBytes * n;
        for (let side = 0; side < 4; side++) position = bytes.writeInt32LE(boundOf(n, side), position);
        position = bytes.writeUInt32LE(firstNumber, position);
        position = bytes.writeUInt32LE(count, position);
        bytes.writeUInt32LE(length, position);
      }
      return bytes;
    },

    async block(number) {
      if (!Number.isInteger(number) || number < 0 || number >= blockCount) return null;
      const { offset, length } = entryOf(number);
      return container.read(offset, length);
    },

    async density(gridLevel, classNumber) {
      const [offset, length] = description.density[gridLevel]?.rasters[classNumber] ?? [];
      return offset === undefined || length === undefined ? null : container.read(offset, length);
    },

    async centers(requestedFirst, requestedCount) {
      const { first, count } = clampRange(requestedFirst, requestedCount);
      const points = await container.read(description.centers + centerBytes * first, centerBytes * count);
      const bytes = Buffer.alloc(9 * count); // for each object 4 bytes for x, 4 for y, and 1 for the class
      for (let i = 0; i < count; i++) {
        bytes.writeFloatLE(points.readDoubleLE(centerBytes * i), 4 * i);
        bytes.writeFloatLE(points.readDoubleLE(centerBytes * i + 8), 4 * (count + i));
      }
      bytes.set(await container.read(description.classBytes + first, count), 8 * count);
      return bytes;
    },

    async measurement(number, requestedFirst, requestedCount) {
      const offset = description.columns[number];
      if (offset === undefined) return null;
      const { first, count } = clampRange(requestedFirst, requestedCount);
      return container.read(offset + 4 * first, 4 * count);
    },

    async counts(box) {
      const counts = new Float64Array(256); // by class number, which is one byte
      if (box !== null) await countBox(counts, box);
      return Object.fromEntries(
        classes.map(({ name, count }, n) => [name, box === null ? count : (counts[n] as number)]),
      );
    },

    async pick(x, y, tolerance) {
      const target = {
        x: x * quartersPerPixel,
        y: y * quartersPerPixel,
        tolerance: tolerance * quartersPerPixel,
      };
      const reach = target.tolerance + halfPixel;
      let best: Hit | null = null;
      for (const { n, distance } of blocksNear(target, reach).slice(0, maxPickedBlocks)) {
        // At the same distance, this block may still contain a smaller object.
        if (best !== null && distance > best.distance) break;
        const { offset, length } = entryOf(n);
        const bytes = await unpack(await container.read(offset, length));
        best = bestMatchIn(bytes, n, target, best);
      }
      return best === null ? null : describe(best);
    },
  };
}

/** An object that a pick (the search for the object at a position) has found. */
interface Hit {
  /** Number of the object in the layer. */
  readonly number: number;
  /** Number of the block that contains the object. */
  readonly block: number;
  /** Outline in quarters of a pixel. */
  readonly rings: readonly number[][];
  /** Distance from the position in quarters of a pixel; 0 when the position is inside the object. */
  readonly distance: number;
  /** Sum of the areas of all rings, holes included; only compared with the sums of other objects. */
  readonly area: number;
}

/** Position and tolerance of a pick in quarters of a pixel. */
interface PickTarget {
  readonly x: number;
  readonly y: number;
  readonly tolerance: number;
}

/**
 * Returns the best match among the objects of a block and the previous best match: the smallest object that contains the
 * position, otherwise the nearest one. `encodeBlock` of encode-block.ts documents the sections of a block.
 */
function bestMatchIn(bytes: Buffer, block: number, target: PickTarget, previousBest: Hit | null): Hit | null {
  let best = previousBest;
  const firstNumber = bytes.readUInt32LE(blockField.firstNumber);
  const objectCount = bytes.readUInt32LE(blockField.objectCount);
  const [originX, originY] = [bytes.readInt32LE(blockField.originX), bytes.readInt32LE(blockField.originY)];
  const vertexCountsStart = blockHeaderBytes + 8 * objectCount; // after Int32 x and y of each centre
  // Offset of the next vertex, which is stored as its difference from the previous one (Int16 x and y).
  let deltaPosition = vertexCountsStart + 4 * bytes.readUInt32LE(blockField.ringCount);
  const ringCountsStart = deltaPosition + 4 * bytes.readUInt32LE(blockField.vertexCount);
  let ringNumber = 0; // number of the ring in the block
  for (let i = 0; i < objectCount; i++) {
    const centerX = originX + bytes.readInt32LE(blockHeaderBytes + 4 * i);
    const centerY = originY + bytes.readInt32LE(blockHeaderBytes + 4 * (objectCount + i));
    const ringCount = bytes.readUInt16LE(ringCountsStart + 2 * i);
    const outline: number[][] = [];
    for (let n = 0; n < ringCount; n++, ringNumber++) {
      const vertexCount = bytes.readUInt32LE(vertexCountsStart + 4 * ringNumber);
      const positions = new Array<number>(2 * vertexCount);
      let [x, y] = [centerX, centerY];
      for (let vertex = 0; vertex < vertexCount; vertex++, deltaPosition += 4) {
        x += bytes.readInt16LE(deltaPosition);
        y += bytes.readInt16LE(deltaPosition + 2);
        positions[2 * vertex] = x;
        positions[2 * vertex + 1] = y;
      }
      outline.push(positions);
    }
    const measured = measure(outline, centerX, centerY, target);
    if (measured === null) continue;
    const isBetter =
      best === null ||
      measured.distance < best.distance ||
      (measured.distance === best.distance && measured.area < best.area);
    if (isBetter) best = { number: firstNumber + i, block, rings: outline, ...measured };
  }
  return best;
}

/** Returns distance and area of an object for a pick; null when the object is too far away. */
function measure(
  rings: readonly number[][],
  centerX: number,
  centerY: number,
  { x, y, tolerance }: PickTarget,
): Pick<Hit, 'distance' | 'area'> | null {
  if (rings.length === 0) {
    const distance = Math.hypot(centerX - x, centerY - y);
    return distance <= Math.max(tolerance, halfPixel) ? { distance, area: 0 } : null;
  }
  let isInside = false;
  let distance = Number.POSITIVE_INFINITY;
  let area = 0;
  for (const ring of rings) {
    if (contains(ring, x, y)) isInside = !isInside; // a position inside a hole is in two rings
    area += Math.abs(areaOf(ring));
  }
  if (isInside) return { distance: 0, area };
  if (tolerance === 0) return null;
  for (const ring of rings) distance = Math.min(distance, distanceTo(ring, x, y));
  return distance <= tolerance ? { distance, area } : null;
}

/** Returns the signed area of a ring. */
function areaOf(ring: readonly number[]): number {
  let sum = 0;
  let [ax, ay] = [ring.at(-2) ?? 0, ring.at(-1) ?? 0];
  for (let i = 0; i < ring.length; i += 2) {
    const [bx, by] = [ring[i] as number, ring[i + 1] as number];
    sum += ax * by - bx * ay;
    [ax, ay] = [bx, by];
  }
  return sum / 2;
}

/** Returns the distance of a position from the nearest edge of a ring. */
function distanceTo(ring: readonly number[], x: number, y: number): number {
  let smallest = Number.POSITIVE_INFINITY;
  let [ax, ay] = [ring.at(-2) ?? 0, ring.at(-1) ?? 0];
  for (let i = 0; i < ring.length; i += 2) {
    const [bx, by] = [ring[i] as number, ring[i + 1] as number];
    const [dx, dy] = [bx - ax, by - ay];
    const squaredLength = dx * dx + dy * dy;
    // The point of the edge that is nearest to the position is at this fraction of the way from a to b.
    const fraction =
      squaredLength === 0 ? 0 : Math.max(0, Math.min(1, ((x - ax) * dx + (y - ay) * dy) / squaredLength));
    smallest = Math.min(smallest, Math.hypot(ax + fraction * dx - x, ay + fraction * dy - y));
    [ax, ay] = [bx, by];
  }
  return smallest;
}

/** Parses the query parameter `x0,y0,x1,y1`; null when it is undefined. @throws AppError invalid_request */
export function boxFrom(text: string | undefined): Box | null {
  if (text === undefined) return null;
  const [x0, y0, x1, y1] = text.split(',').map(Number) as [number, number, number, number];
  // The negated comparison also rejects NaN, which a missing number becomes.
  if (!(x0 <= x1 && y0 <= y1)) throw new AppError('invalid_request', { field: 'bbox' });
  return [x0, y0, x1, y1];
}
