/**
 * Encodes objects: as records of the spill file, and in blocks as `getOverlayBlock` of the contract documents them.
 * Coordinates are rounded to quarters of a pixel; centres for counting stay exact.
 */
import { RefusedResult } from './problems.ts';
import type { ResultObject } from './read-objects.ts';

type Box = readonly [number, number, number, number];

/** An object between the two passes. */
export interface StoredObject {
  readonly x: number;
  readonly y: number;
  readonly classNumber: number;
  /** In quarters of a pixel. */
  readonly box: Box;
  readonly ringVertices: readonly number[];
  /** Memory that holds the steps: Int16 x, y of all rings. */
  readonly memory: Buffer;
  readonly stepsAt: number;
  readonly vertices: number;
  readonly measurements: readonly (readonly [column: number, value: number])[];
  readonly id: string | null;
}

interface BlockEncoder {
  encodeRecord(
    object: ResultObject,
    classNumber: number,
    measurements: readonly (readonly [number, number])[],
  ): { readonly record: Buffer; readonly box: Box; readonly vertexCount: number };
  /** Decodes the record at an offset. The object refers to the memory. */
  decodeRecord(memory: Buffer, offset: number): StoredObject;
  encodeBlock(
    members: readonly StoredObject[],
    first: number,
  ): { readonly bytes: Uint8Array; readonly bounds: Box; readonly centers: Box };
}

const blockMagic = 0x3142524c;
export const blockHeaderBytes = 32;
const maxDelta = 32_767;
const maxQuarters = 2_000_000_000;
const maxRings = 65_535;
/** Float64 x, y; Int32 x 4 box; Uint32 vertices, measurements; Uint16 rings, bytes of the id; Uint8 class. */
const recordHeaderBytes = 45;

