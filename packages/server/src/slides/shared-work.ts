/** Work that several callers want at the same time is done once, and ended when nobody waits for it any more. */

export interface SharedWork<T> {
  /**
   * Joins the work under way for the key, or starts it.
   *
   * @throws the signal's reason when this caller leaves; what the work throws
   */
  join(key: string, signal: AbortSignal, start: (signal: AbortSignal) => Promise<T>): Promise<T>;
}

interface UnderWay<T> {
  readonly done: Promise<T>;
  readonly controller: AbortController;
  waiting: number;
}

export function createSharedWork<T>(): SharedWork<T> {
  const underWay = new Map<string, UnderWay<T>>();

  function begin(key: string, start: (signal: AbortSignal) => Promise<T>): UnderWay<T> {
    const controller = new AbortController();
    const work: UnderWay<T> = {
      controller,
      waiting: 0,
      done: start(controller.signal).finally(() => {
        if (underWay.get(key) === work) underWay.delete(key);
      }),
    };
    work.done.catch(() => {}); // whoever still waits is told; nobody may be left
    underWay.set(key, work);
    return work;
  }

  return {
    async join(key, signal, start) {
      signal.throwIfAborted();
      const work = underWay.get(key) ?? begin(key, start);
      work.waiting++;
      const left = Promise.withResolvers<never>();
      const leave = () => left.reject(signal.reason);
      signal.addEventListener('abort', leave, { once: true });
      try {
        return await Promise.race([work.done, left.promise]);
      } finally {
        signal.removeEventListener('abort', leave);
        work.waiting--;
        if (work.waiting === 0 && underWay.get(key) === work) {
          underWay.delete(key);
          work.controller.abort();
        }
      }
    },
  };
}
