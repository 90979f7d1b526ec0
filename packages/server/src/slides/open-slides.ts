/**
 * Slides that are open: each opened once for all who look at it, closed when nobody does for a while.
 *
 * A file that was replaced, removed or turned into a link elsewhere is noticed by looking at it again at
 * most twice a second, aside from the requests; no tile is served from a slide that was not looked at for
 * longer than a second. While whatever keeps the file does not answer, nobody can replace it either that we would hear
 * of: then what is open goes on for half a minute, as far as it can be read.
 */
import {
  type DeepZoomDescriptor,
  describeDeepZoom,
  fingerprintOf,
  isUnreachable,
  type ObjectReader,
  type Slide,
  SlideError,
  type SlideLocation,
} from '@lamina/slide';
import type { Logger } from 'pino';

export interface OpenSlide {
  readonly slide: Slide;
  readonly descriptor: DeepZoomDescriptor;
  readonly location: SlideLocation;
}

/** What is to be open, and where it is now. */
export interface Wanted {
  readonly id: string;
  /** @throws SlideError FILE_MISSING */
  locate(): Promise<SlideLocation>;
  /** Opens it, told its fingerprint. @throws SlideError when it must not be opened here, and what opening throws */
  open(location: SlideLocation, fingerprint: string): Promise<Slide>;
}

export interface OpenSlides {
  /**
   * Does something with the open slide; it stays open until that is done.
   *
   * @throws SlideError what opening throws, and what `work` throws
   */
  use<T>(wanted: Wanted, work: (open: OpenSlide) => Promise<T>): Promise<T>;
  /**
   * Does something with it at once, without a wait, where it is open and was looked at lately.
   *
   * @returns null otherwise, without calling `work`
   */
  useNow<T>(wanted: Wanted, work: (open: OpenSlide) => Promise<T>): Promise<T> | null;
  /** Closes it as soon as nobody reads from it; whoever asks next opens it anew. */
  forget(id: string): void;
  count(): number;
  close(): Promise<void>;
}

interface Entry {
  /** By whoever asked first. */
  readonly wanted: Wanted;
  readonly opening: Promise<OpenSlide>;
  /** Null until it has been opened. */
  open: OpenSlide | null;
  /** When the file was last seen to be the one that is open. */
  checkedAt: number;
  checking: Promise<void> | null;
  /** Why the last look brought nothing; null when it did. */
  failure: SlideError | null;
  usedAt: number;
  readers: number;
  isRetired: boolean;
}

interface Plan {
  /** Open at a time; a further one closes the one that is longest out of use. */
  readonly limit: number;
  readonly log: Logger;
  /** Through which objects are looked at; absent: slides are files. */
  readonly objects?: ObjectReader | null;
  /** Milliseconds of a clock that nobody sets. */
  readonly now?: () => number;
}

const checkAfterMs = 500;
const believedForMs = 1000;
/** So long what is open goes on while it cannot be looked at. */
const trustedForMs = 30_000;
/** A look that takes longer is not waited for as long as it may go on. */
const patienceMs = 500;
const idleMs = 5 * 60_000;
/** A file that nobody asks for any more must not stay on the disk because it is open here. */
const lookAroundEveryMs = 10_000;