export function createBlockEncoder(): BlockEncoder {
  let deltas = new Int16Array(4096);
  let filled = 0;

  function push(dx: number, dy: number): void {
    if (filled + 2 > deltas.length) {
      const larger = new Int16Array(deltas.length * 2);
      larger.set(deltas);
      deltas = larger;
    }
    deltas[filled++] = dx;
    deltas[filled++] = dy;
  }

  /** Appends the steps from one position to another; a long edge gets vertices between. @returns their number */
  function step(fromX: number, fromY: number, toX: number, toY: number): number {
    const steps = Math.max(1, Math.ceil(Math.max(Math.abs(toX - fromX), Math.abs(toY - fromY)) / maxDelta));
    let [x, y] = [fromX, fromY];
    for (let n = 1; n <= steps; n++) {
      const nextX = Math.round(fromX + ((toX - fromX) * n) / steps);
      const nextY = Math.round(fromY + ((toY - fromY) * n) / steps);
      push(nextX - x, nextY - y);
      [x, y] = [nextX, nextY];
    }
    return steps;
  }

  return {
    encodeRecord({ rings, x, y, id }, classNumber, measurements) {
      if (rings.length > maxRings) throw new RefusedResult('too_complex', 'An object has too many rings');
      const [centerX, centerY] = [quarters(x), quarters(y)];
      let [x0, y0, x1, y1] =
        rings.length === 0
          ? [centerX, centerY, centerX, centerY]
          : [Infinity, Infinity, -Infinity, -Infinity];
      filled = 0;
      const ringVertices: number[] = [];
      for (const ring of rings) {
        let count = 0;
        let [lastX, lastY] = [centerX, centerY];
        for (let i = 0; i < ring.length; i += 2) {
          const qx = quarters(ring[i] as number);
          const qy = quarters(ring[i + 1] as number);
          if (qx < x0) x0 = qx;
          if (qy < y0) y0 = qy;
          if (qx > x1) x1 = qx;
          if (qy > y1) y1 = qy;
          count += step(lastX, lastY, qx, qy);
          [lastX, lastY] = [qx, qy];
        }
        ringVertices.push(count);
      }
      const name = id === null ? null : Buffer.from(id);
      const record = Buffer.allocUnsafe(
        recordHeaderBytes +
          4 * ringVertices.length +
          2 * filled +
          8 * measurements.length +
          (name?.length ?? 0),
      );
      record.writeDoubleLE(x, 0);
      record.writeDoubleLE(y, 8);
      for (const [i, value] of [x0, y0, x1, y1].entries()) record.writeInt32LE(value, 16 + 4 * i);
      record.writeUInt32LE(filled / 2, 32);
      record.writeUInt32LE(measurements.length, 36);
      record.writeUInt16LE(ringVertices.length, 40);
      record.writeUInt16LE(name === null ? 0xffff : name.length, 42);
      record.writeUInt8(classNumber, 44);
      let at = recordHeaderBytes;
      for (const count of ringVertices) at = record.writeUInt32LE(count, at);
      record.set(new Uint8Array(deltas.buffer, 0, 2 * filled), at);
      at += 2 * filled;
      for (const [column, value] of measurements)
        at = record.writeFloatLE(value, record.writeUInt32LE(column, at));
      name?.copy(record, at);
      return { record, box: [x0, y0, x1, y1], vertexCount: filled / 2 };
    },

    decodeRecord(memory, offset) {
      const view = new DataView(memory.buffer, memory.byteOffset + offset);
      const vertices = view.getUint32(32, true);
      const measured = view.getUint32(36, true);
      const rings = view.getUint16(40, true);
      const idBytes = view.getUint16(42, true);
      let at = recordHeaderBytes;
      const ringVertices: number[] = [];
      for (let n = 0; n < rings; n++, at += 4) ringVertices.push(view.getUint32(at, true));
      const stepsAt = offset + at;
      at += 4 * vertices;
      const measurements: [number, number][] = [];
      for (let n = 0; n < measured; n++, at += 8) {
        measurements.push([view.getUint32(at, true), view.getFloat32(at + 4, true)]);
      }
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
        stepsAt,
        vertices,
        measurements,
        id: idBytes === 0xffff ? null : memory.toString('utf8', offset + at, offset + at + idBytes),
      };
    },

    encodeBlock(members, first) {
      let [rings, vertices] = [0, 0];
      const bounds: [number, number, number, number] = [Infinity, Infinity, -Infinity, -Infinity];
      const centers: [number, number, number, number] = [Infinity, Infinity, -Infinity, -Infinity];
      for (const { ringVertices, vertices: own, box, x, y } of members) {
        rings += ringVertices.length;
        vertices += own;
        widen(bounds, box);
        widen(centers, [x, y, x, y]);
      }
      const [originX, originY] = [quarters(centers[0]), quarters(centers[1])];
      const n = members.length;
      const bytes = Buffer.alloc(blockHeaderBytes + 8 * n + 4 * rings + 4 * vertices + 3 * n);
      bytes.writeUInt32LE(blockMagic, 0);
      bytes.writeUInt32LE(first, 4);
      bytes.writeUInt32LE(n, 8);
      bytes.writeUInt32LE(rings, 12);
      bytes.writeUInt32LE(vertices, 16);
      bytes.writeInt32LE(originX, 20);
      bytes.writeInt32LE(originY, 24);
      let ringAt = blockHeaderBytes + 8 * n;
      let stepAt = ringAt + 4 * rings;
      const countAt = stepAt + 4 * vertices;
      for (const [i, member] of members.entries()) {
        const { x, y, ringVertices, memory, stepsAt, classNumber } = member;
        bytes.writeInt32LE(quarters(x) - originX, blockHeaderBytes + 4 * i);
        bytes.writeInt32LE(quarters(y) - originY, blockHeaderBytes + 4 * (n + i));
        for (const count of ringVertices) ringAt = bytes.writeUInt32LE(count, ringAt);
        memory.copy(bytes, stepAt, stepsAt, stepsAt + 4 * member.vertices);
        stepAt += 4 * member.vertices;
        bytes.writeUInt16LE(ringVertices.length, countAt + 2 * i);
        bytes.writeUInt8(classNumber, countAt + 2 * n + i);
      }
      return { bytes, bounds, centers };
    },
  };
}

/** @throws RefusedResult bad_geometry */
function quarters(position: number): number {
  const value = Math.round(position * 4);
  if (!(Math.abs(value) <= maxQuarters))
    throw new RefusedResult('bad_geometry', 'A coordinate is too far away');
  return value;
}

function widen(bounds: [number, number, number, number], [x0, y0, x1, y1]: Box): void {
  if (x0 < bounds[0]) bounds[0] = x0;
  if (y0 < bounds[1]) bounds[1] = y0;
  if (x1 > bounds[2]) bounds[2] = x1;
  if (y1 > bounds[3]) bounds[3] = y1;
}
