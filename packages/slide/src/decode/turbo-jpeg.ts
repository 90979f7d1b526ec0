/**
 * Calls libjpeg-turbo directly. sharp uses the same library, but for a picture as small as a tile the
 * overhead of libvips is twice the work itself: 3.2 instead of 1.2 ms for four tiles.
 *
 * The library is optional: where it is not installed, and for unusual or damaged streams, sharp decodes.
 *
 * Source: turbojpeg.h of libjpeg-turbo 2.1 and 3.1.
 */
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { KoffiFunc, LibraryHandle } from 'koffi';
import { type JpegHeader, marker, readJpegHeader, segments } from '../jpeg/header.ts';
import { readOnce } from '../source/read-once.ts';
import { loadKoffi } from './load-koffi.ts';
import type { Raster } from './raster.ts';

export interface TurboJpeg {
  /**
   * @param width expected width in pixels
   * @param height expected height in pixels
   * @param target width × height × 3 RGB samples; undefined contents when the result is false
   * @returns false when the stream is damaged anywhere, or is not baseline in three colours
   */
  decode(jpeg: Uint8Array, width: number, height: number, target: Uint8Array): boolean;
  /**
   * @param quality 1…100
   * @returns a complete JPEG: YCbCr with full chroma resolution; null on failure
   */
  encode(raster: Raster, quality: number): Uint8Array | null;
}

const BASELINE = 0xc0;
const PIXEL_RGB = 0;
const SAMPLING_444 = 0;
const ACCURATE_DCT = 4096;
/** Flag: fail on a warning, which means that the decoder has invented pixels of a damaged stream. */
const STOP_ON_WARNING = 8192;

/** Loads the library. @returns null when it is not installed */
export const loadTurboJpeg = readOnce(async (): Promise<TurboJpeg | null> => {
  const koffi = await loadKoffi();
  for (const name of libraryNames()) {
    try {
      return bind(koffi.load(name));
    } catch {
      // The library does not exist under this name; the loop tries the next one.
    }
  }
  return null;
});

/** The library of the npm package for this system, then that of the system. */
function libraryNames(): readonly string[] {
  if (process.platform !== 'linux') return [];
  const names = ['libturbojpeg.so.0'];
  try {
    const require = createRequire(import.meta.url);
    const packageFile = require.resolve('@julusian/jpeg-turbo/package.json');
    const prebuilt = (system: string) =>
      join(dirname(packageFile), 'prebuilds', `jpeg-turbo-linux-${system}`, 'libturbojpeg.so.0');
    names.unshift(prebuilt(process.arch), prebuilt(`${process.arch}-musl`));
  } catch {
    // The package contains the library for Linux only.
  }
  return names;
}

type OutNumber = [number | null];

function bind(library: LibraryHandle): TurboJpeg | null {
  const native = <T extends (...args: never[]) => unknown>(definition: string) =>
    library.func(definition) as unknown as KoffiFunc<T>;
  const initDecompress = native<() => bigint | null>('void *tjInitDecompress()');
  const destroy = native<(handle: bigint) => number>('int tjDestroy(void *handle)');
  const compressor = native<() => bigint | null>('void *tjInitCompress()')();
  const decompress = native<
    (
      handle: bigint,
      jpeg: Uint8Array,
      size: number,
      target: Uint8Array,
      width: number,
      pitch: number,
      height: number,
      pixelFormat: number,
      flags: number,
    ) => number
  >(
    'int tjDecompress2(void *handle, const uint8_t *jpeg, unsigned long size, uint8_t *target, int width, int pitch, int height, int pixelFormat, int flags)',
  );
  const compress = native<
    (
      handle: bigint,
      source: Uint8Array,
      width: number,
      pitch: number,
      height: number,
      pixelSize: number,
      target: Uint8Array,
      size: OutNumber,
      sampling: number,
      quality: number,
      flags: number,
    ) => number
  >(
    'int tjCompress(void *handle, uint8_t *source, int width, int pitch, int height, int pixelSize, uint8_t *target, _Out_ unsigned long *size, int sampling, int quality, int flags)',
  );
  const sizeLimit = native<(width: number, height: number, sampling: number) => number>(
    'unsigned long tjBufSize(int width, int height, int sampling)',
  );
  if (!compressor) return null;
  /** Output buffer, sized for the largest picture so far; the library does not check its length. */
  let output = new Uint8Array(0);

  return {
    decode(jpeg, width, height, target) {
      const header = plainHeaderOf(jpeg);
      const isExpected = header?.width === width && header.height === height;
      if (!isExpected || target.length !== width * height * 3) return false;
      // A new decoder for each stream: a decoder keeps tables, so a stream without tables would use those of
      // another file.
      const handle = initDecompress();
      if (handle === null) return false;
      const flags = ACCURATE_DCT | STOP_ON_WARNING;
      try {
        return (
          decompress(handle, jpeg, jpeg.length, target, width, width * 3, height, PIXEL_RGB, flags) === 0
        );
      } finally {
        destroy(handle);
      }
    },

    encode({ width, height, rgb }, quality) {
      const maxBytes = sizeLimit(width, height, SAMPLING_444);
      if (output.length < maxBytes) output = new Uint8Array(maxBytes);
      const size: OutNumber = [null];
      const failed = compress(
        compressor,
        rgb,
        width,
        width * 3,
        height,
        3,
        output,
        size,
        SAMPLING_444,
        quality,
        ACCURATE_DCT,
      );
      return failed === 0 && size[0] !== null ? output.slice(0, Number(size[0])) : null;
    },
  };
}

/**
 * Reads the header; null for streams that the two libraries might decode differently. sharp applies embedded
 * profiles.
 */
function plainHeaderOf(jpeg: Uint8Array): JpegHeader | null {
  try {
    for (const segment of segments(jpeg, 2)) if (segment.marker === marker.APP2) return null;
    const header = readJpegHeader(jpeg);
    const { frameMarker, precision, components } = header;
    return frameMarker === BASELINE && precision === 8 && components.length === 3 ? header : null;
  } catch {
    return null; // sharp reports the error
  }
}
