/** Measures how different two colours look to people. */

/** Three components of a colour. */
type Colour = readonly [number, number, number];

/**
 * Converts a colour to the L*a*b* space of the CIE. Source: IEC 61966-2-1; CIE 15:2018 section 8.2.1, white of D65.
 *
 * @param rgb samples of sRGB, 0…255
 */
function labOf(rgb: Colour): Colour {
  // Linear light, 0 to 1.
  const [r, g, b] = rgb.map((sample) => {
    const value = sample / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  }) as unknown as Colour;
  // The function f of the CIE. Its argument is a component of XYZ, divided by the same component of white.
  const f = (t: number) => (t > (24 / 116) ** 3 ? Math.cbrt(t) : (841 / 108) * t + 16 / 116);
  const fx = f((0.4124564 * r + 0.3575761 * g + 0.1804375 * b) / 0.95047);
  const fy = f(0.2126729 * r + 0.7151522 * g + 0.072175 * b);
  const fz = f((0.0193339 * r + 0.119192 * g + 0.9503041 * b) / 1.08883);
  return [116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)];
}

const radians = Math.PI / 180;

/**
 * Returns the CIEDE2000 difference of two sRGB colours with samples of 0…255. Names are those of the standard, where l,
 * c and h are lightness, chroma and hue. Source: ISO/CIE 11664-6:2022.
 */
export function differenceOf(one: Colour, other: Colour): number {
  const [l1, a1, b1] = labOf(one);
  const [l2, a2, b2] = labOf(other);
  const meanChroma7 = ((Math.hypot(a1, b1) + Math.hypot(a2, b2)) / 2) ** 7;
  const g = 1 + 0.5 * (1 - Math.sqrt(meanChroma7 / (meanChroma7 + 25 ** 7)));
  const [c1, c2] = [Math.hypot(g * a1, b1), Math.hypot(g * a2, b2)];
  const isGrey = c1 * c2 === 0;
  const [h1, h2] = [hueOf(g * a1, b1), hueOf(g * a2, b2)];
  // The turn from hue 1 to hue 2 in the shorter direction, −180 to 180 degrees.
  const turn = isGrey ? 0 : ((h2 - h1 + 540) % 360) - 180;
  const [dL, dC, dH] = [l2 - l1, c2 - c1, 2 * Math.sqrt(c1 * c2) * Math.sin((turn / 2) * radians)];
  const [l, c] = [(l1 + l2) / 2, (c1 + c2) / 2];
  // The standard takes the sum if one of the colours is grey, because grey has no hue (0).
  const h = isGrey ? h1 + h2 : h1 + turn / 2;
  const cosine = (factor: number, offset: number) => Math.cos((factor * h + offset) * radians);
  const t = 1 - 0.17 * cosine(1, -30) + 0.24 * cosine(2, 0) + 0.32 * cosine(3, 6) - 0.2 * cosine(4, -63);
  const distance = ((((h % 360) + 360) % 360) - 275) / 25;
  const rotation =
    -Math.sin(60 * radians * Math.exp(-(distance ** 2))) * 2 * Math.sqrt(c ** 7 / (c ** 7 + 25 ** 7));
  const lightness = dL / (1 + (0.015 * (l - 50) ** 2) / Math.sqrt(20 + (l - 50) ** 2));
  const chroma = dC / (1 + 0.045 * c);
  const hue = dH / (1 + 0.015 * c * t);
  return Math.sqrt(lightness ** 2 + chroma ** 2 + hue ** 2 + rotation * chroma * hue);
}

/** Returns the hue angle in degrees, 0 to 360. */
const hueOf = (a: number, b: number) => (Math.atan2(b, a) / radians + 360) % 360;
