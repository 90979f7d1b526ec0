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

// An item has a header of 8 bytes, so an item with 4 bytes of content begins 12 bytes before the next one.
const delimiter = itemHeader(tag.SequenceDelimitationItem, 0);
const item = (...bytes: readonly number[]) =>
  Buffer.concat([itemHeader(tag.Item, bytes.length), Uint8Array.from(bytes)]);

/** Describes pixel data that begin after `offset` unrelated bytes; the length is null for encapsulated frames. */
function pixelsIn(source: ByteSource, frames: number, offset = 10, length: number | null = null) {
  return { source, frames, pixelData: { offset, length }, extendedOffsets: null, extendedLengths: null };
}

/** Returns a source of ten unrelated bytes, followed by pixel data. */
function sourceOf(...parts: readonly Uint8Array[]): ByteSource {
  return memorySource(Buffer.concat([new Uint8Array(10), ...parts]));
}

/** Returns a source that counts its reads. */
function countReads(source: ByteSource): { readonly source: ByteSource; readonly reads: () => number } {
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

describe('openFrames (reads frames, which are tiles, from the pixel data of a DICOM file)', () => {
  it('returns uncompressed frames from consecutive byte ranges', async () => {
    const source = sourceOf(Uint8Array.of(1, 2, 3, 4, 5, 6, 0));
    const readFrame = openFrames(pixelsIn(source, 2, 10, 7), native, 3);
    expect([...(await readFrame(0, 0))]).toEqual([1, 2, 3]);
    expect([...(await readFrame(1, 0))]).toEqual([4, 5, 6]);
  });

  it('returns a frame preceded by as many free bytes as the caller requests (room for a JPEG segment)', async () => {
    const source = sourceOf(item(...littleEndian(4, [0, 12])), item(1, 2, 3, 4), item(5, 6, 7, 8), delimiter);
    const readFrame = openFrames(pixelsIn(source, 2), rle, 0);
    for (const headroom of [0, 3, 8, 16]) {
      const frame = await readFrame(1, headroom);
      expect(frame).toHaveLength(headroom + 4);
      expect([...frame.subarray(headroom)]).toEqual([5, 6, 7, 8]);
    }
  });

  it('returns the joined fragments of a frame that is stored in several fragments', async () => {
    const pieces = [item(0xff, 0xd8, 1, 2), item(3, 4), item(), item(5, 6), item(0xff, 0xd8, 7, 8)];
    const source = sourceOf(item(...littleEndian(4, [0, 40])), ...pieces, delimiter);
    const readFrame = openFrames(pixelsIn(source, 2), jpeg, 0);
    expect([...(await readFrame(0, 5)).subarray(5)]).toEqual([0xff, 0xd8, 1, 2, 3, 4, 5, 6]);
    expect([...(await readFrame(1, 0))]).toEqual([0xff, 0xd8, 7, 8]);
  });

  it('needs one read for each frame after the first one when the file has no offset table', async () => {
    const pieces = [item(0xff, 0xd8, 1, 2), item(3, 4), item(0xff, 0xd8, 5, 6), item(0xff, 0xd8, 7, 8)];
    const { source, reads } = countReads(sourceOf(item(), ...pieces, delimiter));
    const readFrame = openFrames(pixelsIn(source, 3), jpeg, 0);
    expect(reads()).toBe(0);
    const [frame, sameFrame] = await Promise.all([readFrame(0, 0), readFrame(0, 0)]);
    expect([...frame]).toEqual([0xff, 0xd8, 1, 2, 3, 4]);
    expect(sameFrame).toEqual(frame);
    const readsForFirstFrame = reads();
    expect([...(await readFrame(2, 0))]).toEqual([0xff, 0xd8, 7, 8]);
    expect([...(await readFrame(1, 0))]).toEqual([0xff, 0xd8, 5, 6]);
    expect(reads()).toBe(readsForFirstFrame + 2);
  });

  it('returns a frame after an earlier read of the file has failed', async () => {
    const workingSource = sourceOf(item(), item(1, 2), item(3, 4), delimiter);
    let isFailing = true;
    const source: ByteSource = {
      ...workingSource,
      read: (offset, length) =>
        isFailing ? Promise.reject(new Error('offline')) : workingSource.read(offset, length),
    };
    const readFrame = openFrames(pixelsIn(source, 2), rle, 0);
    await expect(readFrame(1, 0)).rejects.toThrow('offline');
    isFailing = false;
    expect([...(await readFrame(1, 0))]).toEqual([3, 4]);
  });

  it('returns whole frames whether the extended offset table counts their padding byte or not', async () => {
    const source = sourceOf(
      littleEndian(8, [0, 12]),
      littleEndian(8, [3, 4]),
      item(),
      item(1, 2, 3, 0),
      item(4, 5, 6, 7),
      delimiter,
    );
    const readFrame = openFrames(
      {
        ...pixelsIn(source, 2, 42), // after ten unrelated bytes and two tables of 16 bytes
        extendedOffsets: { offset: 10, length: 16 },
        extendedLengths: { offset: 26, length: 16 },
      },
      rle,
      0,
    );
    expect([...(await readFrame(0, 0))]).toEqual([1, 2, 3, 0]);
    expect([...(await readFrame(1, 0))]).toEqual([4, 5, 6, 7]);
  });

  it('returns frames beyond 4 GiB, for which the 32-bit offsets of the basic offset table wrap around', async () => {
    const size = 2 ** 32 + 1000;
    const firstItem = 10 + 8 + 12; // after ten unrelated bytes, and the header and the content of the offset table
    const starts = [0, 2 ** 32 - 100, 2 ** 32 + 50];
    const lengths = [starts[1] as number, 150, 100].map((span) => span - 8); // without the item header
    const table = littleEndian(
      4,
      starts.map((start) => start % 2 ** 32),
    );
    /** Reads a range of a sparse file that contains only item headers and, as first byte of each frame, its number. */
    const readSparse = (target: Uint8Array, targetStart: number, offset: number, length: number) => {
      const copyIfInRange = (bytes: Uint8Array, position: number) => {
        for (let i = 0; i < bytes.length; i++) {
          const index = position + i - offset;
          if (index >= 0 && index < length) target[targetStart + index] = bytes[i] as number;
        }
      };
      copyIfInRange(itemHeader(tag.Item, 12), 10);
      copyIfInRange(table, 18);
      for (const [i, start] of starts.entries()) {
        copyIfInRange(itemHeader(tag.Item, lengths[i] as number), firstItem + start);
        copyIfInRange(Uint8Array.of(i + 1), firstItem + start + 8);
      }
      copyIfInRange(delimiter, firstItem + (starts[2] as number) + 100);
    };
    const source: ByteSource = {
      size,
      fingerprint: '',
      async read(offset, length) {
        const target = new Uint8Array(length);
        readSparse(target, 0, offset, length);
        return target;
      },
      async readInto(target, targetStart, offset, length) {
        readSparse(target, targetStart, offset, length);
      },
      close: async () => {},
    };
    const readFrame = openFrames(pixelsIn(source, 3), jpeg, 0);
    expect((await readFrame(1, 0))[0]).toBe(2);
    expect((await readFrame(2, 0))[0]).toBe(3);
    await expect(readFrame(0, 0)).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED' });
  });
});