export function createOpenSlides({
  limit,
  log,
  objects = null,
  now = () => performance.now(),
}: Plan): OpenSlides {
  const entries = new Map<string, Entry>();
  const closing = new Set<Promise<void>>();
  let idleTimer: NodeJS.Timeout | null = null;

  function open(wanted: Wanted): Entry {
    const entry: Entry = {
      wanted,
      opening: openNow(wanted),
      open: null,
      checkedAt: now(),
      checking: null,
      failure: null,
      usedAt: now(),
      readers: 0,
      isRetired: false,
    };
    entries.set(wanted.id, entry);
    // What could not be opened is not asked for again by each of a hundred tiles.
    entry.opening.then(
      (opened) => {
        entry.open = opened;
      },
      () => setTimeout(() => retire(wanted.id, entry), believedForMs).unref(),
    );
    if (entries.size > limit) {
      const [oldest] = [...entries].sort(([, a], [, b]) => a.usedAt - b.usedAt);
      if (oldest !== undefined) retire(...oldest);
    }
    idleTimer ??= setInterval(lookAround, lookAroundEveryMs).unref();
    return entry;
  }

  async function openNow(wanted: Wanted): Promise<OpenSlide> {
    const location = await wanted.locate();
    const slide = await wanted.open(location, await fingerprintOf(location, objects));
    return { slide, descriptor: describeDeepZoom(slide), location };
  }

  /** Nobody gets it any more; it is closed when the last reader is done. */
  function retire(id: string, entry: Entry): void {
    if (entries.get(id) === entry) entries.delete(id);
    if (entry.isRetired) return;
    entry.isRetired = true;
    closeIfUnread(entry);
  }

  function closeIfUnread(entry: Entry): void {
    if (!entry.isRetired || entry.readers > 0) return;
    const closed = entry.opening
      .then(({ slide }) => slide.close())
      .catch((error: unknown) => {
        if (!(error instanceof SlideError)) log.warn({ err: error }, 'a slide could not be closed');
      })
      .finally(() => closing.delete(closed));
    closing.add(closed);
  }

  /** Closes what nobody has used for long, and what is not the file any more. */
  function lookAround(): void {
    const at = now();
    for (const [id, entry] of entries) {
      if (at - entry.usedAt > idleMs) retire(id, entry);
      else if (isOnDisk(entry) && at - entry.checkedAt > lookAroundEveryMs / 2) {
        void check(entry.wanted, entry);
      }
    }
    if (entries.size === 0 && idleTimer !== null) {
      clearInterval(idleTimer);
      idleTimer = null;
    }
  }

  /** An object that is open takes no room in its store, and each look there is a request. */
  const isOnDisk = ({ open }: Entry) => open !== null && !open.location.isObject;

  /** Looks whether the file is still the one that is open; if not, the entry is retired. */
  function check(wanted: Wanted, entry: Entry): Promise<void> {
    entry.checking ??= (async () => {
      const startedAt = now();
      try {
        const { slide, location } = await entry.opening;
        const current = await wanted.locate();
        const isThere = current.path === location.path && current.isObject === location.isObject;
        const isSame = isThere && (await fingerprintOf(current, objects)) === slide.fingerprint;
        if (isSame) {
          entry.checkedAt = startedAt;
          entry.failure = null;
        } else retire(wanted.id, entry);
      } catch (error) {
        if (isUnreachable(error)) {
          if (entry.failure === null) log.warn({ err: error }, 'an open slide cannot be looked at');
          entry.failure = error;
          return;
        }
        if (!(error instanceof SlideError)) log.warn({ err: error }, 'a slide could not be looked at');
        retire(wanted.id, entry);
      } finally {
        entry.checking = null;
      }
    })();
    return entry.checking;
  }

  async function whileRead<T>(entry: Entry, work: Promise<T>): Promise<T> {
    try {
      return await work;
    } finally {
      entry.readers--;
      closeIfUnread(entry);
    }
  }

  /** A promise only when the file has to be looked at first. */
  function currentEntry(wanted: Wanted): Entry | Promise<Entry> {
    const entry = entries.get(wanted.id);
    if (entry === undefined) return open(wanted);
    const age = now() - entry.checkedAt;
    if (age <= checkAfterMs) return entry;
    const checked = check(wanted, entry);
    if (age <= believedForMs) return entry;
    if (entry.failure !== null && age <= trustedForMs) return entry;
    return lookedAt(wanted, entry, checked);
  }

  /** @throws SlideError when it has not been possible to look at it for too long */
  async function lookedAt(wanted: Wanted, entry: Entry, checked: Promise<void>): Promise<Entry> {
    const mayGoOn = () => entry.open !== null && now() - entry.checkedAt <= trustedForMs;
    await (mayGoOn() ? atMost(checked, patienceMs) : checked);
    const current = entries.get(wanted.id);
    if (current !== entry) return current ?? open(wanted);
    if (entry.failure === null || mayGoOn()) return entry;
    throw entry.failure;
  }

  async function useOnce<T>(wanted: Wanted, work: (open: OpenSlide) => Promise<T>): Promise<T> {
    let entry: Entry;
    do {
      const found = currentEntry(wanted);
      entry = found instanceof Promise ? await found : found;
    } while (entry.isRetired); // it may have been closed while we waited
    entry.readers++;
    try {
      entry.usedAt = now();
      return await work(await entry.opening);
    } catch (error) {
      if (isChanged(error)) retire(wanted.id, entry);
      throw error;
    } finally {
      entry.readers--;
      closeIfUnread(entry);
    }
  }

  return {
    async use(wanted, work) {
      try {
        return await useOnce(wanted, work);
      } catch (error) {
        // The file was replaced while it was read: the new one answers.
        if (isChanged(error)) return useOnce(wanted, work);
        throw error;
      }
    },

    useNow(wanted, work) {
      const entry = entries.get(wanted.id);
      if (entry === undefined || entry.open === null) return null;
      const at = now();
      const age = at - entry.checkedAt;
      if (age > (entry.failure === null ? believedForMs : trustedForMs)) return null;
      if (age > checkAfterMs) void check(wanted, entry);
      entry.usedAt = at;
      entry.readers++;
      return whileRead(entry, work(entry.open));
    },

    forget(id) {
      const entry = entries.get(id);
      if (entry !== undefined) retire(id, entry);
    },

    count: () => entries.size,

    async close() {
      if (idleTimer !== null) clearInterval(idleTimer);
      for (const [id, entry] of entries) retire(id, entry);
      await Promise.all(closing);
    },
  };
}

/** Waits no longer than this. */
async function atMost(promise: Promise<void>, ms: number): Promise<void> {
  const late = Promise.withResolvers<void>();
  const timer = setTimeout(late.resolve, ms);
  await Promise.race([promise, late.promise]).finally(() => clearTimeout(timer));
}

function isChanged(error: unknown): boolean {
  return error instanceof SlideError && error.code === 'FILE_CHANGED';
}
