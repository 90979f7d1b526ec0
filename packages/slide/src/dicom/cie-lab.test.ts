import { expect, it } from 'vitest';
import { rgbOfCieLab } from './cie-lab.ts';

/** Returns L*, a* and b* as the 16-bit values of a DICOM file. */
const encode = (lightness: number, a: number, b: number) => [
  Math.round((lightness / 100) * 65_535),
  Math.round(((a + 128) / 255) * 65_535),
  Math.round(((b + 128) / 255) * 65_535),
];

// sRGB primaries in Lab with white point D50, as ICC profiles convert them.
it.each([
  ['white', encode(100, 0, 0), { r: 255, g: 255, b: 255 }],
  ['black', encode(0, 0, 0), { r: 0, g: 0, b: 0 }],
  ['grey', encode(53.59, 0, 0), { r: 128, g: 128, b: 128 }],
  ['red', encode(54.29, 80.8, 69.89), { r: 255, g: 0, b: 0 }],
  ['green', encode(87.82, -79.27, 80.99), { r: 0, g: 255, b: 0 }],
  ['blue', encode(29.57, 68.3, -112.03), { r: 0, g: 0, b: 255 }],
  ['white, as the toolkit PixelMed writes it (a and b are 0),', [65_535, 0, 0], { r: 255, g: 255, b: 255 }],
])('rgbOfCieLab converts CIELab %s to sRGB $2, within 2 of 255', (_, values, rgb) => {
  const { r, g, b } = rgbOfCieLab(values);
  const differences = [r - rgb.r, g - rgb.g, b - rgb.b];
  expect(differences.every((difference) => Math.abs(difference) <= 2)).toBe(true);
});
