/** A file that is open in OpenSlide. Concurrent reads share one handle (an open slide in the C library) until a read fails. */
import { SlideError } from '../model/slide.ts';
import type { OpenSlideLibrary, OpenSlidePointer } from './library.ts';

/** A slide that is open in the library, for concurrent readers. */
export interface OpenedFile {
  /** Runs `read` with the open slide. @throws SlideError FILE_CORRUPT for an error of the library, FILE_CHANGED; FILE_MISSING if closed */
  use<T>(read: (slide: OpenSlidePointer) => T | Promise<T>): Promise<T>;
  /** Rejects new reads. Closes the slide at once or, if reads are running, after them; the promise does not wait for these reads. */
  close(): Promise<void>;
}

interface Handle {
  readonly slide: OpenSlidePointer;
  /** Number of running reads. */
  runningReads: number;
  /** Whether no further read may use the handle; it is closed when no read is running. */
  isRetired: boolean;
}

/**
 * Opens a file in the library.
 *
 * After one read error, the library fails all reads of the same handle. So a read that fails on the shared handle is repeated on
 * a separate handle. There, only reads of the damaged part of the file fail again.
 *
 * @returns null for a file that the library does not recognise
 * @throws SlideError FILE_CORRUPT
 */
export async function openInLibrary(library: OpenSlideLibrary, path: string): Promise<OpenedFile | null> {
  const slide = await openPointer(library, path);
  if (slide === null) return null;
  /** The handle that reads share; null after a read with it failed, until the next read opens another handle. */
  let shared: Promise<Handle> | null = Promise.resolve({ slide, runningReads: 0, isRetired: false });
  let isClosed = false;
  const runningCloses = new Set<Promise<void>>();

  async function openHandle(): Promise<Handle> {
    const newSlide = await openPointer(library, path);
    if (newSlide === null) throw new SlideError('FILE_CHANGED', 'The file was replaced while it was read');
    return { slide: newSlide, runningReads: 0, isRetired: false };
  }

  function closeIfUnused(handle: Handle): void {
    if (!handle.isRetired || handle.runningReads > 0) return;
    const closed = library.close(handle.slide).finally(() => runningCloses.delete(closed));
    runningCloses.add(closed);
  }

  /** Reads with the shared handle; returns null when the handle has failed. */
  async function useShared<T>(
    read: (slide: OpenSlidePointer) => T | Promise<T>,
  ): Promise<{ result: T } | null> {
    shared ??= openHandle();
    const opening = shared;
    const handle = await opening.catch((error: unknown) => {
      if (shared === opening) shared = null;
      throw error;
    });
    if (handle.isRetired) return null; // Another read failed while this one waited for the handle, which may be closed already.
    handle.runningReads++;
    try {
      const result = await read(handle.slide);
      if (library.errorOf(handle.slide) === null) return { result };
      if (shared === opening) shared = null; // Another failed read may have replaced the shared handle already.
      handle.isRetired = true;
      return null;
    } finally {
      handle.runningReads--;
      closeIfUnused(handle);
    }
  }

  /** Reads with a new handle that no other read uses. */
  async function useSeparate<T>(read: (slide: OpenSlidePointer) => T | Promise<T>): Promise<T> {
    const handle = await openHandle();
    handle.isRetired = true;
    handle.runningReads++;
    try {
      const result = await read(handle.slide);
      const error = library.errorOf(handle.slide);
      if (error !== null) throw unreadableError(error);
      return result;
    } finally {
      handle.runningReads--;
      closeIfUnused(handle);
    }
  }

  return {
    async use(read) {
      if (isClosed) throw new SlideError('FILE_MISSING', 'The slide is closed');
      const outcome = await useShared(read);
      return outcome ? outcome.result : useSeparate(read);
    },
    async close() {
      isClosed = true;
      const handle = await shared?.catch(() => null);
      shared = null;
      if (handle && !handle.isRetired) {
        handle.isRetired = true;
        closeIfUnused(handle);
      }
      await Promise.all(runningCloses);
    },
  };
}

/** Opens a file; returns null for a file that the library does not recognise. @throws SlideError FILE_CORRUPT */
async function openPointer(library: OpenSlideLibrary, path: string): Promise<OpenSlidePointer | null> {
  const slide = await library.open(path);
  if (slide === null) return null;
  const error = library.errorOf(slide);
  if (error === null) return slide;
  await library.close(slide);
  throw unreadableError(error);
}

/** Returns the error for a failure in the library. Its cause, for the log only, is the library's message: it may contain a path. */
function unreadableError(message: string): SlideError {
  return new SlideError('FILE_CORRUPT', 'OpenSlide cannot read the file', { cause: new Error(message) });
}
