import sharp from 'sharp';
import { beforeAll, describe, expect, it } from 'vitest';
import { memorySource } from '../source/memory-source.ts';
import { paintTissue } from '../testing/paint-tissue.ts';
import { readJpegHeader } from './header.ts';
import { readJpegHead } from './read-head.ts';

let jpeg: Buffer;
beforeAll(async () => {
  const { rgb, width, height } = paintTissue(400, 300);
  jpeg = await sharp(rgb, { raw: { width, height, channels: 3 } })
    .jpeg()
    .toBuffer();
});

/** Returns the JPEG with this many bytes of comments before its image. */
function withComments(bytes: number): Buffer {
  const maxSegmentBytes = 65_537; // a marker of 2 bytes and 65,535 bytes, the maximum of a 16-bit length
  const comments: Buffer[] = [];
  for (let remaining = bytes; remaining > 0; remaining -= maxSegmentBytes) {
    const comment = Buffer.alloc(Math.max(4, Math.min(remaining, maxSegmentBytes)));
    comment.set([0xff, 0xfe]);
    comment.writeUInt16BE(comment.length - 2, 2);
    comments.push(comment);
  }
  return Buffer.concat([jpeg.subarray(0, 2), ...comments, jpeg.subarray(2)]);
}

/** Returns a source of these bytes, and a counter of the bytes read from it. */
function countingSource(bytes: Uint8Array) {
  const source = memorySource(bytes);
  const counter = { read: 0 };
  const read: typeof source.read = (offset, length, signal) => {
    counter.read += length;
    return source.read(offset, length, signal);
  };
  return { source: { ...source, read }, counter };
}

describe('readJpegHead (reads a JPEG up to its compressed pixels)', () => {
  it('returns all bytes before the data of the first scan, without reading the whole JPEG', async () => {
    const { source, counter } = countingSource(Buffer.concat([Buffer.alloc(100), jpeg, Buffer.alloc(100)]));
    const head = await readJpegHead(source, 100, jpeg.length);
    expect(Buffer.compare(head, jpeg.subarray(0, readJpegHeader(jpeg).dataAt))).toBe(0);
    expect(counter.read).toBeLessThan(jpeg.length);
  });

  it.each([10, 4000, 5000, 100_000, 2_000_000])(
    'returns the head of a JPEG with %i bytes of comments',
    async (bytes) => {
      const long = withComments(bytes);
      const { source, counter } = countingSource(long);
      const head = await readJpegHead(source, 0, long.length);
      expect(readJpegHeader(head)).toMatchObject({ width: 400, height: 300 });
      expect(counter.read).toBeLessThan(10 * (bytes + 4096));
    },
  );

  it('throws LIMIT_EXCEEDED for a JPEG with 17 MiB of comments before its image (limit 16 MiB)', async () => {
    const long = withComments(17 * 2 ** 20);
    const { source, counter } = countingSource(long);
    await expect(readJpegHead(source, 0, long.length)).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED' });
    expect(counter.read).toBeLessThan(20 * 2 ** 20);
  });

  it.each<[string, () => Uint8Array]>([
    ['an empty file', () => new Uint8Array()],
    ['a single byte', () => jpeg.subarray(0, 1)],
    ['no start-of-image marker (SOI)', () => jpeg.subarray(2)],
    ['nothing after the start-of-image marker (SOI)', () => jpeg.subarray(0, 2)],
    ['a truncated table', () => jpeg.subarray(0, 100)],
    ['a segment of length 0', () => Uint8Array.of(0xff, 0xd8, 0xff, 0xfe, 0, 0, 0xff, 0xda)],
    ['an end-of-image marker (EOI) before the scan', () => Uint8Array.of(0xff, 0xd8, 0xff, 0xd9, 0, 0, 0, 0)],
    ['no marker where one is required', () => Uint8Array.of(0xff, 0xd8, 0, 0, 0, 0)],
    ['fill bytes without an end', () => Buffer.concat([jpeg.subarray(0, 2), Buffer.alloc(9000, 0xff)])],
  ])('throws FILE_CORRUPT for an invalid JPEG: %s', async (_, bytes) => {
    const source = memorySource(bytes());
    await expect(readJpegHead(source, 0, source.size)).rejects.toMatchObject({
      name: 'SlideError',
      code: 'FILE_CORRUPT',
    });
  });

  it('throws FILE_TRUNCATED when the file ends inside the head of the JPEG', async () => {
    const source = memorySource(jpeg.subarray(0, 100));
    await expect(readJpegHead(source, 0, jpeg.length)).rejects.toMatchObject({ code: 'FILE_TRUNCATED' });
  });
});
