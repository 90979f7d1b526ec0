/**
 * A reader of the lookup tables of ICC profiles, which convert three device samples to three encoded samples of the profile
 * connection space. The type of a table is `mft1` (lut8Type), `mft2` (lut16Type) or `mAB ` (lutAToBType).
 *
 * Source: ICC.1:2022 sections 10.10 (lut16Type), 10.11 (lut8Type) and 10.12 (lutAToBType).
 */
import { type Curve, clamp01, readCurve, sampledCurve } from './icc-curves.ts';
import { type ProfileBytes, ProfileError } from './profile-bytes.ts';

export type Triple = readonly [number, number, number];
/**
 * One step of a colour conversion, which replaces the three numbers in place. A colour table has up to 52³ ≈ 140,000 nodes,
 * and a new array for each step would take most of the time.
 */
export type Step = (value: Float64Array) => void;

/** The type of a lookup table, which determines how the table encodes its results. */
export type TableKind = 'mft1' | 'mft2' | 'mAB ';

interface LookupTable {
  readonly kind: TableKind;
  readonly step: Step;
  /** Nodes on each side of the grid; 0 without a grid. */
  readonly gridNodes: number;
}

/** Reads the table at an offset. @throws ProfileError when it is damaged or does not have three inputs and outputs */
export function readLookupTable(bytes: ProfileBytes, at: number): LookupTable {
  const kind = bytes.signature(at);
  if (kind !== 'mft1' && kind !== 'mft2' && kind !== 'mAB ') {
    throw new ProfileError('broken', `a lookup table has the unknown type ${JSON.stringify(kind)}`);
  }
  if (bytes.uint8(at + 8) !== 3 || bytes.uint8(at + 9) !== 3) {
    throw new ProfileError('broken', 'a lookup table does not have three inputs and three outputs');
  }
  return kind === 'mAB ' ? readLutAToB(bytes, at) : readLut8Or16(bytes, at, kind);
}

/** Reads lut8Type and lut16Type. Their matrix is ignored, because it applies only to a device space of XYZ. */
function readLut8Or16(bytes: ProfileBytes, at: number, kind: 'mft1' | 'mft2'): LookupTable {
  const isWide = kind === 'mft2';
  // Nodes per side at byte 10, the ignored matrix at 12 to 47; lut16Type also states the numbers of curve entries at 48 and 50.
  const nodes = bytes.uint8(at + 10);
  const inputEntries = isWide ? bytes.uint16(at + 48) : 256;
  const outputEntries = isWide ? bytes.uint16(at + 50) : 256;
  if (nodes < 2 || inputEntries < 2 || outputEntries < 2)
    throw new ProfileError('broken', 'the grid or a curve of a lookup table has fewer than two entries');
  const [sampleBytes, maximum] = isWide ? [2, 0xffff] : [1, 0xff];
  const samples = (from: number, count: number) =>
    isWide ? bytes.uint16s(from, count) : bytes.uint8s(from, count);
  const curves = (from: number, entries: number): Step =>
    curvesStep(
      [0, 1, 2].map((channel) =>
        sampledCurve(samples(from + channel * entries * sampleBytes, entries), maximum),
      ),
    );
  const inputsAt = at + (isWide ? 52 : 48);
  const gridAt = inputsAt + 3 * inputEntries * sampleBytes;
  const gridSamples = nodes ** 3 * 3;
  const grid = gridStep(samples(gridAt, gridSamples), [nodes, nodes, nodes], maximum);
  const output = curves(gridAt + gridSamples * sampleBytes, outputEntries);
  const input = curves(inputsAt, inputEntries);
  return { kind, step: chainSteps([input, grid, output]), gridNodes: nodes };
}

/** Reads lutAToBType, which has A curves, a grid, M curves, a matrix and B curves; only the B curves are mandatory. */
function readLutAToB(bytes: ProfileBytes, at: number): LookupTable {
  // Offsets of the parts from the start of the table; 0 for a part that is absent.
  const [b = 0, matrix = 0, m = 0, grid = 0, a = 0] = [12, 16, 20, 24, 28].map((field) =>
    bytes.uint32(at + field),
  );
  const steps: Step[] = [];
  let gridNodes = 0;
  if (a !== 0) steps.push(readCurves(bytes, at + a));
  if (grid !== 0) {
    const sides = [0, 1, 2].map((axis) => bytes.uint8(at + grid + axis)) as unknown as Triple;
    if (Math.min(...sides) < 2)
      throw new ProfileError('broken', 'the grid of a lookup table has fewer than two nodes per axis');
    // Sixteen bytes state the nodes per axis, one the bytes per sample (1 or 2), three are padding; then come the samples.
    const isWide = bytes.uint8(at + grid + 16) === 2;
    const count = sides[0] * sides[1] * sides[2] * 3;
    const from = at + grid + 20;
    const samples = isWide ? bytes.uint16s(from, count) : bytes.uint8s(from, count);
    steps.push(gridStep(samples, sides, isWide ? 0xffff : 0xff));
    gridNodes = Math.max(...sides);
  }
  if (m !== 0) steps.push(readCurves(bytes, at + m));
  if (matrix !== 0) steps.push(matrixStep(bytes.fixedNumbers(at + matrix, 12)));
  if (b === 0) throw new ProfileError('broken', 'a lookup table has no output curves');
  steps.push(readCurves(bytes, at + b));
  return { kind: 'mAB ', step: chainSteps(steps), gridNodes };
}

