/** Shares one OpenSlide handle between concurrent reads. One closure holds the state of the handle. */
import { SlideError } from '../model/slide.ts';
import type { OpenSlideLibrary, OpenSlidePointer } from './library.ts';

/** A slide that is open in the library, for concurrent readers. */
export interface OpenedFile {
  /** Runs `read`, during which the slide stays open. @throws SlideError FILE_CORRUPT */
  use<T>(read: (slide: OpenSlidePointer) => T | Promise<T>): Promise<T>;
  /** Closes the slide after all running reads. */
  close(): Promise<void>;
}

interface Handle {
  readonly slide: OpenSlidePointer;
  users: number;
  isRetired: boolean;
}

/**
 * Opens a file in the library.
 *
 * The first read error makes the library's handle unusable, and fails concurrent reads of the same handle. Each of them
 * is then repeated on a handle of its own, so that only the read of the damaged part fails.
 *
 * @returns null for a file that the library does not recognise
 * @throws SlideError FILE_CORRUPT
 */
export async function openInLibrary(library: OpenSlideLibrary, path: string): Promise<OpenedFile | null> {
  const first = await openWithoutError(library, path);
  if (first === null) return null;
  let current: Promise<Handle> | null = Promise.resolve({ slide: first, users: 0, isRetired: false });
  let isClosed = false;
  const closing = new Set<Promise<void>>();

  async function openHandle(): Promise<Handle> {
    const slide = await openWithoutError(library, path);
    if (slide === null) throw new SlideError('FILE_CHANGED', 'The file was replaced while it was read');
    return { slide, users: 0, isRetired: false };
  }

  function closeUnused(handle: Handle): void {
    if (!handle.isRetired || handle.users > 0) return;
    const closed = library.close(handle.slide).finally(() => closing.delete(closed));
    closing.add(closed);
  }

  /** Returns the result, or null when the shared handle has failed. */
  async function useShared<T>(
    read: (slide: OpenSlidePointer) => T | Promise<T>,
  ): Promise<{ result: T } | null> {
    current ??= openHandle();
    const opening = current;
    const handle = await opening.catch((error: unknown) => {
      if (current === opening) current = null;
      throw error;
    });
    handle.users++;
    try {
      const result = await read(handle.slide);
      if (library.errorOf(handle.slide) === null) return { result };
      if (current === opening) current = null;
      handle.isRetired = true;
      return null;
    } finally {
      handle.users--;
      closeUnused(handle);
    }
  }

  async function useAlone<T>(read: (slide: OpenSlidePointer) => T | Promise<T>): Promise<T> {
    const handle = await openHandle();
    handle.isRetired = true;
    handle.users++;
    try {
      const result = await read(handle.slide);
      const error = library.errorOf(handle.slide);
      if (error !== null) throw unreadable(error);
      return result;
    } finally {
      handle.users--;
      closeUnused(handle);
    }
  }

  return {
    async use(read) {
      if (isClosed) throw new SlideError('FILE_MISSING', 'The slide is closed');
      const shared = await useShared(read);
      return shared ? shared.result : useAlone(read);
    },
    async close() {
      isClosed = true;
      const last = await current?.catch(() => null);
      current = null;
      if (last && !last.isRetired) {
        last.isRetired = true;
        closeUnused(last);
      }
      await Promise.all(closing);
    },
  };
}

async function openWithoutError(library: OpenSlideLibrary, path: string): Promise<OpenSlidePointer | null> {
  const slide = await library.open(path);
  if (slide === null) return null;
  const error = library.errorOf(slide);
  if (error === null) return slide;
  await library.close(slide);
  throw unreadable(error);
}

/** Keeps the library's message as the cause, for the log only: it may contain a path. */
function unreadable(message: string): SlideError {
  return new SlideError('FILE_CORRUPT', 'OpenSlide cannot read the file', { cause: new Error(message) });
}
