/** Background tasks: work that a request starts without waiting for it, such as sending an e-mail. */
import type { Logger } from 'pino';

export interface Background {
  /** Starts work. If it fails, logs `task`: what the work is and what a failure means. `closing` is aborted when the program stops. */
  run(task: string, work: (closing: AbortSignal) => Promise<void>): void;
  /** Resolves when no task is running. */
  idle(): Promise<void>;
  /** Aborts `closing` and waits for the running tasks. */
  close(): Promise<void>;
}

export function createBackground({ log }: { log: Logger }): Background {
  const running = new Set<Promise<void>>();
  const closing = new AbortController();

  async function idle(): Promise<void> {
    while (running.size > 0) await Promise.all(running);
  }

  return {
    run(task, work) {
      const done = work(closing.signal)
        .catch((error: unknown) =>
          log.error(
            { err: error, task },
            'background task failed; the field `task` states what was not done and what follows from it',
          ),
        )
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
