/**
 * Encodes the objects of a vector layer in two binary forms: as records of the spill file (the temporary file of an import),
 * and in blocks, which viewers download as `getOverlayBlock` of the contract documents. The vertices of outlines are rounded
 * to quarters of a pixel and stored as deltas: the Int16 difference of x and y from the previous vertex, starting at the
 * object's centre. Centres themselves stay exact, because they decide in which cells and areas objects are counted.
 */
import { RefusedResult } from './problems.ts';
import type { ResultObject } from './read-objects.ts';

type Box = readonly [minX: number, minY: number, maxX: number, maxY: number];

/** An object that was read from the spill file. */
export interface StoredObject {
  /** Centre in pixels of level 0. */
  readonly x: number;
  readonly y: number;
  readonly classNumber: number;
  /** Bounds of the outline in quarters of a pixel. */
  readonly box: Box;
  /** Number of vertices of each ring. */
  readonly ringVertices: readonly number[];
  /** Memory that contains the deltas of all rings (Int16 x, y for each vertex), from `deltasOffset` on. */
  readonly memory: Buffer;
  readonly deltasOffset: number;
  /** Number of vertices of all rings. */
  readonly vertices: number;
  readonly measurements: readonly (readonly [column: number, value: number])[];
  readonly id: string | null;
}

interface BlockEncoder {
  /** Encodes an object as a record of the spill file. @throws RefusedResult too_complex, bad_geometry */
  encodeRecord(
    object: ResultObject,
    classNumber: number,
    measurements: readonly (readonly [column: number, value: number])[],
  ): { readonly record: Buffer; readonly box: Box; readonly vertexCount: number };
  /** Decodes the record at an offset. The result is valid only until the memory is overwritten, because it refers to it. */
  decodeRecord(memory: Buffer, offset: number): StoredObject;
  /**
   * Encodes a block.
   *
   * @param members objects of the block
   * @param first number of the first of them in the layer
   * @returns the bytes, the bounds of the outlines (quarters of a pixel) and the bounds of the centres (pixels)
   */
  encodeBlock(
    members: readonly StoredObject[],
    first: number,
  ): { readonly bytes: Uint8Array; readonly bounds: Box; readonly centers: Box };
}

/** The ASCII characters LRB1, read as a little-endian Uint32. */
const blockMagic = 0x3142524c;
export const blockHeaderBytes = 32;
/** Largest delta that Int16 holds. */
const maxDelta = 32_767;
/** Largest coordinate in quarters of a pixel; below the limit of Int32. */
const maxQuarters = 2_000_000_000;
const maxRings = 65_535;
/** Float64 x, y; Int32 x 4 box; Uint32 vertices, measurements; Uint16 rings, bytes of the id; Uint8 class. */
const recordHeaderBytes = 45;
/** Stands for "no id" in the field for the number of bytes of the id. */
const noIdBytes = 0xffff;

