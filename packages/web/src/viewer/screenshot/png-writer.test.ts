import { Blob as NodeBlob } from 'node:buffer';
import { CompressionStream as NodeCompression } from 'node:stream/web';
import { inflateSync } from 'node:zlib';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { createPngWriter } from './png-writer.ts';

// jsdom has no streams, and its Blob cannot be read by a Response.
beforeEach(() => {
  vi.stubGlobal('CompressionStream', NodeCompression);
  vi.stubGlobal('Blob', NodeBlob);
});

/** Returns opaque RGBA pixels of these RGB colours. */
const pixels = (...colours: readonly (readonly [number, number, number])[]) =>
  Uint8ClampedArray.from(colours.flatMap((colour) => [...colour, 255]));

describe('createPngWriter (PNG file of a screenshot)', () => {
  it('writes a PNG whose header, filters and compressed rows match the added pixels', async () => {
    const writer = createPngWriter(2, 3);
    await writer.addRows(pixels([10, 20, 30], [11, 19, 255], [0, 0, 0], [255, 255, 255]));
    await writer.addRows(pixels([1, 2, 3], [4, 5, 6]));
    const file = new DataView(await new Response(await writer.finish()).arrayBuffer());

    const signature = [0, 4].map((offset) => file.getUint32(offset));
    expect(signature).toEqual([0x89504e47, 0x0d0a1a0a]);
    // Fields of the IHDR chunk: width, height, bits per sample, and colour type 2, which is RGB.
    expect([file.getUint32(16), file.getUint32(20), file.getUint8(24), file.getUint8(25)]).toEqual([
      2, 3, 8, 2,
    ]);
    const chunks = new Map<string, number[]>();
    for (let offset = 8; offset < file.byteLength; ) {
      const length = file.getUint32(offset);
      const type = String.fromCharCode(...new Uint8Array(file.buffer, offset + 4, 4));
      chunks.set(type, [...(chunks.get(type) ?? []), ...new Uint8Array(file.buffer, offset + 8, length)]);
      offset += 12 + length; // length, type and CRC have 4 bytes each
    }
    expect([...chunks.keys()]).toEqual(['IHDR', 'IDAT', 'IEND']);
    const rows = inflateSync(Uint8Array.from(chunks.get('IDAT') ?? []));
    // Each row begins with filter type 1 (Sub). Each pixel is stored as its difference from the one on its left, modulo 256.
    expect([...rows]).toEqual([
      ...[1, 10, 20, 30, 1, 255, 225],
      ...[1, 0, 0, 0, 255, 255, 255],
      ...[1, 1, 2, 3, 3, 3, 3],
    ]);
  });

  it('writes the CRC-32 at the end of the IEND chunk', async () => {
    const file = new DataView(await new Response(await createPngWriter(1, 1).finish()).arrayBuffer());
    // The IEND chunk has no data, so its CRC is the same in every PNG.
    expect(file.getUint32(file.byteLength - 4)).toBe(0xae426082);
  });
});
