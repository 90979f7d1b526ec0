/**
 * The colour table of a slide: what an ICC profile does to colours, as a grid of sRGB colours between which a viewer
 * interpolates. Relative colorimetric with black point compensation; perceptual where the profile has no other table.
 *
 * The table is computed here and not by libvips, because sharp offers the perceptual intent only, and because bytes from a
 * slide then never reach a C library (docs/decisions/0018-who-converts-colours.md).
 */
import type { Raster } from '../decode/raster.ts';
import { clamp } from './icc-curves.ts';
import { D50, type IccProfile, readIccProfile } from './icc-profile.ts';
import { inOrder, matrixStep, perChannel, type Step } from './icc-table.ts';
import { ProfileError } from './profile-bytes.ts';

export interface ColourTable {
  /** Nodes on each side of the grid. */
  readonly nodes: number;
  /** nodes³ × 3 samples of sRGB; the red of the input varies fastest, then green, then blue. */
  readonly rgb: Uint8Array;
}

/** Enough for profiles of curves and a matrix. Profiles with a grid get their own number of nodes up to the larger limit. */
const NODES = { least: 33, most: 52 };
/** Least difference in luminance between the device's white and black; less is no scanner. */
const LEAST_CONTRAST = 0.05;

/** XYZ relative to D50 to linear sRGB. Source: IEC 61966-2-1, adapted from D65 by the Bradford method. */
const toLinearSrgb = matrixStep([
  3.1338561, -1.6168667, -0.4906146, -0.9787684, 1.9161415, 0.033454, 0.0719453, -0.2289914, 1.4052427,
]);

/** @throws ProfileError */
export function computeColourTable(profile: Uint8Array): ColourTable {
  const icc = readIccProfile(profile);
  if (!(luminanceOf(icc, 1) - luminanceOf(icc, 0) > LEAST_CONTRAST)) {
    throw new ProfileError('broken', 'its white is not lighter than its black');
  }
  const convert = converterOf(icc);
  const nodes = Math.min(Math.max(NODES.least, icc.gridNodes), NODES.most);
  const rgb = new Uint8Array(nodes ** 3 * 3);
  const last = nodes - 1;
  const colour = new Float64Array(3);
  let at = 0;
  for (let blue = 0; blue < nodes; blue++) {
    for (let green = 0; green < nodes; green++) {
      for (let red = 0; red < nodes; red++) {
        colour[0] = red / last;
        colour[1] = green / last;
        colour[2] = blue / last;
        convert(colour);
        for (let channel = 0; channel < 3; channel++)
          rgb[at++] = Math.round((colour[channel] as number) * 255);
      }
    }
  }
  return { nodes, rgb };
}

/** @param sample of all three channels */
function luminanceOf({ toXyz }: IccProfile, sample: number): number {
  const colour = new Float64Array(3).fill(sample);
  toXyz(colour);
  return colour[1] as number;
}

/** Returns the conversion of device colours to sRGB, both of 0…1, in place. */
function converterOf({ toXyz, blackPoint }: IccProfile): Step {
  // Black point compensation scales XYZ so that white stays and the black point becomes 0.
  const compensate: Step = (value) => {
    for (let axis = 0; axis < 3; axis++) {
      const [black, white] = [blackPoint[axis] as number, D50[axis] as number];
      value[axis] = (((value[axis] as number) - black) * white) / (white - black);
    }
  };
  return inOrder([toXyz, compensate, toLinearSrgb, perChannel([encodeSrgb, encodeSrgb, encodeSrgb])]);
}

function encodeSrgb(linear: number): number {
  const value = clamp(linear);
  return value <= 0.0031308 ? 12.92 * value : 1.055 * value ** (1 / 2.4) - 0.055;
}

/** Applies the table to pixels, in place, with linear interpolation along each axis, as a graphics card does. */
export function applyColourTable({ nodes, rgb: table }: ColourTable, { rgb }: Raster): void {
  const [strideG, strideB] = [nodes * 3, nodes * nodes * 3];
  // For each sample: the node before it, and its share of the way to the next one.
  const before = new Uint8Array(256);
  const shares = new Float64Array(256);
  for (let sample = 0; sample < 256; sample++) {
    const position = (sample / 255) * (nodes - 1);
    const node = Math.min(Math.floor(position), nodes - 2);
    before[sample] = node;
    shares[sample] = position - node;
  }
  for (let at = 0; at < rgb.length; at += 3) {
    const [red, green, blue] = [rgb[at] as number, rgb[at + 1] as number, rgb[at + 2] as number];
    const base =
      (before[red] as number) * 3 + (before[green] as number) * strideG + (before[blue] as number) * strideB;
    const [x, y, z] = [shares[red] as number, shares[green] as number, shares[blue] as number];
    for (let channel = 0; channel < 3; channel++) {
      const from = base + channel;
      const near = between(table, from, x) * (1 - y) + between(table, from + strideG, x) * y;
      const far =
        between(table, from + strideB, x) * (1 - y) + between(table, from + strideB + strideG, x) * y;
      rgb[at + channel] = near + (far - near) * z + 0.5;
    }
  }
}

const between = (table: Uint8Array, at: number, share: number): number =>
  (table[at] as number) * (1 - share) + (table[at + 3] as number) * share;
