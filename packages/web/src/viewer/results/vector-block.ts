/** Reads the binary blocks of a vector layer; packages/contract/src/overlays.ts documents their layout. */
import type { Bounds } from '@lamina/annotations';

/** Bounds in pixels of the slide, and the objects of a block. */
export interface BlockEntry extends Bounds {
  readonly first: number;
  readonly objects: number;
}

const entryBytes = 28;
const unitsPerPixel = 4;
const magic = 0x3142_524c;

export function readIndex(buffer: ArrayBuffer): readonly BlockEntry[] {
  const view = new DataView(buffer);
  return Array.from({ length: Math.floor(buffer.byteLength / entryBytes) }, (_, place) => {
    const at = place * entryBytes;
    const bound = (offset: number) => view.getInt32(at + offset, true) / unitsPerPixel;
    return {
      minX: bound(0),
      minY: bound(4),
      maxX: bound(8),
      maxY: bound(12),
      first: view.getUint32(at + 16, true),
      objects: view.getUint32(at + 20, true),
    };
  });
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
