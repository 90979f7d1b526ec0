/**
 * Bindings to OpenSlide, a C library that may be installed on the system. The library is loaded when a file needs it, and only in
 * render processes and tools, never in a server process: a hostile file may crash it.
 *
 * Source: openslide.h of OpenSlide 3.4.1 and 4.0; koffi 3, "Asynchronous calls".
 */
import type { KoffiFunc, LibraryHandle } from 'koffi';
import { loadKoffi } from '../decode/load-koffi.ts';
import { SlideError } from '../model/slide.ts';
import { readOnce } from '../source/read-once.ts';

/** Address of an open slide in the library's memory. */
export type OpenSlidePointer = bigint;

/** The functions of OpenSlide that Lamina uses. Those that return a promise run on other threads, at most 8 at once. */
export interface OpenSlideLibrary {
  /** Version of the library, e.g. `3.4.1`. */
  version(): string;
  /** Returns null for a file that the library does not recognise. */
  detectVendor(path: string): Promise<string | null>;
  /** Returns null for a file that the library does not recognise. After a failure, `errorOf` returns the reason. */
  open(path: string): Promise<OpenSlidePointer | null>;
  close(slide: OpenSlidePointer): Promise<void>;
  /** Returns the first error of a slide; null if there is none. After an error, all later reads of the slide fail. */
  errorOf(slide: OpenSlidePointer): string | null;
  levelCount(slide: OpenSlidePointer): number;
  levelSize(slide: OpenSlidePointer, level: number): { readonly width: number; readonly height: number };
  /** Returns the number of level 0 pixels per pixel of the level, in one direction. */
  downsample(slide: OpenSlidePointer, level: number): number;
  /** Returns null for a property that the slide does not have. */
  property(slide: OpenSlidePointer, name: string): string | null;
  associatedImageNames(slide: OpenSlidePointer): readonly string[];
  associatedImageSize(
    slide: OpenSlidePointer,
    name: string,
  ): { readonly width: number; readonly height: number };
  /**
   * Reads the pixels of a rectangle of a level.
   *
   * @param x left edge in pixels of level 0, whatever `level` is; `y` is the top edge in the same unit
   * @param width in pixels of `level`, like `height`
   * @param target receives 4 bytes for each pixel: premultiplied blue, green and red, and alpha
   */
  readRegion(
    slide: OpenSlidePointer,
    target: Uint8Array,
    x: number,
    y: number,
    level: number,
    width: number,
    height: number,
  ): Promise<void>;
  /** Reads all pixels of an associated image, in the pixel format of `readRegion`. */
  readAssociatedImage(slide: OpenSlidePointer, name: string, target: Uint8Array): Promise<void>;
  /** Returns the size in bytes; 0 without a profile and in versions before OpenSlide 4. */
  iccProfileSize(slide: OpenSlidePointer): number;
  readIccProfile(slide: OpenSlidePointer, target: Uint8Array): Promise<void>;
}

const libraryNames: Readonly<Partial<Record<NodeJS.Platform, readonly string[]>>> = {
  linux: ['libopenslide.so.1', 'libopenslide.so.0'],
  darwin: ['libopenslide.1.dylib', 'libopenslide.0.dylib', '/opt/homebrew/lib/libopenslide.1.dylib'],
  win32: ['libopenslide-1.dll', 'libopenslide-0.dll'],
};

/** Maximum number of concurrent calls. More threads than processors are not faster, and koffi allows at most 256. */
const MAX_CONCURRENT_CALLS = 8;
const POINTER_BYTES = 8;

/** Loads the library; null when it is not installed. */
export const loadOpenSlide = readOnce(async (): Promise<OpenSlideLibrary | null> => {
  const koffi = await loadKoffi();
  for (const name of libraryNames[process.platform] ?? []) {
    try {
      /** Reads the text at an index of a C array of strings; null after the last one. */
      const textAt = (list: bigint, index: number) =>
        koffi.decode(list, index * POINTER_BYTES, 'char *') as string | null;
      return bind(koffi.load(name), textAt);
    } catch {
      // The library is not installed under this name; the loop tries the next one.
    }
  }
  return null;
});

/** An output parameter: the library stores a value in the array. */
type Out = [number | bigint | null];

