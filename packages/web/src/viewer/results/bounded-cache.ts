/** Time until the cache loads an entry again after the first failure. It doubles with each further failure, up to the maximum. */
const firstRetryMs = 2000;
const maxRetryMs = 32_000;

/**
 * An LRU cache with a limited number of entries. It loads an entry when a caller first requests it. It keeps all entries of the current
 * frame, even when they exceed the limit: otherwise, a frame that needs more entries would evict its own entries and never be complete.
 */
export class BoundedCache<Key, Value> {
  /** The entries, least recently used first; null while an entry is loading and after loading failed. */
  readonly #entries = new Map<Key, Value | null>();
  /** The keys that were requested since the frame began. */
  readonly #keysOfFrame = new Set<Key>();
  /** Number of failed attempts by key. The key is removed when the entry is loaded. */
  readonly #failures = new Map<Key, number>();
  readonly #abortController = new AbortController();
  readonly #maxEntries: number;
  readonly #load: (key: Key, signal: AbortSignal) => Promise<Value>;
  readonly #onChange: () => void;

  /** @param onChange called after an entry was loaded, after loading failed, and when `get` would load a failed entry again */
  constructor(
    maxEntries: number,
    load: (key: Key, signal: AbortSignal) => Promise<Value>,
    onChange: () => void,
  ) {
    this.#maxEntries = maxEntries;
    this.#load = load;
    this.#onChange = onChange;
  }

  /** Whether the last attempt to load at least one entry has failed. Entries that are evicted or not requested again do not count. */
  get hasFailures(): boolean {
    return [...this.#failures.keys()].some((key) => this.#entries.has(key));
  }

  /** Must be called before the entries of a frame are requested: the cache may then evict the entries of the previous frame. */
  startFrame(): void {
    this.#keysOfFrame.clear();
  }

  /** Returns an entry, and starts to load it if necessary. Returns null while it is loading and after loading failed. */
  get(key: Key): Value | null {
    this.#keysOfFrame.add(key);
    const entry = this.#entries.get(key);
    if (entry !== undefined) {
      // A Map is in the order of insertion, so setting the entry again moves it to the end.
      this.#entries.delete(key);
      this.#entries.set(key, entry);
      return entry;
    }
    this.#entries.set(key, null);
    for (const oldest of this.#entries.keys()) {
      // The entries of the frame are the most recently used ones, so all entries after the first of them belong to the frame, too.
      if (this.#entries.size <= this.#maxEntries || this.#keysOfFrame.has(oldest)) break;
      this.#entries.delete(oldest);
    }
    this.#load(key, this.#abortController.signal).then(
      (value) => {
        this.#failures.delete(key);
        if (!this.#entries.has(key)) return; // evicted while it was loading
        this.#entries.set(key, value);
        this.#onChange();
      },
      () => this.#scheduleRetry(key),
    );
    return null;
  }

  /** Deletes a failed entry after a delay, after which `get` loads it again. Without the delay, each frame would load it again. */
  #scheduleRetry(key: Key): void {
    if (this.#abortController.signal.aborted) return;
    const failureCount = (this.#failures.get(key) ?? 0) + 1;
    this.#failures.set(key, failureCount);
    this.#onChange();
    setTimeout(
      () => {
        if (this.#abortController.signal.aborted) return;
        this.#entries.delete(key);
        this.#onChange();
      },
      Math.min(firstRetryMs * 2 ** (failureCount - 1), maxRetryMs),
    );
  }

  /**
   * Returns an entry if it is loaded, otherwise null. Unlike `get`, it loads nothing and does not change the order of eviction.
   */
  peek(key: Key): Value | null {
    return this.#entries.get(key) ?? null;
  }

  /** Cancels running requests and removes all entries. */
  close(): void {
    this.#abortController.abort();
    this.#entries.clear();
    this.#failures.clear();
  }
}
