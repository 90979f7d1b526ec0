/**
 * Converts an ICC profile to a colour table (3D lookup table): a grid of sRGB colours. `applyColourTable` and the viewer
 * interpolate between the nodes of the grid. The conversion is relative colorimetric with black point compensation, or perceptual
 * if the profile has only a perceptual table.
 *
 * Lamina computes the table itself, because sharp (libvips) supports only the perceptual intent, and because the bytes of a
 * profile must not reach a C library (docs/decisions/0018-who-converts-colours.md).
 */
import type { Raster } from '../decode/raster.ts';
import { clamp01 } from './icc-curves.ts';
import { D50, type IccProfile, readIccProfile } from './icc-profile.ts';
import { chainSteps, curvesStep, matrixStep, type Step } from './icc-table.ts';
import { ProfileError } from './profile-bytes.ts';

export interface ColourTable {
  /** Nodes on each side of the grid. */
  readonly nodes: number;
  /** nodes³ × 3 samples of sRGB; the red of the input varies fastest, then green, then blue. */
  readonly rgb: Uint8Array;
}

/**
 * Nodes on each side of the grid. The minimum suffices for profiles of curves and a matrix; a profile with its own grid gets
 * as many nodes as that grid has, up to the maximum.
 */
const NODES = { min: 33, max: 52 };
/** Minimum difference between the luminances (0…1) of white and black; a profile with less is rejected. */
const MIN_CONTRAST = 0.05;

/** Converts XYZ relative to D50 to linear sRGB. Source: IEC 61966-2-1, adapted from D65 by the Bradford method. */
const toLinearSrgb = matrixStep([
  3.1338561, -1.6168667, -0.4906146, -0.9787684, 1.9161415, 0.033454, 0.0719453, -0.2289914, 1.4052427,
]);

/** Computes the colour table of an ICC profile. @throws ProfileError when the profile cannot be used */
export function computeColourTable(profile: Uint8Array): ColourTable {
  const icc = readIccProfile(profile);
  // Negated, so that NaN is rejected too.
  if (!(luminanceOf(icc, 1) - luminanceOf(icc, 0) > MIN_CONTRAST)) {
    throw new ProfileError('broken', 'the white of the profile is hardly lighter than its black');
  }
  const convert = converterOf(icc);
  const nodes = Math.min(Math.max(NODES.min, icc.gridNodes), NODES.max);
  const rgb = new Uint8Array(nodes ** 3 * 3);
  const last = nodes - 1;
  const colour = new Float64Array(3);
  let sampleIndex = 0;
  for (let blue = 0; blue < nodes; blue++) {
    for (let green = 0; green < nodes; green++) {
      for (let red = 0; red < nodes; red++) {
        colour[0] = red / last;
        colour[1] = green / last;
        colour[2] = blue / last;
        convert(colour);
        for (let channel = 0; channel < 3; channel++)
          rgb[sampleIndex++] = Math.round((colour[channel] as number) * 255);
      }
    }
  }
  return { nodes, rgb };
}

/** Returns the luminance (Y) of a neutral colour. @param sample value of all three channels, 0…1 */
function luminanceOf({ toXyz }: IccProfile, sample: number): number {
  const colour = new Float64Array(3).fill(sample);
  toXyz(colour);
  return colour[1] as number;
}

/** Returns a step that converts a device colour to sRGB in place. The samples of both colours are 0…1. */
function converterOf({ toXyz, blackPoint }: IccProfile): Step {
  // Black point compensation scales XYZ so that white is unchanged and the black point becomes 0.
  const compensate: Step = (value) => {
    for (let axis = 0; axis < 3; axis++) {
      const [black, white] = [blackPoint[axis] as number, D50[axis] as number];
      value[axis] = (((value[axis] as number) - black) * white) / (white - black);
    }
  };
  return chainSteps([toXyz, compensate, toLinearSrgb, curvesStep([encodeSrgb, encodeSrgb, encodeSrgb])]);
}

/** Applies the sRGB tone curve. Source: IEC 61966-2-1. */
function encodeSrgb(linear: number): number {
  const value = clamp01(linear);
  return value <= 0.0031308 ? 12.92 * value : 1.055 * value ** (1 / 2.4) - 0.055;
}

/** Applies the table to pixels, in place, with linear interpolation along each axis, as a graphics card does. */
export function applyColourTable({ nodes, rgb: table }: ColourTable, { rgb }: Raster): void {
  // Distance in samples between neighbouring nodes along the green and blue axes. Along the red axis it is 3.
  const [greenStride, blueStride] = [nodes * 3, nodes * nodes * 3];
  // For each of the 256 sample values: the node below it, and its distance from that node as a share of the node spacing, 0…1.
  const nodeBelow = new Uint8Array(256);
  const shares = new Float64Array(256);
  for (let sample = 0; sample < 256; sample++) {
    const position = (sample / 255) * (nodes - 1);
    const node = Math.min(Math.floor(position), nodes - 2);
    nodeBelow[sample] = node;
    shares[sample] = position - node;
  }
  for (let i = 0; i < rgb.length; i += 3) {
    const [red, green, blue] = [rgb[i] as number, rgb[i + 1] as number, rgb[i + 2] as number];
    const [redNode, greenNode] = [nodeBelow[red] as number, nodeBelow[green] as number];
    const nodeStart = redNode * 3 + greenNode * greenStride + (nodeBelow[blue] as number) * blueStride;
    const [redShare, greenShare] = [shares[red] as number, shares[green] as number];
    const blueShare = shares[blue] as number;
    for (let channel = 0; channel < 3; channel++) {
      const lower = nodeStart + channel;
      const upper = lower + blueStride;
      const lowerBlue =
        alongRed(table, lower, redShare) * (1 - greenShare) +
        alongRed(table, lower + greenStride, redShare) * greenShare;
      const upperBlue =
        alongRed(table, upper, redShare) * (1 - greenShare) +
        alongRed(table, upper + greenStride, redShare) * greenShare;
      rgb[i + channel] = lowerBlue + (upperBlue - lowerBlue) * blueShare + 0.5; // + 0.5: the Uint8Array truncates
    }
  }
}

/** Interpolates between a node and the next one along the red axis. */
const alongRed = (table: Uint8Array, index: number, share: number): number =>
  (table[index] as number) * (1 - share) + (table[index + 3] as number) * share;
