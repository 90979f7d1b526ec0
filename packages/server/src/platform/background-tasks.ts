/** Background tasks: work that a request starts without waiting for it, such as sending an e-mail. */
import type { Logger } from 'pino';

export interface Background {
  /**
   * Starts work.
   *
   * @param failureMessage log message if the work fails: what was not done, and what follows from it
   * @param work `close` aborts its signal
   * @param logFields further fields of the log line
   */
  run(failureMessage: string, work: (closing: AbortSignal) => Promise<void>, logFields?: object): void;
  /** Resolves when no task is running. */
  idle(): Promise<void>;
  /** Called when the program stops: aborts `closing` and waits for the running tasks. */
  close(): Promise<void>;
}

export function createBackground({ log }: { log: Logger }): Background {
  const running = new Set<Promise<void>>();
  const closing = new AbortController();

  async function idle(): Promise<void> {
    while (running.size > 0) await Promise.all(running);
  }

  return {
    run(failureMessage, work, logFields = {}) {
      const done = work(closing.signal)
        .catch((error: unknown) => log.error({ err: error, ...logFields }, failureMessage))
        .finally(() => running.delete(done));
      running.add(done);
    },
    idle,
    close() {
      closing.abort();
      return idle();
    },
  };
}
