import { describe, expect, it } from 'vitest';
import { applyTable, loadColourTable, profileOf } from './colour-table.ts';

const descriptorWith = (element: string) =>
  new DOMParser().parseFromString(
    `<Image xmlns="http://schemas.microsoft.com/deepzoom/2008"><Size Width="1" Height="1"/>${element}</Image>`,
    'application/xml',
  ).documentElement;

describe('profileOf', () => {
  it('reads the name, size in bytes and table size of the colour profile from the descriptor', () => {
    const element = '<ColourProfile xmlns="urn:lamina:colour" Name="AT2" Bytes="1687824" TableNodes="33"/>';
    expect(profileOf(descriptorWith(element))).toEqual({ name: 'AT2', bytes: 1_687_824, tableSize: 33 });
  });

  it('has no table for a profile that the server ignores', () => {
    const element = '<ColourProfile xmlns="urn:lamina:colour" Bytes="440" Ignored="broken"/>';
    expect(profileOf(descriptorWith(element))).toEqual({ name: '', bytes: 440, tableSize: null });
  });

  it.each(['0', '1', '900', '33.5', 'x', ''])('has no table of %s grid points', (nodes) => {
    const element = `<ColourProfile xmlns="urn:lamina:colour" Bytes="440" TableNodes="${nodes}"/>`;
    expect(profileOf(descriptorWith(element))?.tableSize).toBeNull();
  });

  it('returns null for a slide without profile', () => {
    expect(profileOf(descriptorWith(''))).toBeNull();
  });
});

describe('loadColourTable', () => {
  const request = { signal: new AbortController().signal, onRenewing: () => {} };
  const serving = (bytes: number) => async () => new Response(new Uint8Array(bytes));

  it('returns the samples', async () => {
    const table = await loadColourTable(serving(24), '/colour-table', 2, request);
    expect([table?.size, table?.samples.length]).toEqual([2, 24]);
  });

  it('returns null when the response has another length', async () => {
    expect(await loadColourTable(serving(23), '/colour-table', 2, request)).toBeNull();
  });
});

describe('applyTable', () => {
  /** @param sampleOf channel value of a grid point; 0 to 1 */
  const tableOf = (size: number, sampleOf: (rgb: readonly number[], channel: number) => number) => {
    const samples = new Uint8Array(3 * size ** 3);
    for (let place = 0; place < size ** 3; place += 1) {
      const rgb = [place % size, Math.floor(place / size) % size, Math.floor(place / size ** 2)];
      for (const channel of [0, 1, 2]) {
        const part = rgb.map((index) => index / (size - 1));
        samples[3 * place + channel] = Math.round(255 * sampleOf(part, channel));
      }
    }
    return { size, samples };
  };

  it('leaves colours as they are when the table does', () => {
    const pixels = Uint8ClampedArray.from([0, 128, 255, 255, 17, 99, 201, 255]);
    applyTable(
      pixels,
      tableOf(6, (rgb, channel) => rgb[channel] ?? 0),
    );
    expect([...pixels]).toEqual([0, 128, 255, 255, 17, 99, 201, 255]);
  });

  it('interpolates between grid points, red varying fastest', () => {
    const pixels = Uint8ClampedArray.from([255, 0, 0, 255, 0, 51, 0, 255]);
    applyTable(
      pixels,
      tableOf(2, ([red = 0, green = 0], channel) => (channel === 2 ? red : green)),
    );
    expect([...pixels]).toEqual([0, 0, 255, 255, 51, 51, 0, 255]);
  });
});
