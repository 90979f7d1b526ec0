/**
 * Imports the objects of a vector layer in two passes, because ten million objects do not fit into memory. The first
 * pass writes each object to a temporary file (the spill file) and keeps only 17 bytes per object in memory: offset,
 * length, sort key and tree number (0, 1 or 2 for small, medium or large objects). Then the objects are sorted by tree
 * and position (see morton-order.ts), and the second pass writes them in blocks to the file of the layer. An object
 * belongs to the block of its centre and is never clipped. Each tree has its own blocks. Layout of the file: docs/decisions/0023.
 *
 * This module is long because both passes share the state of the objects.
 */
import fs from 'node:fs';
import { gzipSync } from 'node:zlib';
import { resultLimits } from '@lamina/contract/result-limits';
import { ContainerFull, type ContainerWriter } from './container.ts';
import { createDensity, type DensityLevel } from './density.ts';
import { createBlockEncoder, type StoredObject, widenBounds } from './encode-block.ts';
import { blockRanges, mortonKey, sortedOrder, splitByRecordBytes } from './morton-order.ts';
import { ImportRejectedError } from './problems.ts';
import { categoryColor } from './raster-import.ts';
import type { Color } from './read-class.ts';
import type { ResultObject } from './read-objects.ts';
import { createSpillReader } from './spill-reader.ts';

interface VectorClass {
  readonly name: string;
  readonly color: Color;
  readonly count: number;
}

interface VectorMeasurement {
  readonly name: string;
  readonly min: number | null;
  readonly max: number | null;
  readonly count: number; // number of objects that have a value; if 0, `min` and `max` are null
}

export interface VectorDescription {
  readonly kind: 'vector';
  readonly objects: number;
  readonly vertices: number;
  /** Bounds of all outlines in quarters of a pixel; null if there are no objects. */
  readonly bounds: readonly [number, number, number, number] | null;
  readonly classes: readonly VectorClass[];
  readonly measurements: readonly VectorMeasurement[];
  /** Number of blocks. */
  readonly blocks: number;
  /** Maximum number of objects in a block. */
  readonly largestBlock: number;
  /** Offset of the index in the file, with `indexEntryBytes` for each block. */
  readonly index: number;
  /** Offset of the centres: Float64 x, y of each object. */
  readonly centers: number;
  /** Offset of the classes: one byte for each object. */
  readonly classBytes: number;
  /** Offset of the values of each measurement: Float32 of each object, NaN without a value. */
  readonly columns: readonly number[];
  readonly density: readonly DensityLevel[];
}

/** Offsets of the fields of an index entry, which describes one block. */
export const indexField = {
  offset: 0, // Float64
  length: 8, // Uint32
  firstNumber: 12, // Uint32: number of the first object in the layer
  objectCount: 16, // Uint32
  bounds: 20, // Int32 x 4: bounds of the outlines in quarters of a pixel
  centers: 36, // Float64 x 4: bounds of the centres in pixels
  idsOffset: 68, // Float64
  idsLength: 76, // Uint32; 0 when no object has an id
} as const;
export const indexEntryBytes = 84; // with 4 reserved bytes

const noClass = 'Unclassified';
const noClassColor: Color = [128, 128, 128];
const spillBufferBytes = 2 ** 20;
/**
 * Objects whose longer side has at least 1,024 or 16,384 pixels, here in quarters of a pixel, are medium or large. Each of the three
 * sizes has a tree.
 */
const [mediumSide, largeSide] = [4 * 1024, 4 * 16_384] as const;
/** Number of objects for which the arrays of `createVectorImporter` have space at first. */
const initialCapacity = 4096;

interface VectorOptions {
  readonly spillPath: string;
  readonly slide: { readonly width: number; readonly height: number };
  /** Transform from coordinates of the file to pixels of level 0 (full resolution): a, b, c, d, e, f. */
  readonly matrix: readonly number[];
  readonly maxObjects?: number; // default: the limit of the contract
  readonly maxSpillBytes: number;
}