/** Reads three consecutive curves, each of which begins at a multiple of four bytes. */
function readCurves(bytes: ProfileBytes, at: number): Step {
  const curves: Curve[] = [];
  let next = at;
  for (let channel = 0; channel < 3; channel++) {
    const { curve, end } = readCurve(bytes, next);
    curves.push(curve);
    next = at + Math.ceil((end - at) / 4) * 4;
  }
  return curvesStep(curves);
}

/** Returns a step that executes all steps in order. */
export function chainSteps(steps: readonly Step[]): Step {
  return (value) => {
    for (const step of steps) step(value);
  };
}

/** Returns a step that applies one of three curves to each of the three channels. */
export function curvesStep([first, second, third]: readonly Curve[]): Step {
  if (!first || !second || !third) throw new ProfileError('broken', 'a curve is missing');
  return (value) => {
    value[0] = first(value[0] as number);
    value[1] = second(value[1] as number);
    value[2] = third(value[2] as number);
  };
}

/** Returns a step that multiplies by a matrix. @param numbers nine factors row by row, then up to three numbers to add */
export function matrixStep(numbers: readonly number[]): Step {
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0, i = 0, x0 = 0, y0 = 0, z0 = 0] = numbers;
  return (value) => {
    const [x, y, z] = value as unknown as Triple;
    value[0] = a * x + b * y + c * z + x0;
    value[1] = d * x + e * y + f * z + y0;
    value[2] = g * x + h * y + i * z + z0;
  };
}

/**
 * Returns a step that interpolates in the grid, as Little CMS does: between the four corners of the tetrahedron that contains the value,
 * where six tetrahedra make up a cell of eight nodes.
 *
 * @param samples three samples for each node; the index of the first axis varies most slowly
 * @param sides number of nodes along each axis
 * @param maximum sample value that stands for 1
 */
function gridStep(samples: ArrayLike<number>, sides: Triple, maximum: number): Step {
  const strides: Triple = [sides[1] * sides[2] * 3, sides[2] * 3, 3];
  // Along each axis, the distance from the lower node of the cell as a share of the cell, 0…1.
  const shares = new Float64Array(3);
  return (value) => {
    let corner0 = 0; // index of the first sample of the lowest corner
    for (let axis = 0; axis < 3; axis++) {
      const last = (sides[axis] as number) - 1;
      const position = clamp01(value[axis] as number) * last;
      const node = Math.min(Math.floor(position), last - 1);
      shares[axis] = position - node;
      corner0 += node * (strides[axis] as number);
    }
    // Walks from the lowest corner of the cell to the highest: first along the axis with the largest share, and along the
    // axis with the smallest share as the third.
    let axis1 = 0;
    let axis3 = 2;
    for (let axis = 1; axis < 3; axis++) if (shareOf(shares, axis) > shareOf(shares, axis1)) axis1 = axis;
    for (let axis = 1; axis >= 0; axis--) if (shareOf(shares, axis) < shareOf(shares, axis3)) axis3 = axis;
    if (axis1 === axis3) [axis1, axis3] = [0, 2]; // All shares are equal, so any order gives the same result.
    const axis2 = 3 - axis1 - axis3; // the numbers of the three axes are 0, 1 and 2
    const corner1 = corner0 + (strides[axis1] as number);
    const corner2 = corner1 + (strides[axis2] as number);
    const corner3 = corner2 + (strides[axis3] as number);
    const [share1, share2, share3] = [shareOf(shares, axis1), shareOf(shares, axis2), shareOf(shares, axis3)];
    for (let channel = 0; channel < 3; channel++) {
      value[channel] =
        ((samples[corner0 + channel] as number) * (1 - share1) +
          (samples[corner1 + channel] as number) * (share1 - share2) +
          (samples[corner2 + channel] as number) * (share2 - share3) +
          (samples[corner3 + channel] as number) * share3) /
        maximum;
    }
  };
}

const shareOf = (shares: Float64Array, axis: number): number => shares[axis] as number;
