import { describe, expect, it } from 'vitest';
import type { ByteSource } from '../source/byte-source.ts';
import { memorySource } from '../source/memory-source.ts';
import { itemHeader, littleEndian } from '../testing/build-dicom.ts';
import { openFrames } from './frames.ts';
import { tag } from './tags.ts';
import { transferSyntaxOf } from './uids.ts';

const rle = syntaxOf('1.2.840.10008.1.2.5');
const jpeg = syntaxOf('1.2.840.10008.1.2.4.50');
const native = syntaxOf('1.2.840.10008.1.2.1');

function syntaxOf(uid: string) {
  const syntax = transferSyntaxOf(uid);
  if (!syntax) throw new Error(uid);
  return syntax;
}

const end = itemHeader(tag.SequenceDelimitationItem, 0);
const item = (...bytes: readonly number[]) =>
  Buffer.concat([itemHeader(tag.Item, bytes.length), Uint8Array.from(bytes)]);

/** Pixel data that begin at `at`, after unrelated bytes. */
function placesIn(source: ByteSource, frames: number, offset = 10, length: number | null = null) {
  return { source, frames, pixelData: { offset, length }, extendedOffsets: null, extendedLengths: null };
}

function sourceOf(...parts: readonly Uint8Array[]): ByteSource {
  return memorySource(Buffer.concat([new Uint8Array(10), ...parts]));
}

/** Counts the reads. */
function counted(source: ByteSource): { readonly source: ByteSource; readonly reads: () => number } {
  let reads = 0;
  return {
    reads: () => reads,
    source: {
      ...source,
      read(offset, length) {
        reads++;
        return source.read(offset, length);
      },
      readInto(target, targetStart, offset, length) {
        reads++;
        return source.readInto(target, targetStart, offset, length);
      },
    },
  };
}

describe('the frames of a DICOM file', () => {
  it('are consecutive byte ranges when uncompressed', async () => {
    const source = sourceOf(Uint8Array.of(1, 2, 3, 4, 5, 6, 0));
    const readFrame = openFrames(placesIn(source, 2, 10, 7), native, 3);
    expect([...(await readFrame(0, 0))]).toEqual([1, 2, 3]);
    expect([...(await readFrame(1, 0))]).toEqual([4, 5, 6]);
  });

  it('are returned with the requested number of free bytes in front', async () => {
    const source = sourceOf(item(...littleEndian(4, [0, 12])), item(1, 2, 3, 4), item(5, 6, 7, 8), end);
    const readFrame = openFrames(placesIn(source, 2), rle, 0);
    for (const headroom of [0, 3, 8, 16]) {
      const frame = await readFrame(1, headroom);
      expect(frame).toHaveLength(headroom + 4);
      expect([...frame.subarray(headroom)]).toEqual([5, 6, 7, 8]);
    }
  });

  it('are joined from their fragments', async () => {
    const pieces = [item(0xff, 0xd8, 1, 2), item(3, 4), item(), item(5, 6), item(0xff, 0xd8, 7, 8)];
    const source = sourceOf(item(...littleEndian(4, [0, 40])), ...pieces, end);
    const readFrame = openFrames(placesIn(source, 2), jpeg, 0);
    expect([...(await readFrame(0, 5)).subarray(5)]).toEqual([0xff, 0xd8, 1, 2, 3, 4, 5, 6]);
    expect([...(await readFrame(1, 0))]).toEqual([0xff, 0xd8, 7, 8]);
  });

  it('are located once when there is no offset table, and then need one read each', async () => {
    const pieces = [item(0xff, 0xd8, 1, 2), item(3, 4), item(0xff, 0xd8, 5, 6), item(0xff, 0xd8, 7, 8)];
    const { source, reads } = counted(sourceOf(item(), ...pieces, end));
    const readFrame = openFrames(placesIn(source, 3), jpeg, 0);
    expect(reads()).toBe(0);
    const [first, again] = await Promise.all([readFrame(0, 0), readFrame(0, 0)]);
    expect([...first]).toEqual([0xff, 0xd8, 1, 2, 3, 4]);
    expect(again).toEqual(first);
    const walked = reads();
    expect([...(await readFrame(2, 0))]).toEqual([0xff, 0xd8, 7, 8]);
    expect([...(await readFrame(1, 0))]).toEqual([0xff, 0xd8, 5, 6]);
    expect(reads()).toBe(walked + 2);
  });

  it('are located again after locating them has failed', async () => {
    const whole = sourceOf(item(), item(1, 2), item(3, 4), end);
    let isThere = false;
    const source: ByteSource = {
      ...whole,
      read: (offset, length) => (isThere ? whole.read(offset, length) : Promise.reject(new Error('gone'))),
    };
    const readFrame = openFrames(placesIn(source, 2), rle, 0);
    await expect(readFrame(1, 0)).rejects.toThrow('gone');
    isThere = true;
    expect([...(await readFrame(1, 0))]).toEqual([3, 4]);
  });

  it('are read with extended lengths with and without the padding byte', async () => {
    const source = sourceOf(
      littleEndian(8, [0, 12]),
      littleEndian(8, [3, 4]),
      item(),
      item(1, 2, 3, 0),
      item(4, 5, 6, 7),
      end,
    );
    const readFrame = openFrames(
      {
        ...placesIn(source, 2, 42),
        extendedOffsets: { offset: 10, length: 16 },
        extendedLengths: { offset: 26, length: 16 },
      },
      rle,
      0,
    );
    expect([...(await readFrame(0, 0))]).toEqual([1, 2, 3, 0]);
    expect([...(await readFrame(1, 0))]).toEqual([4, 5, 6, 7]);
  });

  it('are read with offsets that wrap around at 4 GiB', async () => {
    const size = 2 ** 32 + 1000;
    const firstItem = 10 + 8 + 12;
    const starts = [0, 2 ** 32 - 100, 2 ** 32 + 50];
    const lengths = [starts[1] as number, 150, 100].map((span) => span - 8);
    const table = littleEndian(
      4,
      starts.map((start) => start % 2 ** 32),
    );
    /** A source that contains only item headers and frame numbers. */
    const place = (target: Uint8Array, targetStart: number, offset: number, length: number) => {
      const put = (bytes: Uint8Array, where: number) => {
        for (let i = 0; i < bytes.length; i++) {
          const to = where + i - offset;
          if (to >= 0 && to < length) target[targetStart + to] = bytes[i] as number;
        }
      };
      put(itemHeader(tag.Item, 12), 10);
      put(table, 18);
      for (const [i, start] of starts.entries()) {
        put(itemHeader(tag.Item, lengths[i] as number), firstItem + start);
        put(Uint8Array.of(i + 1), firstItem + start + 8);
      }
      put(end, firstItem + (starts[2] as number) + 100);
    };
    const source: ByteSource = {
      size,
      fingerprint: '',
      async read(offset, length) {
        const target = new Uint8Array(length);
        place(target, 0, offset, length);
        return target;
      },
      async readInto(target, targetStart, offset, length) {
        place(target, targetStart, offset, length);
      },
      close: async () => {},
    };
    const readFrame = openFrames(placesIn(source, 3), jpeg, 0);
    expect((await readFrame(1, 0))[0]).toBe(2);
    expect((await readFrame(2, 0))[0]).toBe(3);
    await expect(readFrame(0, 0)).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED' });
  });
});