// oxlint-disable-next-line lamina/max-own-lines -- one declaration for each C function
function bind(
  library: LibraryHandle,
  textAt: (list: bigint, index: number) => string | null,
): OpenSlideLibrary {
  const native = <T extends (...args: never[]) => unknown>(definition: string) =>
    library.func(definition) as unknown as KoffiFunc<T>;
  const detectVendor = native<(path: string) => string | null>(
    'const char *openslide_detect_vendor(const char *filename)',
  );
  const version = native<() => string>('const char *openslide_get_version()');
  const open = native<(path: string) => bigint | null>('void *openslide_open(const char *filename)');
  const close = native<(slide: bigint) => void>('void openslide_close(void *osr)');
  const errorOf = native<(slide: bigint) => string | null>('const char *openslide_get_error(void *osr)');
  const levelCount = native<(slide: bigint) => number>('int32_t openslide_get_level_count(void *osr)');
  const levelSize = native<(slide: bigint, level: number, width: Out, height: Out) => void>(
    'void openslide_get_level_dimensions(void *osr, int32_t level, _Out_ int64_t *w, _Out_ int64_t *h)',
  );
  const downsample = native<(slide: bigint, level: number) => number>(
    'double openslide_get_level_downsample(void *osr, int32_t level)',
  );
  const property = native<(slide: bigint, name: string) => string | null>(
    'const char *openslide_get_property_value(void *osr, const char *name)',
  );
  const imageNames = native<(slide: bigint) => bigint>(
    'void *openslide_get_associated_image_names(void *osr)',
  );
  const imageSize = native<(slide: bigint, name: string, width: Out, height: Out) => void>(
    'void openslide_get_associated_image_dimensions(void *osr, const char *name, _Out_ int64_t *w, _Out_ int64_t *h)',
  );
  const readRegion = native<
    (
      slide: bigint,
      target: Uint8Array,
      x: number,
      y: number,
      level: number,
      width: number,
      height: number,
    ) => void
  >(
    'void openslide_read_region(void *osr, uint32_t *dest, int64_t x, int64_t y, int32_t level, int64_t w, int64_t h)',
  );
  const readImage = native<(slide: bigint, name: string, target: Uint8Array) => void>(
    'void openslide_read_associated_image(void *osr, const char *name, uint32_t *dest)',
  );
  const icc = bindIccProfiles(library);

  const runLimited = limitConcurrency(MAX_CONCURRENT_CALLS);
  /** Calls a function of the library on a separate thread. */
  const call = <Args extends unknown[], Result>(
    nativeFunction: KoffiFunc<(...args: Args) => Result>,
    ...args: Args
  ): Promise<Result> =>
    runLimited(
      () =>
        new Promise<Result>((resolve, reject) => {
          nativeFunction.async(...args, (error: Error | null, result: Result) => {
            if (error) reject(error);
            else resolve(result);
          });
        }),
    );
  const readSize = (read: (width: Out, height: Out) => void) => {
    const [width, height]: [Out, Out] = [[null], [null]];
    read(width, height);
    return { width: Number(width[0]), height: Number(height[0]) };
  };

  return {
    version: () => version(),
    detectVendor: (path) => call(detectVendor, path),
    open: (path) => call(open, path),
    close: (slide) => call(close, slide),
    errorOf: (slide) => errorOf(slide),
    levelCount: (slide) => levelCount(slide),
    levelSize: (slide, level) => readSize((width, height) => levelSize(slide, level, width, height)),
    downsample: (slide, level) => downsample(slide, level),
    property: (slide, name) => property(slide, name),
    associatedImageNames(slide) {
      const list = imageNames(slide);
      const names: string[] = [];
      for (let name = textAt(list, 0); name !== null; name = textAt(list, names.length)) names.push(name);
      return names;
    },
    associatedImageSize: (slide, name) => readSize((width, height) => imageSize(slide, name, width, height)),
    readRegion: (slide, target, x, y, level, width, height) =>
      call(readRegion, slide, target, x, y, level, width, height),
    readAssociatedImage: (slide, name, target) => call(readImage, slide, name, target),
    iccProfileSize: (slide) => Number(icc?.size(slide) ?? 0),
    async readIccProfile(slide, target) {
      if (!icc) throw new SlideError('FORMAT_NOT_SUPPORTED', 'Not supported: a profile before OpenSlide 4');
      await call(icc.read, slide, target);
    },
  };
}

/** Binds the functions for colour profiles; returns null before OpenSlide 4, which introduced them. */
function bindIccProfiles(library: LibraryHandle) {
  try {
    return {
      size: library.func('int64_t openslide_get_icc_profile_size(void *osr)') as unknown as KoffiFunc<
        (slide: bigint) => number | bigint
      >,
      read: library.func('void openslide_read_icc_profile(void *osr, void *dest)') as unknown as KoffiFunc<
        (slide: bigint, target: Uint8Array) => void
      >,
    };
  } catch {
    return null;
  }
}

/** Returns a function that runs at most `maxRunning` tasks concurrently and queues the others in order. */
function limitConcurrency(maxRunning: number): <T>(task: () => Promise<T>) => Promise<T> {
  let runningTasks = 0;
  const queuedStarts: (() => void)[] = [];
  return async (task) => {
    if (runningTasks === maxRunning) await new Promise<void>((resolve) => queuedStarts.push(resolve));
    else runningTasks++;
    try {
      return await task();
    } finally {
      // A queued task takes over the slot of this task.
      const startNext = queuedStarts.shift();
      if (startNext) startNext();
      else runningTasks--;
    }
  };
}
