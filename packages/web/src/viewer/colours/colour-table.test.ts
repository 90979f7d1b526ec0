import { describe, expect, it } from 'vitest';
import { loadColourTable, profileOf } from './colour-table.ts';

/** Returns the root element of a Deep Zoom descriptor that contains one more element. */
const descriptorWith = (element: string) =>
  new DOMParser().parseFromString(
    `<Image xmlns="http://schemas.microsoft.com/deepzoom/2008"><Size Width="1" Height="1"/>${element}</Image>`,
    'application/xml',
  ).documentElement;

describe('profileOf (ICC profile in the descriptor of a slide)', () => {
  it('reads the name, size in bytes and table size of the colour profile from the descriptor', () => {
    const element = '<ColourProfile xmlns="urn:lamina:colour" Name="AT2" Bytes="1687824" TableNodes="33"/>';
    expect(profileOf(descriptorWith(element))).toEqual({ name: 'AT2', bytes: 1_687_824, tableSize: 33 });
  });

  it('returns null as the table size of a profile that the descriptor marks as ignored', () => {
    const element = '<ColourProfile xmlns="urn:lamina:colour" Bytes="440" Ignored="broken"/>';
    expect(profileOf(descriptorWith(element))).toEqual({ name: '', bytes: 440, tableSize: null });
  });

  it.each(['0', '1', '900', '33.5', 'x', ''])(
    'returns null as the table size when the descriptor states "%s" grid points (allowed: a whole number from 2 to 65)',
    (nodes) => {
      const element = `<ColourProfile xmlns="urn:lamina:colour" Bytes="440" TableNodes="${nodes}"/>`;
      expect(profileOf(descriptorWith(element))?.tableSize).toBeNull();
    },
  );

  it('returns null for a slide without a colour profile', () => {
    expect(profileOf(descriptorWith(''))).toBeNull();
  });
});

describe('loadColourTable (request for the colour table of a slide)', () => {
  const request = { signal: new AbortController().signal, onRenewing: () => {} };
  /** Returns a `fetchPixels` that responds with this number of bytes. */
  const fetchBytes = (count: number) => async () => new Response(new Uint8Array(count));

  it('returns the samples of the response', async () => {
    const table = await loadColourTable(fetchBytes(24), '/colour-table', 2, request); // 3 bytes for each of 2³ grid points
    expect([table?.size, table?.samples.length]).toEqual([2, 24]);
  });

  it('returns null when the length of the response does not match the table size', async () => {
    expect(await loadColourTable(fetchBytes(23), '/colour-table', 2, request)).toBeNull();
  });
});
