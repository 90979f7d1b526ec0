/**
 * The slides that the server keeps open: each is opened once for all its viewers and closed when unused for five minutes.
 *
 * While a slide is in use, its file is checked in the background at most twice a second, to detect that it was
 * replaced, removed or turned into a symbolic link. A tile is served only if the last successful check of its slide is
 * at most 1 s old, or at most 30 s old while the storage does not answer.
 */
import {
  type DeepZoomDescriptor,
  describeDeepZoom,
  fingerprintOf,
  isTemporaryError,
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

/** The slide that a request needs, and the functions that find and open its file. */
export interface OpenRequest {
  readonly id: string; // of the image
  /** Returns the current location of the file. @throws SlideError FILE_MISSING */
  locate(): Promise<SlideLocation>;
  /** Opens the file. @param fingerprint the current one; it changes with the file @throws SlideError if unreadable */
  open(location: SlideLocation, fingerprint: string): Promise<Slide>;
  /** Called when the request has to wait until the slide is open. @returns a function to call when the wait ends */
  joinOpening?(): () => void;
}

export interface OpenSlides {
  /**
   * Runs `work` with the open slide, which stays open until `work` has finished. If `work` throws FILE_CHANGED, the new file is opened
   * and `work` runs once more.
   *
   * @throws SlideError of `locate` and `open`; errors of `work`
   */
  use<T>(request: OpenRequest, work: (open: OpenSlide) => Promise<T>): Promise<T>;
  /** Closes the slide when its last reader (running `work`) has finished; the next request opens it again. */
  closeSlide(id: string): void;
  count(): number;
  close(): Promise<void>;
}

/** A slide that is open or being opened. */
interface Entry {
  /** The first request for the slide, which has opened it. */
  readonly request: OpenRequest;
  readonly opening: Promise<OpenSlide>;
  open: OpenSlide | null; // null until `opening` resolves
  /** Start time of the last check that found the file unchanged; before the first check, the time of opening. */
  checkedAt: number;
  checking: Promise<void> | null; // the running check, if any
  /** Set while the storage does not answer: the error of the last check. */
  storageError: SlideError | null;
  usedAt: number; // start of the last `work`
  /** Number of running `work` functions. */
  readers: number;
  /** Whether new requests no longer use the entry; the slide is closed after its last reader. */
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

/** A request starts a check when the last successful one is older than this. */
const checkAfterMs = 500;
/** A tile is served when the last successful check is at most this old. */
const checkValidForMs = 1000;
/** While the storage does not answer, a tile is served when the last successful check is at most this old. */
const checkValidInOutageMs = 30_000;
/** Maximum time that a request waits for a check while `checkValidInOutageMs` allows serving the slide without the result. */
const checkTimeoutMs = 500;
const idleMs = 5 * 60_000; // a slide is closed when it has not been used for this time
/** Interval at which unused slides are checked, because an open file handle keeps the disk space of a deleted file allocated. */
const idleCheckMs = 10_000;
const minIdleAgeMs = idleCheckMs / 2; // a slide that was checked less than this time ago is not checked again

/** Opening, checking and closing share the entries, so this function is long. */
export function createOpenSlides({
  limit,
  log,
  objects = null,
  now = () => performance.now(),
}: OpenSlidesOptions): OpenSlides {
  const entries = new Map<string, Entry>();
  const pendingCloses = new Set<Promise<void>>(); // slides that are being closed
  let idleTimer: NodeJS.Timeout | null = null;

  function open(request: OpenRequest): Entry {
    const entry: Entry = {
      request,
      opening: locateAndOpen(request),
      open: null,
      checkedAt: now(),
      checking: null,
      storageError: null,
      usedAt: now(),
      readers: 0,
      isRetired: false,
    };
    entries.set(request.id, entry);
    entry.opening.then(
      (opened) => {
        entry.open = opened;
      },
      // For 1 s after a failed opening, further requests get the same error. After BUSY (no place left in the render queue), the
      // next request opens the slide again, because it may come from an account that still has places.
      (error: unknown) => {
        if (error instanceof SlideError && error.code === 'BUSY') retire(request.id, entry);
        else setTimeout(() => retire(request.id, entry), checkValidForMs).unref();
      },
    );
    if (entries.size > limit) {
      const [leastRecentlyUsed] = [...entries].sort(([, a], [, b]) => a.usedAt - b.usedAt);
      if (leastRecentlyUsed !== undefined) retire(...leastRecentlyUsed);
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
        // A SlideError comes from a failed opening, which left nothing to close.
        if (!(error instanceof SlideError))
          log.warn(
            { err: error, imageId: entry.request.id },
            'closing an unused slide failed; its file may stay open until the process ends',
          );
      })
      .finally(() => pendingCloses.delete(closed));
    pendingCloses.add(closed);
  }

  /** Closes slides that have not been used for five minutes, and slides whose file has changed. */
  function checkIdleSlides(): void {
    const nowMs = now();
    for (const [id, entry] of entries) {
      if (nowMs - entry.usedAt > idleMs) retire(id, entry);
      else if (isOnDisk(entry) && nowMs - entry.checkedAt > minIdleAgeMs) void check(entry.request, entry);
    }
    if (entries.size === 0 && idleTimer !== null) {
      clearInterval(idleTimer);
      idleTimer = null;
    }
  }

  /** Only files on disk are checked while unused. An open object occupies no disk space, and each check would be an HTTP request. */
  const isOnDisk = ({ open }: Entry) => open !== null && !open.location.isObject;

  /** Retires the entry when the file at its location is no longer the open one. Concurrent calls share one check. */
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
          entry.storageError = null;
        } else retire(request.id, entry);
      } catch (error) {
        if (isTemporaryError(error)) {
          if (entry.storageError === null)
            log.warn(
              { err: error, imageId: request.id },
              'slide storage unreachable: an open slide could not be checked for a changed file; the next request for the slide checks again',
            );
          entry.storageError = error;
          return;
        }
        if (!(error instanceof SlideError))
          log.warn(
            { err: error, imageId: request.id },
            'open slide could not be checked for a changed file: unexpected error; the next request opens the slide again',
          );
        retire(request.id, entry);
      } finally {
        entry.checking = null;
      }
    })();
    return entry.checking;
  }

  /** Returns an entry with a recent check; opens the slide if needed. Returns a promise only to wait for a check. */
  function currentEntry(request: OpenRequest): Entry | Promise<Entry> {
    const entry = entries.get(request.id);
    if (entry === undefined) return open(request);
    const age = now() - entry.checkedAt;
    if (age <= checkAfterMs) return entry;
    const runningCheck = check(request, entry);
    if (age <= checkValidForMs) return entry;
    if (entry.storageError !== null && age <= checkValidInOutageMs) return entry;
    return entryAfterCheck(request, entry, runningCheck);
  }

  /** Returns the entry to use after a check. @throws SlideError when an outage exceeds `checkValidInOutageMs` */
  async function entryAfterCheck(
    request: OpenRequest,
    entry: Entry,
    runningCheck: Promise<void>,
  ): Promise<Entry> {
    const isServable = () => entry.open !== null && now() - entry.checkedAt <= checkValidInOutageMs;
    await (isServable() ? waitAtMost(runningCheck, checkTimeoutMs) : runningCheck);
    const current = entries.get(request.id);
    if (current !== entry) return current ?? open(request);
    if (entry.storageError === null || isServable()) return entry;
    throw entry.storageError;
  }

  /** Waits until the slide is open. `joinOpening` registers the request for the time of the wait. */
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
      // Ends when `work` succeeds, when it fails with another error than FILE_CHANGED, and when it fails for the second time.
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

    closeSlide(id) {
      const entry = entries.get(id);
      if (entry !== undefined) retire(id, entry);
    },

    count: () => entries.size,

    async close() {
      if (idleTimer !== null) clearInterval(idleTimer);
      for (const [id, entry] of entries) retire(id, entry);
      await Promise.all(pendingCloses);
    },
  };
}

/** Resolves when the promise is fulfilled or the time has passed, whichever comes first. */
async function waitAtMost(promise: Promise<void>, ms: number): Promise<void> {
  const timeout = Promise.withResolvers<void>();
  const timer = setTimeout(timeout.resolve, ms);
  await Promise.race([promise, timeout.promise]).finally(() => clearTimeout(timer));
}

function isFileChanged(error: unknown): boolean {
  return error instanceof SlideError && error.code === 'FILE_CHANGED';
}
