/** A cache with a limited number of entries: it loads an entry when it is first requested and evicts the least recently used one. */
export class BoundedCache<Key, Value> {
  readonly #entries = new Map<Key, Value | null>();
  readonly #end = new AbortController();
  readonly #limit: number;
  readonly #load: (key: Key, signal: AbortSignal) => Promise<Value>;
  readonly #onLoad: () => void;

  /** @param onLoad called after something has arrived */
  constructor(limit: number, load: (key: Key, signal: AbortSignal) => Promise<Value>, onLoad: () => void) {
    this.#limit = limit;
    this.#load = load;
    this.#onLoad = onLoad;
  }

  /** Returns an entry and starts to load it if necessary; null while it is loading, and when it could not be loaded. */
  get(key: Key): Value | null {
    const entry = this.#entries.get(key);
    if (entry !== undefined) {
      // Moves the entry to the end of the Map, which is in the order of eviction.
      this.#entries.delete(key);
      this.#entries.set(key, entry);
      return entry;
    }
    this.#entries.set(key, null);
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= this.#limit) break;
      this.#entries.delete(oldest);
    }
    this.#load(key, this.#end.signal).then(
      (value) => {
        if (!this.#entries.has(key)) return;
        this.#entries.set(key, value);
        this.#onLoad();
      },
      () => {
        // The entry is loaded again when it is next requested, but not before `retryMs`: every frame would send a request.
        if (!this.#end.signal.aborted) setTimeout(() => this.#entries.delete(key), retryMs);
      },
    );
    return null;
  }

  /** Returns what is loaded, without a request. */
  peek(key: Key): Value | null {
    return this.#entries.get(key) ?? null;
  }

  close(): void {
    this.#end.abort();
    this.#entries.clear();
  }
}

const retryMs = 2000;
