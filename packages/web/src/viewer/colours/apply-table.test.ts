import { describe, expect, it } from 'vitest';
import { applyTable } from './apply-table.ts';

/** @param sampleOf channel value of a grid point; 0 to 1 */
function tableOf(size: number, sampleOf: (rgb: readonly number[], channel: number) => number) {
  const samples = new Uint8Array(3 * size ** 3);
  for (let place = 0; place < size ** 3; place += 1) {
    const rgb = [place % size, Math.floor(place / size) % size, Math.floor(place / size ** 2)];
    for (const channel of [0, 1, 2]) {
      const part = rgb.map((index) => index / (size - 1));
      samples[3 * place + channel] = Math.round(255 * sampleOf(part, channel));
    }
  }
  return { size, samples };
}

describe('applyTable', () => {
  it('leaves colours and alpha unchanged with an identity table', () => {
    const pixels = Uint8ClampedArray.from([0, 128, 255, 255, 17, 99, 201, 40]);
    applyTable(
      pixels,
      tableOf(6, (rgb, channel) => rgb[channel] ?? 0),
    );
    expect([...pixels]).toEqual([0, 128, 255, 255, 17, 99, 201, 40]);
  });

  it('interpolates between grid points of a table in which red varies fastest', () => {
    const pixels = Uint8ClampedArray.from([255, 0, 0, 255, 0, 51, 0, 255]);
    applyTable(
      pixels,
      tableOf(2, ([red = 0, green = 0], channel) => (channel === 2 ? red : green)),
    );
    expect([...pixels]).toEqual([0, 0, 255, 255, 51, 51, 0, 255]);
  });

  it('weights the eight grid points around a colour by the opposite volumes (trilinear)', () => {
    const { size, samples } = tableOf(5, ([red = 0, green = 0, blue = 0], channel) =>
      channel === 0
        ? red * green * blue
        : channel === 1
          ? Math.sqrt(green) * (1 - blue)
          : (red + blue * blue) / 2,
    );
    const colours = [
      [3, 250, 130],
      [64, 63, 65],
      [191, 192, 1],
      [255, 254, 253],
      [128, 31, 200],
    ];
    const pixels = Uint8ClampedArray.from(colours.flatMap((colour) => [...colour, 255]));
    applyTable(pixels, { size, samples });
    const expected = colours.flatMap((colour) => {
      const places = colour.map((sample) => (sample / 255) * (size - 1));
      const sums = [0, 0, 0];
      for (let corner = 0; corner < size ** 3; corner += 1) {
        const at = [corner % size, Math.floor(corner / size) % size, Math.floor(corner / size ** 2)];
        const weights = at.map((index, axis) => Math.max(0, 1 - Math.abs((places[axis] ?? 0) - index)));
        const weight = weights.reduce((product, factor) => product * factor, 1);
        for (const channel of [0, 1, 2]) {
          sums[channel] = (sums[channel] ?? 0) + weight * (samples[3 * corner + channel] ?? 0);
        }
      }
      return [...sums.map((sum) => Math.round(sum)), 255];
    });
    expect([...pixels]).toEqual(expected);
  });
});
