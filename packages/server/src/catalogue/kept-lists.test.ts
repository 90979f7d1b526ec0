import { brotliDecompressSync } from 'node:zlib';
import { describe, expect, it, vi } from 'vitest';
import { createKeptLists } from './kept-lists.ts';

/** A list of so many parts, and how often it was made. */
function listOf(count: number) {
  const parts = Array.from({ length: count }, (_, i) => `part ${i} `.repeat(5000));
  const make = vi.fn<() => AsyncIterable<string>>(async function* () {
    yield* parts;
  });
  return { make, text: parts.join('') };
}

async function textOf(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const all: Uint8Array[] = [];
  for await (const chunk of chunks) all.push(chunk);
  return brotliDecompressSync(Buffer.concat(all)).toString();
}

describe('a long list', () => {
  it('is made once for all who ask for the same', async () => {
    const lists = createKeptLists();
    const { make, text } = listOf(20);
    const both = await Promise.all([textOf(lists.get('a', make)), textOf(lists.get('a', make))]);
    expect(both).toEqual([text, text]);
    expect(await textOf(lists.get('a', make))).toBe(text);
    expect(make).toHaveBeenCalledTimes(1);
    await textOf(lists.get('b', make));
    expect(make).toHaveBeenCalledTimes(2);
  });

  it('is forgotten when others were asked for since', async () => {
    const lists = createKeptLists();
    const { make } = listOf(1);
    for (const key of ['a', 'b', 'c', 'd', 'a', 'e']) await textOf(lists.get(key, make));
    expect(make).toHaveBeenCalledTimes(5);
    await textOf(lists.get('a', make));
    expect(make).toHaveBeenCalledTimes(5);
    await textOf(lists.get('b', make));
    expect(make).toHaveBeenCalledTimes(6);
  });

  it('that could not be made is told to whoever reads it, and made anew for the next', async () => {
    const lists = createKeptLists();
    const { make, text } = listOf(3);
    const failing = async function* () {
      yield 'begun';
      throw new Error('the database is away');
    };
    await expect(textOf(lists.get('a', failing))).rejects.toThrow('the database is away');
    expect(await textOf(lists.get('a', make))).toBe(text);
  });

  it('is made to its end even when its first reader has left', async () => {
    const lists = createKeptLists();
    const { make, text } = listOf(20);
    for await (const _ of lists.get('a', make)) break;
    expect(await textOf(lists.get('a', make))).toBe(text);
    expect(make).toHaveBeenCalledTimes(1);
  });
});
