/**
 * Encodes the objects of a vector layer, such as cell outlines, in two binary forms: as records of the spill file (the temporary file
 * of an import), and in blocks, which viewers download (`getOverlayBlock` of the contract documents the format of blocks). Vertices are
 * rounded to quarters of a pixel and stored as deltas: Int16 differences of x and y from the previous vertex. The first vertex of a
 * ring is stored relative to the object's centre. Records contain exact centres, by which objects are counted in areas of the slide.
 */
import { ImportRejectedError } from './problems.ts';
import type { ResultObject } from './read-objects.ts';

type Box = readonly [minX: number, minY: number, maxX: number, maxY: number];

/** An object that was read from the spill file. */
export interface StoredObject {
  /** Centre in pixels of level 0 (full resolution). */
  readonly x: number;
  readonly y: number;
  readonly classNumber: number;
  /** Bounds of the outline in quarters of a pixel. */
  readonly box: Box;
  /** Number of vertices of each ring, including the added vertices that divide long edges. */
  readonly ringVertices: readonly number[];
  /** Memory that contains the deltas of all rings (Int16 x, y for each vertex), from `deltasOffset` on. */
  readonly memory: Buffer;
  readonly deltasOffset: number;
  /** Number of vertices of all rings. */
  readonly vertexCount: number;
  readonly measurements: readonly (readonly [measurementNumber: number, value: number])[];
  readonly id: string | null; // null if the imported file states none
}

interface BlockEncoder {
  /**
   * Encodes an object as a record. The returned `box` contains the bounds of the outline in quarters of a pixel.
   *
   * @throws ImportRejectedError too_complex, bad_geometry
   */
  encodeRecord(
    object: ResultObject,
    classNumber: number,
    measurements: readonly (readonly [measurementNumber: number, value: number])[],
  ): { readonly record: Buffer; readonly box: Box; readonly vertexCount: number };
  /** Decodes the record at an offset. The result refers to the memory, so it is valid only until the memory is overwritten. */
  decodeRecord(memory: Buffer, offset: number): StoredObject;
  /**
   * Encodes a block.
   *
   * @param members objects of the block, which are consecutive in the layer
   * @param firstNumber number of the first member in the layer
   * @returns the bytes, the bounds of the outlines (quarters of a pixel) and the bounds of the centres (pixels)
   */
  encodeBlock(
    members: readonly StoredObject[],
    firstNumber: number,
  ): { readonly bytes: Uint8Array; readonly bounds: Box; readonly centers: Box };
}

/** Offsets of the fields in the header of a block: Uint32, except Int32 for the origin of the centres. */
export const blockField = {
  magic: 0,
  firstNumber: 4,
  objectCount: 8,
  ringCount: 12,
  vertexCount: 16,
  originX: 20,
  originY: 24,
} as const;
/** The ASCII characters LRB1, read as a little-endian Uint32. */
const blockMagic = 0x3142524c;
export const blockHeaderBytes = 32; // 28 bytes of fields, and 4 reserved bytes
/** Largest delta that Int16 holds. */
const maxDelta = 32_767;
/** Largest coordinate in quarters of a pixel. The difference of two coordinates still fits into Int32. */
const maxQuarters = 2 ** 30 - 1;
/** Largest number of rings that Uint16 holds. */
const maxRings = 65_535;
/**
 * Offsets of the fields of a record: Float64 x and y, four Int32, two Uint32, two Uint16, Uint8. The fields are followed by
 * the vertex counts of the rings, the deltas, the measurements (Uint32 number and Float32 value) and the id.
 */
const recordField = {
  x: 0,
  y: 8,
  box: 16,
  vertexCount: 32,
  measurementCount: 36,
  ringCount: 40,
  idBytes: 42,
  classNumber: 44,
} as const;
const recordHeaderBytes = 45; // size of all these fields together
/** Value of the field `idBytes` (the length of the id) for an object without an id. */
const noIdBytes = 0xffff;

