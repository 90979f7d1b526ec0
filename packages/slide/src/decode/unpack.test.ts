import zlib from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { Packing } from '../model/slide.ts';
import { pack } from '../testing/pack.ts';
import { paintTissue } from '../testing/paint-tissue.ts';
import { unpack } from './unpack.ts';

const packings: readonly Packing[] = ['none', 'lzw', 'packbits', 'deflate', 'zstd'];

/** Byte patterns of any length. */
const patterns: readonly [string, (length: number) => Uint8Array][] = [
  ['tissue', (length) => paintTissue(256, Math.ceil(length / 768)).rgb.subarray(0, length)],
  ['zeros', (length) => new Uint8Array(length)],
  ['all byte values in turn', (length) => Uint8Array.from({ length }, (_, i) => i)],
  ['runs of all lengths', (length) => Uint8Array.from({ length }, (_, i) => Math.sqrt(i * 2))],
  ['noise', (length) => noise(length)],
];

/** Returns pseudo-random bytes, the same ones in each run. */
function noise(length: number): Uint8Array {
  let state = 1;
  return Uint8Array.from({ length }, () => {
    state = (state * 48_271) % 2_147_483_647;
    return state >> 8;
  });
}

describe.each(packings)('unpack (decompresses TIFF data) with the compression %s', (packing) => {
  it.each(patterns)('returns the original bytes for 1 to 70,000 bytes (pattern: %s)', (_, pattern) => {
    for (const length of [1, 2, 3, 127, 128, 129, 1000, 70_000]) {
      const bytes = pattern(length);
      const unpacked = unpack(pack(bytes, packing), packing, length, length);
      expect(Buffer.compare(unpacked, bytes), `${length} bytes`).toBe(0);
    }
  });

  it('returns all 300 bytes of a padded strip when the minimum is 200 bytes and the maximum 300', () => {
    const unpacked = unpack(pack(noise(300), packing), packing, 200, 300);
    expect(Buffer.compare(unpacked, noise(300))).toBe(0);
  });

  it('throws an error with "200 bytes, not 300" for a stream that unpacks to 200 instead of 300 bytes', () => {
    expect(() => unpack(pack(noise(200), packing), packing, 300, 300)).toThrow('200 bytes, not 300');
  });

  it('throws FILE_CORRUPT for a truncated stream', () => {
    const packed = pack(noise(3000), packing);
    for (const end of [0, 1, 2, packed.length / 2, packed.length - 8]) {
      expect(() => unpack(packed.subarray(0, end), packing, 3000, 3000)).toThrow(
        expect.objectContaining({ name: 'SlideError', code: 'FILE_CORRUPT' }),
      );
    }
  });
});

describe('unpack (decompresses TIFF data) with LZW', () => {
  it('returns the original bytes of streams in the reversed bit order of writers before 1991', () => {
    for (const [name, pattern] of patterns) {
      for (const length of [1, 2, 1000, 70_000]) {
        const unpacked = unpack(pack(pattern(length), 'old-lzw'), 'lzw', length, length);
        expect(Buffer.compare(unpacked, pattern(length)), `${name}, ${length} bytes`).toBe(0);
      }
    }
  });

  it('returns the expected bytes for the LZW example in the TIFF 6.0 specification', () => {
    // 256 7 258 8 8 258 6 6 257, nine bits each.
    const packed = Buffer.from('80 01 e0 40 80 44 08 0c 06 80 80'.replaceAll(' ', ''), 'hex');
    expect([...unpack(packed, 'lzw', 9, 9)]).toEqual([7, 7, 7, 8, 8, 7, 7, 6, 6]);
  });

  it('returns the bytes of a stream without an initial Clear code and without a final End code', () => {
    // 65 66, nine bits each.
    expect([...unpack(Uint8Array.of(0x20, 0x90, 0x80), 'lzw', 2, 2)]).toEqual([65, 66]);
  });

  it.each([
    ['a code that the string table does not contain', '80 60 00'],
    ['a first code that stands for a string', '80 40 a0'],
    ['only the largest code (511)', 'ff ff ff ff'],
  ])('throws FILE_CORRUPT for a stream with %s', (_, hex) => {
    const packed = Buffer.from(hex.replaceAll(' ', ''), 'hex');
    expect(() => unpack(packed, 'lzw', 10, 10)).toThrow(expect.objectContaining({ code: 'FILE_CORRUPT' }));
  });

  it('returns at most the maximum number of bytes or throws FILE_CORRUPT for pseudo-random bytes', () => {
    for (let length = 1; length < 300; length++) {
      const bytes = noise(length * 7).subarray(length);
      const outcome = attempt(() => unpack(bytes, 'lzw', 0, 500).length <= 500);
      expect(outcome).toMatch(/true|FILE_CORRUPT/);
    }
  });
});

describe('unpack (decompresses TIFF data) of a decompression bomb', () => {
  const zeros = new Uint8Array(50_000_000);

  it.each<[Packing, () => Uint8Array]>([
    ['deflate', () => zlib.deflateSync(zeros)],
    ['zstd', () => zlib.zstdCompressSync(zeros)],
  ])(
    'throws FILE_CORRUPT when the output of the compression %s exceeds the maximum number of bytes',
    (packing, build) => {
      expect(() => unpack(build(), packing, 1000, 1000)).toThrow(
        expect.objectContaining({ code: 'FILE_CORRUPT' }),
      );
    },
  );

  it.each<Packing>(['lzw', 'packbits'])(
    'returns only the maximum number of bytes when the output of the compression %s would be longer',
    (packing) => {
      expect(unpack(pack(zeros.subarray(0, 500_000), packing), packing, 1000, 1000)).toHaveLength(1000);
    },
  );
});

describe('unpack (decompresses TIFF data) of a damaged or unusual stream', () => {
  it.each<[string, Packing, Uint8Array]>([
    ['another compression than declared', 'deflate', pack(noise(500), 'zstd')],
    ['another compression than declared', 'zstd', pack(noise(500), 'deflate')],
    ['a wrong checksum', 'deflate', withDamage(pack(noise(500), 'deflate'), -1)],
    ['a damaged header', 'zstd', withDamage(pack(noise(500), 'zstd'), 4)],
    ['damaged data', 'deflate', withDamage(zlib.deflateSync(paintTissue(20, 9).rgb.subarray(0, 500)), 60)],
  ])('throws FILE_CORRUPT for a stream with %s (declared compression: %s)', (_, packing, packed) => {
    expect(() => unpack(packed, packing, 500, 500)).toThrow(
      expect.objectContaining({ code: 'FILE_CORRUPT' }),
    );
  });

  it('skips the no-op code 128 in a PackBits stream, and returns the bytes around it', () => {
    expect([...unpack(Uint8Array.of(128, 128, 1, 7, 8, 128, 255, 9), 'packbits', 4, 4)]).toEqual([
      7, 8, 9, 9,
    ]);
  });
});

/** Returns a copy with one byte changed; a negative position counts from the end. */
function withDamage(bytes: Uint8Array, at: number): Uint8Array {
  return bytes.with(at, (bytes.at(at) ?? 0) ^ 0x55);
}

/** Returns the result of a function as text, or the code of the error that it throws. */
function attempt(work: () => unknown): string {
  try {
    return String(work());
  } catch (error) {
    return (error as { code?: string }).code ?? String(error);
  }
}
