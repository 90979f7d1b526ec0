/** The difference of two colours as people see it, by the formula CIEDE2000, for the part `colours` of the bench. */

/** A colour in CIE L*a*b*: lightness from 0 to 100, a from green to red, b from blue to yellow. */
export type Lab = readonly [lightness: number, a: number, b: number];

/** Converts sRGB to L*a*b* with the white point D65. @param rgb 0 to 255; fractions are allowed. Source: IEC 61966-2-1 */
export function labOf(rgb: readonly number[]): Lab {
  const [red = 0, green = 0, blue = 0] = rgb.map((sample) => {
    const value = sample / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4; // linear light
  });
  /** The function f of the L*a*b* definition. */
  const f = (value: number) =>
    value > (6 / 29) ** 3 ? Math.cbrt(value) : value / (3 * (6 / 29) ** 2) + 4 / 29;
  // f of X, Y and Z, each divided by its value for the white point.
  const x = f((0.4124 * red + 0.3576 * green + 0.1805 * blue) / 0.9505);
  const y = f(0.2126 * red + 0.7152 * green + 0.0722 * blue);
  const z = f((0.0193 * red + 0.1192 * green + 0.9505 * blue) / 1.089);
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

/** Degrees per radian. */
const degrees = 180 / Math.PI;
/** Returns the cosine of an angle in degrees. */
const cosOf = (angle: number) => Math.cos(angle / degrees);

/** Returns -360, 0 or 360 degrees: the turn that brings the difference of two hues into the range from -180 to 180. */
function fullTurnBetween(h1: number, h2: number): number {
  if (h2 - h1 > 180) return -360;
  return h2 - h1 < -180 ? 360 : 0;
}

/**
 * Returns the difference ΔE2000; about 1 is just visible. Hues are in degrees. The names c, h, t and the weights are those of the source.
 *
 * Source: G. Sharma and others, The CIEDE2000 color-difference formula, Color Research and Application 30 (2005), 21.
 */
export function deltaE2000([l1, a1, b1]: Lab, [l2, a2, b2]: Lab): number {
  const chroma = (Math.hypot(a1, b1) + Math.hypot(a2, b2)) / 2;
  const stretch = 1 + 0.5 * (1 - Math.sqrt(chroma ** 7 / (chroma ** 7 + 25 ** 7)));
  const [c1, c2] = [Math.hypot(a1 * stretch, b1), Math.hypot(a2 * stretch, b2)];
  const hueOf = (a: number, b: number) => (Math.atan2(b, a * stretch) * degrees + 360) % 360;
  const [h1, h2] = [hueOf(a1, b1), hueOf(a2, b2)];
  const isGrey = c1 * c2 === 0;
  const turn = fullTurnBetween(h1, h2);
  const deltaHue = 2 * Math.sqrt(c1 * c2) * Math.sin((isGrey ? 0 : h2 - h1 + turn) / 2 / degrees);

  const lightness = (l1 + l2) / 2;
  const meanChroma = (c1 + c2) / 2;
  // The mean of the two hues. When the hues are more than 180 degrees apart, the mean lies on the other side of the
  // circle.
  const hueSum = h1 + h2;
  const sumTurn = hueSum < 360 ? 360 : -360;
  const hue = isGrey ? hueSum : (hueSum + (turn === 0 ? 0 : sumTurn)) / 2;
  const t =
    1 -
    0.17 * cosOf(hue - 30) +
    0.24 * cosOf(2 * hue) +
    0.32 * cosOf(3 * hue + 6) -
    0.2 * cosOf(4 * hue - 63);
  const weightL = 1 + (0.015 * (lightness - 50) ** 2) / Math.sqrt(20 + (lightness - 50) ** 2);
  const weightC = 1 + 0.045 * meanChroma;
  const weightH = 1 + 0.015 * meanChroma * t;
  const rotation =
    -2 *
    Math.sqrt(meanChroma ** 7 / (meanChroma ** 7 + 25 ** 7)) *
    Math.sin((60 * Math.exp(-(((hue - 275) / 25) ** 2))) / degrees);
  const [dl, dc, dh] = [(l2 - l1) / weightL, (c2 - c1) / weightC, deltaHue / weightH];
  return Math.sqrt(dl ** 2 + dc ** 2 + dh ** 2 + rotation * dc * dh);
}
