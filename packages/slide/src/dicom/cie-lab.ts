/**
 * Converts a CIELab colour of a DICOM file to sRGB. The file stores three numbers from 0 to 65535, which stand for L* from 0 to
 * 100, and for a* and b* from −128 to 127.
 *
 * Sources: DICOM PS3.3, C.10.7.1.1; IEC 61966-2-1 (sRGB), with the white point D50 adapted to D65 by the Bradford method.
 *
 * @param values L*, a* and b* as stored
 * @returns 0…255 each
 */
export function rgbOfCieLab(values: readonly number[]): { r: number; g: number; b: number } {
  const [storedL = 0, storedA = 0, storedB = 0] = values;
  // A stored 0 means −128, so a* and b* of 0 would be a bright blue. The toolkit PixelMed writes them for grey instead: in the
  // test file openslide-boxes, 65535, 0, 0 is white.
  const isGrey = storedA === 0 && storedB === 0;
  const lightness = (storedL / 65_535) * 100;
  const a = isGrey ? 0 : (storedA / 65_535) * 255 - 128;
  const b = isGrey ? 0 : (storedB / 65_535) * 255 - 128;

  const fy = (lightness + 16) / 116;
  const fx = fy + a / 500;
  const fz = fy - b / 200;
  /** Inverts the function f of CIELab. */
  const linear = (value: number) => (value > 6 / 29 ? value ** 3 : 3 * (6 / 29) ** 2 * (value - 4 / 29));
  // CIE XYZ; 0.96422, 1, 0.82521 is the white point D50.
  const [X, Y, Z] = [0.96422 * linear(fx), linear(fy), 0.82521 * linear(fz)];
  /** Encodes a linear share of red, green or blue with the sRGB curve. */
  const sample = (value: number) => {
    const encoded = value <= 0.0031308 ? 12.92 * value : 1.055 * value ** (1 / 2.4) - 0.055;
    return Math.round(255 * Math.min(Math.max(encoded, 0), 1));
  };
  // The matrix converts XYZ to linear sRGB.
  return {
    r: sample(3.1338561 * X - 1.6168667 * Y - 0.4906146 * Z),
    g: sample(-0.9787684 * X + 1.9161415 * Y + 0.033454 * Z),
    b: sample(0.0719453 * X - 0.2289914 * Y + 1.4052427 * Z),
  };
}
