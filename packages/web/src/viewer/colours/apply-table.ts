/**
 * Corrects the colours of pixels by a colour table (a grid of sRGB colours), on the processor. Both the page and the worker that
 * corrects tiles load this file, so it imports only types.
 */
import type { ColourTable } from './colour-table.ts';

/**
 * Corrects RGBA pixels of 8 bits in place by trilinear interpolation between the eight nearest grid points, as the graphics card
 * does; alpha stays unchanged. Takes about 40 ns per pixel.
 */
export function applyTable(pixels: Uint8ClampedArray, { size, samples }: ColourTable): void {
  const cellsPerAxis = size - 1;
  // Distances in `samples` between neighbouring grid points along the green and the blue axis. Along the red axis, the distance
  // is 3.
  const [stepGreen, stepBlue] = [3 * size, 3 * size * size];
  // For each sample from 0 to 255: the lower grid point of its cell, and the fraction of the way to the upper one (1 for 255).
  const lower = Uint8Array.from({ length: 256 }, (_, sample) =>
    Math.min(cellsPerAxis - 1, Math.floor((sample * cellsPerAxis) / 255)),
  );
  const fractions = Float64Array.from(
    { length: 256 },
    (_, sample) => (sample * cellsPerAxis) / 255 - (lower[sample] as number),
  );
  /**
   * Interpolates between a grid point and the next grid point along the red axis.
   *
   * @param index position in `samples` of the sample at the first of these grid points
   */
  const alongRed = (index: number, fraction: number) => {
    const lowerSample = samples[index] as number;
    return lowerSample + ((samples[index + 3] as number) - lowerSample) * fraction;
  };
  for (let offset = 0; offset < pixels.length; offset += 4) {
    const red = pixels[offset] as number;
    const green = pixels[offset + 1] as number;
    const blue = pixels[offset + 2] as number;
    const firstIndex =
      3 * (lower[red] as number) + stepGreen * (lower[green] as number) + stepBlue * (lower[blue] as number);
    const redFraction = fractions[red] as number;
    const greenFraction = fractions[green] as number;
    const blueFraction = fractions[blue] as number;
    for (let channel = 0; channel < 3; channel += 1) {
      const index = firstIndex + channel;
      // Interpolates along red on the four edges of the grid cell, then along green, then along blue.
      const lowGreenLowBlue = alongRed(index, redFraction);
      const highGreenLowBlue = alongRed(index + stepGreen, redFraction);
      const lowGreenHighBlue = alongRed(index + stepBlue, redFraction);
      const highGreenHighBlue = alongRed(index + stepGreen + stepBlue, redFraction);
      const lowBlue = lowGreenLowBlue + (highGreenLowBlue - lowGreenLowBlue) * greenFraction;
      const highBlue = lowGreenHighBlue + (highGreenHighBlue - lowGreenHighBlue) * greenFraction;
      pixels[offset + channel] = lowBlue + (highBlue - lowBlue) * blueFraction; // the array rounds
    }
  }
}
