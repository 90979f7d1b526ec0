/** After loading an entry has failed, the cache does not load it again for this time. */
const retryDelayMs = 2000;

/** An LRU cache with a limited number of entries. It loads an entry when a caller first requests it. */
export class BoundedCache<Key, Value> {
  /** The entries, least recently used first; null while an entry is loading and after loading failed. */
  readonly #entries = new Map<Key, Value | null>();
  readonly #abortController = new AbortController();
  readonly #maxEntries: number;
  readonly #load: (key: Key, signal: AbortSignal) => Promise<Value>;
  readonly #onLoad: () => void;

  /** @param onLoad called after an entry has been loaded */
  constructor(
    maxEntries: number,
    load: (key: Key, signal: AbortSignal) => Promise<Value>,
    onLoad: () => void,
  ) {
    this.#maxEntries = maxEntries;
    this.#load = load;
    this.#onLoad = onLoad;
  }

  /** Returns an entry, and starts to load it if necessary. Returns null while it is loading and after loading failed. */
  get(key: Key): Value | null {
    const entry = this.#entries.get(key);
    if (entry !== undefined) {
      // A Map is in the order of insertion, so this moves the entry to the end.
      this.#entries.delete(key);
      this.#entries.set(key, entry);
      return entry;
    }
    this.#entries.set(key, null);
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= this.#maxEntries) break;
      this.#entries.delete(oldest);
    }
    this.#load(key, this.#abortController.signal).then(
      (value) => {
        if (!this.#entries.has(key)) return; // evicted while it was loading
        this.#entries.set(key, value);
        this.#onLoad();
      },
      () => {
        // Until the failed entry is deleted, `get` does not load it again; otherwise every frame would send a request.
        if (!this.#abortController.signal.aborted) setTimeout(() => this.#entries.delete(key), retryDelayMs);
      },
    );
    return null;
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
  }
}
