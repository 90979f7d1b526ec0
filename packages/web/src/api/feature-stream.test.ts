import { describe, expect, it } from 'vitest';
import { type FeatureBatch, readFeatures } from './feature-stream.ts';

const feature = (id: number) => ({
  type: 'Feature',
  id: String(id),
  // A name that looks like the text between two features.
  properties: { name: '},{"type":"Feature" ç' },
});
const features = Array.from({ length: 50 }, (_, id) => feature(id));
const head = { type: 'FeatureCollection', version: 7, authors: { me: '"features":[ Ayşe' } };

/** Reads a response that arrives in parts of `partSize` bytes. */
async function readParts(text: string, partSize: number): Promise<FeatureBatch[]> {
  const bytes = new TextEncoder().encode(text);
  let offset = 0;
  // jsdom has no ReadableStream.
  const reader = {
    read: async () => {
      const value = bytes.slice(offset, offset + partSize);
      offset += partSize;
      return { done: value.length === 0, value };
    },
    cancel: async () => {},
  };
  const stream = { getReader: () => reader } as unknown as ReadableStream<Uint8Array<ArrayBuffer>>;
  return Array.fromAsync(readFeatures(stream));
}

describe('readFeatures (stream of annotations as GeoJSON)', () => {
  it.each([1, 7, 64, 1000, 100_000])(
    'yields all features when the stream arrives in chunks (bytes per chunk: %i)',
    async (partSize) => {
      const batches = await readParts(JSON.stringify({ ...head, features, next_cursor: null }), partSize);
      expect(batches.flatMap((batch) => batch.features)).toEqual(features);
      for (const { version, authors } of batches) {
        expect({ version, authors }).toEqual({ version: head.version, authors: head.authors });
      }
    },
  );

  it('yields the first features before the stream is complete', async () => {
    const batches = await readParts(JSON.stringify({ ...head, features }), 500);
    expect(batches.length).toBeGreaterThan(5);
  });

  it('reads the fields that follow the list of features, even if the list is empty', async () => {
    expect(await readParts(JSON.stringify({ ...head, features: [] }), 10)).toEqual([
      { features: [], version: 7, authors: head.authors },
    ]);
    const { version, authors } = head;
    const [first, ...others] = await readParts(
      JSON.stringify({ features: [feature(1)], version, authors }),
      1e6,
    );
    expect(first).toEqual({ features: [feature(1)], version, authors });
    expect(others).toEqual([]);
  });

  it('throws a SyntaxError when the stream ends before the list of features is complete', async () => {
    const text = JSON.stringify({ ...head, features });
    await expect(readParts(text.slice(0, -100), 64)).rejects.toThrow(SyntaxError);
    await expect(readParts('', 64)).rejects.toThrow(SyntaxError);
  });
});