/** Creates an encoder. It reuses one array for the deltas of all objects, so calls must not overlap. */
export function createBlockEncoder(): BlockEncoder {
  let deltas = new Int16Array(4096);
  let deltaCount = 0; // number of Int16 values in `deltas`, two for each vertex

  function pushDelta(dx: number, dy: number): void {
    if (deltaCount + 2 > deltas.length) {
      const larger = new Int16Array(deltas.length * 2);
      larger.set(deltas);
      deltas = larger;
    }
    deltas[deltaCount++] = dx;
    deltas[deltaCount++] = dy;
  }

  /**
   * Appends the delta from one vertex to the next. An edge that is longer than the largest delta is divided into equal parts, which
   * adds vertices. @returns the number of appended vertices
   */
  function pushEdge(fromX: number, fromY: number, toX: number, toY: number): number {
    const largerDifference = Math.max(Math.abs(toX - fromX), Math.abs(toY - fromY));
    const partCount = Math.max(1, Math.ceil(largerDifference / maxDelta));
    let [x, y] = [fromX, fromY];
    for (let part = 1; part <= partCount; part++) {
      const nextX = Math.round(fromX + ((toX - fromX) * part) / partCount);
      const nextY = Math.round(fromY + ((toY - fromY) * part) / partCount);
      pushDelta(nextX - x, nextY - y);
      [x, y] = [nextX, nextY];
    }
    return partCount;
  }

  return {
    encodeRecord({ rings, x, y, id }, classNumber, measurements) {
      if (rings.length > maxRings)
        throw new ImportRejectedError('too_complex', 'An object has too many rings');
      const [centerX, centerY] = [toQuarters(x), toQuarters(y)];
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
          const vertexX = toQuarters(ring[i] as number);
          const vertexY = toQuarters(ring[i + 1] as number);
          if (vertexX < x0) x0 = vertexX;
          if (vertexY < y0) y0 = vertexY;
          if (vertexX > x1) x1 = vertexX;
          if (vertexY > y1) y1 = vertexY;
          vertexCount += pushEdge(lastX, lastY, vertexX, vertexY);
          [lastX, lastY] = [vertexX, vertexY];
        }
        ringVertices.push(vertexCount);
      }
      const encodedId = id === null ? null : Buffer.from(id);
      const deltaBytes = 2 * deltaCount;
      const record = Buffer.allocUnsafe(
        recordHeaderBytes +
          4 * ringVertices.length +
          deltaBytes +
          8 * measurements.length +
          (encodedId?.length ?? 0),
      );
      record.writeDoubleLE(x, recordField.x);
      record.writeDoubleLE(y, recordField.y);
      for (const [i, value] of [x0, y0, x1, y1].entries())
        record.writeInt32LE(value, recordField.box + 4 * i);
      record.writeUInt32LE(deltaCount / 2, recordField.vertexCount);
      record.writeUInt32LE(measurements.length, recordField.measurementCount);
      record.writeUInt16LE(ringVertices.length, recordField.ringCount);
      record.writeUInt16LE(encodedId === null ? noIdBytes : encodedId.length, recordField.idBytes);
      record.writeUInt8(classNumber, recordField.classNumber);
      let position = recordHeaderBytes;
      for (const vertexCount of ringVertices) position = record.writeUInt32LE(vertexCount, position);
      record.set(new Uint8Array(deltas.buffer, 0, deltaBytes), position);
      position += deltaBytes;
      for (const [measurementNumber, value] of measurements) {
        position = record.writeUInt32LE(measurementNumber, position);
        position = record.writeFloatLE(value, position);
      }
      encodedId?.copy(record, position);
      return { record, box: [x0, y0, x1, y1], vertexCount: deltaCount / 2 };
    },

    decodeRecord(memory, offset) {
      const view = new DataView(memory.buffer, memory.byteOffset + offset); // `true` in its calls means little-endian
      const vertexCount = view.getUint32(recordField.vertexCount, true);
      const measurementCount = view.getUint32(recordField.measurementCount, true);
      const ringCount = view.getUint16(recordField.ringCount, true);
      const idBytes = view.getUint16(recordField.idBytes, true);
      let position = recordHeaderBytes;
      const ringVertices: number[] = [];
      for (let n = 0; n < ringCount; n++, position += 4) ringVertices.push(view.getUint32(position, true));
      const deltasOffset = offset + position;
      position += 4 * vertexCount;
      const measurements: [measurementNumber: number, value: number][] = [];
      for (let n = 0; n < measurementCount; n++, position += 8) {
        measurements.push([view.getUint32(position, true), view.getFloat32(position + 4, true)]);
      }
      const idStart = offset + position;
      return {
        x: view.getFloat64(recordField.x, true),
        y: view.getFloat64(recordField.y, true),
        box: [
          view.getInt32(recordField.box, true),
          view.getInt32(recordField.box + 4, true),
          view.getInt32(recordField.box + 8, true),
          view.getInt32(recordField.box + 12, true),
        ],
        classNumber: view.getUint8(recordField.classNumber),
        ringVertices,
        memory,
        deltasOffset,
        vertexCount,
        measurements,
        id: idBytes === noIdBytes ? null : memory.toString('utf8', idStart, idStart + idBytes),
      };
    },

    encodeBlock(members, firstNumber) {
      let [ringCount, vertexTotal] = [0, 0];
      const bounds: [number, number, number, number] = [Infinity, Infinity, -Infinity, -Infinity];
      const centers: [number, number, number, number] = [Infinity, Infinity, -Infinity, -Infinity];
      for (const { ringVertices, vertexCount, box, x, y } of members) {
        ringCount += ringVertices.length;
        vertexTotal += vertexCount;
        widenBounds(bounds, box);
        widenBounds(centers, [x, y, x, y]);
      }
      const [originX, originY] = [toQuarters(centers[0]), toQuarters(centers[1])];
      const objectCount = members.length;
      // Sections after the header: centres (x of all objects, then y), vertex count of each ring, deltas of all rings, ring count of
      // each object, class of each object.
      const centersStart = blockHeaderBytes;
      let ringPosition = centersStart + 8 * objectCount;
      let deltaPosition = ringPosition + 4 * ringCount;
      const ringCountsStart = deltaPosition + 4 * vertexTotal;
      const classesStart = ringCountsStart + 2 * objectCount;
      const bytes = Buffer.alloc(classesStart + objectCount);
      bytes.writeUInt32LE(blockMagic, blockField.magic);
      bytes.writeUInt32LE(firstNumber, blockField.firstNumber);
      bytes.writeUInt32LE(objectCount, blockField.objectCount);
      bytes.writeUInt32LE(ringCount, blockField.ringCount);
      bytes.writeUInt32LE(vertexTotal, blockField.vertexCount);
      bytes.writeInt32LE(originX, blockField.originX);
      bytes.writeInt32LE(originY, blockField.originY);
      for (const [i, member] of members.entries()) {
        const { x, y, ringVertices, memory, deltasOffset, vertexCount, classNumber } = member;
        bytes.writeInt32LE(toQuarters(x) - originX, centersStart + 4 * i);
        bytes.writeInt32LE(toQuarters(y) - originY, centersStart + 4 * (objectCount + i));
        for (const count of ringVertices) ringPosition = bytes.writeUInt32LE(count, ringPosition);
        memory.copy(bytes, deltaPosition, deltasOffset, deltasOffset + 4 * vertexCount);
        deltaPosition += 4 * vertexCount;
        bytes.writeUInt16LE(ringVertices.length, ringCountsStart + 2 * i);
        bytes.writeUInt8(classNumber, classesStart + i);
      }
      return { bytes, bounds, centers };
    },
  };
}

/** Converts a coordinate in pixels to quarters of a pixel. @throws ImportRejectedError bad_geometry */
function toQuarters(coordinate: number): number {
  const value = Math.round(coordinate * 4);
  // The negated comparison also rejects NaN.
  if (!(Math.abs(value) <= maxQuarters))
    throw new ImportRejectedError('bad_geometry', 'A coordinate is too far away');
  return value;
}

/** Enlarges bounds so that they contain a box. */
export function widenBounds(bounds: [number, number, number, number], [x0, y0, x1, y1]: Box): void {
  if (x0 < bounds[0]) bounds[0] = x0;
  if (y0 < bounds[1]) bounds[1] = y0;
  if (x1 > bounds[2]) bounds[2] = x1;
  if (y1 > bounds[3]) bounds[3] = y1;
}
