/**
 * libjpeg-turbo, called directly. sharp decodes with the same library, but what libvips builds around it costs twice
 * as much as the work itself for a picture as small as a tile: 3.2 instead of 1.2 ms for four tiles.
 *
 * It is not needed: where it is not installed, and for every stream that is not wholly plain and sound, sharp is asked.
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
   * @param width and height: that the stream must have
   * @param target width × height × 3 samples, RGB; of a stream that is refused it holds anything
   * @returns false when the stream is not sound to the last byte, or not baseline in three colours
   */
  decode(jpeg: Uint8Array, width: number, height: number, target: Uint8Array): boolean;
  /**
   * @param quality 1…100
   * @returns a complete JPEG, YCbCr, colours at full resolution; null when it could not be made
   */
  encode(raster: Raster, quality: number): Uint8Array | null;
}

const BASELINE = 0xc0;
const PIXEL_RGB = 0;
const SAMPLING_444 = 0;
const ACCURATE_DCT = 4096;
/** A warning means that the decoder has made pixels up. */
const STOP_ON_WARNING = 8192;

/** @returns null where the library is not there */
export const loadTurboJpeg = readOnce(async (): Promise<TurboJpeg | null> => {
  const koffi = await loadKoffi();
  for (const name of libraryNames()) {
    try {
      return bind(koffi.load(name));
    } catch {
      // Not this one; the next may be there.
    }
  }
  return null;
});

/** What npm has brought for this system, then the system's own. */
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
    // Brings the library for Linux alone.
  }
  return names;
}

type Out = [number | null];

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
      size: Out,
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
  /** What the largest picture so far needed; the library writes there without asking how large it is. */
  let room = new Uint8Array(0);

  return {
    decode(jpeg, width, height, target) {
      const header = plainHeaderOf(jpeg);
      const isExpected = header?.width === width && header.height === height;
      if (!isExpected || target.length !== width * height * 3) return false;
      // Each has its own: a decoder keeps tables, and a stream without any would be drawn with those of another file.
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
      const most = sizeLimit(width, height, SAMPLING_444);
      if (room.length < most) room = new Uint8Array(most);
      const size: Out = [null];
      const failed = compress(
        compressor,
        rgb,
        width,
        width * 3,
        height,
        3,
        room,
        size,
        SAMPLING_444,
        quality,
        ACCURATE_DCT,
      );
      return failed === 0 && size[0] !== null ? room.slice(0, Number(size[0])) : null;
    },
  };
}

/** Null for what the two libraries might draw differently; a profile in the stream is for sharp to apply. */
function plainHeaderOf(jpeg: Uint8Array): JpegHeader | null {
  try {
    for (const segment of segments(jpeg, 2)) if (segment.marker === marker.APP2) return null;
    const header = readJpegHeader(jpeg);
    const { frameMarker, precision, components } = header;
    return frameMarker === BASELINE && precision === 8 && components.length === 3 ? header : null;
  } catch {
    return null; // sharp says what is wrong with it
  }
}
