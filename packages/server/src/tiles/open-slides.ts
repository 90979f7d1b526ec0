/**
 * Keeps slides open: each slide is opened once for all its viewers and closed when it has not been used for five minutes.
 *
 * While a slide is in use, its file is checked in the background at most twice a second, to notice that it was replaced,
 * removed or turned into a link. No tile is served from a slide whose last successful check is more than one second old,
 * with one exception: while the storage does not answer, an open slide is served for at most 30 s after that check.
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

/** The slide that a request needs, and how it is located and opened. */
export interface OpenRequest {
  readonly id: string;
  /** @throws SlideError FILE_MISSING */
  locate(): Promise<SlideLocation>;
  /** Opens the file with this fingerprint. @throws SlideError when the file is refused, and what opening throws */
  open(location: SlideLocation, fingerprint: string): Promise<Slide>;
  /** Called when the request has to wait until the slide is open. @returns a function to call when the wait ends */
  joinOpening?(): () => void;
}

export interface OpenSlides {
  /**
   * Runs `work` with the open slide, which stays open until `work` has finished. If `work` throws FILE_CHANGED, it runs
   * once more with the new file.
   *
   * @throws SlideError what opening throws, and what `work` throws
   */
  use<T>(request: OpenRequest, work: (open: OpenSlide) => Promise<T>): Promise<T>;
  /** Closes the slide when its last reader has finished; the next request opens it again. */
  forget(id: string): void;
  count(): number;
  close(): Promise<void>;
}

interface Entry {
  /** The first request for the slide. */
  readonly request: OpenRequest;
  readonly opening: Promise<OpenSlide>;
  /** Null until the slide is open. */
  open: OpenSlide | null;
  /** Time at which the last check that found the file unchanged began. */
  checkedAt: number;
  checking: Promise<void> | null;
  /** Error of the last check; null after a successful one. */
  failure: SlideError | null;
  usedAt: number;
  readers: number;
  isRetired: boolean;
}

interface OpenSlidesOptions {
  /** Maximum number of open slides; beyond it, the least recently used slide is closed. */
  readonly limit: number;
  readonly log: Logger;
  /** Reads slides from object storage; null when all slides are files on disk. */
  readonly objects?: ObjectReader | null;
  /** Monotonic clock, in milliseconds. */
  readonly now?: () => number;
}

const checkAfterMs = 500;
/** Maximum age of a check whose result still allows a tile to be served. */
const checkValidForMs = 1000;
/** Maximum age of such a check while the storage does not answer. */
const checkValidInOutageMs = 30_000;
/** Maximum time that a request waits for a check if the slide may also be served without its result. */
const checkTimeoutMs = 500;
const idleMs = 5 * 60_000;
/** Interval of the checks of unused slides: an open file handle keeps the disk space of a deleted file allocated. */
const idleCheckMs = 10_000;