/** Creates an encoder, which reuses its memory for the deltas of one object after another. */
export function createBlockEncoder(): BlockEncoder {
  let deltas = new Int16Array(4096);
  let deltaCount = 0;

  function pushDelta(dx: number, dy: number): void {
    if (deltaCount + 2 > deltas.length) {
      const larger = new Int16Array(deltas.length * 2);
      larger.set(deltas);
      deltas = larger;
    }
    deltas[deltaCount++] = dx;
    deltas[deltaCount++] = dy;
  }

  /** Appends the deltas from one vertex to the next. An edge that exceeds Int16 gets vertices between. @returns their number */
  function pushEdge(fromX: number, fromY: number, toX: number, toY: number): number {
    const longestSide = Math.max(Math.abs(toX - fromX), Math.abs(toY - fromY));
    const parts = Math.max(1, Math.ceil(longestSide / maxDelta));
    let [x, y] = [fromX, fromY];
    for (let n = 1; n <= parts; n++) {
      const nextX = Math.round(fromX + ((toX - fromX) * n) / parts);
      const nextY = Math.round(fromY + ((toY - fromY) * n) / parts);
      pushDelta(nextX - x, nextY - y);
      [x, y] = [nextX, nextY];
    }
    return parts;
  }

  return {
    encodeRecord({ rings, x, y, id }, classNumber, measurements) {
      if (rings.length > maxRings) throw new RefusedResult('too_complex', 'An object has too many rings');
      const [centerX, centerY] = [quarters(x), quarters(y)];
      let [x0, y0, x1, y1] =
        rings.length === 0
          ? [centerX, centerY, centerX, centerY]
          : [Infinity, Infinity, -Infinity, -Infinity];
      deltaCount = 0;
      const ringVertices: number[] = [];
      for (const ring of rings) {
        let vertexCount = 0;
        let [lastX, lastY] = [centerX, centerY];
        for (let i = 0; i < ring.length; i += 2) {
          const qx = quarters(ring[i] as number);
          const qy = quarters(ring[i + 1] as number);
          if (qx < x0) x0 = qx;
          if (qy < y0) y0 = qy;
          if (qx > x1) x1 = qx;
          if (qy > y1) y1 = qy;
          vertexCount += pushEdge(lastX, lastY, qx, qy);
          [lastX, lastY] = [qx, qy];
        }
        ringVertices.push(vertexCount);
      }
      const idBytes = id === null ? null : Buffer.from(id);
      const deltaBytes = 2 * deltaCount;
      const record = Buffer.allocUnsafe(
        recordHeaderBytes +
          4 * ringVertices.length +
          deltaBytes +
          8 * measurements.length +
          (idBytes?.length ?? 0),
      );
      record.writeDoubleLE(x, 0);
      record.writeDoubleLE(y, 8);
      for (const [i, value] of [x0, y0, x1, y1].entries()) record.writeInt32LE(value, 16 + 4 * i);
      record.writeUInt32LE(deltaCount / 2, 32);
      record.writeUInt32LE(measurements.length, 36);
      record.writeUInt16LE(ringVertices.length, 40);
      record.writeUInt16LE(idBytes === null ? noIdBytes : idBytes.length, 42);
      record.writeUInt8(classNumber, 44);
      let position = recordHeaderBytes;
      for (const vertexCount of ringVertices) position = record.writeUInt32LE(vertexCount, position);
      record.set(new Uint8Array(deltas.buffer, 0, deltaBytes), position);
      position += deltaBytes;
      for (const [column, value] of measurements) {
        position = record.writeUInt32LE(column, position);
        position = record.writeFloatLE(value, position);
      }
      idBytes?.copy(record, position);
      return { record, box: [x0, y0, x1, y1], vertexCount: deltaCount / 2 };
    },

    decodeRecord(memory, offset) {
      const view = new DataView(memory.buffer, memory.byteOffset + offset);
      const vertices = view.getUint32(32, true);
      const measurementCount = view.getUint32(36, true);
      const ringCount = view.getUint16(40, true);
      const idBytes = view.getUint16(42, true);
      let position = recordHeaderBytes;
      const ringVertices: number[] = [];
      for (let n = 0; n < ringCount; n++, position += 4) ringVertices.push(view.getUint32(position, true));
      const deltasOffset = offset + position;
      position += 4 * vertices;
      const measurements: [column: number, value: number][] = [];
      for (let n = 0; n < measurementCount; n++, position += 8) {
        measurements.push([view.getUint32(position, true), view.getFloat32(position + 4, true)]);
      }
      const idStart = offset + position;
      return {
        x: view.getFloat64(0, true),
        y: view.getFloat64(8, true),
        box: [
          view.getInt32(16, true),
          view.getInt32(20, true),
          view.getInt32(24, true),
          view.getInt32(28, true),
        ],
        classNumber: view.getUint8(44),
        ringVertices,
        memory,
        deltasOffset,
        vertices,
        measurements,
        id: idBytes === noIdBytes ? null : memory.toString('utf8', idStart, idStart + idBytes),
      };
    },

    encodeBlock(members, first) {
      let [ringCount, vertexCount] = [0, 0];
      const bounds: [number, number, number, number] = [Infinity, Infinity, -Infinity, -Infinity];
      const centers: [number, number, number, number] = [Infinity, Infinity, -Infinity, -Infinity];
      for (const { ringVertices, vertices, box, x, y } of members) {
        ringCount += ringVertices.length;
        vertexCount += vertices;
        widen(bounds, box);
        widen(centers, [x, y, x, y]);
      }
      const [originX, originY] = [quarters(centers[0]), quarters(centers[1])];
      const objectCount = members.length;
      // Sections after the header: centres (x of all objects, then y), vertex counts of all rings, deltas, ring counts,
      // classes.
      const centersStart = blockHeaderBytes;
      let ringPosition = centersStart + 8 * objectCount;
      let deltaPosition = ringPosition + 4 * ringCount;
      const ringCountsStart = deltaPosition + 4 * vertexCount;
      const classesStart = ringCountsStart + 2 * objectCount;
      const bytes = Buffer.alloc(classesStart + objectCount);
      bytes.writeUInt32LE(blockMagic, 0);
      bytes.writeUInt32LE(first, 4);
      bytes.writeUInt32LE(objectCount, 8);
      bytes.writeUInt32LE(ringCount, 12);
      bytes.writeUInt32LE(vertexCount, 16);
      bytes.writeInt32LE(originX, 20);
      bytes.writeInt32LE(originY, 24);
      for (const [i, member] of members.entries()) {
        const { x, y, ringVertices, memory, deltasOffset, vertices, classNumber } = member;
        bytes.writeInt32LE(quarters(x) - originX, centersStart + 4 * i);
        bytes.writeInt32LE(quarters(y) - originY, centersStart + 4 * (objectCount + i));
        for (const count of ringVertices) ringPosition = bytes.writeUInt32LE(count, ringPosition);
        memory.copy(bytes, deltaPosition, deltasOffset, deltasOffset + 4 * vertices);
        deltaPosition += 4 * vertices;
        bytes.writeUInt16LE(ringVertices.length, ringCountsStart + 2 * i);
        bytes.writeUInt8(classNumber, classesStart + i);
      }
      return { bytes, bounds, centers };
    },
  };
}

/** Returns a coordinate in quarters of a pixel. @throws RefusedResult bad_geometry */
function quarters(coordinate: number): number {
  const value = Math.round(coordinate * 4);
  if (!(Math.abs(value) <= maxQuarters))
    throw new RefusedResult('bad_geometry', 'A coordinate is too far away');
  return value;
}

/** Enlarges bounds so that they contain a box. */
function widen(bounds: [number, number, number, number], [x0, y0, x1, y1]: Box): void {
  if (x0 < bounds[0]) bounds[0] = x0;
  if (y0 < bounds[1]) bounds[1] = y0;
  if (x1 > bounds[2]) bounds[2] = x1;
  if (y1 > bounds[3]) bounds[3] = y1;
}
