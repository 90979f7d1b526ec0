/** Work that a request starts and does not wait for. */
import type { Logger } from 'pino';

export interface Background {
  /** Starts at once; a failure is logged. `closing` is aborted when the process is about to end. */
  run(what: string, work: (closing: AbortSignal) => Promise<void>): void;
  /** When nothing is under way any more, and nothing new has been started meanwhile. */
  idle(): Promise<void>;
  /** Tells the work that the end is near, and waits for it. */
  close(): Promise<void>;
}

export function createBackground({ log }: { log: Logger }): Background {
  const underWay = new Set<Promise<void>>();
  const closing = new AbortController();

  async function idle(): Promise<void> {
    while (underWay.size > 0) await Promise.all(underWay);
  }

  return {
    run(what, work) {
      const done = work(closing.signal)
        .catch((error: unknown) => log.error({ err: error }, `${what} failed`))
        .finally(() => underWay.delete(done));
      underWay.add(done);
    },
    idle,
    close() {
      closing.abort();
      return idle();
    },
  };
}
