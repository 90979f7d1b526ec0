import { SlideError } from '../slide.ts';
import type { OpenSlideLibrary, OpenSlidePointer } from './library.ts';

/** A slide that is open in the library, for many readers at once. */
export interface OpenedFile {
  /** Asks something of the slide; it stays open until that is answered. @throws SlideError FILE_CORRUPT */
  use<T>(ask: (slide: OpenSlidePointer) => T | Promise<T>): Promise<T>;
  /** Once everything that was asked is answered. */
  close(): Promise<void>;
}

interface Handle {
  readonly slide: OpenSlidePointer;
  users: number;
  isRetired: boolean;
}

/**
 * Open a file in the library.
 *
 * The first part of a file that cannot be read spoils the whole open slide for good, and whatever is being read of it
 * at the time: then everyone reads again by themselves, so that only who asked for that part hears of it.
 *
 * @returns null for a file that the library does not know
 * @throws SlideError FILE_CORRUPT
 */
export async function openInLibrary(library: OpenSlideLibrary, path: string): Promise<OpenedFile | null> {
  const first = await openSound(library, path);
  if (first === null) return null;
  let current: Promise<Handle> | null = Promise.resolve({ slide: first, users: 0, isRetired: false });
  let isClosed = false;
  const closing = new Set<Promise<void>>();

  async function openHandle(): Promise<Handle> {
    const slide = await openSound(library, path);
    if (slide === null) throw new SlideError('FILE_CHANGED', 'The file was replaced while it was read');
    return { slide, users: 0, isRetired: false };
  }

  function closeUnused(handle: Handle): void {
    if (!handle.isRetired || handle.users > 0) return;
    const closed = library.close(handle.slide).finally(() => closing.delete(closed));
    closing.add(closed);
  }

  /** @returns the answer, or null when the slide is spoilt */
  async function useShared<T>(
    ask: (slide: OpenSlidePointer) => T | Promise<T>,
  ): Promise<{ answer: T } | null> {
    current ??= openHandle();
    const taken = current;
    const handle = await taken.catch((error: unknown) => {
      if (current === taken) current = null;
      throw error;
    });
    handle.users++;
    try {
      const answer = await ask(handle.slide);
      if (library.errorOf(handle.slide) === null) return { answer };
      if (current === taken) current = null;
      handle.isRetired = true;
      return null;
    } finally {
      handle.users--;
      closeUnused(handle);
    }
  }

  async function useAlone<T>(ask: (slide: OpenSlidePointer) => T | Promise<T>): Promise<T> {
    const handle = await openHandle();
    handle.isRetired = true;
    handle.users++;
    try {
      const answer = await ask(handle.slide);
      const error = library.errorOf(handle.slide);
      if (error !== null) throw unreadable(error);
      return answer;
    } finally {
      handle.users--;
      closeUnused(handle);
    }
  }

  return {
    async use(ask) {
      if (isClosed) throw new SlideError('FILE_MISSING', 'The slide is closed');
      const shared = await useShared(ask);
      return shared ? shared.answer : useAlone(ask);
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

async function openSound(library: OpenSlideLibrary, path: string): Promise<OpenSlidePointer | null> {
  const slide = await library.open(path);
  if (slide === null) return null;
  const error = library.errorOf(slide);
  if (error === null) return slide;
  await library.close(slide);
  throw unreadable(error);
}

/** The library's sentence goes along for the log; it may name a path. */
function unreadable(sentence: string): SlideError {
  return new SlideError('FILE_CORRUPT', 'OpenSlide cannot read the file', { cause: new Error(sentence) });
}
