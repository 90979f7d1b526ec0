/**
 * A reader of the tone curves of ICC profiles. A curve maps 0…1 to 0…1.
 *
 * Source: ICC.1:2022 sections 10.6 (curveType) and 10.18 (parametricCurveType).
 */
import { type ProfileBytes, ProfileError } from './profile-bytes.ts';

export type Curve = (value: number) => number;

/** A curve, and the offset of the first byte after it in the profile. */
interface PlacedCurve {
  readonly curve: Curve;
  readonly end: number;
}

/** Number of parameters of a parametric curve, by its function type, 0 to 4. */
const PARAMETER_COUNTS = [1, 3, 4, 5, 7] as const;

/** Reads the curve at an offset. @throws ProfileError when there is no curve */
export function readCurve(bytes: ProfileBytes, at: number): PlacedCurve {
  const type = bytes.signature(at);
  if (type === 'curv') return readSampledCurve(bytes, at);
  if (type === 'para') return readParametricCurve(bytes, at);
  throw new ProfileError('broken', `a curve has the unknown type ${JSON.stringify(type)}`);
}

/**
 * Returns a curve that interpolates linearly between at least two samples at equal distances, the first at 0, the last at 1.
 *
 * @param maximum sample value that stands for 1
 */
export function sampledCurve(samples: ArrayLike<number>, maximum: number): Curve {
  const last = samples.length - 1;
  return (value) => {
    const position = clamp01(value) * last;
    const index = Math.min(Math.floor(position), last - 1);
    const [sample, nextSample] = [samples[index] as number, samples[index + 1] as number];
    return (sample + (nextSample - sample) * (position - index)) / maximum;
  };
}

/** Limits a number to 0…1; NaN becomes 0. */
export function clamp01(value: number): number {
  return value > 0 ? Math.min(value, 1) : 0;
}

/** Reads curveType: 4 bytes of type, 4 reserved bytes, the count of samples, 2 bytes per sample. */
function readSampledCurve(bytes: ProfileBytes, at: number): PlacedCurve {
  const count = bytes.uint32(at + 8);
  const end = at + 12 + count * 2;
  // A curve without samples is the identity. A single number is not a sample but the exponent, with 8 fractional bits.
  if (count === 0) return { curve: clamp01, end };
  if (count === 1) {
    const gamma = bytes.uint16(at + 12) / 256;
    return { curve: (value) => clamp01(value) ** gamma, end };
  }
  return { curve: sampledCurve(bytes.uint16s(at + 12, count), 0xffff), end };
}

/** Reads parametricCurveType: 4 bytes of type, 4 reserved bytes, 2 of function type, 2 reserved bytes, 4 bytes per parameter. */
function readParametricCurve(bytes: ProfileBytes, at: number): PlacedCurve {
  const type = bytes.uint16(at + 8);
  const count = PARAMETER_COUNTS[type];
  if (count === undefined)
    throw new ProfileError('broken', `a parametric curve has the unknown function type ${type}`);
  // The parameter names of the standard; a type has the first `count` of them.
  const [g = 1, a = 1, b = 0, c = 0, d = 0, e = 0, f = 0] = bytes.fixedNumbers(at + 12, count);
  const end = at + 12 + count * 4;
  if (type === 0) return { curve: (value) => clamp01(clamp01(value) ** g), end };
  // Types 1 to 4: the curve is (a·x + b)^g + offset for x ≥ breakAt, and a constant or a straight line below breakAt.
  const breakAt = type >= 3 ? d : -b / a;
  const belowBreak = curveBelowBreak(type, { c, f });
  const offset = type === 2 ? c : e;
  return {
    curve(value) {
      const x = clamp01(value);
      return clamp01(x >= breakAt ? Math.max(0, a * x + b) ** g + offset : belowBreak(x));
    },
    end,
  };
}

/** Returns the part of a parametric curve below `breakAt`: 0, a constant, or a straight line. */
function curveBelowBreak(type: number, { c, f }: { readonly c: number; readonly f: number }): Curve {
  if (type === 1) return () => 0;
  if (type === 2) return () => c;
  return (x) => c * x + f;
}