/** One closure of more than 60 lines: opening, checking and closing share the entries. */
export function createOpenSlides({
  limit,
  log,
  objects = null,
  now = () => performance.now(),
}: OpenSlidesOptions): OpenSlides {
  const entries = new Map<string, Entry>();
  const closing = new Set<Promise<void>>();
  let idleTimer: NodeJS.Timeout | null = null;

  function open(request: OpenRequest): Entry {
    const entry: Entry = {
      request,
      opening: locateAndOpen(request),
      open: null,
      checkedAt: now(),
      checking: null,
      failure: null,
      usedAt: now(),
      readers: 0,
      isRetired: false,
    };
    entries.set(request.id, entry);
    entry.opening.then(
      (opened) => {
        entry.open = opened;
      },
      // Requests of the next second get the same error as a failed opening. BUSY is an exception: the next request
      // may come from an account that still has places in the render queue.
      (error: unknown) => {
        if (error instanceof SlideError && error.code === 'BUSY') retire(request.id, entry);
        else setTimeout(() => retire(request.id, entry), checkValidForMs).unref();
      },
    );
    if (entries.size > limit) {
      const [oldest] = [...entries].sort(([, a], [, b]) => a.usedAt - b.usedAt);
      if (oldest !== undefined) retire(...oldest);
    }
    idleTimer ??= setInterval(checkIdleSlides, idleCheckMs).unref();
    return entry;
  }

  async function locateAndOpen(request: OpenRequest): Promise<OpenSlide> {
    const location = await request.locate();
    const slide = await request.open(location, await fingerprintOf(location, objects));
    return { slide, descriptor: describeDeepZoom(slide), location };
  }

  /** Hides the entry from new requests and closes the slide after its last reader. */
  function retire(id: string, entry: Entry): void {
    if (entries.get(id) === entry) entries.delete(id);
    if (entry.isRetired) return;
    entry.isRetired = true;
    closeIfUnused(entry);
  }

  function closeIfUnused(entry: Entry): void {
    if (!entry.isRetired || entry.readers > 0) return;
    const closed = entry.opening
      .then(({ slide }) => slide.close())
      .catch((error: unknown) => {
        if (!(error instanceof SlideError))
          log.warn(
            { err: error, slide: entry.request.id },
            'slide close failed; its file may stay open until the process ends',
          );
      })
      .finally(() => closing.delete(closed));
    closing.add(closed);
  }

  /** Closes slides that have not been used for long, and slides whose file has changed. */
  function checkIdleSlides(): void {
    const nowMs = now();
    for (const [id, entry] of entries) {
      if (nowMs - entry.usedAt > idleMs) retire(id, entry);
      else if (isOnDisk(entry) && nowMs - entry.checkedAt > idleCheckMs / 2) void check(entry.request, entry);
    }
    if (entries.size === 0 && idleTimer !== null) {
      clearInterval(idleTimer);
      idleTimer = null;
    }
  }

  /** Only files on disk are checked while unused: an open object allocates no storage, and each check would be an HTTP request. */
  const isOnDisk = ({ open }: Entry) => open !== null && !open.location.isObject;

  /** Retires the entry when its file is not the one that is open. Concurrent calls share one check. */
  function check(request: OpenRequest, entry: Entry): Promise<void> {
    entry.checking ??= (async () => {
      const startedAt = now();
      try {
        const { slide, location } = await entry.opening;
        const current = await request.locate();
        const isSameLocation = current.path === location.path && current.isObject === location.isObject;
        const isUnchanged = isSameLocation && (await fingerprintOf(current, objects)) === slide.fingerprint;
        if (isUnchanged) {
          entry.checkedAt = startedAt;
          entry.failure = null;
        } else retire(request.id, entry);
      } catch (error) {
        if (isUnreachable(error)) {
          if (entry.failure === null)
            log.warn(
              { err: error, slide: request.id },
              'slide check failed: slide storage unreachable; checked again at the next request',
            );
          entry.failure = error;
          return;
        }
        if (!(error instanceof SlideError))
          log.warn(
            { err: error, slide: request.id },
            'slide check failed: could not determine whether the file has changed; the slide is opened again',
          );
        retire(request.id, entry);
      } finally {
        entry.checking = null;
      }
    })();
    return entry.checking;
  }

  /** Returns the entry of a slide whose last check is recent enough; a promise only when the request has to wait for a check. */
  function currentEntry(request: OpenRequest): Entry | Promise<Entry> {
    const entry = entries.get(request.id);
    if (entry === undefined) return open(request);
    const age = now() - entry.checkedAt;
    if (age <= checkAfterMs) return entry;
    const checked = check(request, entry);
    if (age <= checkValidForMs) return entry;
    if (entry.failure !== null && age <= checkValidInOutageMs) return entry;
    return checkedEntry(request, entry, checked);
  }

  /** @throws SlideError when the storage has not answered for longer than `checkValidInOutageMs` */
  async function checkedEntry(request: OpenRequest, entry: Entry, checked: Promise<void>): Promise<Entry> {
    const isServable = () => entry.open !== null && now() - entry.checkedAt <= checkValidInOutageMs;
    await (isServable() ? waitAtMost(checked, checkTimeoutMs) : checked);
    const current = entries.get(request.id);
    if (current !== entry) return current ?? open(request);
    if (entry.failure === null || isServable()) return entry;
    throw entry.failure;
  }

  async function waitUntilOpen(request: OpenRequest, { opening }: Entry): Promise<OpenSlide> {
    const leave = request.joinOpening?.();
    try {
      return await opening;
    } finally {
      leave?.();
    }
  }

  return {
    async use(request, work) {
      for (let isRepeated = false; ; ) {
        const current = currentEntry(request);
        const entry = current instanceof Promise ? await current : current;
        if (entry.isRetired) continue; // the slide was closed during the wait
        entry.readers++;
        try {
          entry.usedAt = now();
          return await work(entry.open ?? (await waitUntilOpen(request, entry)));
        } catch (error) {
          if (!isFileChanged(error)) throw error;
          retire(request.id, entry);
          if (isRepeated) throw error;
          isRepeated = true;
        } finally {
          entry.readers--;
          closeIfUnused(entry);
        }
      }
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

/** Resolves when the promise is fulfilled, but after at most this time. */
async function waitAtMost(promise: Promise<void>, ms: number): Promise<void> {
  const timeout = Promise.withResolvers<void>();
  const timer = setTimeout(timeout.resolve, ms);
  await Promise.race([promise, timeout.promise]).finally(() => clearTimeout(timer));
}

function isFileChanged(error: unknown): boolean {
  return error instanceof SlideError && error.code === 'FILE_CHANGED';
}