interface VectorImporter {
  /** Adds an object in the first pass. @throws ImportRejectedError, ContainerFull */
  add(object: ResultObject): void;
  /** Runs the second pass, which writes the sections of the file, and returns their description. */
  finish(onProgress: (fraction: number) => void): VectorDescription;
  /** Closes the spill file, which the system then deletes. */
  close(): void;
}

interface ClassSoFar {
  readonly name: string;
  color: Color | null; // null until an object states it
  count: number;
}

/** Statistics of a measurement over the objects that have been added so far. */
interface MeasurementSoFar {
  readonly name: string;
  min: number;
  max: number;
  count: number;
}

/** Creates an importer. This function is longer than 60 lines because both passes share its state. */
export function createVectorImporter(writer: ContainerWriter, options: VectorOptions): VectorImporter {
  const { slide, matrix, spillPath } = options;
  const maxObjects = options.maxObjects ?? resultLimits.objects;
  const [a, b, c, d, e, f] = matrix as readonly [number, number, number, number, number, number];
  const isIdentity = a === 1 && b === 0 && c === 0 && d === 1 && e === 0 && f === 0;
  const spill = fs.openSync(spillPath, 'w+');
  fs.rmSync(spillPath); // the file has no name from now on, so the system deletes it even if the process is killed
  /** Records that are not written to the spill file yet. */
  let spillBuffer = Buffer.allocUnsafe(spillBufferBytes);
  let bufferedBytes = 0;
  /** Size of the spill file in bytes, without the buffered records. */
  let spilledBytes = 0;

  let objectCount = 0;
  let totalVertices = 0;
  /** For each object: offset and length of its record, Morton key, and number of its tree. The arrays grow when they are full. */
  let offsets = new Float64Array(initialCapacity);
  let lengths = new Uint32Array(initialCapacity);
  let keys = new Uint32Array(initialCapacity);
  let treeNumbers = new Uint8Array(initialCapacity);
  const bounds: [number, number, number, number] = [Infinity, Infinity, -Infinity, -Infinity];
  const centerBounds: [number, number, number, number] = [Infinity, Infinity, -Infinity, -Infinity];
  const classNumbers = new Map<string, number>();
  const classList: ClassSoFar[] = [];
  const measurementNumbers = new Map<string, number>();
  const measurementList: MeasurementSoFar[] = [];
  const encoder = createBlockEncoder();
  const spillReader = createSpillReader(spill);

  let isSpillOpen = true;
  function closeSpill(): void {
    if (isSpillOpen) fs.closeSync(spill);
    isSpillOpen = false;
  }

  /** Counts an object in its class, which is added if it is new. @returns the number of the class */
  function countInClass({ className, classColor }: ResultObject): number {
    const name = className ?? noClass;
    let classNumber = classNumbers.get(name);
    if (classNumber === undefined) {
      classNumber = classList.length;
      if (classNumber >= resultLimits.classes)
        throw new ImportRejectedError('too_many_classes', 'Too many classes');
      classNumbers.set(name, classNumber);
      classList.push({ name, color: name === noClass ? noClassColor : null, count: 0 });
    }
    const classSoFar = classList[classNumber] as ClassSoFar;
    classSoFar.color ??= classColor;
    classSoFar.count++;
    return classNumber;
  }

  /** Returns the number of a measurement, which is added if new; null when the layer has too many measurements. */
  function findOrAddMeasurement(name: string): number | null {
    const existingNumber = measurementNumbers.get(name);
    if (existingNumber !== undefined) return existingNumber;
    if (measurementList.length >= resultLimits.measurements) return null;
    measurementNumbers.set(name, measurementList.length);
    measurementList.push({ name, min: Infinity, max: -Infinity, count: 0 });
    return measurementList.length - 1;
  }

  /** Returns the measurements of an object with their numbers, and updates the statistics of the measurements. */
  function collectMeasurements(object: ResultObject): [measurementNumber: number, value: number][] {
    const values: [measurementNumber: number, value: number][] = [];
    for (const [name, value] of object.measurements) {
      const measurementNumber = findOrAddMeasurement(name);
      if (measurementNumber === null) continue;
      const measurement = measurementList[measurementNumber] as MeasurementSoFar;
      const stored = Math.fround(value); // the file stores Float32
      if (!Number.isFinite(stored)) continue;
      measurement.count++;
      if (stored < measurement.min) measurement.min = stored;
      if (stored > measurement.max) measurement.max = stored;
      values.push([measurementNumber, stored]);
    }
    return values;
  }

  /** Appends a record to the spill file, through the buffer. */
  function spillRecord(record: Buffer): void {
    if (bufferedBytes + record.length > spillBuffer.length) flush();
    if (record.length > spillBuffer.length) spillBuffer = Buffer.allocUnsafe(record.length);
    record.copy(spillBuffer, bufferedBytes);
    bufferedBytes += record.length;
  }

  /** Writes the buffered records to the spill file. @throws ContainerFull */
  function flush(): void {
    for (let written = 0; written < bufferedBytes; ) {
      written += fs.writeSync(spill, spillBuffer, written, bufferedBytes - written, spilledBytes + written);
    }
    spilledBytes += bufferedBytes;
    bufferedBytes = 0;
    if (spilledBytes > options.maxSpillBytes) throw new ContainerFull();
  }

  /** Returns an object in pixels of level 0. */
  function transformToSlide(object: ResultObject): ResultObject {
    if (isIdentity) return object;
    const rings = object.rings.map((ring) => {
      const transformed: number[] = [];
      for (let i = 0; i < ring.length; i += 2) {
        const [x, y] = [ring[i] as number, ring[i + 1] as number];
        transformed.push(a * x + c * y + e, b * x + d * y + f);
      }
      return transformed;
    });
    const { x, y } = object;
    return { ...object, rings, x: a * x + c * y + e, y: b * x + d * y + f };
  }

  return {
    add(original) {
      if (objectCount >= maxObjects)
        throw new ImportRejectedError('too_many_objects', `More than ${maxObjects} objects`);
      const object = transformToSlide(original);
      const classNumber = countInClass(object);
      const { record, box, vertexCount } = encoder.encodeRecord(
        object,
        classNumber,
        collectMeasurements(object),
      );
      if (objectCount === offsets.length) {
        offsets = copyInto(new Float64Array(objectCount * 2), offsets);
        lengths = copyInto(new Uint32Array(objectCount * 2), lengths);
        keys = copyInto(new Uint32Array(objectCount * 2), keys);
        treeNumbers = copyInto(new Uint8Array(objectCount * 2), treeNumbers);
      }
      offsets[objectCount] = spilledBytes + bufferedBytes;
      lengths[objectCount] = record.length;
      keys[objectCount] = mortonKey(object.x / slide.width, object.y / slide.height);
      const longerSide = Math.max(box[2] - box[0], box[3] - box[1]);
      treeNumbers[objectCount] = Number(longerSide >= mediumSide) + Number(longerSide >= largeSide); // 0: small, 2: large
      spillRecord(record);
      widenBounds(bounds, box);
      widenBounds(centerBounds, [object.x, object.y, object.x, object.y]);
      objectCount++;
      totalVertices += vertexCount;
    },

    finish(onProgress) {
      flush();
      // The position of an object in `order` becomes its number in the layer.
      const order = sortedOrder(objectCount, keys, treeNumbers);
      const ranges = splitByRecordBytes(
        blockRanges(order, keys, treeNumbers),
        (n) => lengths[order[n] as number] as number,
      );
      const density = createDensity(centerBounds, classList.length);
      const centersOffset = writer.reserve(16 * objectCount);
      const classesOffset = writer.reserve(objectCount);
      const measurementOffsets = measurementList.map(() => writer.reserve(4 * objectCount));
      const index = Buffer.alloc(indexEntryBytes * ranges.length);
      let largestBlock = 0;
      for (const [n, [start, end]] of ranges.entries()) {
        const members = readMembers(start, end);
        for (const { x, y, classNumber } of members) density.add(x, y, classNumber);
        const block = encoder.encodeBlock(members, start);
        const packed = gzipSync(block.bytes, { level: 1 });
        const hasIds = members.some(({ id }) => id !== null);
        const ids = hasIds ? gzipSync(JSON.stringify(members.map(({ id }) => id)), { level: 1 }) : null;
        const entryOffset = n * indexEntryBytes;
        index.writeDoubleLE(writer.append(packed), entryOffset + indexField.offset);
        index.writeUInt32LE(packed.length, entryOffset + indexField.length);
        index.writeUInt32LE(start, entryOffset + indexField.firstNumber);
        index.writeUInt32LE(members.length, entryOffset + indexField.objectCount);
        for (const [i, value] of block.bounds.entries())
          index.writeInt32LE(value, entryOffset + indexField.bounds + 4 * i);
        for (const [i, value] of block.centers.entries())
          index.writeDoubleLE(value, entryOffset + indexField.centers + 8 * i);
        index.writeDoubleLE(ids === null ? 0 : writer.append(ids), entryOffset + indexField.idsOffset);
        index.writeUInt32LE(ids?.length ?? 0, entryOffset + indexField.idsLength);
        writeObjectData(members, start);
        largestBlock = Math.max(largestBlock, members.length);
        if (n % 64 === 0) onProgress(n / ranges.length); // after every 64th block
      }
      closeSpill();
      return {
        kind: 'vector',
        objects: objectCount,
        vertices: totalVertices,
        bounds: objectCount === 0 ? null : bounds,
        classes: classList.map(({ name, color, count }, i) => ({
          name,
          color: color ?? categoryColor(i),
          count,
        })),
        measurements: measurementList.map(({ name, min, max, count }) => ({
          name,
          min: count === 0 ? null : min,
          max: count === 0 ? null : max,
          count,
        })),
        blocks: ranges.length,
        largestBlock,
        index: writer.append(index),
        centers: centersOffset,
        classBytes: classesOffset,
        columns: measurementOffsets,
        density: density.write(writer),
      };

      /** Reads the objects at these positions of the order from the spill file; `end` is exclusive. */
      function readMembers(start: number, end: number): StoredObject[] {
        const records = Array.from(order.subarray(start, end), (objectNumber) => ({
          offset: offsets[objectNumber] as number,
          length: lengths[objectNumber] as number,
        }));
        const { memory, offsets: recordOffsets } = spillReader.read(records);
        return recordOffsets.map((recordOffset) => encoder.decodeRecord(memory, recordOffset));
      }

      /** Writes centres, classes and measurements of objects whose numbers in the layer begin with `first`. */
      function writeObjectData(members: readonly StoredObject[], first: number): void {
        const points = Buffer.alloc(16 * members.length);
        members.forEach(({ x, y }, i) => {
          points.writeDoubleLE(x, 16 * i);
          points.writeDoubleLE(y, 16 * i + 8);
        });
        writer.writeAt(centersOffset + 16 * first, points);
        writer.writeAt(
          classesOffset + first,
          Uint8Array.from(members, ({ classNumber }) => classNumber),
        );
        if (measurementOffsets.length === 0) return;
        const values = measurementOffsets.map(() => new Float32Array(members.length).fill(Number.NaN));
        members.forEach(({ measurements }, i) => {
          for (const [number, value] of measurements) (values[number] as Float32Array)[i] = value;
        });
        values.forEach((column, n) => {
          writer.writeAt((measurementOffsets[n] as number) + 4 * first, new Uint8Array(column.buffer));
        });
      }
    },

    close: closeSpill,
  };
}

/** Copies the values of an array to the start of a larger one, and returns the larger one. */
function copyInto<T extends Float64Array | Uint32Array | Uint8Array>(larger: T, values: T): T {
  larger.set(values);
  return larger;
}
