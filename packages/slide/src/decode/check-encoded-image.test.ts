import { deflateSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { buildPng } from '../testing/build-png.ts';
import { checkEncodedImage } from './check-encoded-image.ts';

/** Maximum bytes of a colour profile. */
const maxProfileBytes = 4 * 2 ** 20;

describe('checkEncodedImage (checks an image before decoding) of a PNG with a compressed colour profile', () => {
  /** Checks a PNG whose profiles consist of zeros, which compress to a thousandth. */
  function checkPng(profileBytes: number, profileCount = 1): void {
    // An iCCP chunk: name, NUL, compression method 0, compressed profile.
    const data = Buffer.concat([Buffer.from('ICC\0\0', 'latin1'), deflateSync(Buffer.alloc(profileBytes))]);
    const bytes = buildPng({
      width: 40,
      height: 30,
      before: Array.from({ length: profileCount }, () => ({ type: 'iCCP', data })),
    });
    checkEncodedImage({ codec: 'png', bytes, width: 40, height: 30 });
  }

  it('accepts a profile that decompresses to 4 MiB', () => {
    expect(() => checkPng(maxProfileBytes)).not.toThrow();
  });

  it('throws LIMIT_EXCEEDED for a profile that decompresses to more than 4 MiB', () => {
    expect(() => checkPng(maxProfileBytes + 1)).toThrow(expect.objectContaining({ code: 'LIMIT_EXCEEDED' }));
  });

  it('throws FILE_CORRUPT when the PNG contains two profiles', () => {
    expect(() => checkPng(100, 2)).toThrow(expect.objectContaining({ code: 'FILE_CORRUPT' }));
  });
});
