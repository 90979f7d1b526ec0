import { describe, expect, it } from 'vitest';
import { applyTable } from './apply-table.ts';

/**
 * Returns a colour table.
 *
 * @param size grid points per axis
 * @param sampleOf returns the value of a channel (0 red, 1 green, 2 blue) at the grid point of a colour; values are from 0 to 1
 */
function tableOf(size: number, sampleOf: (rgb: readonly number[], channel: number) => number) {
  const samples = new Uint8Array(3 * size ** 3);
  for (let point = 0; point < size ** 3; point += 1) {
    const indices = [point % size, Math.floor(point / size) % size, Math.floor(point / size ** 2)];
    const rgb = indices.map((index) => index / (size - 1));
    for (const channel of [0, 1, 2]) {
      samples[3 * point + channel] = Math.round(255 * sampleOf(rgb, channel));
    }
  }
  return { size, samples };
}

describe('applyTable (colour table of a slide’s ICC profile)', () => {
  it('leaves colours and alpha unchanged with an identity table', () => {
    const pixels = Uint8ClampedArray.from([0, 128, 255, 255, 17, 99, 201, 40]);
    applyTable(
      pixels,
      tableOf(6, (rgb, channel) => rgb[channel] ?? 0),
    );
    expect([...pixels]).toEqual([0, 128, 255, 255, 17, 99, 201, 40]);
  });

  it('reads the samples of a table in the order in which red varies fastest', () => {
    const pixels = Uint8ClampedArray.from([255, 0, 0, 255, 0, 51, 0, 255]);
    applyTable(
      pixels,
      tableOf(2, ([red = 0, green = 0], channel) => (channel === 2 ? red : green)),
    );
    expect([...pixels]).toEqual([0, 0, 255, 255, 51, 51, 0, 255]);
  });

  it('returns the trilinear interpolation of the eight grid points around a colour', () => {
    const { size, samples } = tableOf(5, ([red = 0, green = 0, blue = 0], channel) => {
      const colour = [red * green * blue, Math.sqrt(green) * (1 - blue), (red + blue * blue) / 2];
      return colour[channel] ?? 0;
    });
    const colours = [
      [3, 250, 130],
      [64, 63, 65],
      [191, 192, 1],
      [255, 254, 253],
      [128, 31, 200],
    ];
    const pixels = Uint8ClampedArray.from(colours.flatMap((colour) => [...colour, 255]));
    applyTable(pixels, { size, samples });
    // By definition, the weight of a grid point is the product of 1 − distance over the three axes; 0 for a distance above 1.
    const expected = colours.flatMap((colour) => {
      const position = colour.map((sample) => (sample / 255) * (size - 1));
      const sums = [0, 0, 0];
      for (let point = 0; point < size ** 3; point += 1) {
        const indices = [point % size, Math.floor(point / size) % size, Math.floor(point / size ** 2)];
        const weights = indices.map((index, axis) =>
          Math.max(0, 1 - Math.abs((position[axis] ?? 0) - index)),
        );
        const weight = weights.reduce((product, factor) => product * factor, 1);
        for (const channel of [0, 1, 2]) {
          sums[channel] = (sums[channel] ?? 0) + weight * (samples[3 * point + channel] ?? 0);
        }
      }
      return [...sums.map((sum) => Math.round(sum)), 255];
    });
    expect([...pixels]).toEqual(expected);
  });
});
